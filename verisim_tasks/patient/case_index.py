"""One case prepared for questions: what its facts are about, in concepts, words, places and meaning."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from verisim_tasks.language.body import sites
from verisim_tasks.language.embedding import Encoder, Vectors, similarities
from verisim_tasks.language.lexicon import Concept, Lexicon, load_yaml
from verisim_tasks.language.phrases import Hit, PhraseIndex, resolve_overlaps
from verisim_tasks.language.words import content_stems, words
from verisim_tasks.noise.markup import plain
from verisim_tasks.patient.questions import is_generic
from verisim_tasks.records.case import Case, Fact

UNSPOKEN_CONCEPTS = ("age", "gender", "race", "occupation", "insurance", "arrival_transport")
"""Items that are asked for as such ("how old are you?"), never by a clinical concept."""

LISTED_ITEMS = ("allergies", "medication", "medical_device", "tobacco", "alcohol", "illicit_drug", "arrival_transport")
"""Items whose facts mention symptoms only in passing."""
CIRCUMSTANCES = ("aggravating", "relieving", "context")
"""Sides of a complaint whose facts mention other symptoms only as circumstances."""


@dataclass
class CaseIndex:
    """One case prepared for questions. Build with :func:`index_case`."""

    case: Case
    lexicon: Lexicon
    encoder: Encoder
    terms: PhraseIndex[str]
    """The case's own words for its facts, to ``fact:<id>``."""
    cues: PhraseIndex[str]
    """The case's own ways to ask for its facts ("where did it begin"), to fact ids."""
    concept_of: dict[str, str | None]
    """Fact id to lexicon concept id."""
    documents: list[tuple[str, str]]
    """(fact id, text) pairs that embeddings are compared with."""
    questions: list[tuple[str, str]]
    """(fact id, question) pairs: how doctors ask for the fact."""
    by_item: dict[str, list[Fact]] = field(default_factory=dict)
    sites_of: dict[str, frozenset[str]] = field(default_factory=dict)
    """Fact id to the body parts it speaks of."""
    stems_of: dict[str, frozenset[str]] = field(default_factory=dict)
    """Fact id to the stems of its own words."""
    held_by: dict[str, frozenset[str]] = field(default_factory=dict)
    """Fact id to the lexicon concepts that its own words name."""
    topics_of: dict[str, frozenset[str]] = field(default_factory=dict)
    """Fact id to the turns of a question that it answers (a reason, keeping to treatment, other people)."""

    def mentions(self, text: str) -> list[Hit[str]]:
        """What the text names: ``fact:<id>`` by the case's words, ``concept:<id>`` by the lexicon's."""
        concepts = [
            Hit(h.phrase, tuple(f"concept:{v}" for v in h.values), h.positions, h.content)
            for h in self.lexicon.mentions(text)
        ]
        return resolve_overlaps([*concepts, *self.terms.candidates(text)])

    def similarity(self, *texts: str) -> dict[str, float]:
        """Best similarity (-1 to 1, rounded) of any of the texts to each fact."""
        return self._closest(texts, [i for i, _ in self.documents], self._document_vectors)

    def question_similarity(self, *texts: str) -> dict[str, float]:
        """The same to the questions by which each fact is asked for; facts without such questions are left out."""
        return self._closest(texts, [i for i, _ in self.questions], self._question_vectors) if self.questions else {}

    @functools.cached_property
    def _document_vectors(self) -> Vectors:
        return self.encoder.encode([text for _, text in self.documents])

    @functools.cached_property
    def _question_vectors(self) -> Vectors:
        return self.encoder.encode([text for _, text in self.questions])

    def _closest(self, texts: Sequence[str], fact_ids: Sequence[str], vectors: Vectors) -> dict[str, float]:
        scores = similarities(self.encoder.encode(list(dict.fromkeys(texts))), vectors)
        best: dict[str, float] = {}
        for fact_id, score in zip(fact_ids, scores.max(axis=0).tolist(), strict=True):
            best[fact_id] = max(best.get(fact_id, -1.0), score)
        return best

    def about(self, concept_id: str) -> list[Fact]:
        """Facts whose concept is this one or a kind of it."""
        own = ((f, self.concept_of[f.id]) for f in self.case.facts)
        return [f for f, concept in own if concept is not None and concept_id in self.lexicon.ancestors(concept)]

    def concepts_of(self, hit: Hit[str]) -> list[Concept]:
        """The lexicon concepts that a phrase may name, by id."""
        return [self.lexicon.concepts[v[8:]] for v in sorted(hit.values) if v.startswith("concept:")]


def index_case(case: Case, lexicon: Lexicon, encoder: Encoder) -> CaseIndex:
    """Prepare a case for questions."""
    concept_of = {f.id: _concept_id(f, lexicon) for f in case.facts}
    entries = [
        (term, f"fact:{fact.id}") for fact in case.facts for term in (*fact.terms, fact.concept) if not is_generic(term)
    ]
    index = CaseIndex(
        case=case,
        lexicon=lexicon,
        encoder=encoder,
        terms=PhraseIndex(entries),
        cues=PhraseIndex(
            ((t, f.id) for f in case.facts for t in f.terms if len(words(t)) > 1 and is_generic(t)), literal=True
        ),
        concept_of=concept_of,
        documents=[(f.id, text) for f in case.facts for text in fact_documents(f)],
        questions=[(f.id, question) for f in case.facts for question in f.asked],
    )
    for fact in case.facts:
        told = (plain(fact.lay), fact.statement, fact.concept, *fact.terms)
        index.by_item.setdefault(fact.category, []).append(fact)
        index.stems_of[fact.id] = frozenset(content_stems(" ".join(told)))
        known = lexicon.concepts.get(concept_of[fact.id] or "")
        placed = (plain(fact.lay), fact.statement, fact.concept, known.name if known else "")
        index.sites_of[fact.id] = sites(" ".join(placed))
        named = {c for text in told for hit in resolve_overlaps(lexicon.mentions(text)) for c in hit.values}
        index.held_by[fact.id] = frozenset(c for c in named if _tells_of(fact, lexicon.concepts[c]))
        spreads = {"spread"} if fact.aspect in ("location", "radiation", "course") else set()
        index.topics_of[fact.id] = _topics(" . ".join(told).lower()) | spreads
    return index


def _tells_of(fact: Fact, concept: Concept) -> bool:
    """The fact tells whether this is so, and does not only mention it: a rash from penicillin, pain on coughing."""
    if concept.kind != "symptom":
        return True
    return fact.category not in LISTED_ITEMS and fact.aspect not in CIRCUMSTANCES


def _concept_id(fact: Fact, lexicon: Lexicon) -> str | None:
    if fact.category in UNSPOKEN_CONCEPTS:
        return None
    for name in (fact.concept, *fact.terms):
        concept = lexicon.named(name)
        if concept is not None:
            return concept.id
        if name == fact.concept and len(words(name)) > 2:
            hits = lexicon.index.find(name)
            if hits and hits[0].weight >= len(content_stems(name)):
                return hits[0].values[0]
    return None


def fact_documents(fact: Fact) -> list[str]:
    """The few texts that stand for a fact's meaning; each costs its encoding."""
    texts = [plain(fact.lay), fact.statement]
    if fact.category in UNSPOKEN_CONCEPTS:
        texts += load_yaml("lexicon", "questions.yaml")["items"][fact.category][:2]
    elif fact.aspect is None:
        texts.append(f"Do you have {fact.concept}?")
    else:
        texts.append(f"{fact.concept}: {fact.aspect}")
    if fact.colloquial:
        texts.append(plain(fact.colloquial))
    texts += [t for t in fact.terms if len(words(t)) > 1][:2]
    return texts


def _topics(told: str) -> frozenset[str]:
    return frozenset(name for name, holds in _topic_patterns() if holds.search(told))


@functools.cache
def _topic_patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    rows = load_yaml("lexicon", "questions.yaml")["topics"]
    return tuple((name, re.compile(rf"\b(?:{'|'.join(row['facts'])})\b")) for name, row in sorted(rows.items()))
