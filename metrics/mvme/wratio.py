"""``WRatio`` of many names against a long list, with everything left out that cannot be among the best."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from rapidfuzz import fuzz, process, utils

Scores = npt.NDArray[np.int16]
_Floats = npt.NDArray[np.float32]
_Scorer = Callable[[Sequence[str]], _Floats]

_CHUNK = 16
_HALF = 0.51
"""Scores are rounded before they are compared, so a cut-off lies half a point lower."""
_SHORT, _LONG = 1.5, 8.0
_SCALE, _LONG_SCALE = 0.9, 0.6
"""``WRatio`` compares with a part of the longer name from 1.5 times the length on, and discounts that score."""


@dataclass(frozen=True)
class _Query:
    name: str
    text: str
    plain: _Floats
    """The plain ratio with every name of the list, 0-100."""
    floor: float
    """What the best names reach at least."""


class WRatioScorer:
    """Scores of names against one list.

    ``WRatio`` is never below the plain ratio, which is quick; so the plain ratio tells what the best names reach,
    and the slow parts of ``WRatio`` stop there. Names without a space (Chinese) have no words to sort, and need one
    part only.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = [utils.default_process(n) for n in names]
        self._lengths = np.array([len(n) for n in self._names], dtype=np.float64)
        self._spaced = np.array([" " in n for n in self._names], dtype=np.bool_)

    def best_scores(self, names: Sequence[str], top_n: int, threshold: int) -> Iterator[tuple[str, Scores]]:
        """For each name its whole scores, 0-100, shape ``(len(list),)``.

        Exact for the ``top_n`` best at or above the threshold; others may be lower than they are.
        """
        queries = [self._query(name, top_n, threshold) for name in names]
        for query in queries:
            if " " not in query.text:
                yield query.name, np.rint(self._one_word(query)).astype(np.int16)
        worded = sorted((q for q in queries if " " in q.text), key=lambda q: (q.floor, q.name))
        for start in range(0, len(worded), _CHUNK):
            chunk = worded[start : start + _CHUNK]
            rows = self._weighted([q.text for q in chunk], self._names, chunk[0].floor)
            for query, row in zip(chunk, rows, strict=True):
                yield query.name, np.rint(row).astype(np.int16)

    def _query(self, name: str, top_n: int, threshold: int) -> _Query:
        text = utils.default_process(name)
        plain = process.cdist([text], self._names, scorer=fuzz.ratio, dtype=np.float32)[0]
        best = float(np.partition(plain, -top_n)[-top_n]) if len(plain) > top_n else 0.0
        return _Query(name, text, plain, max(round(best), threshold) - _HALF)

    def _one_word(self, query: _Query) -> _Floats:
        if not query.text:
            return np.zeros_like(query.plain)
        scores = query.plain.copy()
        self._raise(scores, self._spaced, lambda names: self._weighted([query.text], names, query.floor)[0])
        longer = np.maximum(self._lengths, len(query.text)) / np.maximum(np.minimum(self._lengths, len(query.text)), 1)
        for places, scale in (
            ((longer >= _SHORT) & (longer <= _LONG) & ~self._spaced, _SCALE),
            ((longer > _LONG) & ~self._spaced, _LONG_SCALE),
        ):
            self._raise(scores, places, functools.partial(self._partial, query, scale))
        return np.asarray(scores, dtype=np.float32)

    def _raise(self, scores: _Floats, places: npt.NDArray[np.bool_], score: _Scorer) -> None:
        chosen = np.flatnonzero(places)
        if len(chosen):
            scores[chosen] = np.maximum(scores[chosen], score([self._names[i] for i in chosen.tolist()]))

    def _weighted(self, texts: Sequence[str], names: Sequence[str], floor: float) -> _Floats:
        rows = process.cdist(texts, names, scorer=fuzz.WRatio, score_cutoff=floor, workers=-1, dtype=np.float32)
        return np.asarray(rows, dtype=np.float32)

    def _partial(self, query: _Query, scale: float, names: Sequence[str]) -> _Floats:
        cutoff = query.floor / scale
        if cutoff > 100:
            return np.zeros(len(names), dtype=np.float32)
        rows = process.cdist([query.text], names, scorer=fuzz.partial_ratio, score_cutoff=cutoff, dtype=np.float32)
        return np.asarray(scale * rows[0], dtype=np.float32)
