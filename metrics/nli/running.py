"""What every model shares: each distinct pair is scored once, like lengths together, long premises in windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from verisim_metrics.nli.guards import apply_guards
from verisim_metrics.nli.model import Pair, Probabilities, finished
from verisim_metrics.nli.windows import merged, windows

Score = Callable[[Sequence[Pair]], Probabilities]
"""Raw probabilities ``(n, 3)`` in the order of ``LABELS`` for pairs that fit the model."""


class CachedScores:
    """Scores pairs by content: the same two texts are never scored twice by one object."""

    def __init__(self, tokenizer: Any, budget: int, batch: int, score: Score, guarded: bool = True) -> None:
        self._tokenizer = tokenizer
        self._budget = budget
        self._batch = batch
        self._score = score
        self._guarded = guarded
        self._known: dict[Pair, Probabilities] = {}

    def predict(self, pairs: Sequence[Pair]) -> Probabilities:
        """Final probabilities of shape ``(len(pairs), 3)``."""
        new = sorted({(p, h) for p, h in pairs} - self._known.keys(), key=lambda x: (len(x[0]) + len(x[1]), x))
        if new:
            rows = self._raw(new)
            rows = finished(apply_guards(new, rows) if self._guarded else rows)
            self._known.update(zip(new, rows, strict=True))
        if not pairs:
            return np.zeros((0, 3))
        return np.stack([self._known[(p, h)] for p, h in pairs])

    def _raw(self, pairs: Sequence[Pair]) -> Probabilities:
        cut = [windows(self._tokenizer, pair, self._budget) for pair in pairs]
        flat = [part for parts in cut for part in parts]
        order = sorted(range(len(flat)), key=lambda i: (len(flat[i][0]) + len(flat[i][1]), i))
        rows = np.zeros((len(flat), 3))
        for start in range(0, len(order), self._batch):
            chosen = order[start : start + self._batch]
            rows[chosen] = self._score([flat[i] for i in chosen])
        return merged(rows, [len(parts) for parts in cut])
