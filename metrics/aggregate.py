"""From scores of consultations to scores of a model: means, pooled ratios and their bootstrap intervals.

Undefined is ``None``, not zero: every estimate is over its defined values and says how many those are. Repeats are
averaged within a case before cases are compared, and the bootstrap draws whole cases, so that the noisy and the clean
consultation of a case are always drawn together.
"""

from __future__ import annotations

import functools
import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
import numpy.typing as npt

Value = float | None
Pooling = Literal["micro", "macro"]
K = TypeVar("K", bound=Hashable)
_Array = npt.NDArray[np.float64]

RESAMPLES = 2000
SEED = 1234
MIN_CLEAN_ACCURACY = 0.20
"""Below this clean accuracy a drop says nothing about noise, and is hidden."""
HIDDEN = "hidden: clean accuracy is below 20%"
_MIN_DEFINED_RESAMPLES = 0.95


@dataclass(frozen=True)
class Estimate:
    """A score of a model, with what it rests on."""

    value: Value
    n: int
    """Cases that have a defined value."""
    cases: int
    """Cases that were looked at."""
    low: Value = None
    """Lower end of the 95% interval; undefined with fewer than two cases."""
    high: Value = None
    note: str | None = None
    """Why there is no value, where there could have been one."""

    @property
    def coverage(self) -> Value:
        """Share of the cases that have a defined value, 0-1; undefined without cases."""
        return self.n / self.cases if self.cases else None


@dataclass(frozen=True)
class Sums:
    """For every case and every variant, what stands above and below the line of a ratio of sums.

    Arrays of shape (cases, variants); zero in both where undefined.
    """

    above: _Array
    below: _Array
    counted: npt.NDArray[np.bool_]
    """Where both are defined."""

    def ratio(self, weights: _Array, pooling: Pooling) -> _Array:
        """The ratio under each row of case weights, NaN where nothing is below the line.

        ``micro`` pools the sums of all variants; ``macro`` is the mean of the variants' own ratios.
        """
        if pooling == "micro":
            return _divide(weights @ self.above.sum(axis=1), weights @ self.below.sum(axis=1))
        columns = self.below.any(axis=0)
        ratios = _divide(weights @ self.above[:, columns], weights @ self.below[:, columns])
        return np.asarray(ratios.mean(axis=1), dtype=np.float64)

    @property
    def defined(self) -> int:
        """Number of cases that are counted for at least one variant."""
        return int(self.counted.any(axis=1).sum())


def mean(values: Iterable[Value]) -> tuple[Value, int]:
    """The mean of the defined values and how many they are; ``(None, 0)`` when there are none."""
    defined = [v for v in values if v is not None and not math.isnan(v)]
    return (math.fsum(defined) / len(defined) if defined else None), len(defined)


def ratio_of_sums(pairs: Iterable[tuple[Value, Value]]) -> Value:
    """Sum of the first numbers over sum of the second, over pairs defined in both; ``None`` over zero."""
    both = [(a, b) for a, b in pairs if a is not None and b is not None and not (math.isnan(a) or math.isnan(b))]
    below = math.fsum(b for _, b in both)
    return math.fsum(a for a, _ in both) / below if below else None


def turn_inflation(pairs: Iterable[tuple[Value, Value]]) -> Value:
    """``sum(noisy turns) / sum(clean turns) - 1`` over ``(noisy, clean)`` pairs: 0.4 is 40% more turns."""
    ratio = ratio_of_sums(pairs)
    return None if ratio is None else ratio - 1.0


def accuracy_drop(pairs: Iterable[tuple[Value, Value]]) -> Value:
    """Mean of clean minus noisy over ``(noisy, clean)`` pairs in points (0-100 scale).

    ``None`` where the pairs' clean accuracy is below 20%.
    """
    both = _both(pairs)
    return 100.0 * sum(c - n for n, c in both) / len(both) if both and not _is_hidden(both) else None


def relative_accuracy_drop(pairs: Iterable[tuple[Value, Value]]) -> Value:
    """``1 - noisy accuracy / clean accuracy`` over ``(noisy, clean)`` pairs, as a share: 0.2 is a fifth lost.

    ``None`` where the pairs' clean accuracy is below 20%.
    """
    both = _both(pairs)
    return 1.0 - sum(n for n, _ in both) / sum(c for _, c in both) if both and not _is_hidden(both) else None


def per_turn(values: Iterable[Value], turns: Iterable[Value]) -> Value:
    """Turn-weighted rate: sum of the values over sum of the turns (e.g. share of key facts won by one turn)."""
    return ratio_of_sums(zip(values, turns, strict=True))


def by_case(values: Iterable[tuple[K, Value]]) -> dict[K, Value]:
    """The mean of each case's defined values (its repeats); ``None`` for a case that has none."""
    groups: dict[K, list[Value]] = defaultdict(list)
    for case, value in values:
        groups[case].append(value)
    return {case: mean(group)[0] for case, group in groups.items()}


def mean_sums(columns: Sequence[Mapping[str, Value]], cases: Sequence[str]) -> Sums:
    """A mean as a ratio of sums: one mapping of case to value for each variant."""
    values = _matrix(columns, cases)
    defined = ~np.isnan(values)
    return Sums(np.where(defined, values, 0.0), defined.astype(np.float64), defined)


def ratio_sums(
    above: Sequence[Mapping[str, Value]], below: Sequence[Mapping[str, Value]], cases: Sequence[str]
) -> Sums:
    """A ratio of sums: one mapping of case to number above and below the line for each variant."""
    top, bottom = _matrix(above, cases), _matrix(below, cases)
    defined = ~(np.isnan(top) | np.isnan(bottom))
    return Sums(np.where(defined, top, 0.0), np.where(defined, bottom, 0.0), defined)


def estimate(
    sums: Sums,
    *,
    pooling: Pooling = "micro",
    then: Callable[[_Array], _Array] | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Estimate:
    """A ratio of sums with its 95% percentile bootstrap interval over cases.

    Args:
        sums: What to divide.
        pooling: Over variants: pool the sums, or average the ratios.
        then: Applied to the ratio, e.g. to subtract one.
        resamples: Bootstrap draws.
        seed: Of the draws; equal seeds draw equal cases, so that estimates over the same cases are paired.
    """
    cases = sums.below.shape[0]
    if not sums.below.any():
        return Estimate(None, sums.defined, cases)
    finish = then or (lambda ratio: ratio)
    value = float(finish(sums.ratio(np.ones((1, cases)), pooling))[0])
    low, high = _interval(sums, pooling, finish, resamples, seed)
    return Estimate(value, sums.defined, cases, low, high)


def resample_counts(cases: int, resamples: int = RESAMPLES, seed: int = SEED) -> _Array:
    """How often each case is drawn in each bootstrap resample; shape (resamples, cases), every row sums to cases."""
    return _counts(cases, resamples, seed)


@functools.lru_cache(maxsize=4)
def _counts(cases: int, resamples: int, seed: int) -> _Array:
    generator = np.random.default_rng(seed)
    counts = generator.multinomial(cases, np.full(cases, 1.0 / cases), size=resamples).astype(np.float64)
    counts.setflags(write=False)
    return counts


def _interval(
    sums: Sums, pooling: Pooling, finish: Callable[[_Array], _Array], resamples: int, seed: int
) -> tuple[Value, Value]:
    if sums.defined < 2:
        return None, None
    drawn = finish(sums.ratio(resample_counts(sums.below.shape[0], resamples, seed), pooling))
    drawn = drawn[np.isfinite(drawn)]
    if len(drawn) < _MIN_DEFINED_RESAMPLES * resamples:
        return None, None
    low, high = np.percentile(drawn, [2.5, 97.5])
    return float(low), float(high)


def _divide(above: _Array, below: _Array) -> _Array:
    return np.divide(above, below, out=np.full_like(above, np.nan), where=below != 0)


def _matrix(columns: Sequence[Mapping[str, Value]], cases: Sequence[str]) -> _Array:
    """Shape (cases, variants), NaN where undefined."""
    rows = [[math.nan if (value := column.get(case)) is None else value for column in columns] for case in cases]
    return np.array(rows, dtype=np.float64).reshape(len(cases), len(columns))


def _both(pairs: Iterable[tuple[Value, Value]]) -> list[tuple[float, float]]:
    return [(n, c) for n, c in pairs if n is not None and c is not None and not (math.isnan(n) or math.isnan(c))]


def _is_hidden(pairs: Sequence[tuple[float, float]]) -> bool:
    return sum(c for _, c in pairs) < MIN_CLEAN_ACCURACY * len(pairs)
