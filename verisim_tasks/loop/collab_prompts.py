"""What the doctors of a collaboration and their Central Agent are told, and how the Central Agent's lists are read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from verisim_metrics.mvme.report import parse_report
from verisim_tasks._templates import render
from verisim_tasks.loop.prompts import PACKAGE, RESULTS, Conversation, Message
from verisim_tasks.records.transcript import Opinion, Report, Turn

MAX_DISPUTED = 5
"""Disputed facts asked again per case."""
MAX_POINTS = 10
MAX_POINT = 300
NOTHING = "none"

_DISPUTED = re.compile(r"(?:^|\n)[\s#*_\d.)]*Disputed(?:\s+(?:facts|points))?[\s*_]*[:：]?[\s*_]*", re.IGNORECASE)
_MARK = re.compile(r"^\s*(?:[-*•]|\(?\d{1,2}[.)])\s*")
_EMPTY = re.compile(r"^\W*(?:none|no|nothing|n/?a|not applicable|no (?:contradiction|dispute|disagreement)\w*)\b", re.I)


@dataclass(frozen=True)
class Collected:
    """What the doctors know together."""

    symptoms: str | None
    examinations: str | None
    disputed: tuple[str, ...] = ()


def merge_request(reports: Sequence[tuple[str, Report]]) -> Conversation:
    """The Central Agent is to merge what the doctors collected."""
    blocks = [_collected_by(name, report) for name, report in reports]
    return _central("\n\n".join(blocks), "collab_merge.jinja")


def disagreements_request(opinions: Sequence[Opinion]) -> Conversation:
    """The Central Agent is to list what the doctors disagree about."""
    return _central(opinions_text(opinions), "collab_disagreements.jinja")


def synthesis_request(facts: str, opinions: Sequence[Opinion]) -> Conversation:
    """The Central Agent is to decide."""
    return _central(f"{facts}\n\n{opinions_text(opinions)}", "collab_synthesis.jinja")


def revision_request(
    held: Conversation, facts: str, opinions: Sequence[Opinion], points: Sequence[str]
) -> Conversation:
    """A doctor, after its own consultation, is to revise its report in the light of the others'."""
    listed = "\n".join(f"- {p}" for p in points) or NOTHING
    note = render(PACKAGE, "collab_revise.jinja", facts=facts, opinions=opinions_text(opinions), disagreements=listed)
    return (*held, Message("note", note))


def _central(briefing: str, request: str) -> Conversation:
    return (
        Message("system", render(PACKAGE, "collab_central.jinja", briefing=briefing)),
        Message("note", render(PACKAGE, request)),
    )


def _collected_by(name: str, report: Report) -> str:
    return f"{name}\nSymptoms:\n{report.symptoms or NOTHING}\nExaminations:\n{report.examinations or NOTHING}"


def opinions_text(opinions: Iterable[Opinion]) -> str:
    """Who thinks what, and why."""
    return "\n\n".join(_opinion(o) for o in opinions)


def _opinion(opinion: Opinion) -> str:
    why = parse_report(opinion.text).rationale if opinion.text else None
    head = f"{opinion.doctor} thinks of: {opinion.diagnosis or NOTHING}"
    return f"{head}\nReasons:\n{why}" if why else head


def facts_text(collected: Collected, again: Sequence[Turn]) -> str:
    """What is known, with what came of asking again."""
    blocks = [
        f"Symptoms:\n{collected.symptoms or NOTHING}",
        f"Examinations:\n{collected.examinations or NOTHING}",
    ]
    answers = answers_text(again)
    return "\n\n".join([*blocks, *([f"Asked again:\n{answers}"] if answers else [])])


def answers_text(turns: Sequence[Turn]) -> str:
    """Questions that were asked again, with their answers, one line each; the opening is not one of them."""
    names = {"doctor": "Question", "patient": "Patient", "examiner": RESULTS.rstrip(":")}
    lines = [f"- {names[t.speaker]}: {' '.join(t.text.split())}" for t in turns if t.index and t.text.strip()]
    return "\n".join(lines)


def read_merge(text: str | None, fallback: Sequence[tuple[str, Report]]) -> Collected:
    """What the Central Agent made of the reports; a part that it left out is all that the reports say there."""
    parts = _DISPUTED.split(text or "", maxsplit=1)
    read = parse_report(parts[0])
    disputed = read_points(parts[1], MAX_DISPUTED) if len(parts) > 1 else ()
    return Collected(
        read.symptoms or _joined(r.symptoms for _, r in fallback),
        read.examinations or _joined(r.examinations for _, r in fallback),
        disputed,
    )


def _joined(parts: Iterable[str | None]) -> str | None:
    lines = dict.fromkeys(line.strip() for part in parts for line in (part or "").splitlines() if line.strip())
    return "\n".join(lines) or None


def read_points(text: str | None, most: int = MAX_POINTS) -> tuple[str, ...]:
    """The lines of a list, without marks, each once; a list that says there is nothing is empty."""
    lines = [_MARK.sub("", line).strip(" *_") for line in (text or "").splitlines()]
    kept = [line[:MAX_POINT] for line in lines if any(c.isalnum() for c in line) and not _EMPTY.match(line)]
    return tuple(dict.fromkeys(kept))[:most]
