"""Two measurements of the same cases: is their difference more than chance, and how large is it?

The Wilcoxon signed-rank test drops cases without a difference. Right-or-wrong scores tie all the others; then the
test is the exact sign test. Other ties are resolved by seeded random sign flips, never by the normal approximation,
which is too bold for the few cases that change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats
from statsmodels.stats.multitest import multipletests

_Array = npt.NDArray[np.float64]

CONFIDENCE = 0.95
RESAMPLES = 2000
SEED = 1234
FLIPS = 9999
"""Random sign flips where the exact distribution is not known."""
EXACT_UP_TO = 50
"""Changed cases, without ties, up to which scipy's exact distribution is used."""
_DIGITS = 12
"""Differences are rounded before they are compared, so that 0.3 - 0.1 ties with 0.2."""


@dataclass(frozen=True)
class PairedTest:
    """The difference first minus second over cases."""

    n: int
    """Cases with both values."""
    changed: int
    """Cases whose two values differ."""
    difference: float | None
    """Mean of first minus second, in the unit of the values."""
    low: float | None
    """95% paired percentile bootstrap over cases; null with fewer than two cases."""
    high: float | None
    statistic: float | None
    """The smaller of the two rank sums; null when nothing changed."""
    p: float | None
    """Two-sided; null without cases, 1 when nothing changed."""
    rank_biserial: float | None
    """(ranks for - ranks against) / all ranks, -1 to 1; null when nothing changed."""
    cohens_d: float | None
    """Mean difference over its standard deviation (d_z); null when differences do not vary."""
    spread: float | None
    """Standard deviation of the differences; null with fewer than two cases."""


def paired_test(first: Sequence[float | None], second: Sequence[float | None]) -> PairedTest:
    """Compare two measurements of the same cases, in the same order; cases that lack either are left out.

    Raises:
        ValueError: when the two differ in length.
    """
    both = [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]
    if not both:
        return PairedTest(0, 0, None, None, None, None, None, None, None, None)
    differences = np.array([round(a - b, _DIGITS) for a, b in both], dtype=np.float64)
    changed = differences[differences != 0]
    low, high = bootstrap_interval(differences)
    statistic, p = _wilcoxon(changed)
    spread = float(differences.std(ddof=1)) if len(both) > 1 else None
    mean = float(differences.mean())
    return PairedTest(
        n=len(both),
        changed=len(changed),
        difference=mean,
        low=low,
        high=high,
        statistic=statistic,
        p=p,
        rank_biserial=_rank_biserial(changed),
        cohens_d=mean / spread if spread else None,
        spread=spread,
    )


def bootstrap_interval(values: Sequence[float] | _Array) -> tuple[float | None, float | None]:
    """95% percentile bootstrap interval of the mean; ``(None, None)`` with fewer than two values.

    Percentile, as everywhere in the entry: BCa is undefined where all cases agree, which happens with few cases.
    """
    data = np.asarray(values, dtype=np.float64)
    if len(data) < 2:
        return None, None
    found = stats.bootstrap(
        (data,),
        np.mean,
        n_resamples=RESAMPLES,
        confidence_level=CONFIDENCE,
        method="percentile",
        rng=np.random.default_rng(SEED),
    )
    return float(found.confidence_interval.low), float(found.confidence_interval.high)


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """Holm's correction over the defined values; undefined ones stay undefined and do not count."""
    defined = [p for p in ps if p is not None]
    if not defined:
        return list(ps)
    corrected = iter(multipletests(defined, method="holm")[1])
    return [None if p is None else float(next(corrected)) for p in ps]


def _wilcoxon(changed: _Array) -> tuple[float | None, float]:
    """Statistic and two-sided p of differences that are not zero."""
    if not len(changed):
        return None, 1.0
    ranks = stats.rankdata(np.abs(changed))
    statistic = float(min(ranks[changed > 0].sum(), ranks[changed < 0].sum()))
    sizes = len(np.unique(np.abs(changed)))
    if sizes == 1:
        return statistic, float(stats.binomtest(int((changed > 0).sum()), len(changed)).pvalue)
    if sizes == len(changed) <= EXACT_UP_TO:
        return statistic, float(stats.wilcoxon(changed, method="exact").pvalue)
    flips = stats.PermutationMethod(n_resamples=FLIPS, rng=np.random.default_rng(SEED))
    return statistic, float(stats.wilcoxon(changed, method=flips).pvalue)


def _rank_biserial(changed: _Array) -> float | None:
    if not len(changed):
        return None
    ranks = stats.rankdata(np.abs(changed))
    return float((ranks * np.sign(changed)).sum() / ranks.sum())
