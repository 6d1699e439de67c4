"""From what a doctor asks to the facts of one case that answer it."""

from __future__ import annotations

from dataclasses import replace

from verisim_tasks.language.lexicon import Concept
from verisim_tasks.language.phrases import Hit
from verisim_tasks.language.words import STOPWORDS, content_stems, words
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
    is_doubtful,
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

LEANING = frozenset(("it", "that", "they", "them", "those", "these"))
"""Words that stand for what was named before."""

SYMPTOM_ITEMS = ("present_illness_positive", "present_illness_negative", "pain", "chief_complaint")


def resolve(message: Message, index: CaseIndex, focus: str | None) -> list[list[Target]]:
    """For each clause its targets. ``focus`` is the concept talked about last; "it" refers to that.

    The same target is named once, at its first place.
    """
    seen: set[str] = set()
    resolved: list[list[Target]] = []
    unknown = False
    for clause in message.clauses:
        targets = [] if unknown and _leans(clause) else _resolve_clause(clause, index, focus)
        unknown = not any(t.fact_ids or t.key == "open" for t in targets)
        resolved.append([t for t in targets if t.key not in seen])
        seen.update(t.key for t in targets)
    return resolved


def _leans(clause: Clause) -> bool:
    """The clause only goes on about what was asked before it: "and has that altered?", "and how heavy are they?"."""
    return bool(LEANING & set(words(clause.text)[:5])) or clause.text.startswith(("what kind", "how much", "how often"))


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
        beyond = bool(clause.excluded) or bool({"else", "other"} & set(words(clause.text)))
        return [Target("open", (), "open", clause.yes_no, beyond=beyond)]
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
        if asked.clause.aspects:
            return [whole]
        others = [p for p in parts if p.concept is not None and p.concept.kind == "symptom" and p.named]
        left = [p for p in others if not _speaks_of(fact_id, p, index)]
        denied = [_absent_part(p, index) for p in left if len(left) < len(parts)]
        return [whole, *(t for t in denied if not t.doubtful)]
    targets: dict[str, Target] = {}
    for part, own, is_strong in zip(parts, tied, strong, strict=True):
        if not is_strong and any(strong) and not _is_deniable(part):
            continue
        target = _one_target(part, index) if is_strong else _absent_part(part, index)
        target = whole if is_strong and whole.fact_ids and own.fact.id == whole.fact_ids[0] else target
        targets.setdefault(target.key, target)
    sure = [t for t in targets.values() if not t.doubtful]
    return sure or list(targets.values())[:1]


def _absent_part(part: Asked, index: CaseIndex) -> Target:
    return absent_target(part, doubtful=is_doubtful(part, rank_facts(part, index), index))


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
    """The fact's own words name what the part asks about, or something akin, or share a word with its plain name."""
    held = index.held_by[fact_id]
    lineages = [index.lexicon.ancestors(c.id) for c in part.named]
    if part.concept is not None and index.stems_of[fact_id] & set(content_stems(part.concept.name)):
        return True
    return f"fact:{fact_id}" in part.hits[0].values or any(held & lineage for lineage in lineages)


def _one_target(asked: Asked, index: CaseIndex, *, listed: bool = False) -> Target:
    """The best fact for one question, or the item that is not recorded. ``listed``: the clause names several things."""
    ranked = _of_the_item(rank_facts(asked, index), asked)
    best = ranked[0]
    stranger = None if listed else _stranger(asked, best, index)
    if stranger is not None:
        return absent_target(replace(asked, concept=stranger))
    if not is_answer(best, asked):
        return absent_target(asked, doubtful=is_doubtful(asked, ranked, index))
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


def _of_the_item(ranked: list[Ranked], asked: Asked) -> list[Ranked]:
    """Facts of the profile item that a question asks for as a whole go before facts that are only close in meaning."""
    if asked.hits or asked.clause.aspects:
        return ranked
    own = [r for r in ranked if r.basis == "item"]
    return [*own, *(r for r in ranked if r.basis != "item")]


def _stranger(asked: Asked, best: Ranked, index: CaseIndex) -> Concept | None:
    """A second symptom that a plain question asks about and the case does not hold ("is the rash itchy?")."""
    plain_question = asked.clause.yes_no and not asked.clause.aspects and asked.part is None and len(asked.hits) > 1
    if not plain_question or best.similarity >= thresholds()["same"] or best.basis not in NAMED_BY:
        return None
    own = index.concept_of[best.fact.id]
    named = {p for hit in asked.hits if _names(hit, best.fact, own, index) for p in hit.positions}
    for hit in reversed(asked.hits):
        concepts = [c for c in index.concepts_of(hit) if c.kind == "symptom"]
        held = f"fact:{best.fact.id}" in hit.values or any(
            index.about(c.id) or (own is not None and own in index.lexicon.ancestors(c.id)) for c in concepts
        )
        if concepts and not held and not named & set(hit.positions):
            return concepts[0]
    return None


def _names(hit: Hit[str], fact: Fact, own: str | None, index: CaseIndex) -> bool:
    held = {f"concept:{c}" for c in index.held_by[fact.id]}
    return bool({f"fact:{fact.id}", f"concept:{own}", *held} & set(hit.values))


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
