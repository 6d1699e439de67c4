"""Consultations as the viewer shows them: what was said, told, held back, denied, and what the noise did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from verisim_leaderboard.record import Entry
from verisim_leaderboard.scores import CLEAN, MIXED, ORDER
from verisim_leaderboard.site.render import page
from verisim_leaderboard.site.words import cleaned, device_label, dimension_label, file_names, level_text, variant_label
from verisim_metrics.consultation import is_excluded, score_consultation
from verisim_tasks.loop.restricted import without_text
from verisim_tasks.records.case import Case, Fact
from verisim_tasks.records.transcript import Denial, Transcript, Turn

_DENIED: Mapping[str, str] = {
    "recorded": "as the record says",
    "unrecorded": "the record does not hold it",
    "justified": "present, but sensitive: denied at first",
}
"""What each kind of denial is worth."""


@dataclass(frozen=True)
class CasePage:
    """The consultations about one case."""

    file: str
    html: str
    row: Mapping[str, Any]
    """For the table of the entry's page."""


def case_pages(entry: Entry, transcripts: Iterable[Transcript], cases: Mapping[str, Case]) -> list[CasePage]:
    """One page a case, by case id. Transcripts of other tasks than the suite's variants are left out."""
    by_case: dict[str, list[Transcript]] = {}
    for transcript in transcripts:
        if transcript.variant == CLEAN or transcript.noise:
            by_case.setdefault(transcript.case_id, []).append(transcript)
    ids = sorted(by_case)
    return [
        _case_page(entry, f"case-{name}.html", sorted(by_case[i], key=_order), cases.get(i))
        for i, name in zip(ids, file_names(ids), strict=True)
    ]


def _order(transcript: Transcript) -> tuple[int, str, int, int]:
    known = ORDER.index(transcript.variant) if transcript.variant in ORDER else len(ORDER)
    return (known, transcript.variant, transcript.seed, transcript.repeat)


def _case_page(entry: Entry, file: str, transcripts: Sequence[Transcript], case: Case | None) -> CasePage:
    restricted = bool(case and case.provenance.restricted)
    verdicts = [_is_right(t, case) for t in transcripts]
    held = [without_text(t) if restricted else t for t in transcripts]
    repeats = len({(t.seed, t.repeat) for t in held}) > 1
    talks = [_talk(t, right, repeats) for t, right in zip(held, verdicts, strict=True)]
    noisy = [i for i, t in enumerate(held) if t.variant != CLEAN]
    first = next((i for i in noisy if held[i].variant == MIXED), noisy[0] if noisy else None)
    data = {
        "id": transcripts[0].case_id,
        "first": first,
        "facts": list(_facts(case, held)),
        "talks": talks,
    }
    html = page(
        "case.html.jinja",
        root="../../",
        current="",
        title=f"Case {transcripts[0].case_id}",
        entry=entry,
        about=_about(case),
        canary=case.canary if case else "",
        restricted=restricted,
        data=cleaned(data),
    )
    return CasePage(file, html, _row(file, transcripts, verdicts, case))


def _is_right(transcript: Transcript, case: Case | None) -> bool | None:
    if case is None or is_excluded(transcript):
        return None
    value = score_consultation(transcript, case)["diagnostic_accuracy"]
    return None if value is None else value == 1


def _row(
    file: str, transcripts: Sequence[Transcript], verdicts: Sequence[bool | None], case: Case | None
) -> Mapping[str, Any]:
    noisy = [v for t, v in zip(transcripts, verdicts, strict=True) if t.variant != CLEAN and v is not None]
    return {
        "file": file,
        "id": transcripts[0].case_id,
        "specialty": case.specialty.replace("_", ", ") if case else "not known",
        "clean": _verdict(transcripts, verdicts, CLEAN),
        "mixed": _verdict(transcripts, verdicts, MIXED),
        "right": sum(noisy),
        "scored": len(noisy),
    }


def _verdict(transcripts: Sequence[Transcript], verdicts: Sequence[bool | None], variant: str) -> str:
    found = [(t, v) for t, v in zip(transcripts, verdicts, strict=True) if t.variant == variant]
    if not found:
        return "not run"
    words = {True: "right", False: "wrong", None: "not scored"}
    return "; ".join(f"{words[v]}, {t.outcome.turns} turns" for t, v in found)


def _about(case: Case | None) -> str:
    if case is None:
        return "The case is not in the installed bank: facts are shown by their ids."
    who = f"{case.demographics.age:g} years, {case.demographics.sex}; {case.specialty.replace('_', ', ')}."
    if case.informant.relation:
        who += f" The {case.informant.relation} speaks."
    if case.diagnosis and not case.provenance.restricted:
        who += f" Reference diagnosis: {case.diagnosis.name}."
    return who


def _facts(case: Case | None, transcripts: Sequence[Transcript]) -> Iterator[dict[str, str]]:
    """The facts of the record, key facts first; without a readable record the ids that the transcripts name."""
    if case is not None and not case.provenance.restricted:
        for fact in sorted(case.facts, key=lambda f: not f.key):
            yield {"id": fact.id, "text": fact.statement, "notes": _notes(fact)}
        return
    named = {i for t in transcripts for turn in t.turns for i in (*(d.fact_id for d in turn.disclosed), *turn.withheld)}
    for fact_id in sorted(named):
        yield {"id": fact_id, "text": fact_id, "notes": ""}


def _notes(fact: Fact) -> str:
    held = (("key", fact.key), ("sensitive", fact.sensitive), ("absent", fact.polarity == "denied"))
    return ", ".join(word for word, holds in held if holds)


def _talk(transcript: Transcript, right: bool | None, repeats: bool) -> dict[str, Any]:
    run = f"{transcript.seed}/{transcript.repeat}"
    outcome = transcript.outcome
    return {
        "variant": transcript.variant,
        "clean": transcript.variant == CLEAN,
        "run": run,
        "label": variant_label(transcript.variant) + (f", run {run}" if repeats else ""),
        "noise": [
            {"name": dimension_label(d), "level": level, "text": level_text(d, level)}
            for d, level in sorted(transcript.noise.items())
        ],
        "outcome": {
            "diagnosis": outcome.diagnosis,
            "right": right,
            "stop": outcome.stop_reason.replace("_", " "),
            "turns": outcome.turns,
        },
        "turns": [_turn(turn) for turn in transcript.turns],
    }


def _turn(turn: Turn) -> dict[str, Any]:
    return {
        "index": turn.index,
        "speaker": turn.speaker,
        "text": turn.text,
        "segments": _segments(turn),
        "told": [
            {"id": d.fact_id, "form": "" if d.form == "full" else d.form, "asked": d.asked or turn.index == 0}
            for d in turn.disclosed
        ],
        "held": list(turn.withheld),
        "denied": [_denial(d) for d in turn.denials],
        "events": [
            {"dimension": dimension_label(e.dimension), "device": device_label(e.device), "fact": e.fact_id}
            for e in turn.events
        ],
        "flags": [flag.replace("_", " ") for flag in turn.flags],
    }


def _denial(denial: Denial) -> dict[str, Any]:
    worth = "taken back" if denial.retracted else _DENIED[denial.kind]
    justified = denial.kind == "justified" and not denial.retracted
    return {
        "text": f"{denial.concept.replace('_', ' ')} ({worth})",
        "fact": denial.fact_id,
        "justified": justified,
    }


def _segments(turn: Turn) -> list[dict[str, str]] | None:
    """The stretches of a turn's text; null where they do not make it up."""
    texts = [segment.text for segment in turn.segments]
    for glue in ("", " "):
        if texts and glue.join(texts) == turn.text:
            last = len(texts) - 1
            return [{"text": s.text + (glue if i < last else ""), "kind": s.kind} for i, s in enumerate(turn.segments)]
    return None
