"""Which profile items a sentence is about: from its words alone, or from what the transcript records.

``TextRelation`` needs only text and works on any patient. ``tagged_items`` reads the fact ids of our scripted
patient's segments; its scores are reported apart.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from verisim_metrics.patientsim.profile import Item, plain_words
from verisim_metrics.patientsim.utterances import Utterance
from verisim_tasks.language.embedding import Encoder, Vectors, default_encoder, similarities
from verisim_tasks.language.lexicon import default_lexicon, load_yaml
from verisim_tasks.language.words import content_stems, fold

_TAKES = re.compile(r"\b(?:tak(?:e|es|ing)|on|us(?:e|es|ing)|prescribed|give[ns]?|put (?:me|him|her) on)\b")
"""Beside the name of a drug: it is one of the medicines."""

SEEN = 2_000
"""Sentences remembered for each profile."""


@dataclass(frozen=True)
class Weights:
    """How likeness, shared words and shared concepts add up. Measured on the scripted patient's segments."""

    least: float = 0.52
    """Least score of a related item."""
    behind: float = 0.12
    """How far a further item may stand behind the best one."""
    most: int = 3
    """Most items of one sentence."""
    words: float = 0.20
    """For the share of the sentence's content words that stand in the item."""
    concept: float = 0.12
    """For a shared concept of the lexicon."""
    topic: float = 0.12
    """For an item that is spoken of by name ("allergic", "my mother")."""


@dataclass(frozen=True)
class _Profile:
    """What of a profile is compared with sentences; one row for each item."""

    items: tuple[Item, ...]
    texts: Vectors
    lays: Vectors
    stems: tuple[frozenset[str], ...]
    concepts: tuple[frozenset[str], ...]
    seen: dict[str, tuple[Item, ...]] = field(default_factory=dict)
    """What sentences were related to, by content; emptied when full."""


class TextRelation:
    """Relates sentences to profile items by likeness, shared words and shared concepts.

    Deterministic: similarities are rounded before they are compared, ties go by the items' order.
    """

    def __init__(self, encoder: Encoder | None = None, weights: Weights | None = None) -> None:
        self._encoder = encoder or default_encoder()
        self._weights = weights or Weights()
        self._profile = functools.lru_cache(maxsize=256)(self._compiled)

    def related(self, sentences: Sequence[str], items: tuple[Item, ...]) -> list[tuple[Item, ...]]:
        """For each sentence the items it is about, the closest first; empty where it is about none."""
        if not sentences or not items:
            return [() for _ in sentences]
        profile = self._profile(items)
        known = {text: profile.seen[text] for text in sentences if text in profile.seen}
        new = sorted(set(sentences) - set(known))
        if new:
            vectors = self._encoder.encode(new)
            likeness = np.maximum(similarities(vectors, profile.texts), similarities(vectors, profile.lays))
            known.update((text, self._chosen(text, row, profile)) for text, row in zip(new, likeness, strict=True))
        if len(profile.seen) > SEEN:
            profile.seen.clear()
        profile.seen.update(known)
        return [known[text] for text in sentences]

    def _compiled(self, items: tuple[Item, ...]) -> _Profile:
        told = [f"{item.text} {item.lay} {' '.join(item.terms)}" for item in items]
        return _Profile(
            items=items,
            texts=self._encoder.encode([item.text for item in items]),
            lays=self._encoder.encode([item.lay or item.text for item in items]),
            stems=tuple(frozenset(content_stems(text)) for text in told),
            concepts=tuple(_concepts(f"{item.text} {item.lay}") for item in items),
        )

    def _chosen(self, text: str, likeness: Vectors, profile: _Profile) -> tuple[Item, ...]:
        weights, stems, concepts, topics = self._weights, frozenset(content_stems(text)), _concepts(text), _topics(text)
        scores: list[float] = []
        for k, item in enumerate(profile.items):
            score = float(likeness[k])
            score += weights.words * len(stems & profile.stems[k]) / len(stems) if stems else 0.0
            score += weights.concept if concepts & profile.concepts[k] else 0.0
            score += weights.topic if item.category in topics else 0.0
            scores.append(round(score, 3))
        order = sorted(range(len(scores)), key=lambda k: (-scores[k], k))
        facts = [k for k in order if not profile.items[k].is_closing and scores[k] >= weights.least]
        near = [k for k in facts if scores[k] >= scores[facts[0]] - weights.behind]
        if near:
            chosen = tuple(profile.items[k] for k in near[: weights.most])
            return (*chosen, *_closings(chosen, concepts, profile))
        return tuple(item for item in profile.items if item.is_closing and item.category in topics)[:1]


def _closings(chosen: Sequence[Item], concepts: frozenset[str], profile: _Profile) -> tuple[Item, ...]:
    """The end of a complete list, where the sentence names something that the list does not hold."""
    found: list[Item] = []
    for closing in (item for item in profile.items if item.is_closing):
        held = {
            i for k, item in enumerate(profile.items) if item.category == closing.category for i in profile.concepts[k]
        }
        if any(item.category == closing.category for item in chosen) and _listed(concepts) and not concepts & held:
            found.append(closing)
    return tuple(found)


def _listed(concepts: frozenset[str]) -> bool:
    known = default_lexicon().concepts
    return any(known[i].kind in ("drug", "condition", "allergy_agent", "device") for i in concepts)


def related_items(
    sentences: Sequence[Utterance], items: tuple[Item, ...], relation: TextRelation
) -> list[tuple[Item, ...]]:
    """The related items of each sentence, by text alone; a short answer is read with its question."""
    return relation.related([u.hypothesis for u in sentences], items)


def tagged_items(utterance: Utterance, items: tuple[Item, ...]) -> tuple[Item, ...] | None:
    """The items of the facts that the record says a sentence tells; ``None`` where the turn carries no segments."""
    if not utterance.tagged:
        return None
    by_id: Mapping[str, Item] = {item.id: item for item in items}
    return tuple(by_id[i] for i in utterance.fact_ids if i in by_id)


@functools.lru_cache(maxsize=50_000)
def _concepts(text: str) -> frozenset[str]:
    return frozenset(i for hit in default_lexicon().mentions(plain_words(text)) for i in hit.values)


@functools.lru_cache(maxsize=50_000)
def _topics(text: str) -> frozenset[str]:
    said = fold(text)
    named = {category for category, pattern in _topic_patterns() if pattern.search(said)}
    if _TAKES.search(said) and any(default_lexicon().concepts[i].kind == "drug" for i in _concepts(text)):
        named.add("medication")
    return frozenset(named)


@functools.cache
def _topic_patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    rows = load_yaml("patientsim", "profile_items.yaml")["topics"]
    return tuple((category, re.compile(pattern)) for category, pattern in rows.items())
