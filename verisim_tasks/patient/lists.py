"""Questions about a list that the case holds completely: medicines, allergies, devices, family illnesses."""

from __future__ import annotations

from verisim_tasks.language.phrases import Hit
from verisim_tasks.patient.case_index import CaseIndex
from verisim_tasks.patient.questions import read_message
from verisim_tasks.patient.ranking import Asked, rank_facts
from verisim_tasks.patient.targets import COMPLETE_ITEMS, Target, thresholds

GENERAL_CONCEPTS = (
    *("illness", "illnesses", "disease", "diseases", "condition", "conditions"),
    *("problems", "health", "family", "relatives"),
)
"""Phrases that name no particular thing in a question about a list."""


def list_targets(item: str, asked: Asked, index: CaseIndex) -> list[Target]:
    """A question about a complete list: the whole of it, or one thing that may be in it."""
    facts = index.by_item.get(item, [])
    clause = asked.clause
    named = [h for h in asked.hits if not _only_item_words(h, item)]
    if not facts:
        return [Target(f"item:{item}", (), "category", clause.yes_no, item=item)]
    ranked = [r for r in rank_facts(asked, index) if r.fact.category == item]
    if not named:
        best = ranked[0].fact
        return [
            Target(
                best.id,
                tuple(r.fact.id for r in ranked),
                "category",
                clause.yes_no,
                index.concept_of[best.id],
                item=item,
            )
        ]
    fitting = [r for r in ranked if r.named or r.similarity >= thresholds()["listed"]]
    if fitting:
        best = fitting[0].fact
        return [
            Target(best.id, (best.id,), "specific", clause.yes_no, index.concept_of[best.id], named[0].phrase, item)
        ]
    everything = [r for r in rank_facts(asked, index) if r.named and r.fact.category not in COMPLETE_ITEMS]
    if item == "medication" and everything:
        best = everything[0].fact
        return [
            Target(best.id, (best.id,), "specific", clause.yes_no, index.concept_of[best.id], named[0].phrase, item)
        ]
    concept = asked.concept
    name = concept.id if concept else named[0].phrase
    return [
        Target(
            f"concept:{item}:{name}",
            (),
            "specific",
            clause.yes_no,
            concept.id if concept else None,
            named[0].phrase,
            item,
        )
    ]


def _only_item_words(hit: Hit[str], item: str) -> bool:
    """The phrase only names the list itself ("medicines", "family"), not a thing in it."""
    return hit.phrase in GENERAL_CONCEPTS or item_named_by(hit.phrase, item)


def item_named_by(phrase: str, item: str) -> bool:
    """The phrase by itself asks for the whole item."""
    clauses = read_message(f"any {phrase}?").clauses
    return bool(clauses) and item in clauses[0].items
