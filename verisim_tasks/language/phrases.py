"""Finding known phrases in a clause by word stems, longest first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from verisim_tasks.language.words import STOPWORDS, stem, words

V = TypeVar("V")

SLACK = 3
"""How many foreign words may stand between the words of one phrase."""


class _Key(NamedTuple):
    """What of a phrase is looked for, and whether in order."""

    stems: tuple[str, ...]
    literal: bool


@dataclass(frozen=True)
class Hit(Generic[V]):
    """A phrase found in a clause."""

    phrase: str
    values: tuple[V, ...]
    positions: tuple[int, ...]
    """Word positions it covers."""

    @property
    def weight(self) -> int:
        """Number of words covered."""
        return len(self.positions)


class PhraseIndex(Generic[V]):
    """Maps phrases to values.

    A concept phrase is found when the stems of its content words stand close together in any order. With ``literal``
    every word counts and the order is kept, which suits turns of speech ("how long", "go on").
    Where found phrases overlap, the one with more words wins; equals all count.
    """

    def __init__(self, entries: Iterable[tuple[str, V]], *, literal: bool = False) -> None:
        self._literal = literal
        self._values: dict[_Key, list[V]] = defaultdict(list)
        self._phrase: dict[_Key, str] = {}
        for phrase, value in entries:
            key = self._key(phrase)
            if key.stems and value not in self._values[key]:
                self._values[key].append(value)
                self._phrase.setdefault(key, phrase)
        self._by_stem: Mapping[str, list[_Key]] = _index(self._values)

    def _key(self, phrase: str) -> _Key:
        """A phrase with one content word among others ("out of breath") is a turn of speech as well."""
        content, every = _content_stems(phrase), tuple(stem(w) for w in words(phrase))
        literal = self._literal or not content or (len(content) == 1 and len(every) > 1)
        return _Key(every if literal else content, literal)

    def values(self, phrase: str) -> tuple[V, ...]:
        """The values of exactly this phrase."""
        return tuple(self._values.get(self._key(phrase), ()))

    def find(self, text: str) -> list[Hit[V]]:
        """All phrases in the text, in order of appearance, overlaps resolved."""
        return resolve_overlaps(self.candidates(text))

    def candidates(self, text: str) -> list[Hit[V]]:
        """All phrases in the text, overlaps and all."""
        tokens = [stem(w) for w in words(text)]
        places: dict[str, list[int]] = defaultdict(list)
        for position, token in enumerate(tokens):
            places[token].append(position)
        found: list[Hit[V]] = []
        for key in sorted({k for token in sorted(places) for k in self._by_stem.get(token, ())}):
            positions = (_in_order if key.literal else _closest)(key.stems, places)
            if positions is not None:
                found.append(Hit(self._phrase[key], tuple(self._values[key]), positions))
        return found


def _content_stems(phrase: str) -> tuple[str, ...]:
    return tuple(stem(w) for w in words(phrase) if not _is_function_word(w))


def _is_function_word(word: str) -> bool:
    return word in STOPWORDS or word.split("'")[0] in STOPWORDS or word.endswith("n't")


def _index(keys: Iterable[_Key]) -> dict[str, list[_Key]]:
    index: dict[str, list[_Key]] = defaultdict(list)
    for key in keys:
        index[key.stems[0]].append(key)
    return index


def _closest(key: tuple[str, ...], places: Mapping[str, list[int]]) -> tuple[int, ...] | None:
    """The tightest set of positions that holds every stem of the key, within the allowed slack."""
    best: tuple[int, ...] | None = None
    for start in places.get(key[0], ()):
        chosen = [start]
        for token in key[1:]:
            free = [p for p in places.get(token, ()) if p not in chosen]
            if not free:
                return best
            chosen.append(min(free, key=lambda p: (abs(p - start), p)))
        span = max(chosen) - min(chosen) + 1
        if span <= len(key) + SLACK and (best is None or span < max(best) - min(best) + 1):
            best = tuple(sorted(chosen))
    return best


def _in_order(key: tuple[str, ...], places: Mapping[str, list[int]]) -> tuple[int, ...] | None:
    """The first place where the stems follow each other, few foreign words between two of them."""
    for start in places.get(key[0], ()):
        chosen = [start]
        for token in key[1:]:
            following = [p for p in places.get(token, ()) if chosen[-1] < p <= chosen[-1] + SLACK]
            if not following:
                break
            chosen.append(following[0])
        else:
            return tuple(chosen)
    return None


def resolve_overlaps(found: Iterable[Hit[V]]) -> list[Hit[V]]:
    """Drop hits that overlap a longer one, keep all of equal length; in order of appearance."""
    kept: list[Hit[V]] = []
    for hit in sorted(found, key=lambda h: (-h.weight, h.positions, h.phrase)):
        taken = {p for other in kept if other.weight > hit.weight for p in other.positions}
        if not taken & set(hit.positions):
            kept.append(hit)
    return sorted(kept, key=lambda h: (h.positions, -h.weight, h.phrase))
