"""Scores of one consultation: a transcript and its case in, numbers out.

A value that cannot be defined is ``None``, never zero: no reference diagnosis, no clean twin, no key fact. A
consultation that ended in an error, and its twin, have no values at all. Every key is always present.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

from verisim_metrics.matching import Match, match_diagnosis
from verisim_tasks.records.case import Case, Diagnosis, Fact
from verisim_tasks.records.transcript import Transcript, Turn

Scores = dict[str, float | None]

SCORE_NAMES: tuple[str, ...] = (
    "diagnostic_accuracy",
    "diagnostic_category",
    "clean_accuracy",
    "accuracy_drop",
    "turns",
    "clean_turns",
    "censored",
    "key_facts",
    "key_facts_recognisable",
    "sensitive_facts",
    "asked_facts",
    "volunteered_facts",
    "diagnosed_before_limit",
    "hallucination_rate_draft",
    "hallucination_rate",
    "fallback_rate",
)
"""The keys of ``score_consultation``, in the order they are reported."""


def is_excluded(transcript: Transcript) -> bool:
    """Whether the consultation or its clean twin ended in an error; then neither is scored."""
    twin = transcript.clean_twin
    return transcript.outcome.stop_reason == "error" or (twin is not None and twin.stop_reason == "error")


def score_consultation(transcript: Transcript, case: Case) -> Scores:
    """All scores of one consultation.

    A clean consultation is its own twin: its drop is 0.

    Args:
        transcript: What was said, and how it ended.
        case: The case it was about.

    Returns:
        ``SCORE_NAMES`` in order. Shares and rates are in 0-1, ``accuracy_drop`` in -1, 0 or 1 (clean minus noisy),
        ``turns`` and ``clean_turns`` in doctor messages, ``asked_facts`` and ``volunteered_facts`` are counts.
        The hallucination and fallback rates are shares of the patient's turns that a verifier checked.
        ``None`` where undefined; everything is ``None`` when either twin ended in an error.

    Raises:
        ValueError: when the case is not the transcript's.
    """
    if transcript.case_id != case.id:
        raise ValueError(f"transcript of case {transcript.case_id!r} cannot be scored against case {case.id!r}")
    scores: Scores = dict.fromkeys(SCORE_NAMES)
    if is_excluded(transcript):
        return scores
    scores.update(_diagnosis_scores(transcript, case))
    scores.update(_turn_scores(transcript))
    scores.update(_fact_scores(transcript, case))
    scores.update(_truth_scores(transcript))
    return scores


def asked_and_told(transcript: Transcript, case: Case) -> tuple[set[str], set[str]]:
    """Ids of the case's facts that were told in answer to a question, and those of them that stayed recognisable.

    A fact the case denies is told once it is denied. Justified and unrecorded denials tell nothing. The opening
    line answers no question.
    """
    told: set[str] = set()
    recognisable: set[str] = set()
    for turn in _answers(transcript):
        for disclosure in turn.disclosed:
            if disclosure.asked:
                told.add(disclosure.fact_id)
                if disclosure.recognisable:
                    recognisable.add(disclosure.fact_id)
        denied = _truly_denied(turn, case)
        told |= denied
        recognisable |= denied
    known = {fact.id for fact in _later_facts(case)}
    return told & known, recognisable & known


def volunteered(transcript: Transcript, case: Case) -> set[str]:
    """Ids of the case's facts that were told unasked after the opening, and never in answer to a question."""
    unasked = {d.fact_id for turn in _answers(transcript) for d in turn.disclosed if not d.asked}
    known = {fact.id for fact in _later_facts(case)}
    return (unasked & known) - asked_and_told(transcript, case)[0]


def _diagnosis_scores(transcript: Transcript, case: Case) -> Scores:
    match = _match(transcript.outcome.diagnosis, case)
    accuracy = _as_number(match)
    scores: Scores = {"diagnostic_accuracy": accuracy, "diagnostic_category": _category(match, case)}
    if transcript.profile.is_clean:
        clean = accuracy
    elif transcript.clean_twin is not None:
        clean = _as_number(_match(transcript.clean_twin.diagnosis, case))
    else:
        clean = None
    scores["clean_accuracy"] = clean
    if clean is not None and accuracy is not None:
        scores["accuracy_drop"] = clean - accuracy
    return scores


def _match(prediction: str | None, case: Case) -> Match | None:
    """The verdict on a diagnosis, ``None`` where the case has no reference."""
    return None if case.diagnosis is None else _matched(prediction, case.diagnosis)


@functools.lru_cache(maxsize=4096)
def _matched(prediction: str | None, reference: Diagnosis) -> Match:
    return match_diagnosis(prediction, reference.name, reference.synonyms, reference.accepted_codes)


def _as_number(match: Match | None) -> float | None:
    return None if match is None else float(match.match)


def _category(match: Match | None, case: Case) -> float | None:
    """Same three-character ICD category; undefined where the reference has no code to compare with."""
    if match is None or case.diagnosis is None or not case.diagnosis.accepted_codes:
        return None
    return float(match.match or bool(match.same_category))


def _turn_scores(transcript: Transcript) -> Scores:
    outcome, twin = transcript.outcome, transcript.clean_twin
    reasons = [outcome.stop_reason]
    clean_turns: float | None = float(outcome.turns) if transcript.profile.is_clean else None
    if twin is not None and not transcript.profile.is_clean:
        reasons.append(twin.stop_reason)
        clean_turns = float(twin.turns)
    return {
        "turns": float(outcome.turns),
        "clean_turns": clean_turns,
        "censored": float("turn_limit" in reasons),
        "diagnosed_before_limit": float(outcome.stop_reason == "diagnosed"),
    }


def _fact_scores(transcript: Transcript, case: Case) -> Scores:
    told, recognisable = asked_and_told(transcript, case)
    later = _later_facts(case)
    key = {fact.id for fact in later if fact.key}
    sensitive = {fact.id for fact in later if fact.sensitive and fact.polarity == "present"}
    return {
        "key_facts": _share(told, key),
        "key_facts_recognisable": _share(recognisable, key),
        "sensitive_facts": _share(told, sensitive),
        "asked_facts": float(len(told)),
        "volunteered_facts": float(len(volunteered(transcript, case))),
    }


def _truth_scores(transcript: Transcript) -> Scores:
    """Of the turns that a verifier checked: unsupported claims in first drafts, in what was said, and fallbacks."""
    checked = [turn.verification for turn in _answers(transcript) if turn.verification is not None]
    drafted = [v for v in checked if v.drafts]
    if not drafted:
        return {}
    said = [not v.fallback and v.drafts[-1].is_hallucinated for v in drafted]
    return {
        "hallucination_rate_draft": sum(v.drafts[0].is_hallucinated for v in drafted) / len(drafted),
        "hallucination_rate": sum(said) / len(drafted),
        "fallback_rate": sum(v.fallback for v in drafted) / len(drafted),
    }


def _share(found: set[str], wanted: set[str]) -> float | None:
    return len(found & wanted) / len(wanted) if wanted else None


def _later_facts(case: Case) -> tuple[Fact, ...]:
    """The facts that do not stand in the opening."""
    return tuple(fact for fact in case.facts if fact.id != case.opening.id)


def _answers(transcript: Transcript) -> Iterator[Turn]:
    """The patient's turns after the opening."""
    return (turn for turn in transcript.patient_turns() if turn.index > 0)


def _truly_denied(turn: Turn, case: Case) -> set[str]:
    denied = {fact.id for fact in case.facts if fact.polarity == "denied"}
    return {d.fact_id for d in turn.denials if d.kind == "recorded" and d.fact_id in denied}
