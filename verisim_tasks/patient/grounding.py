"""From what a doctor asks to the facts of one case that answer it."""

from __future__ import annotations

from dataclasses import replace

from verisim_tasks.language.lexicon import Concept
from verisim_tasks.language.phrases import Hit
from verisim_tasks.language.words import STOPWORDS, words
from verisim_tasks.patient.asking import asked_concept, asked_of
from verisim_tasks.patient.case_index import CaseIndex, index_case
from verisim_tasks.patient.lists import list_targets
from verisim_tasks.patient.questions import Clause, Message
from verisim_tasks.patient.ranking import Asked, Ranked, rank_facts
from verisim_tasks.patient.targets import (
    BROAD_ITEMS,
    COMPLETE_ITEMS,
    Specificity,
    Target,
    absent_target,
    is_answer,
    thresholds,
)
from verisim_tasks.records.case import Fact

__all__ = [
    "COMPLETE_ITEMS",
    "SYMPTOM_ITEMS",
    "CaseIndex",
    "Target",
    "asked_of",
    "index_case",
    "resolve",
    "thresholds",
]

NAMED_BY = ("phrase", "concept", "held")
"""Ties by which a question names what a fact is about."""
PARTS = ("phrase", "concept", "held", "implied", "broader")
"""Ties by which one member of a list is answered by a fact; meaning alone is not enough for a single word."""

NEUTRAL_WORDS = frozenset(
    [
        "noticed",
        "experienced",
        "experiencing",
        "suffer",
        "suffered",
        "suffering",
        "recently",
        "currently",
        "lately",
        "feel",
        "felt",
        "feeling",
        "know",
        "before",
        "past",
        "last",
        "problems",
        "trouble",
        "issues",
        "history",
        "please",
        "maybe",
        "perhaps",
        "still",
        "been",
        "now",
        "doctor",
        "since",
    ]
)
"""Words that change nothing in a plain question whether something is there."""

SYMPTOM_ITEMS = ("present_illness_positive", "present_illness_negative", "pain", "chief_complaint")


def resolve(message: Message, index: CaseIndex, focus: str | None) -> list[list[Target]]:
    """For each clause its targets. ``focus`` is the concept talked about last; "it" refers to that.

    The same target is named once, at its first place.
    """
    seen: set[str] = set()
    resolved: list[list[Target]] = []
    for clause in message.clauses:
        targets = []
        for target in _resolve_clause(clause, index, focus):
            if target.key not in seen:
                seen.add(target.key)
                targets.append(target)
        resolved.append(targets)
    return resolved


def _resolve_clause(clause: Clause, index: CaseIndex, focus: str | None) -> list[Target]:
    asked = asked_of(clause, index, focus)
    hits = asked.hits
    listed = [i for i in clause.items if i in COMPLETE_ITEMS]
    if listed:
        return list_targets(listed[0], asked, index)
    if _is_coordinated(clause.text) and len(hits) > 1:
        return _coordinated(asked, index)
    if not hits and not clause.items and not clause.aspects and clause.probe:
        return []
    if _is_open(clause) and not any(_is_specific(h, index) for h in hits):
        return [Target("open", (), "open", clause.yes_no)]
    return [_one_target(asked, index)]


def _coordinated(asked: Asked, index: CaseIndex) -> list[Target]:
    """A list of things: one fact that speaks of several ("bumps or spots"), or each on its own ("fever or a cough")."""
    whole = _one_target(asked, index, listed=True)
    special = [h for h in asked.hits if _is_specific(h, index)]
    parts = [_part(hit, asked, index) for hit in special or asked.hits]
    best = rank_facts(asked, index)[0]
    ties = NAMED_BY if best.basis in NAMED_BY and whole.fact_ids else PARTS
    tied = [_tied_fact(part, whole, index) for part in parts]
    strong = [is_answer(own, part) and own.basis in ties for own, part in zip(tied, parts, strict=True)]
    apart = {own.fact.id for own, is_strong in zip(tied, strong, strict=True) if is_strong}
    if whole.fact_ids and apart <= {whole.fact_ids[0]}:
        fact_id = whole.fact_ids[0]
        others = [p for p in parts if p.concept is not None and p.concept.kind == "symptom" and p.named]
        left = [p for p in others if not _speaks_of(fact_id, p, index)]
        return [whole, *(absent_target(p) for p in left if len(left) < len(parts))]
    targets: dict[str, Target] = {}
    for part, own, is_strong in zip(parts, tied, strong, strict=True):
        if not is_strong and any(strong) and not _is_deniable(part):
            continue
        target = _one_target(part, index) if is_strong else absent_target(part)
        target = whole if is_strong and whole.fact_ids and own.fact.id == whole.fact_ids[0] else target
        targets.setdefault(target.key, target)
    return list(targets.values())


def _is_deniable(part: Asked) -> bool:
    """A member of a list that a person would deny by itself; a place or a circumstance belongs to the whole."""
    return part.concept is not None and part.concept.kind in ("symptom", "condition", "drug", "habit")


def _tied_fact(part: Asked, whole: Target, index: CaseIndex) -> Ranked:
    """The fact that a part asks for: the one that answers the whole list where the part names it too."""
    ranked = rank_facts(part, index)
    same = (r for r in ranked if r.fact.id in whole.fact_ids[:1] and r.basis in (*NAMED_BY, "term"))
    return next(same, ranked[0])


def _part(hit: Hit[str], asked: Asked, index: CaseIndex) -> Asked:
    """One member of a list as a question of its own."""
    concept = asked_concept((hit,), index)
    return Asked(asked.clause, (hit,), asked.focus, concept, f"{hit.phrase}?", tuple(index.concepts_of(hit)))


def _speaks_of(fact_id: str, part: Asked, index: CaseIndex) -> bool:
    """The fact's own words name what the part asks about, or something akin."""
    held = index.held_by[fact_id]
    lineages = [index.lexicon.ancestors(c.id) for c in part.named]
    return f"fact:{fact_id}" in part.hits[0].values or any(held & lineage for lineage in lineages)


def _one_target(asked: Asked, index: CaseIndex, *, listed: bool = False) -> Target:
    """The best fact for one question, or the item that is not recorded. ``listed``: the clause names several things."""
    ranked = rank_facts(asked, index)
    best = ranked[0]
    stranger = None if listed else _stranger(asked, best, index)
    if stranger is not None:
        return absent_target(replace(asked, concept=stranger))
    if not is_answer(best, asked):
        return absent_target(asked)
    fact = best.fact
    follow = [r.fact for r in ranked[1:] if _goes_with(r, best, asked)]
    return Target(
        key=fact.id,
        fact_ids=(fact.id, *(f.id for f in follow)),
        specificity=_specificity(asked, fact),
        yes_no=asked.clause.yes_no,
        concept=index.concept_of[fact.id] or (asked.concept.id if asked.concept else None),
        phrase=asked.hits[0].phrase if asked.hits else None,
        item=fact.category,
        confirms=_confirms(asked, best, index),
    )


def _stranger(asked: Asked, best: Ranked, index: CaseIndex) -> Concept | None:
    """A second symptom that a plain question asks about and the case does not hold ("is the rash itchy?")."""
    plain_question = asked.clause.yes_no and not asked.clause.aspects and asked.part is None and len(asked.hits) > 1
    if not plain_question or best.similarity >= thresholds()["same"] or best.basis not in NAMED_BY:
        return None
    own = index.concept_of[best.fact.id]
    named = {p for hit in asked.hits if _names(hit, best.fact, own) for p in hit.positions}
    for hit in reversed(asked.hits):
        concepts = [c for c in index.concepts_of(hit) if c.kind == "symptom"]
        held = f"fact:{best.fact.id}" in hit.values or any(
            index.about(c.id) or (own is not None and own in index.lexicon.ancestors(c.id)) for c in concepts
        )
        if concepts and not held and not named & set(hit.positions):
            return concepts[0]
    return None


def _names(hit: Hit[str], fact: Fact, own: str | None) -> bool:
    return f"fact:{fact.id}" in hit.values or f"concept:{own}" in hit.values


def _goes_with(other: Ranked, best: Ranked, asked: Asked) -> bool:
    """A second fact that the same question asks for just as much."""
    if asked.clause.open or _specificity(asked, best.fact) == "category":
        return other.score >= thresholds()["follow"] and (other.named or other.fact.category == best.fact.category)
    same = other.fact.concept == best.fact.concept and other.fact.aspect == best.fact.aspect
    return same and other.fact.category == best.fact.category


def _specificity(asked: Asked, fact: Fact) -> Specificity:
    if asked.clause.open:
        return "open"
    broad = set(asked.clause.items) & {*BROAD_ITEMS, *COMPLETE_ITEMS}
    return "category" if broad and not asked.hits and fact.category in broad else "specific"


def _confirms(asked: Asked, best: Ranked, index: CaseIndex) -> bool:
    fact, concept = best.fact, asked.concept
    present = fact.aspect is None and fact.polarity == "present" and asked.clause.yes_no and not asked.clause.aspects
    covered = {p for hit in asked.hits for p in hit.positions}
    rest = [w for i, w in enumerate(words(asked.clause.text)) if i not in covered and w not in STOPWORDS]
    bare = len(asked.hits) == 1 and all(w in NEUTRAL_WORDS for w in rest)
    return present and bare and concept is not None and index.concept_of[fact.id] == concept.id


def _is_coordinated(text: str) -> bool:
    """The clause lists several things."""
    return "," in text or bool({"or", "and"} & set(words(text)))


def _is_open(clause: Clause) -> bool:
    """Asks for whatever there is to tell."""
    return clause.open and not clause.items and not clause.aspects and "consequence" not in clause.topics


def _is_specific(hit: Hit[str], index: CaseIndex) -> bool:
    """Names a thing, not just "pain" in an open question."""
    return any(v.startswith("fact:") for v in hit.values) or any(
        c.broader or c.kind != "symptom" or hit.weight > 1 for c in index.concepts_of(hit)
    )
