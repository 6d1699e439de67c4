"""How small a difference can a number of cases show?"""

from __future__ import annotations

from statsmodels.stats.power import TTestPower

ALPHA = 0.05
POWER = 0.80


def detectable_difference(n: int, spread: float | None, alpha: float = ALPHA, power: float = POWER) -> float | None:
    """The smallest true mean difference that ``n`` pairs show with the given power (paired t-test, two-sided).

    Args:
        n: Pairs.
        spread: Standard deviation of the differences between the halves.
        alpha: Chance of a finding where there is none.
        power: Chance of finding a difference of this size.

    Returns:
        In the unit of ``spread``; ``None`` with fewer than three pairs or without spread.
    """
    if n < 3 or not spread:
        return None
    effect = TTestPower().solve_power(nobs=n, alpha=alpha, power=power, alternative="two-sided")
    return float(effect) * spread
