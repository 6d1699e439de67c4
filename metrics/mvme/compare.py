"""Does a report say what a case item says? Concepts, words and sentence embeddings, English only.

An item is covered by a clause that is alike in meaning (embedding) or that holds most of its telling words, give or
take spelling; or by one that names all its lexicon concepts. A clause that denies what the item states, or the other
way round, does not count.

The limits are measured on the case bank; ``fixtures/mvme/coverage.yaml`` says how, and what they find and miss.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from rapidfuzz import fuzz, process

from verisim_tasks.language.embedding import Vectors, default_encoder, similarities
from verisim_tasks.language.lexicon import default_lexicon, load_yaml

_CLAUSE = re.compile(r"[\n;!?]+|\.(?=\s|$)|(?:^|(?<=\s))(?:[-*•]|\(?\d{1,2}[.)])\s")
_PART = re.compile(r",\s+(?:and\s+|but\s+)?|\s+(?:but|although)\s+")
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*|\d+(?:[.,]\d+)*")
_DENIAL = re.compile(
    r"\b(?:no|not|nor|without|denie[sd]|denying|never|none|absent|negative for|free of|rules? out|n't)\b", re.IGNORECASE
)
MAX_CLAUSES = 200
_MAX_CLAUSE = 400


@dataclass(frozen=True)
class Text:
    """A part of a report, cut into clauses."""

    clauses: tuple[str, ...]
    words: tuple[frozenset[str], ...]
    vectors: Vectors


def settings() -> Any:
    """Thresholds and weights, see ``fixtures/mvme/coverage.yaml``."""
    return load_yaml("mvme", "coverage.yaml")


@functools.cache
def _stop_words() -> frozenset[str]:
    return frozenset(str(settings()["stop_words"]).split())


@functools.lru_cache(maxsize=50_000)
def telling_words(text: str) -> frozenset[str]:
    """The words and numbers of a text that carry meaning, lower case."""
    return frozenset(
        w for w in _WORD.findall(text.casefold()) if w not in _stop_words() and (len(w) > 1 or w.isdigit())
    )


def read(text: str) -> Text:
    """A text in clauses: sentences and lines, and the parts of those with commas beside them."""
    clauses: dict[str, None] = {}
    for sentence in _CLAUSE.split(text):
        bare = sentence.strip(" \t*_#:-")[:_MAX_CLAUSE]
        parts = [p.strip() for p in _PART.split(bare) if p.strip()]
        clauses.update(dict.fromkeys([bare, *parts] if len(parts) > 1 and len(bare) > 1 else parts))
    kept = tuple(clauses)[:MAX_CLAUSES]
    return Text(kept, tuple(map(telling_words, kept)), default_encoder().encode([c.casefold() for c in kept]))


def denies(text: str) -> bool:
    """Whether a clause denies."""
    return bool(_DENIAL.search(text))


def matches(items: Sequence[str], text: Text, part: str, denied: Sequence[bool] | None = None) -> list[tuple[int, ...]]:
    """For each item the places of the clauses that say it.

    Args:
        items: What the case holds.
        text: What the report says.
        part: ``symptoms``, ``rationale`` or ``treatment``; each has its own limit.
        denied: Which items are denials, where that is known.
    """
    if not items or not text.clauses:
        return [() for _ in items]
    near = similarities(default_encoder().encode([i.casefold() for i in items]), text.vectors)
    recorded = denied if denied is not None else [denies(i) for i in items]
    polarity = [{negative, denies(item)} for item, negative in zip(items, recorded, strict=True)]
    limit = float(settings()["same"]["embedding"][part])
    clause_denies = [denies(c) for c in text.clauses]
    return [
        tuple(
            place
            for place in range(len(text.clauses))
            if clause_denies[place] in allowed and (near[row, place] >= limit or _says(item, text.clauses[place], part))
        )
        for row, (item, allowed) in enumerate(zip(items, polarity, strict=True))
    ]


@functools.lru_cache(maxsize=500_000)
def _says(item: str, clause: str, part: str) -> bool:
    """By its words or its concepts; the same clauses come again in the reports on all variants of a case."""
    share = word_share(telling_words(item), telling_words(clause))
    return share >= float(settings()["same"]["words"]) or _names(item, clause, part)


def word_share(wanted: frozenset[str], given: frozenset[str]) -> float:
    """Share of the wanted words that are there, give or take spelling; 0 for fewer than two wanted words."""
    if len(wanted) < int(settings()["few_words"]) or not given:
        return 0.0
    rows = process.cdist(sorted(wanted), sorted(given), scorer=fuzz.ratio, dtype=np.float32)
    return float(np.mean(rows.max(axis=1) >= settings()["same"]["word_likeness"]))


def _names(item: str, clause: str, part: str) -> bool:
    """Whether the clause names all concepts of the item; of a treatment, one medicine or procedure of it."""
    wanted = concepts(item)
    if part == "treatment":
        wanted = frozenset(w for w in wanted if default_lexicon().concepts[w].kind in ("drug", "procedure"))
    if not wanted:
        return False
    given = concepts(clause)
    named = [any(w in default_lexicon().ancestors(g) for g in given) for w in sorted(wanted)]
    return any(named) if part == "treatment" else all(named)


@functools.lru_cache(maxsize=20_000)
def concepts(text: str) -> frozenset[str]:
    """Lexicon concepts that the text names; where names overlap the one of more words wins, the first of equals."""
    taken: set[int] = set()
    found: set[str] = set()
    for hit in sorted(default_lexicon().mentions(text), key=lambda h: (-h.weight, h.positions, h.phrase)):
        if taken.isdisjoint(hit.positions):
            taken.update(hit.positions)
            found.update(sorted(hit.values)[:1])
    return frozenset(found)
