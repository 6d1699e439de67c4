"""NLI labels of sentences against the profile items they relate to, each pair predicted once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from verisim_metrics.patientsim.profile import Item
from verisim_metrics.patientsim.recipe import LABELS, Label, sentence_label
from verisim_metrics.patientsim.utterances import Utterance

Pair = tuple[str, str]
"""Premise (a profile item) and hypothesis (a sentence)."""

CACHED_PAIRS = 100_000
_TIES: tuple[Label, ...] = ("neutral", "contradiction", "entailment")
_DECIMALS = 4


class Nli(Protocol):
    """Natural language inference over pairs of premise and hypothesis."""

    name: str

    def predict(self, pairs: Sequence[Pair]) -> npt.NDArray[Any]:
        """Probabilities of shape ``(len(pairs), 3)``, in the order entailment, neutral, contradiction."""


@dataclass(frozen=True)
class Judged:
    """A sentence of type information that is scored, the items it is about, and the label on each."""

    utterance: Utterance
    items: tuple[Item, ...]
    labels: tuple[Label | None, ...]
    """``None`` where the NLI gave no answer."""

    @property
    def label(self) -> Label | None:
        """Over its items: contradiction beats entailment beats neutral; ``None`` where it relates to none."""
        return sentence_label(label for label in self.labels if label is not None)

    @property
    def answered(self) -> bool:
        """Whether the NLI answered on every item; a sentence of which it did not is left out and counted."""
        return None not in self.labels

    @property
    def needs_rating(self) -> bool:
        """Whether its truth is open: it relates to no item, or is neutral to all."""
        return self.answered and self.label in (None, "neutral")


class Labeller:
    """Labels pairs with an NLI model and remembers the last ``size`` of them by content."""

    def __init__(self, nli: Nli, size: int = CACHED_PAIRS) -> None:
        self._nli = nli
        self._size = size
        self._known: OrderedDict[Pair, Label | None] = OrderedDict()

    def labels(self, pairs: Sequence[Pair]) -> list[Label | None]:
        """The most probable label of each pair; ties go to neutral, then contradiction; a row of NaN is ``None``.

        Raises:
            ValueError: when the model answers in another shape than ``(n, 3)``, or with infinite numbers.
        """
        wanted = list(dict.fromkeys(pairs))
        found = {pair: self._known[pair] for pair in wanted if pair in self._known}
        missing = [pair for pair in wanted if pair not in found]
        if missing:
            found.update(zip(missing, _labels(self._nli, missing), strict=True))
        for pair in wanted:
            self._known[pair] = found[pair]
            self._known.move_to_end(pair)
        while len(self._known) > self._size:
            self._known.popitem(last=False)
        return [found[pair] for pair in pairs]


def judge_sentences(sentences: Sequence[tuple[Utterance, tuple[Item, ...]]], labeller: Labeller) -> list[Judged]:
    """Each sentence with the NLI label on each of its items (premise = item, hypothesis = sentence)."""
    flat = iter(labeller.labels([(item.premise, u.hypothesis) for u, items in sentences for item in items]))
    return [Judged(u, items, tuple(next(flat) for _ in items)) for u, items in sentences]


def _labels(nli: Nli, pairs: Sequence[Pair]) -> list[Label | None]:
    rows = np.asarray(nli.predict(pairs), dtype=np.float64)
    if rows.shape != (len(pairs), len(LABELS)) or not all(np.isfinite(r).all() or np.isnan(r).all() for r in rows):
        raise ValueError(f"NLI {nli.name!r} gave {rows.shape} for {len(pairs)} pairs, or values that are no numbers")
    return [_most_probable(row) for row in np.round(rows, _DECIMALS)]


def _most_probable(row: npt.NDArray[np.float64]) -> Label | None:
    if np.isnan(row).all():
        return None
    return max(_TIES, key=lambda label: (row[LABELS.index(label)], -_TIES.index(label)))
