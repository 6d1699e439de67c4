"""Do small models lose more than large ones? As published (7B against 70B and more), and as a line over size.

Published for VeriSim (arXiv 2604.10441): 7B models degrade 40% more than models of 70B and more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

SMALL_UP_TO = 10e9
"""The class of the published 7B models: below 10 billion parameters."""
LARGE_FROM = 70e9
PUBLISHED_EXCESS = 0.40
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class SizePoint:
    """One model."""

    name: str
    parameters: int
    drop: float
    """Accuracy lost under noise, in points."""


@dataclass(frozen=True)
class Regression:
    """A straight line of the drop over log10 of the parameters (ordinary least squares)."""

    slope: float
    """Points for ten times the size; negative when larger models lose less."""
    low: float
    """95% interval of the slope (Student's t)."""
    high: float
    intercept: float
    p: float
    r_squared: float
    n: int


@dataclass(frozen=True)
class SizeEffect:
    """Degradation by model size."""

    small: float | None
    """Mean drop of models below 10B, points."""
    n_small: int
    large: float | None
    """Mean drop of models of 70B and more, points."""
    n_large: int
    excess: float | None
    """small / large - 1: 0.4 is the published 40% more."""
    regression: Regression | None
    note: str | None
    """Why something is undefined."""


def degradation_by_size(points: Sequence[SizePoint]) -> SizeEffect:
    """Compare the groups and fit the line. Models between the groups count for the line only.

    The excess is undefined without a model in each group or where the large ones lose nothing; the line with fewer
    than three models or with one size only.
    """
    small = [p.drop for p in points if p.parameters < SMALL_UP_TO]
    large = [p.drop for p in points if p.parameters >= LARGE_FROM]
    mean_small, mean_large = _mean(small), _mean(large)
    excess = mean_small / mean_large - 1 if mean_small is not None and mean_large and mean_large > 0 else None
    regression = _line(points)
    notes = (
        ("no model below 10B" if not small else None),
        ("no model of 70B or more" if not large else None),
        ("the large models lose nothing" if mean_large is not None and mean_large <= 0 else None),
        ("fewer than three models or one size only" if regression is None else None),
    )
    note = "; ".join(text for text in notes if text) or None
    return SizeEffect(mean_small, len(small), mean_large, len(large), excess, regression, note)


def _line(points: Sequence[SizePoint]) -> Regression | None:
    sizes = [math.log10(p.parameters) for p in points]
    if len(points) < 3 or len(set(sizes)) < 2:
        return None
    fit = stats.linregress(sizes, [p.drop for p in points])
    reach = float(stats.t.ppf((1 + _CONFIDENCE) / 2, len(points) - 2)) * float(fit.stderr)
    return Regression(
        slope=float(fit.slope),
        low=float(fit.slope) - reach,
        high=float(fit.slope) + reach,
        intercept=float(fit.intercept),
        p=float(fit.pvalue),
        r_squared=float(fit.rvalue) ** 2,
        n=len(points),
    )


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None
