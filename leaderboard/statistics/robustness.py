"""How much of a score is left over the levels of a noise dimension."""

from __future__ import annotations

from collections.abc import Sequence

from scipy.integrate import trapezoid


def level_area(values: Sequence[float | None]) -> float | None:
    """Area under a score over its levels 0, 1, 2, ..., divided by the highest level: a mean of the curve.

    Between levels the curve is taken as straight. ``None`` when any level is missing, or with fewer than two.
    """
    defined = [v for v in values if v is not None]
    if len(defined) < len(values) or len(values) < 2:
        return None
    return float(trapezoid(defined)) / (len(values) - 1)
