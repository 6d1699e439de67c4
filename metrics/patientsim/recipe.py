"""The arithmetic of PatientSim's scores (arXiv 2505.17818) on labels and ratings: nothing is understood here.

What we report for an empty set is ``None``; ``empty="zero"`` gives the 0 of the published recipe.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Label = Literal["entailment", "neutral", "contradiction"]
Empty = Literal["none", "zero"]

LABELS: tuple[Label, ...] = ("entailment", "neutral", "contradiction")
"""The order of the columns of an NLI prediction."""
PRECEDENCE: tuple[Label, ...] = ("contradiction", "entailment", "neutral")
"""Which label of its related items a sentence takes, strongest first."""
K_ITEMS = 23
"""Number of spoken profile items."""


@dataclass(frozen=True)
class Score:
    """A score and what it rests on."""

    value: float | None
    n: int
    """What the score is over: supported sentences, rated sentences, profiles or items."""
    of: int
    """How many were looked at; ``n / of`` is the coverage."""
    reason: str | None = None
    """Why there is no value."""

    @property
    def coverage(self) -> float | None:
        """``n / of``, 0-1; undefined where nothing was looked at."""
        return self.n / self.of if self.of else None


@dataclass(frozen=True)
class Tally:
    """Counts of sentences of type information, added up with ``+``."""

    information: int = 0
    """All of them that are scored."""
    supported: int = 0
    """Those that relate to at least one profile item."""
    entailed: int = 0
    contradicted: int = 0
    neutral: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.information + other.information,
            self.supported + other.supported,
            self.entailed + other.entailed,
            self.contradicted + other.contradicted,
            self.neutral + other.neutral,
        )


def sentence_label(labels: Iterable[Label]) -> Label | None:
    """A sentence's label over its related items: contradiction beats entailment beats neutral; none without items."""
    found = set(labels)
    return next((label for label in PRECEDENCE if label in found), None)


def tally(sentences: Iterable[Sequence[Label]]) -> Tally:
    """Counts over sentences of type information, each given by the labels of its related items (maybe none)."""
    counts = Counter(sentence_label(labels) for labels in sentences)
    supported = sum(counts[label] for label in LABELS)
    return Tally(counts.total(), supported, counts["entailment"], counts["contradiction"], counts["neutral"])


def entail(counts: Tally, empty: Empty = "none") -> Score:
    """Entailed / supported, 0-1, pooled over sentences."""
    return _ratio(counts.entailed, counts.supported, counts.information, empty, "no supported sentence")


def contradict(counts: Tally, empty: Empty = "none") -> Score:
    """Contradicted / supported, 0-1, pooled over sentences."""
    return _ratio(counts.contradicted, counts.supported, counts.information, empty, "no supported sentence")


def plausibility(ratings: Iterable[float | None], empty: Empty = "none") -> Score:
    """Mean rating, 1-4, over unsupported and neutral sentences; unrated ones (``None``) are left out."""
    return mean(ratings, empty, "no rated sentence")


def icov(
    original: Collection[str],
    derived: Collection[str],
    *,
    asked: Collection[str] | None = None,
    items: int | None = None,
    empty: Empty = "none",
) -> Score:
    """Information coverage of one profile, 0-1: the items of the original that also stand in the derived profile.

    Args:
        original: Items present in the original profile.
        derived: Items present in the profile derived from the dialogue.
        asked: Count only these (``icov_asked``); all by default.
        items: A fixed denominator (``icov_all``: ``K_ITEMS``); by default the number of original items that count.
        empty: What an empty denominator gives.
    """
    counted = set(original) if asked is None else set(original) & set(asked)
    below = len(counted) if items is None else items
    return _ratio(len(counted & set(derived)), below, len(set(original)), empty, "no profile item counts")


def icon(ratings: Iterable[float | None], empty: Empty = "none") -> Score:
    """Information consistency: mean similarity of original and derived, over overlapping items."""
    return mean(ratings, empty, "no overlapping item was rated")


def mean(values: Iterable[float | None], empty: Empty = "none", reason: str = "no defined value") -> Score:
    """Mean of the defined values; ``n`` of them among ``of``."""
    every = list(values)
    known = [v for v in every if v is not None]
    if not known:
        return Score(0.0 if empty == "zero" else None, 0, len(every), reason)
    return Score(sum(known) / len(known), len(known), len(every))


def _ratio(above: int, below: int, looked_at: int, empty: Empty, reason: str) -> Score:
    if not below:
        return Score(0.0 if empty == "zero" else None, 0, looked_at, reason)
    return Score(above / below, below, looked_at)
