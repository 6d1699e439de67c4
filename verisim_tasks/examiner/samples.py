"""Tests named without their sample, which stands before them: "urine: dip, microscopy and culture"."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from verisim_tasks.examiner.tokens import Token
from verisim_tasks.examiner.vocabulary import Name, Vocabulary

_OPENS = frozenset(["for", "with", "to"])
"""Words behind a sample after which everything is sought in it."""
_SIGNS = frozenset(":(-–—")


class SampleReader:
    """Reads lists of tests with the sample that heads them. Pure."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._names = vocabulary.names
        self._items = vocabulary.items
        self._samples = vocabulary.samples
        self._end = vocabulary.samples_end
        self._longest = max(map(len, self._samples))

    def read(self, tokens: Sequence[Token]) -> Iterable[tuple[int, int, tuple[Name, ...]]]:
        """Start, end and meaning of names that a sample before them completes."""
        place = 0
        sample: tuple[tuple[str, ...], ...] = ()
        opened = False
        while place < len(tokens):
            size, names = self._sample_at(tokens, place)
            if size:
                begun = self._is_begun(tokens, place, size)
                opened = _opens(tokens, place + size)
                place, sample = place + size, () if begun and opened else names
                continue
            if tokens[place].word in self._end:
                sample = ()
            if sample and tokens[place].form:
                yield from self._completed(tokens, place, sample, opened=opened)
            place += 1

    def _sample_at(self, tokens: Sequence[Token], start: int) -> tuple[int, tuple[tuple[str, ...], ...]]:
        found: tuple[int, tuple[tuple[str, ...], ...]] = (0, ())
        key: tuple[str, ...] = ()
        for place in range(start, len(tokens)):
            if not tokens[start].form or (place > start and tokens[place].broken):
                break
            key = (*key, tokens[place].form) if tokens[place].form else key
            if key in self._samples and tokens[place].form:
                found = (place + 1 - start, self._samples[key])
            if len(key) >= self._longest:
                break
        return found

    def _is_begun(self, tokens: Sequence[Token], start: int, size: int) -> bool:
        """Whether the sample only begins the name of a test of its own: "urine PCR for protein"."""
        ends = range(start + size + 1, min(len(tokens), start + size + 2) + 1)
        return any(tuple(t.form for t in tokens[start:end] if t.form) in self._names for end in ends)

    def _completed(
        self, tokens: Sequence[Token], start: int, sample: tuple[tuple[str, ...], ...], *, opened: bool
    ) -> Iterable[tuple[int, int, tuple[Name, ...]]]:
        """Names that begin at a place. One that has a meaning of its own is completed only in an opened list."""
        key: tuple[str, ...] = ()
        if tokens[start].word in _OPENS or tokens[start].form == "test":
            return
        for place in range(start, min(len(tokens), start + 5)):
            if place > start and tokens[place].broken:
                return
            key = (*key, tokens[place].form) if tokens[place].form else key
            if not opened and any(not self._items[n.item].single for n in self._names.get(key, ())):
                continue
            full = [sample_name + key for sample_name in sample]
            names = tuple(dict.fromkeys(n for name in full for n in self._names.get(name, ())))
            if names and tokens[place].form:
                yield start, place + 1, names


def _opens(tokens: Sequence[Token], place: int) -> bool:
    """Whether a sample is followed by what is sought in it, as in "urine in this pot for a ..."."""
    if place < len(tokens) and _SIGNS & set(tokens[place].broken.strip()):
        return True
    for token in tokens[place : place + _GAP]:
        if ":" in token.broken:
            return True
        if token.broken:
            return False
        if token.word in _OPENS:
            return True
    return False


_GAP = 4
