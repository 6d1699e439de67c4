"""The words of a diagnosis name, folded so that spellings, plurals and word groups agree. No stemmer, no model."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any

from verisim_tasks._yaml import parse_yaml


def word_set(text: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(text.split())


_WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)?")
_DROPPED = word_set(
    "a an the of in on at for with by from to and or as is was be his her my your their its due owing caused "
    "type grade stage s nos nec unspecified"
)
_NUMERALS = {"ii": "2", "iii": "3", "iv": "4"}
_AFTER_TYPE = {"i": "1", "one": "1", "two": "2", "three": "3", "1": "1", "2": "2"}
_NUMBERED = frozenset(("type", "grade", "stage", "bipolar", "mobitz", "group", "class"))
_LETTERED = word_set("hepatitis hep influenza hemophilia vitamin group type stanford virus")
"""An "a" behind these is a name, not an article."""
_JOINED = word_set(
    "pre post non anti peri sub intra extra hyper hypo endo epi micro macro pseudo auto gastro tracheo utero pan"
)
"""Prefixes that people write apart, with a hyphen, or together."""
_SPELLING = (
    (re.compile(r"ae|oe"), "e"),
    (re.compile(r"(?<=[a-z]{3})our$|(?<=^od)our$"), "or"),
    (re.compile(r"(?<=[a-z]{3})our(?=s$|ed$|ing$|less$)"), "or"),
    (re.compile(r"is(?=e$|ed$|es$|ing$|ation$|ations$)"), "iz"),
    (re.compile(r"yse(?=$|d$|s$)"), "yze"),
    (re.compile(r"sulph"), "sulf"),
    (re.compile(r"(?<=[a-z]{3}[bct])re$"), "er"),
    (re.compile(r"^leuk(?=o)"), "leuc"),
)
_KEEP_S = ("ss", "us", "is", "as", "os", "ps", "ms")

Groups = Mapping[tuple[str, ...], tuple[str, ...]]


def load_terminology() -> dict[str, Any]:
    """The hand-written terminology of the fixtures, as it stands in the file."""
    text = (files("verisim_fixtures") / "lexicon" / "diagnosis_synonyms.yaml").read_text(encoding="utf-8")
    data: dict[str, Any] = parse_yaml(text)
    return data


@functools.cache
def terminology() -> dict[str, Any]:
    """``load_terminology``, once a process."""
    return load_terminology()


def fold(text: str) -> str:
    """Lower case, accents and typographic quotes folded, invisible characters dropped."""
    if text.isascii():
        return text.replace("`", "'").lower()
    text = unicodedata.normalize("NFKD", text.translate({0x2019: "'", 0x2018: "'", 0x60: "'"}))
    return "".join(c for c in text if not unicodedata.combining(c) and unicodedata.category(c) != "Cf").lower()


@functools.lru_cache(maxsize=100_000)
def fold_word(word: str) -> str:
    """American spelling, no possessive, no plural."""
    word = word.split("'")[0]
    if len(word) <= 3 or not word.isalpha():
        return word
    for pattern, replacement in _SPELLING:
        word = pattern.sub(replacement, word)
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(_KEEP_S):
        return word[:-1]
    return word


def raw_tokens(text: str) -> list[str]:
    """Folded words in order, prefixes joined, numbers of types unified, empty words kept."""
    found: list[str] = []
    for word in _WORD.findall(fold(text)):
        before = found[-1] if found else ""
        if before in _JOINED and not word.isdigit():
            found[-1] = fold_word(before + word)
        elif word == "a" and before in _LETTERED:
            found.append("lettera")
        elif before in _NUMBERED and word in _AFTER_TYPE:
            found.append(_AFTER_TYPE[word])
        elif len(before) == 1 and before.isalpha() and before not in "ai" and word.isdigit():
            found[-1] = before + word
        else:
            found.append(_NUMERALS.get(word, word if word == "i" else fold_word(word)))
    return [t for t in found if t]


@functools.cache
def _groups() -> tuple[Groups, Mapping[str, int]]:
    table: dict[tuple[str, ...], tuple[str, ...]] = {}
    data = terminology()
    for section in ("anatomy", "words"):
        for canonical, forms in data[section].items():
            target = tuple(raw_tokens(canonical))
            for form in (canonical, *forms):
                table.setdefault(tuple(raw_tokens(form)), target)
    longest: dict[str, int] = {}
    for key in table:
        longest[key[0]] = max(len(key), longest.get(key[0], 0))
    return table, longest


def canonical(tokens: Sequence[str]) -> tuple[str, ...]:
    """The tokens with every word group replaced by its first form, empty words dropped, order kept."""
    groups, longest = _groups()
    found: list[str] = []
    position = 0
    while position < len(tokens):
        for size in range(min(longest.get(tokens[position], 0), len(tokens) - position), 0, -1):
            target = groups.get(tuple(tokens[position : position + size]))
            if target is not None:
                found.extend(target)
                position += size
                break
        else:
            found.append(tokens[position])
            position += 1
    kept = tuple(t for t in found if t not in _DROPPED)
    return kept or tuple(found)


def name_tokens(text: str) -> tuple[str, ...]:
    """Canonical tokens of a diagnosis name."""
    return canonical(raw_tokens(text))


@functools.cache
def anatomy() -> frozenset[str]:
    """Canonical tokens that only name a part of the body."""
    return frozenset(t for name in terminology()["anatomy"] for t in raw_tokens(name))


WEAK = frozenset(("disease", "syndrome", "acute", "uncomplicated", "simple", "idiopathic", "nonspecific"))
"""Words that a name may gain or lose and still mean the same in a search."""


def strong_key(tokens: Iterable[str]) -> tuple[str, ...]:
    """Order-free key of a name."""
    return tuple(sorted(set(tokens)))


def weak_key(tokens: Iterable[str]) -> tuple[str, ...] | None:
    """The key without weak words; ``None`` when nothing but body parts, numbers or letters would be left."""
    kept = {t for t in tokens if t not in WEAK}
    if not kept or all(t in anatomy() or len(t) < 3 for t in kept):
        return None
    return tuple(sorted(kept))
