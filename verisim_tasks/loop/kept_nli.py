"""An NLI model whose probabilities are kept between runs, by the two texts and the model's weights."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from verisim_metrics.nli.model import Nli, Pair, Probabilities
from verisim_tasks._stable import digest
from verisim_tasks.loop.content_cache import Shelf
from verisim_tasks.loop.model_identity import weights_digest

AT_ONCE = 2048
"""New pairs that are scored before they are kept."""


class KeptNli:
    """Asks the model for the pairs that the cache does not hold. Rows are rounded, so that they survive JSON."""

    def __init__(self, nli: Nli, shelf: Shelf) -> None:
        self.name = nli.name
        self._nli = nli
        self._shelf = shelf
        weights = Path(nli.name)
        self._identity = digest([nli.describe(), weights_digest(weights) if weights.exists() else None])

    def describe(self) -> dict[str, Any]:
        """What identifies the model; the cache is no part of it."""
        return self._nli.describe()

    def predict(self, pairs: Sequence[Pair]) -> Probabilities:
        """Probabilities of shape ``(len(pairs), 3)`` in the order of ``LABELS``."""
        keys = {pair: digest([self._identity, *pair]) for pair in pairs}
        known = self._shelf.many(sorted(set(keys.values())))
        missing = [pair for pair, key in keys.items() if not _is_row(known.get(key))]
        for start in range(0, len(missing), AT_ONCE):
            chunk = missing[start : start + AT_ONCE]
            rows = self._nli.predict(chunk).tolist()
            fresh = {keys[pair]: row for pair, row in zip(chunk, rows, strict=True)}
            self._shelf.update(fresh)
            known.update(fresh)
        return np.array([known[keys[pair]] for pair in pairs], dtype=np.float64).reshape(-1, 3)


def _is_row(found: Any) -> bool:
    return isinstance(found, list) and len(found) == 3 and all(isinstance(p, float | int) for p in found)
