"""Telling moments: the exchanges that show best what noise did to a run. Chosen by rule, the same each time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from verisim_metrics.consultation import Scores, asked_and_told, is_excluded, score_consultation
from verisim_tasks.loop.restricted import WITHHELD
from verisim_tasks.records.case import Case
from verisim_tasks.records.transcript import Transcript, Turn

LOST = "The diagnosis is lost"
LATE = "A key fact comes late"
LONG = "The longest detour"


@dataclass(frozen=True)
class Moment:
    """One or two exchanges of one consultation."""

    title: str
    variant: str
    case_id: str
    why: str
    lines: tuple[tuple[str, str], ...]
    """Speaker and words, in order."""


@dataclass(frozen=True)
class _Candidate:
    weight: float
    moment: Moment

    @property
    def order(self) -> tuple[float, str, str]:
        return (-self.weight, self.moment.variant, self.moment.case_id)


def telling_moments(transcripts: Iterable[Transcript], cases: Mapping[str, Case]) -> list[Moment]:
    """At most one moment of each kind, no two of one case; fewer where a run holds none.

    Kinds: a diagnosis that is right without noise and wrong with it (most key facts held back), a key fact that is
    held back and told later (longest wait), and the consultation with most turns over its clean twin.
    """
    found: dict[str, list[_Candidate]] = {LOST: [], LATE: [], LONG: []}
    for transcript in transcripts:
        case = cases.get(transcript.case_id)
        if case is None or is_excluded(transcript) or not transcript.noise or _is_bare(transcript):
            continue
        scores = score_consultation(transcript, case)
        for kind, candidate in (
            (LOST, _lost(transcript, case, scores)),
            (LATE, _late(transcript, case)),
            (LONG, _long(transcript)),
        ):
            if candidate is not None:
                found[kind].append(candidate)
    return _one_each(found)


def _one_each(found: Mapping[str, list[_Candidate]]) -> list[Moment]:
    chosen: list[Moment] = []
    for candidates in found.values():
        used = {m.case_id for m in chosen}
        fresh = [c for c in candidates if c.moment.case_id not in used]
        if fresh:
            chosen.append(min(fresh, key=lambda c: c.order).moment)
    return chosen


def _lost(transcript: Transcript, case: Case, scores: Scores) -> _Candidate | None:
    if scores["diagnostic_accuracy"] != 0 or scores["clean_accuracy"] != 1:
        return None
    told, _ = asked_and_told(transcript, case)
    key = {fact.id for fact in case.key_facts}
    held = [i for t in transcript.patient_turns() for i in t.withheld if i in key and i not in told]
    if not held:
        return None
    turn = next(t for t in transcript.patient_turns() if held[0] in t.withheld)
    given = transcript.outcome.diagnosis or "no diagnosis"
    count = len(set(held))
    first = _named(case, held[0])
    why = f"right without noise, here {given!r}; {_key_facts(count)} asked for and never told, first: {first}"
    return _candidate(LOST, transcript, count, why, [turn.index])


def _late(transcript: Transcript, case: Case) -> _Candidate | None:
    key = {fact.id for fact in case.key_facts}
    first_held: dict[str, int] = {}
    best: tuple[int, str, int] | None = None
    for turn in transcript.patient_turns():
        for fact_id in turn.withheld:
            if fact_id in key:
                first_held.setdefault(fact_id, turn.index)
        for told in turn.disclosed:
            wait = turn.index - first_held.get(told.fact_id, turn.index)
            if wait > 0 and (best is None or wait > best[0]):
                best = (wait, told.fact_id, turn.index)
    if best is None:
        return None
    wait, fact_id, index = best
    why = f"held back at turn {index - wait}, told at turn {index}: {_named(case, fact_id)}"
    return _candidate(LATE, transcript, wait, why, [index - wait, index])


def _long(transcript: Transcript) -> _Candidate | None:
    twin = transcript.clean_twin
    if twin is None or transcript.outcome.turns <= twin.turns:
        return None
    turn = max(transcript.patient_turns(), key=lambda t: (len(t.events), -t.index))
    if not turn.events:
        return None
    devices = ", ".join(dict.fromkeys(e.device.replace("_", " ") for e in turn.events))
    why = f"{transcript.outcome.turns} turns, {twin.turns} without noise; shown here: {devices}"
    return _candidate(LONG, transcript, transcript.outcome.turns - twin.turns, why, [turn.index])


def _candidate(title: str, transcript: Transcript, weight: float, why: str, indices: list[int]) -> _Candidate:
    lines = tuple((t.speaker.capitalize(), t.text) for i in indices for t in _exchange(transcript, i))
    return _Candidate(weight, Moment(title, transcript.variant, transcript.case_id, why, lines))


def _exchange(transcript: Transcript, index: int) -> list[Turn]:
    return [t for t in transcript.turns if t.index == index]


def _named(case: Case, fact_id: str) -> str:
    return case.fact(fact_id).statement if any(f.id == fact_id for f in case.facts) else fact_id


def _key_facts(count: int) -> str:
    return "1 key fact" if count == 1 else f"{count} key facts"


def _is_bare(transcript: Transcript) -> bool:
    """Whether the words are withheld: the case is under a data-use agreement."""
    return any(t.text == WITHHELD for t in transcript.turns)
