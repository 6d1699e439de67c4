"""Words that say the same, words that carry no fact, ways that exclude each other: ``lexicon/verify_words.yaml``."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any

from verisim_tasks.language.lexicon import load_yaml
from verisim_tasks.language.words import fold, stem, words


@functools.cache
def _tables() -> Mapping[str, Any]:
    loaded: dict[str, Any] = load_yaml("verify", "verify_words.yaml")
    return loaded


@functools.cache
def listed(name: str) -> frozenset[str]:
    """Stems of the words of one list."""
    return frozenset(stem(w) for w in words(str(_tables()[name])))


@functools.cache
def _rows() -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for number, row in enumerate(_tables()["same"]):
        for word in row:
            found.setdefault(stem(fold(str(word))), set()).add(f"={number}")
    return {k: frozenset(v) for k, v in found.items()}


@functools.cache
def phrases() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Fixed phrases and the word each is turned into."""
    return tuple((re.compile(k), f" {v} ") for k, v in _tables()["phrases"].items())


@functools.cache
def opposed() -> tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]:
    """What is claimed, and what in a fact speaks against it."""
    return tuple((re.compile(claim), re.compile(fact)) for claim, fact in _tables()["opposed"])


@functools.lru_cache(maxsize=50_000)
def meanings(word_stem: str) -> frozenset[str]:
    """The stem itself and the rows of like words it stands in."""
    return frozenset((word_stem,)) | _rows().get(word_stem, frozenset())


@functools.cache
def unsure() -> re.Pattern[str]:
    """Words of a fact that tells what should be done, and not what is."""
    return re.compile(_tables()["unsure"])


@functools.cache
def _restatements() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(found, re.IGNORECASE), other) for found, other in _tables()["restated"])


def restated(text: str) -> str:
    """The text with ways of speaking put as the record would ("haven't smoked for ten years")."""
    for found, other in _restatements():
        text = found.sub(other, text)
    return text
