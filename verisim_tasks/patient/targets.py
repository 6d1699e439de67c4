"""What a doctor's clause asks of a case: the facts that answer it, or what is not recorded."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from verisim_tasks.language.lexicon import load_yaml
from verisim_tasks.language.words import content_stems
from verisim_tasks.patient.ranking import ELSEWHERE, Asked, Ranked

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


@functools.cache
def thresholds() -> Mapping[str, float]:
    """Least lifted log-odds of a first fact by its tie to the question and of further facts; least similarities."""
    return {str(k): float(v) for k, v in load_yaml("lexicon", "understanding.yaml")["thresholds"].items()}


def is_answer(best: Ranked, asked: Asked) -> bool:
    """Whether the best fact answers, or what was asked about is not recorded.

    Its log-odds, lifted by a close meaning, must reach what its tie to the question needs: little where the question
    names the fact, much where it names a thing that the fact is not about, or nothing.
    """
    basis = best.basis
    if basis == "item" and asked.concept is not None and not best.named and set(asked.clause.items) <= BROAD_ITEMS:
        basis = "other"
    if basis == "other" and best.charted:
        basis = "other_charted"
    lift = thresholds()["lift"] * (best.similarity - thresholds()["usual"])
    if basis == "other_kind" and best.similarity >= thresholds()["sure"] and best.score > -1.0:
        return True
    return best.score > -ELSEWHERE / 2 and best.score + lift >= thresholds()[basis]


def absent_target(asked: Asked) -> Target:
    """What was asked about and is not recorded, by its concept, item, aspect or words."""
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
