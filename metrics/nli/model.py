"""What every NLI model is: pairs of texts in, three probabilities out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

LABELS = ("entailment", "neutral", "contradiction")
"""The order of the three probabilities, whatever order a model itself uses."""

ENTAILMENT, NEUTRAL, CONTRADICTION = range(3)

DECIMALS = 4
"""Probabilities are rounded to this, so that float noise decides nothing."""

Pair = tuple[str, str]
"""Premise (a profile item of the record) and hypothesis (a sentence the patient says)."""

Probabilities = npt.NDArray[np.float64]


class Nli(Protocol):
    """Natural language inference over pairs of premise and hypothesis."""

    name: str

    def predict(self, pairs: Sequence[Pair]) -> Probabilities:
        """Probabilities of shape ``(len(pairs), 3)`` in the order of ``LABELS``; every row sums to one."""

    def describe(self) -> dict[str, Any]:
        """What identifies the model in an instrument fingerprint; JSON-able."""


def label_of(row: Probabilities) -> str:
    """The most probable label; ties go to the first of neutral, contradiction, entailment."""
    order = (NEUTRAL, CONTRADICTION, ENTAILMENT)
    return LABELS[max(order, key=lambda i: (row[i], -order.index(i)))]


def finished(raw: Probabilities) -> Probabilities:
    """Rounded rows that sum to one; what rounding leaves goes to neutral."""
    rows = np.round(np.asarray(raw, dtype=np.float64).reshape(-1, 3), DECIMALS)
    rows[:, NEUTRAL] = np.round(1.0 - rows[:, ENTAILMENT] - rows[:, CONTRADICTION], DECIMALS)
    clipped: Probabilities = np.clip(rows, 0.0, 1.0)
    return clipped
