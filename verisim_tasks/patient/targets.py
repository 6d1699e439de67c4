"""What a doctor's clause asks of a case: the facts that answer it, or what is not recorded."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from verisim_tasks.language.lexicon import load_yaml
from verisim_tasks.language.words import content_stems
from verisim_tasks.patient.case_index import UNSPOKEN_CONCEPTS, CaseIndex
from verisim_tasks.patient.ranking import ELSEWHERE, PLACED, Asked, Ranked

Specificity = Literal["specific", "category", "open"]

COMPLETE_ITEMS = ("allergies", "family_medical_history", "medical_device", "medication")
"""Items whose lists are complete: what is not in them is not so."""

BROAD_ITEMS = {"pain", "medical_history", "living_situation", "marital_status", "children"}
"""Items whose cue words ("any pain", "medical problems") often stand beside what is really asked about."""


@dataclass(frozen=True)
class Target:
    """One thing a clause asks about, and what the case holds on it."""

    key: str
    """A fact id, or ``concept:<id>`` / ``item:<item>`` / ``unknown:<words>`` where no fact answers."""
    fact_ids: tuple[str, ...]
    """Facts that answer, most relevant first; empty when the case states and denies nothing."""
    specificity: Specificity
    yes_no: bool
    concept: str | None = None
    """Lexicon id, where the question names a known concept."""
    phrase: str | None = None
    """The words by which the doctor named it."""
    item: str | None = None
    confirms: bool = False
    """A plain yes would be a true answer: the presence itself was asked about by name."""
    beyond: bool = False
    """Of an open question: it asks for something other than the main complaint."""
    doubtful: bool = False
    """No fact answers surely, but a present one may be what is meant: a denial could be false."""


@functools.cache
def thresholds() -> Mapping[str, float]:
    """Least log-odds of a first fact and of further facts; least similarities."""
    return {str(k): float(v) for k, v in load_yaml("lexicon", "understanding.yaml")["thresholds"].items()}


@functools.cache
def gate() -> Mapping[str, float]:
    """Weights of the decision whether the best fact answers, fitted by ``scripts/fit_understanding.py``."""
    return {str(k): float(v) for k, v in load_yaml("lexicon", "understanding.yaml")["gate"].items()}


def is_answer(best: Ranked, asked: Asked, table: Mapping[str, float] | None = None) -> bool:
    """Whether the best fact answers, or what was asked about is not recorded. ``table``: another gate."""
    if is_barred(best):
        return False
    if best.basis == "item" and _asks_for_item(asked):
        return True
    table = table or gate()
    odds = table["intercept"] + sum(table.get(k, 0.0) * v for k, v in gate_features(best, asked).items())
    return odds >= thresholds()["answer"]


def _asks_for_item(asked: Asked) -> bool:
    """The question is for the item as a whole ("how old are you?"), whatever else was said before it."""
    items = set(asked.clause.items)
    return bool(items & set(UNSPOKEN_CONCEPTS)) or (asked.concept is None and not items & BROAD_ITEMS)


def is_barred(rank: Ranked) -> bool:
    """The fact is about another part of the body, another person, or what the question leaves out."""
    return rank.score <= -ELSEWHERE / 2


def gate_features(best: Ranked, asked: Asked) -> dict[str, float]:
    """What speaks for and against a best fact being an answer at all: its lead, and all that ranked it."""
    return {
        "score": best.score,
        "margin": best.margin,
        "nothing_named": float(asked.concept is None),
        "only_broad_items": float(set(asked.clause.items) <= BROAD_ITEMS),
        "denied": float(best.fact.polarity == "denied"),
        "charted": float(best.charted),
        **best.features,
    }


def is_doubtful(asked: Asked, ranked: Sequence[Ranked], index: CaseIndex) -> bool:
    """Whether a denial could be false: a present fact may be what the question means."""
    known = asked.concept is not None or bool(asked.clause.items)
    present = [r for r in ranked if r.fact.polarity == "present" and not is_barred(r)]
    return any(
        _may_be_meant(r)
        or _is_about(r, asked, index)
        or _is_kin_of_complaint(r, asked, index)
        or (not known and r.score > thresholds()["vague"])
        for r in present
    )


def _may_be_meant(rank: Ranked) -> bool:
    """The fact holds the words of the question, or is very close to it in meaning."""
    least = thresholds()["narrow_doubt" if rank.basis == "narrower" else "doubt"]
    overlap, likeness = rank.features["overlap"], rank.features["likeness"]
    return overlap == 1.0 or rank.similarity >= least or (overlap >= 0.5 and likeness >= thresholds()["like_doubt"])


def _is_about(rank: Ranked, asked: Asked, index: CaseIndex) -> bool:
    """The fact is about the very thing that the question is about, by the case's words or the lexicon's."""
    if asked.concept is None:
        return rank.named
    concept, fact_id = asked.concept.id, rank.fact.id
    own = index.concept_of[fact_id]
    if concept in index.held_by[fact_id] or (own is not None and concept in index.lexicon.ancestors(own)):
        return True
    return any({f"concept:{concept}", f"fact:{fact_id}"} <= set(hit.values) for hit in asked.hits)


def _is_kin_of_complaint(rank: Ranked, asked: Asked, index: CaseIndex) -> bool:
    """The fact is about what the patient came for, and the question about its like: spots to somebody with a rash."""
    own = index.concept_of[rank.fact.id]
    if asked.concept is None or own is None or rank.fact.concept != index.case.opening.concept:
        return False
    return bool(index.lexicon.ancestors(asked.concept.id) & index.lexicon.ancestors(own) - set(PLACED))


def absent_target(asked: Asked, *, doubtful: bool = False) -> Target:
    """What was asked about and is not recorded, by its concept, item, aspect or words."""
    return replace(_unrecorded(asked), doubtful=doubtful)


def _unrecorded(asked: Asked) -> Target:
    clause, concept = asked.clause, asked.concept
    if concept is not None and clause.aspects and not clause.yes_no and concept.kind != "symptom":
        return Target(f"aspect:{concept.id}", (), "specific", False, item="aspect")
    if concept is not None:
        phrase = asked.hits[0].phrase
        return Target(f"concept:{concept.id}", (), "specific", clause.yes_no, concept=concept.id, phrase=phrase)
    if clause.items:
        return Target(f"item:{clause.items[0]}", (), "category", clause.yes_no, item=clause.items[0])
    if clause.aspects:
        return Target(f"aspect:{clause.aspects[0]}", (), "specific", clause.yes_no, item="aspect")
    if clause.open:
        return Target("open", (), "open", clause.yes_no)
    return Target(f"unknown:{'-'.join(content_stems(clause.text)[:6]) or 'nothing'}", (), "specific", clause.yes_no)
