"""All names of diagnoses, hand-written ones and those of ICD-10-CM, and finding them by their words."""

from __future__ import annotations

import functools
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from verisim_tasks.language.icd_codes import Code, code_table
from verisim_tasks.language.icd_spelling import Speller
from verisim_tasks.language.icd_words import (
    WEAK,
    anatomy,
    canonical,
    name_tokens,
    raw_tokens,
    strong_key,
    terminology,
    weak_key,
)

Source = Literal["synonym", "title"]

_CODING_TAIL = re.compile(
    r",?\s*(?:not elsewhere classified|not otherwise specified|without complications?|"
    r"unspecified(?:\s+(?:site|organism|cause|type|as to .*))?)\s*$",
    re.IGNORECASE,
)
_BRACKETS = re.compile(r"\s*(?:\([^()]*\)|\[[^\[\]]*\])")
_SQUARE = re.compile(r"\[([^\[\]]{3,})\]")
_SIDED = re.compile(r"\b(?:right|left|bilateral|initial encounter|subsequent|sequela)\b", re.IGNORECASE)
_MANY_TOKENS = 14


@dataclass(frozen=True)
class Name:
    """One name of one code."""

    text: str
    code: str
    tokens: frozenset[str]
    source: Source
    broad: bool = False
    """Too little to be a diagnosis ("diabetes", "stroke")."""


class NameIndex:
    """Names found by all their words, by all but the weak ones, written together, or by shared words."""

    def __init__(self, names: Iterable[Name]) -> None:
        self.names = list(names)
        self._strong: dict[tuple[str, ...], list[int]] = defaultdict(list)
        self._weak: dict[tuple[str, ...], list[int]] = defaultdict(list)
        self._postings: dict[str, list[int]] = defaultdict(list)
        for place, name in enumerate(self.names):
            self._strong[strong_key(name.tokens)].append(place)
            if weak := weak_key(name.tokens):
                self._weak[weak].append(place)
            for token in name.tokens:
                self._postings[token].append(place)
        self._size = max(len(self.names), 2)

    def exact(self, tokens: Iterable[str]) -> list[Name]:
        """Names with exactly these words, in any order."""
        return [self.names[i] for i in self._strong.get(strong_key(tokens), ())]

    def near(self, tokens: Iterable[str]) -> list[Name]:
        """Names with these words once "disease", "acute" and the like are left out on both sides."""
        key = weak_key(tokens)
        return [self.names[i] for i in self._weak.get(key, ())] if key else []

    def weight(self, token: str) -> float:
        """How much a word tells: rare words more, parts of the body and weak words less."""
        rarity = math.log(self._size / (1 + len(self._postings.get(token, ()))))
        return max(rarity, 0.5) * (0.25 if token in WEAK else 0.6 if token in anatomy() else 1.0)

    def overlap(self, tokens: Sequence[str]) -> list[tuple[float, Name]]:
        """Names that share telling words with the text and a score in 0-1, unsorted."""
        asked = frozenset(tokens)
        telling = sorted((t for t in asked if t in self._postings), key=lambda t: (-self.weight(t), t))
        places = sorted({i for t in telling[:4] for i in self._postings[t]})
        total = sum(self.weight(t) for t in asked)
        found = []
        for place in places:
            name = self.names[place]
            shared = sum(self.weight(t) for t in asked & name.tokens)
            covered, precise = shared / total, shared / sum(self.weight(t) for t in name.tokens)
            score = 0.6 * covered + 0.4 * precise
            if not (asked & name.tokens) - anatomy() - WEAK:
                score *= 0.5
            found.append((round(score, 4), name))
        return found


def variants(text: str) -> list[str]:
    """The forms of an ICD title under which people look for it: without coding tails and non-essential modifiers."""
    bare = _BRACKETS.sub("", text).strip()
    forms = [text, bare, _CODING_TAIL.sub("", bare), *_SQUARE.findall(text)]
    return [f for f in dict.fromkeys(forms) if f.strip()]


def hand_written() -> Iterator[Name]:
    """Names of the terminology file, preferred meanings first, then in the order of the file."""
    data = terminology()
    for text, codes in data["preferred"].items():
        for code in codes:
            yield Name(text, code, frozenset(name_tokens(text)), "synonym")
    for section in ("broad", "names"):
        for code, names in data[section].items():
            for text in names:
                yield Name(text, code, frozenset(name_tokens(text)), "synonym", broad=section == "broad")


def listed() -> Iterator[Name]:
    """Names of ICD-10-CM itself; sides, injuries by place and external causes are left out."""
    for row in code_table().values():
        if not _searchable(row):
            continue
        seen: set[frozenset[str]] = set()
        for text in (form for name in row.names for form in variants(name)):
            tokens = frozenset(name_tokens(text))
            if tokens not in seen and len(tokens) <= _MANY_TOKENS:
                seen.add(tokens)
                yield Name(row.title, row.code, tokens, "title")


def _searchable(row: Code) -> bool:
    chapter, length = row.code[0], len(row.code)
    if chapter in "VWXY" or (chapter in "ST" and length > 6):
        return False
    return not (length > 6 and _SIDED.search(row.title))


@functools.cache
def hand_index() -> NameIndex:
    """Index of the hand-written names."""
    return NameIndex(hand_written())


@functools.cache
def full_index() -> NameIndex:
    """Index of all names, hand-written ones first."""
    return NameIndex([*hand_index().names, *listed()])


@functools.cache
def speller() -> Speller:
    """Knows every word of every name; words of hand-written names weigh more."""
    counts: Counter[str] = Counter()
    listed_names = [name for row in code_table().values() if _searchable(row) for name in row.names]
    for name in listed_names:
        counts.update(raw_tokens(name))
    data = terminology()
    groups = [(k, *v) for section in ("anatomy", "words") for k, v in data[section].items()]
    texts = [t for section in ("broad", "names") for names in data[section].values() for t in names]
    written = [*data["preferred"], *texts, *(form for group in groups for form in group)]
    for text in written:
        for token in raw_tokens(text):
            counts[token] += 100
    words = {w for text in (*listed_names, *written) for w in re.findall(r"[A-Za-z]+", text)}
    short = {w.lower() for w in words if w.isupper()} - {w.lower() for w in words if not w.isupper()}
    return Speller(counts, short)


def mended_tokens(text: str) -> tuple[str, ...]:
    """Canonical tokens with misspelt words mended where one meaning is clear."""
    known = speller()
    return canonical([known.mend(t) or t for t in raw_tokens(text)])


@functools.cache
def compact_names() -> dict[str, Name]:
    """Hand-written names written as one word: "heartattack"."""
    table: dict[str, Name] = {}
    for name in hand_index().names:
        table.setdefault("".join(raw_tokens(name.text)), name)
    return table


@functools.cache
def spoken_names() -> tuple[Name, ...]:
    """Names to compare by meaning: hand-written ones but short forms, and titles of the categories without one."""
    chosen: dict[str, Name] = {}
    for name in hand_index().names:
        if len(name.text) > 4 and not name.text.isupper():
            chosen.setdefault(name.text.lower(), name)
    covered = {name.code[:3] for name in hand_index().names}
    for row in code_table().values():
        if len(row.code) == 3 and row.code not in covered and row.code[0] not in "VWXYZ":
            chosen.setdefault(row.title.lower(), Name(row.title, row.code, frozenset(), "title"))
    return tuple(chosen.values())
