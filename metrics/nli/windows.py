"""Long premises in overlapping windows, so that support at its end is found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from verisim_metrics.nli.model import CONTRADICTION, ENTAILMENT, NEUTRAL, Pair, Probabilities

OVERLAP = 0.25
"""Share of a window that the next one repeats."""
LEAST = 16
"""Tokens of premise in a window even beside a very long hypothesis."""


def windows(tokenizer: Any, pair: Pair, budget: int) -> list[Pair]:
    """The pair with its premise cut into windows that fit beside the hypothesis in ``budget`` tokens."""
    premise, hypothesis = pair
    if len(premise) + len(hypothesis) + 8 <= budget:
        return [pair]
    own = len(tokenizer(hypothesis, add_special_tokens=False, verbose=False)["input_ids"])
    special = int(tokenizer.num_special_tokens_to_add(pair=True))
    room = max(LEAST, budget - special - min(own, budget // 2))
    offsets = tokenizer(premise, add_special_tokens=False, return_offsets_mapping=True, verbose=False)["offset_mapping"]
    if len(offsets) <= room:
        return [pair]
    step = max(1, room - int(room * OVERLAP))
    starts = range(0, max(1, len(offsets) - int(room * OVERLAP)), step)
    spans = [(offsets[s][0], offsets[min(len(offsets), s + room) - 1][1]) for s in starts]
    return [(premise[first:last], hypothesis) for first, last in spans]


def merged(rows: Probabilities, counts: Sequence[int]) -> Probabilities:
    """One row for each pair from the rows of its windows.

    Entailment and contradiction are the highest of any window; where both are high they share what one can hold, and
    neutral is what they leave.
    """
    found = np.zeros((len(counts), 3))
    start = 0
    for place, count in enumerate(counts):
        part = rows[start : start + count]
        start += count
        if count == 1:
            found[place] = part[0]
            continue
        support, against = part[:, ENTAILMENT].max(), part[:, CONTRADICTION].max()
        total = max(1.0, support + against)
        found[place, ENTAILMENT], found[place, CONTRADICTION] = support / total, against / total
        found[place, NEUTRAL] = 1.0 - found[place, ENTAILMENT] - found[place, CONTRADICTION]
    return found
