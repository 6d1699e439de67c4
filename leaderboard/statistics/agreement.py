"""Do raters agree? Cohen, Fleiss, Gwet's AC1 and Krippendorff's alpha, each with a bootstrap interval over items.

Cohen's and Fleiss' kappa are statsmodels'. AC1 (Gwet 2008, doi:10.1348/000711006X126600; missing ratings as in Gwet,
Handbook of Inter-Rater Reliability, 4th ed.) and alpha (Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011)
are written out here: irrCAC pins scipy 1.12, and the krippendorff package is GPL.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import stats
from statsmodels.stats.inter_rater import cohens_kappa, fleiss_kappa

_Array = npt.NDArray[np.float64]
Level = Literal["nominal", "ordinal", "interval"]

RESAMPLES = 2000
SEED = 1234
_CONFIDENCE = 0.95
_MIN_DEFINED = 0.95
ONE_CATEGORY = "all ratings are the same"
TOO_FEW = "no item has two ratings"


@dataclass(frozen=True)
class Coefficient:
    """One measure of agreement: 1 is perfect, 0 what chance gives."""

    name: str
    value: float | None
    low: float | None
    """95% percentile bootstrap over items; null with fewer than two items or where too many draws are undefined."""
    high: float | None
    items: int
    """Items that the measure could use."""
    note: str | None = None
    """Why there is no value."""


def cohen(
    first: Sequence[float] | _Array,
    second: Sequence[float] | _Array,
    categories: Sequence[float],
    weights: Level = "nominal",
) -> Coefficient:
    """Cohen's kappa of two raters; items that either left out are left out.

    Args:
        first: Ratings, NaN where missing.
        second: The other's, in the same order.
        categories: Every category of the scale, ascending.
        weights: ``nominal`` none; ``ordinal`` and ``interval`` quadratic over the categories' values.
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    both = ~(np.isnan(a) | np.isnan(b))
    places = np.column_stack([np.searchsorted(categories, a[both]), np.searchsorted(categories, b[both])])
    statistic = functools.partial(_cohen, categories=tuple(categories), weights=weights)
    name = "Cohen's kappa" if weights == "nominal" else "Cohen's kappa, quadratic weights"
    return _coefficient(name, places.astype(np.float64), statistic)


def fleiss(counts: _Array) -> Coefficient:
    """Fleiss' kappa over the items that have the largest number of ratings (all raters, where nobody left any out).

    Args:
        counts: Shape (items, categories): how many raters gave the category. See ``category_counts``.
    """
    raters = counts.sum(axis=1).max(initial=0)
    whole = counts[counts.sum(axis=1) == raters] if raters >= 2 else counts[:0]
    return _coefficient("Fleiss' kappa", whole, _fleiss)


def gwet_ac1(counts: _Array) -> Coefficient:
    """Gwet's AC1 over all items; an item with one rating tells how common a category is, but not of agreement.

    ``counts`` must have a column for each category of the scale, used or not: chance agreement depends on it.
    """
    return _coefficient("Gwet's AC1", counts, _ac1, items=int((counts.sum(axis=1) >= 2).sum()))


def krippendorff(counts: _Array, categories: Sequence[float], level: Level = "nominal") -> Coefficient:
    """Krippendorff's alpha over the items with two ratings or more."""
    paired = counts[counts.sum(axis=1) >= 2]
    statistic = functools.partial(_alpha, categories=np.asarray(categories, dtype=np.float64), level=level)
    return _coefficient(f"Krippendorff's alpha, {level}", paired, statistic)


def category_counts(ratings: _Array, categories: Sequence[float]) -> _Array:
    """Ratings of shape (items, raters), NaN where missing, as counts of shape (items, categories)."""
    return np.stack([(ratings == category).sum(axis=1) for category in categories], axis=1).astype(np.float64)


def _coefficient(
    name: str, rows: _Array, statistic: Callable[[_Array], float], items: int | None = None
) -> Coefficient:
    n = len(rows) if items is None else items
    if n == 0:
        return Coefficient(name, None, None, None, 0, TOO_FEW)
    value = statistic(rows)
    if not np.isfinite(value):
        return Coefficient(name, None, None, None, n, ONE_CATEGORY)
    low, high = _interval(rows, statistic)
    return Coefficient(name, float(value), low, high, n)


def _interval(rows: _Array, statistic: Callable[[_Array], float]) -> tuple[float | None, float | None]:
    if len(rows) < 2:
        return None, None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)  # undefined draws are left out and counted below
        drawn = stats.bootstrap(
            (np.arange(len(rows)),),
            lambda places: statistic(rows[places]),
            vectorized=False,
            n_resamples=RESAMPLES,
            method="percentile",
            rng=np.random.default_rng(SEED),
        ).bootstrap_distribution
    defined = drawn[np.isfinite(drawn)]
    if len(defined) < _MIN_DEFINED * RESAMPLES:
        return None, None
    tail = 100 * (1 - _CONFIDENCE) / 2
    low, high = np.percentile(defined, [tail, 100 - tail])
    return float(low), float(high)


def _cohen(places: _Array, categories: tuple[float, ...], weights: Level) -> float:
    size = len(categories)
    flat = places[:, 0].astype(np.int64) * size + places[:, 1].astype(np.int64)
    table = np.bincount(flat, minlength=size * size).reshape(size, size).astype(np.float64)
    chance = (table.sum(axis=0) * table.sum(axis=1)).sum() / table.sum() ** 2
    if chance >= 1:
        return float("nan")  # both used one category, the same
    if weights == "nominal":
        return float(cohens_kappa(table, return_results=False))
    return float(cohens_kappa(table, weights=np.asarray(categories), wt="quadratic", return_results=False))


def _fleiss(counts: _Array) -> float:
    return float(fleiss_kappa(counts)) if (counts.sum(axis=0) > 0).sum() > 1 else float("nan")


def _ac1(counts: _Array) -> float:
    raters = counts.sum(axis=1)
    rated, paired = counts[raters > 0], counts[raters >= 2]
    categories = counts.shape[1]
    if not len(paired) or categories < 2:
        return float("nan")
    m = paired.sum(axis=1)
    agreement = ((paired * (paired - 1)).sum(axis=1) / (m * (m - 1))).mean()
    share = (rated / rated.sum(axis=1, keepdims=True)).mean(axis=0)
    chance = (share * (1 - share)).sum() / (categories - 1)
    return float((agreement - chance) / (1 - chance))


def _alpha(counts: _Array, categories: _Array, level: Level) -> float:
    m = counts.sum(axis=1, keepdims=True)
    coincidences = (counts / (m - 1)).T @ counts - np.diag((counts / (m - 1)).sum(axis=0))
    totals = coincidences.sum(axis=0)
    distance = _distance(totals, categories, level)
    expected = (np.outer(totals, totals) * distance).sum()
    if expected == 0:
        return float("nan")
    return float(1 - (totals.sum() - 1) * (coincidences * distance).sum() / expected)


def _distance(totals: _Array, categories: _Array, level: Level) -> _Array:
    """Squared difference of every two categories."""
    if level == "interval":
        return np.asarray((categories[:, None] - categories[None, :]) ** 2, dtype=np.float64)
    if level == "nominal":
        return 1.0 - np.eye(len(categories))
    middle = np.cumsum(totals) - totals / 2  # mid-ranks: between two, their halves and all in between
    return np.asarray((middle[:, None] - middle[None, :]) ** 2, dtype=np.float64)
