"""Linking the name of a diagnosis, in anybody's words, to ICD-10-CM.

Codes, exact names (hand-written and of the list), misspellings and shared words decide; only what they leave open goes
to the sentence embeddings. Everything is deterministic.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from rapidfuzz import fuzz, process

from verisim_tasks.language.embedding import default_encoder, similarities
from verisim_tasks.language.icd_codes import code_table, find_code
from verisim_tasks.language.icd_names import (
    Name,
    NameIndex,
    compact_names,
    full_index,
    hand_index,
    mended_tokens,
    spoken_names,
)
from verisim_tasks.language.icd_spelling import confusable
from verisim_tasks.language.icd_vectors import name_vectors
from verisim_tasks.language.icd_words import canonical, raw_tokens

Rule = Literal["code", "synonym", "title", "near name", "misspelling", "words", "meaning"]

NEAR_SCORE = 0.95
MENDED_SCORE = 0.9
COMPACT_CUTOFF = 88.0
WORDS_ENOUGH = 0.72
"""A best word-overlap score at or above this needs no embeddings."""
MEANING_SHARE = 0.65
"""How much the embedding counts beside the shared words."""
CANDIDATES = 40
MAX_LENGTH = 400
"""Longer texts are cut here, in characters: a name of a diagnosis is short."""


@dataclass(frozen=True)
class Link:
    """One code a text may mean."""

    code: str
    title: str
    score: float
    """0-1; 1.0 is an exact name."""
    rule: Rule
    name: str
    """The name it was found by."""


def link(text: str, limit: int = 5) -> list[Link]:
    """The ICD-10-CM codes a diagnosis name most likely means, best first, each code once.

    An empty text, or one without a letter, has none. Raises ``UserError`` when the code list is not installed, or when
    embeddings are needed and their model is not.
    """
    return list(_link(text[:MAX_LENGTH], limit))


@functools.lru_cache(maxsize=10_000)
def _link(text: str, limit: int) -> tuple[Link, ...]:
    tokens = canonical(raw_tokens(text))
    if limit < 1 or not any(c.isalpha() for c in text):
        return ()
    if code := find_code(text):
        return (_as_link(Name(code, code, frozenset(), "title"), 1.0, "code"),)
    found = exact_links(text)
    if found and len(found) < limit:
        found = [*found, *_by_words(tokens, hand_index())]
    elif not found:
        found = _by_words(mended_tokens(text), full_index())
        if not found or found[0].score < WORDS_ENOUGH:
            found = _by_meaning(text, found)
    return tuple(_distinct(found)[:limit])


def exact_links(text: str) -> list[Link]:
    """Codes that go by this very name: all words, all but the weak ones, or mended spelling; empty when none do."""
    tokens = canonical(raw_tokens(text))
    if found := named(tokens):
        return [_as_link(n, 1.0, n.source) for n in found]
    if found := nearly_named(tokens):
        return [_as_link(n, NEAR_SCORE, "near name") for n in found]
    mended = mended_tokens(text)
    if mended != tokens and (found := named(mended) or nearly_named(mended)):
        return [_as_link(n, MENDED_SCORE, "misspelling") for n in found]
    return [_as_link(n, MENDED_SCORE, "misspelling") for n in _written_together(text)]


def named(tokens: Sequence[str]) -> list[Name]:
    """Names of exactly these words, hand-written ones alone where there are any, best first."""
    return hand_index().exact(tokens) or _ranked(full_index().exact(tokens))


def nearly_named(tokens: Sequence[str]) -> list[Name]:
    """Names of these words but for weak ones ("acute", "disease"), hand-written ones alone where there are any."""
    return hand_index().near(tokens) or _ranked(full_index().near(tokens))


def _ranked(names: Iterable[Name]) -> list[Name]:
    return sorted(names, key=lambda n: (n.source != "synonym", len(n.code), n.code))


def _written_together(text: str) -> list[Name]:
    """Hand-written names that differ only in spaces or a few letters of the whole."""
    compact = "".join(raw_tokens(text))
    table = compact_names()
    if compact in table:
        return [table[compact]]
    if len(compact) < 7:
        return []
    hits = process.extract(compact, table.keys(), scorer=fuzz.ratio, score_cutoff=COMPACT_CUTOFF, limit=5)
    good = sorted(
        (-score, key)
        for key, score, _ in hits
        if key[0] == compact[0] and abs(len(key) - len(compact)) <= 2 and not confusable(compact, key)
    )
    return [table[key] for _, key in good[:1]]


def _by_words(tokens: Sequence[str], index: NameIndex) -> list[Link]:
    scored = index.overlap(tokens)
    scored.sort(key=lambda x: (-x[0], x[1].source != "synonym", len(x[1].code), x[1].code))
    return [_as_link(name, round(0.9 * score, 3), "words") for score, name in scored[:CANDIDATES]]


def _by_meaning(text: str, by_words: Sequence[Link]) -> list[Link]:
    """The nearest names by sentence embedding, word overlap counting a little."""
    main = [_as_link(name, 0.0, "meaning") for name in spoken_names()]
    candidates = [*by_words, *main]
    encoder = default_encoder()
    vectors = np.concatenate([encoder.encode([x.name.lower() for x in by_words]), name_vectors()])
    near = similarities(encoder.encode([text.strip().lower()]), vectors)[0]
    share = {c.code: c.score for c in reversed(by_words)}
    found = []
    for candidate, similarity in zip(candidates, near.tolist(), strict=True):
        lexical = max(candidate.score, share.get(candidate.code, 0.0))
        score = MEANING_SHARE * max(similarity, 0.0) + (1 - MEANING_SHARE) * lexical
        found.append(replace(candidate, score=round(0.9 * score, 3), rule="meaning"))
    return sorted(found, key=_order)[:CANDIDATES]


def _order(found: Link) -> tuple[float, int, str, str]:
    return -found.score, len(found.code), found.code, found.name


def _as_link(name: Name, score: float, rule: Rule) -> Link:
    row = code_table().get(name.code)
    return Link(name.code, row.title if row else name.text, score, rule, name.text)


def _distinct(links: Iterable[Link]) -> list[Link]:
    best: dict[str, Link] = {}
    for found in links:
        best.setdefault(found.code, found)
    return list(best.values())
