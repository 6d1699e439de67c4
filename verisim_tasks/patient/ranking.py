"""How well each fact of a case answers one question: words, concepts, sides, items and meaning, in one linear score."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verisim_tasks.language.body import sites
from verisim_tasks.language.lexicon import Concept, load_yaml
from verisim_tasks.language.phrases import Hit
from verisim_tasks.language.words import content_stems, stem, words
from verisim_tasks.patient.questions import Clause
from verisim_tasks.records.case import Fact

if TYPE_CHECKING:
    from verisim_tasks.patient.case_index import CaseIndex

DECIMALS = 3
"""Scores are rounded to this before they are compared."""


@dataclass(frozen=True)
class Asked:
    """One question with what it names."""

    clause: Clause
    hits: tuple[Hit[str], ...]
    focus: str
    """The concept that "it" refers to."""
    concept: Concept | None
    """The lexicon concept the question is about, where it names one."""
    part: str | None = None
    """The words of one member of a list, where the clause lists several."""
    named: tuple[Concept, ...] = ()
    """All lexicon concepts that the question names."""
    cued: frozenset[str] = frozenset()
    """Facts one of whose terms is a way to ask, and stands in the question ("where did it begin")."""

    @property
    def text(self) -> str:
        """What is compared with the facts."""
        return self.part or self.clause.core

    @property
    def plain_text(self) -> str:
        """The same with the plain name of what it names: "any emesis", "have you got the runs"."""
        if self.part is not None:
            return f"{self.concept.name}?" if self.concept else self.text
        known = {" ".join(words(term)): c.name for c in self.named for term in (*c.terms, *c.asked)}
        said = words(self.clause.text)
        changed = False
        for hit in self.hits:
            lay = known.get(" ".join(words(hit.phrase)))
            if lay is not None and not set(content_stems(lay)) <= {stem(said[p]) for p in hit.positions}:
                changed = True
                said[hit.positions[0]] = lay
                for position in hit.positions[1:]:
                    said[position] = ""
        return " ".join(w for w in said if w) if changed else self.text


@dataclass(frozen=True)
class Ranked:
    """One fact with its score."""

    fact: Fact
    score: float
    """Log-odds that this fact answers the question."""
    margin: float
    """By how much it is ahead of the next fact."""
    basis: str
    """What ties the fact to the question: the strongest of :data:`BASES`."""
    charted: bool
    """The lexicon knows what the fact is about."""
    features: Mapping[str, float]
    """All that speaks for and against it (see :func:`features_of`)."""

    @property
    def similarity(self) -> float:
        """How close the fact's own words are in meaning, -1 to 1."""
        return self.features["similarity"]

    @property
    def named(self) -> bool:
        """The question used a word for the fact or for its concept."""
        return any(self.features[name] for name in ("term", "phrase", "concept", "held", "broader"))


BASES = (
    "phrase",
    "concept",
    "aspect",
    "held",
    "item",
    "implied",
    "topic",
    "narrower",
    "other",
    "other_kind",
    "broader",
    "akin",
    "term",
)
"""Ties in order of strength. ``held``: the fact's own words name what is asked about; ``broader``: the question names
something more general than the fact; ``narrower``: more special, ``implied`` where the fact denies the general;
``akin``: a relative; ``other`` and ``other_kind``: a symptom, or something else, that the fact is not about.
A fact with none of them is tied by meaning alone (``meaning``)."""
_TIES = ("term", "phrase", "long_phrase", "concept", "held", "broader", "narrower", "implied", "akin")
KIN_ITEMS = {
    "living_situation": ("marital_status", "children"),
    "marital_status": ("living_situation", "children"),
}
"""Items that answer for another which the case does not hold."""
PLACED = ("pain", "swelling", "lump")
"""Symptoms that are told apart by their place: one in another place is another symptom, not a special case."""
BARRING = ("elsewhere", "excluded", "barred", "family")
"""Features that keep a fact from being the answer."""
STRICT_TOPICS = ("injury", "spread")
"""Turns that only a fact which speaks of them can answer."""
ELSEWHERE = 100.0
"""Taken off the score of a fact about another part of the body: it is never the answer."""


@functools.cache
def weights() -> Mapping[str, float]:
    """Feature weights and the intercept, fitted by ``scripts/fit_understanding.py``."""
    return {str(k): float(v) for k, v in load_yaml("lexicon", "understanding.yaml")["weights"].items()}


def rank_facts(asked: Asked, index: CaseIndex, table: Mapping[str, float] | None = None) -> list[Ranked]:
    """All facts, best first, ties by case order. ``table``: other weights than the stored ones."""
    table = table or weights()
    order = {f.id: i for i, f in enumerate(index.case.facts)}
    scored = [(_score(features, table), fact, features) for fact, features in features_of(asked, index)]
    scored.sort(key=lambda row: (-row[0], order[row[1].id]))
    following = [score for score, _, _ in scored[1:]] + [scored[-1][0]]
    return [
        Ranked(
            fact,
            score,
            round(score - after, DECIMALS),
            next((name for name in BASES if features[name]), "meaning"),
            index.concept_of[fact.id] is not None,
            features,
        )
        for (score, fact, features), after in zip(scored, following, strict=True)
    ]


def _score(features: Mapping[str, float], table: Mapping[str, float]) -> float:
    score = table["intercept"] + sum([table.get(name, 0.0) * value for name, value in features.items() if value])
    barred = max([features[name] for name in BARRING])
    return round(score - ELSEWHERE * barred, DECIMALS)


def features_of(asked: Asked, index: CaseIndex) -> list[tuple[Fact, dict[str, float]]]:
    """For every fact of the case what speaks for and against it as an answer. Values lie in -1 to 1."""
    plain = asked.plain_text
    similarity = index.similarity(asked.text, plain)
    best = max(similarity.values())
    likeness = {**similarity, **index.question_similarity(asked.text, plain)}
    closest = max(likeness.values())
    named_sites = sites(asked.text) or sites(asked.clause.text)
    sides = sides_of(asked.clause)
    sided = {f.concept for f in index.case.facts if f.aspect in sides and f.polarity == "present"}
    items = _items_asked(asked.clause, index)
    excluded = _excluded(asked.clause.excluded, index) if asked.clause.excluded else None
    content = set(content_stems(asked.text)) | set(content_stems(plain))
    return [
        (
            fact,
            {
                "similarity": similarity[fact.id],
                "nearest": float(similarity[fact.id] == best),
                "behind": best - similarity[fact.id],
                "likeness": likeness[fact.id],
                "closest": float(likeness[fact.id] == closest),
                "less_close": closest - likeness[fact.id],
                "overlap": _overlap(content, index.stems_of[fact.id]),
                **_kinship(fact, asked, index),
                **_sides(fact, asked, sides, sided),
                **_place(fact, asked, items, bool(sides), named_sites, index),
                **_topics(asked.clause, index.topics_of[fact.id]),
                "excluded": float(excluded is not None and excluded.holds(fact, index)),
            },
        )
        for fact in index.case.facts
    ]


def sides_of(clause: Clause) -> set[str]:
    """The aspects that answer a clause: how long and since when are one question."""
    sides: set[str] = set(clause.aspects)
    if "location" in sides and clause.text.startswith("where"):
        sides -= {"onset", "duration"}
    if "radiation" in sides:
        sides |= {"course"}
    return sides | {"onset", "duration"} if sides & {"onset", "duration"} else sides


def _overlap(content: set[str], own: frozenset[str]) -> float:
    """Share of the question's content words that the fact's own words hold."""
    return len(content & own) / len(content) if content else 0.0


def _kinship(fact: Fact, asked: Asked, index: CaseIndex) -> dict[str, float]:
    """How what the question names relates to the fact."""
    own = index.concept_of[fact.id]
    lineage = index.lexicon.ancestors(own) if own else frozenset()
    held = index.held_by[fact.id]
    found = dict.fromkeys(_TIES, 0.0)
    for hit in asked.hits:
        if f"fact:{fact.id}" in hit.values:
            found["phrase" if hit.weight > 1 else "term"] = 1.0
            found["long_phrase"] = max(found["long_phrase"], float(hit.weight > 2))
    for concept in asked.named:
        asked_lineage = index.lexicon.ancestors(concept.id)
        if concept.id == own:
            found["concept"] = 1.0
        elif concept.id in held:
            found["held"] = 1.0
        elif concept.id in lineage:
            found["broader"] = 1.0
        elif own in asked_lineage and own not in PLACED:
            found["narrower" if fact.polarity == "present" else "implied"] = 1.0
        elif lineage & asked_lineage:
            found["akin"] = 1.0
    related = sum(found[n] for n in ("phrase", "concept", "held", "broader", "implied"))
    symptom = asked.concept is not None and asked.concept.kind == "symptom"
    found["other"] = float(symptom and related == 0)
    found["other_kind"] = float(asked.concept is not None and not symptom and related + found["term"] == 0)
    return found


def _sides(fact: Fact, asked: Asked, sides: Set[str], sided: Set[str]) -> dict[str, float]:
    """Whether the fact is about the side of the complaint that was asked about. ``sided``: what has such a fact."""
    fits = bool(sides) and fact.aspect in sides
    pronoun = fits and fact.concept == asked.focus and fact.polarity == "present"
    return {
        "cue": float(fact.id in asked.cued),
        "aspect": float(fits),
        "other_aspect": float(bool(sides) and not fits and fact.aspect is not None),
        "rival": float(bool(sides) and not fits and fact.concept in sided),
        "presence": float(not sides and fact.aspect is None),
        "focus": float(pronoun and not asked.hits),
        "focus_named": float(pronoun and bool(asked.hits)),
    }


def _items_asked(clause: Clause, index: CaseIndex) -> set[str]:
    """The profile items asked for, or those that answer for them."""
    items: set[str] = set(clause.items)
    if not items & set(index.by_item):
        items |= {kin for item in clause.items for kin in KIN_ITEMS.get(item, ())}
    return items


def _place(
    fact: Fact, asked: Asked, items: Set[str], sided: bool, named: frozenset[str], index: CaseIndex
) -> dict[str, float]:
    """Item, part of the body, and whether it was said at the start."""
    own = index.sites_of[fact.id]
    family = fact.category == "family_medical_history"
    side = fact.aspect in ("location", "radiation") and sided
    elsewhen = asked.clause.text.startswith("where") and fact.aspect in ("onset", "duration", "timing", "severity")
    return {
        "item": float(fact.category in items),
        "other_item": float(bool(items) and fact.category not in items),
        "family": float(family and "family_medical_history" not in items),
        "here": float(bool(named & own)),
        "elsewhere": float((bool(named and own and not named & own) and not side) or elsewhen),
        "opening": float(fact.category == "chief_complaint"),
    }


def _topics(clause: Clause, own: frozenset[str]) -> dict[str, float]:
    """Whether the fact takes the turn that the question asks for: a reason, keeping to treatment, other people."""
    asked = clause.topics[:1]
    return {
        "topic": float(any(topic in own for topic in asked)),
        "off_topic": float(any(topic not in own for topic in asked)),
        "no_reason": float("reason" in asked and "reason" not in own),
        "of_others": float("others" in own and "others" not in clause.topics),
        "barred": float(any(topic in STRICT_TOPICS and topic not in own for topic in clause.topics)),
    }


@dataclass(frozen=True)
class _Excluded:
    """What a question leaves out ("apart from the cough")."""

    values: frozenset[str]
    places: frozenset[str]

    def holds(self, fact: Fact, index: CaseIndex) -> bool:
        """The fact is about it."""
        own = index.concept_of[fact.id]
        left_out = self.places & sites(fact.concept if fact.aspect else f"{fact.concept} {fact.statement}")
        return f"fact:{fact.id}" in self.values or f"concept:{own}" in self.values or bool(left_out)


def _excluded(text: str, index: CaseIndex) -> _Excluded:
    return _Excluded(frozenset(v for hit in index.mentions(text) for v in hit.values), frozenset(sites(text)))
