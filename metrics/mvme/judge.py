"""The Chief Physician: a judge that marks each part of a report 1-4 with the case as reference.

As published (AI Hospital, arXiv 2402.09742) the three parts about the diagnosis depend on each other: rationale and
treatment are judged with the grade of the diagnosis at hand. *Our choice*: one question for each part, where the paper
asks for all in one reply. A part that the report does not have is not asked about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from verisim_metrics.judging import Judge, Question
from verisim_metrics.mvme.chief import DEPENDENT, MARKS
from verisim_metrics.mvme.report import PARTS
from verisim_tasks.records.case import Case
from verisim_tasks.records.case_text import record_text
from verisim_tasks.records.transcript import Report

UNKNOWN = "unknown"
_LETTERS = {value: letter for letter, value in MARKS.items()}


@dataclass(frozen=True)
class Mark:
    """The mark of one part."""

    value: int | None
    """1-4, ``None`` where it could not be judged."""
    reason: str | None = None
    """Why there is no mark."""


Marked = dict[str, Mark]


def chief_marks(reports: Sequence[tuple[Case, Report | None]], judge: Judge) -> list[Marked]:
    """The marks of all parts of each report, in order. All reports are judged together, in two calls."""
    found: list[Marked] = [_unasked(report) for _, report in reports]
    first = [part for part in PARTS if part not in DEPENDENT]
    for parts in (first, list(DEPENDENT)):
        asked = [
            (place, part)
            for place, (_, report) in enumerate(reports)
            for part in parts
            if report is not None and part not in found[place]
        ]
        questions = [_question(part, *reports[place], found[place]) for place, part in asked]
        for (place, part), judgement in zip(asked, judge(questions), strict=True):
            score = judgement.score
            found[place][part] = Mark(None if score is None else round(score), judgement.reason)
    return [{part: marks[part] for part in PARTS} for marks in found]


def _unasked(report: Report | None) -> Marked:
    if report is None:
        return dict.fromkeys(PARTS, Mark(None, "there is no report"))
    missing = [p for p in PARTS if getattr(report, p) is None]
    return dict.fromkeys(missing, Mark(None, "the report does not have this part"))


def _question(part: str, case: Case, report: Report | None, marks: Mapping[str, Mark]) -> Question:
    data = {"reference": reference_text(case), "report": report_text(report)}
    if part in DEPENDENT:
        grade = marks["diagnosis"].value
        data["diagnosis_grade"] = UNKNOWN if grade is None else _LETTERS[grade]
    return Question(f"mvme_{part}", data)


def reference_text(case: Case) -> str:
    """The expert's record: all that a doctor could find out, then what it amounts to."""
    blocks = [record_text(case), f"Diagnosis: {case.diagnosis.name if case.diagnosis else 'not recorded'}"]
    for heading, lines in (("Rationale", case.rationale), ("Treatment", case.treatment)):
        blocks.append("\n".join([f"{heading}:", *(f"- {line}" for line in lines)]))
    return "\n\n".join(blocks)


def report_text(report: Report | None) -> str:
    """The parts that a report has, under their names."""
    parts = [(part, getattr(report, part, None)) for part in PARTS]
    return "\n\n".join(f"{part.capitalize()}:\n{text}" for part, text in parts if text)
