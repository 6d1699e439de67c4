"""Finding known phrases in a clause by word stems, longest first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from verisim_tasks.language.words import STOPWORDS, american, singular, stem, words

V = TypeVar("V")

SLACK = 3
"""How many foreign words may stand between the words of one phrase."""

FILLING = frozenset(
    ["left", "right", "both", "upper", "lower", "all", "little", "bit", "bad", "really", "lot", "whole", "own", "new"]
)
"""Words besides function words that may stand inside any phrase."""

SHORT = 4
"""One-word phrases with a stem up to this length go by the word, not its stem: "trip" is not "tripping"."""


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
    content: int = 0
    """How many of them are words of content."""

    @property
    def weight(self) -> int:
        """Number of words covered."""
        return len(self.positions)


class PhraseIndex(Generic[V]):
    """Maps phrases to values.

    A concept phrase is found when the stems of its content words stand close together in any order. With ``literal``
    every word counts and the order is kept, which suits turns of speech ("how long", "go on"). A short word that is a
    phrase by itself is found as it stands and in its plural, because its stem runs together with other words' stems.
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
        turn_of_speech = not content or (len(content) == 1 and len(every) > 1) or "down there" in phrase
        literal = self._literal or turn_of_speech
        if not literal and len(content) == 1 and len(content[0]) <= SHORT:
            return _Key((f"={american(words(phrase)[0])}",), literal=False)
        return _Key(every if literal else content, literal)

    def values(self, phrase: str) -> tuple[V, ...]:
        """The values of exactly this phrase."""
        return tuple(self._values.get(self._key(phrase), ()))

    def find(self, text: str) -> list[Hit[V]]:
        """All phrases in the text, in order of appearance, overlaps resolved."""
        return resolve_overlaps(self.candidates(text))

    def candidates(self, text: str) -> list[Hit[V]]:
        """All phrases in the text, overlaps and all."""
        places: dict[str, list[int]] = defaultdict(list)
        for position, word in enumerate(words(text)):
            places[stem(word)].append(position)
            if len(stem(word)) <= SHORT and not self._literal:
                for form in {american(word), singular(word)}:
                    places[f"={form}"].append(position)
        found: list[Hit[V]] = []
        said = words(text)
        solid = [not (_is_function_word(w) or w in FILLING) for w in said]
        for key in sorted({k for token in sorted(places) for k in self._by_stem.get(token, ())}):
            positions = (_in_order if key.literal else _closest)(key.stems, places)
            if positions is None:
                continue
            inside = {said[p] for p in range(positions[0], positions[-1]) if p not in positions}
            one_thing = not {"or", "and", "nor"} & inside or bool({"or", "and"} & set(words(self._phrase[key])))
            if self._literal or (one_thing and _is_tight(key, positions, places, solid)):
                content = len(positions) if self._literal else sum(not _is_function_word(said[p]) for p in positions)
                found.append(Hit(self._phrase[key], tuple(self._values[key]), positions, content))
        return found


def _is_tight(key: _Key, positions: tuple[int, ...], places: Mapping[str, list[int]], solid: Sequence[bool]) -> bool:
    """Few words of weight stand inside the phrase: one where its words keep their order, else none."""
    inside = range(positions[0], positions[-1] + 1)
    foreign = sum(solid[p] for p in inside if p not in positions)
    ordered = all(p in places[token] for token, p in zip(key.stems, positions, strict=True))
    return foreign <= (1 if ordered and not key.literal else 0)


def _content_stems(phrase: str) -> tuple[str, ...]:
    return tuple(stem(w) for w in words(phrase) if not _is_function_word(w))


def _is_function_word(word: str) -> bool:
    return word in STOPWORDS or word in ("all", "lately") or word.split("'")[0] in STOPWORDS or word.endswith("n't")


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
    """Drop hits that overlap a longer one, by content then by all words; keep all of equal length; in order."""
    kept: list[Hit[V]] = []
    for hit in sorted(found, key=lambda h: (-h.content, -h.weight, h.positions, h.phrase)):
        longer = (o for o in kept if (o.content, o.weight) > (hit.content, hit.weight))
        taken = {p for other in longer for p in other.positions}
        if not taken & set(hit.positions):
            kept.append(hit)
    return sorted(kept, key=lambda h: (h.positions, -h.weight, h.phrase))
