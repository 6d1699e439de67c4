"""Reference values are published ones (R, scipy, statsmodels), cited at each; equal to 1e-6."""

import math

import pytest

from verisim_leaderboard.statistics import (
    SizePoint,
    bootstrap_interval,
    degradation_by_size,
    detectable_difference,
    holm,
    level_area,
    paired_test,
)
from verisim_metrics.aggregate import estimate, mean_sums

DEPRESSION = (
    (1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30),
    (0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29),
)
"""Hollander and Wolfe 1973, p. 29; the example of R's ``?wilcox.test``: V = 40, one-sided p = 0.01953."""
DARWIN = (6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75)
"""The example of ``scipy.stats.wilcoxon``: statistic 24.0, p 0.041259765625."""
SLEEP = ((1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4), (0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0))
"""Student's data, R ``sleep``: ``t.test(extra ~ group, paired = TRUE)`` gives t = -4.062128, df = 9."""


def close(value):
    return pytest.approx(value, abs=1e-6, rel=1e-6)


def test_wilcoxon_gives_rs_value():
    found = paired_test(*DEPRESSION)
    assert found.statistic == close(45 - 40)
    assert found.p == close(2 * 0.01953125)
    assert found.n == found.changed == 9


def test_wilcoxon_gives_scipys_example():
    found = paired_test(DARWIN, [0] * len(DARWIN))
    assert found.statistic == close(24.0)
    assert found.p == close(0.041259765625)
    assert found.rank_biserial == close((96 - 24) / 120)  # Kerby 2014: ranks for minus ranks against, over all


def test_cohens_d_is_students_t_over_root_n():
    found = paired_test(*SLEEP)
    assert found.difference == close(1.58)
    assert found.spread == close(1.229995)
    assert found.cohens_d == close(4.062127683382 / math.sqrt(10))


def test_right_or_wrong_scores_get_the_exact_sign_test():
    first, second = [1.0] * 12 + [0.0] * 3 + [1.0] * 20, [0.0] * 12 + [1.0] * 3 + [1.0] * 20
    found = paired_test(first, second)
    assert (found.n, found.changed) == (35, 15)
    assert found.p == close(0.03515625)  # R: binom.test(12, 15)$p.value
    assert found.rank_biserial == close(0.6)


def test_other_ties_are_resolved_by_the_same_flips_each_time():
    first = [1, 1, 0.5, 1, 0.5, 1, 1, 0, 1, 0.5]
    second = [0, 0.5, 0, 1, 0, 0, 0.5, 0.5, 0, 0]
    one, two = paired_test(first, second), paired_test(first, second)
    assert one == two
    assert 0.005 < one.p < 0.05  # nine changed, one against
    assert (one.n, one.changed) == (10, 9)


def test_undefined_halves_are_left_out_and_nothing_is_not_zero():
    assert paired_test([1, None, 0], [0, 1, None]).n == 1
    empty = paired_test([None], [1.0])
    assert (empty.n, empty.difference, empty.p, empty.low) == (0, None, None, None)
    same = paired_test([1, 0, 1], [1, 0, 1])
    assert (same.changed, same.p, same.statistic, same.rank_biserial, same.cohens_d) == (0, 1.0, None, None, None)
    assert (same.low, same.high) == (0.0, 0.0)
    assert paired_test([1.0], [0.0]).spread is None
    assert paired_test([0.3], [0.1]).difference == paired_test([0.2], [0.0]).difference  # 0.3 - 0.1 ties with 0.2
    with pytest.raises(ValueError, match="shorter"):
        paired_test([1.0, 0.0], [1.0])


def test_holm_gives_rs_values():
    """R multtest, as quoted in statsmodels' ``stats/tests/test_multi.py`` (column of Holm)."""
    ps = [0.838541367553, 0.642193923795, 0.680845947633, 0.967833824309, 0.71626938238]
    ps += [0.177096952723, 5.23656777208e-005, 0.0202732688798, 0.00028140506198, 0.0149877310796]
    expected = [1, 1, 1, 1, 1, 1, 5.23656777208e-04, 1.4191288215860001e-01, 2.5326455578199999e-03, 1.199018486368e-01]
    assert holm(ps) == close(expected)


def test_holm_leaves_the_undefined_out():
    assert holm([None, 0.01, 0.04, 0.03, 0.005, None]) == [None, *close([0.03, 0.06, 0.06, 0.02]).expected, None]
    assert holm([None]) == [None]
    assert holm([]) == []


def test_detectable_difference_inverts_published_power():
    """R ``pwr.t.test(d = 1, n = 30, sig.level = 0.05, type = "paired")``: power 0.9995636009612725 (statsmodels)."""
    assert detectable_difference(30, 1.0, power=0.9995636009612725) == close(1.0)
    assert detectable_difference(30, 2.5, power=0.9995636009612725) == close(2.5)


def test_detectable_difference_needs_pairs_and_spread():
    assert detectable_difference(2, 1.0) is None
    assert detectable_difference(72, None) is None
    assert detectable_difference(72, 0.0) is None
    assert detectable_difference(300, 0.4) < detectable_difference(72, 0.4)


def test_the_interval_is_the_same_each_time_and_near_the_entrys_own():
    values = [1.0] * 50 + [0.0] * 22
    low, high = bootstrap_interval(values)
    assert (low, high) == bootstrap_interval(values)
    own = estimate(mean_sums([{f"{i:02d}": v for i, v in enumerate(values)}], [f"{i:02d}" for i in range(72)]))
    assert (low, high) == pytest.approx((own.low, own.high), abs=0.02)
    assert bootstrap_interval([1.0]) == (None, None)


def test_level_area_is_the_mean_of_the_curve():
    assert level_area([0.8, 0.8, 0.8]) == close(0.8)
    assert level_area([1.0, 0.5, 0.0]) == close(0.5)
    assert level_area([1.0, 0.0, 0.0, 0.0, 0.0]) == close(1 / 8)
    assert level_area([1.0, None, 0.0]) is None
    assert level_area([1.0]) is None


def test_the_line_over_size_gives_anscombes_values():
    """Anscombe 1973, set 1; R: ``summary(lm(y1 ~ x1, anscombe))`` slope 0.5001 (0.1179), R2 0.6665, p 0.00217."""
    x = (10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5)
    y = (8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68)
    points = [SizePoint(f"m{a}", 10**a, b) for a, b in zip(x, y, strict=True)]
    line = degradation_by_size(points).regression
    assert line.slope == close(0.5000909090909091)
    assert line.intercept == close(3.0000909090909103)
    assert line.r_squared == close(0.666542459508775)
    assert line.p == close(0.0021696288730787905)
    assert (line.low, line.high) == close((0.2333701, 0.7668117))  # R: confint(lm(y1 ~ x1, anscombe))


def test_small_models_against_large_ones():
    points = [SizePoint("a", 7_000_000_000, 21.0), SizePoint("b", 8_000_000_000, 21.0)]
    points += [SizePoint("c", 70_000_000_000, 15.0), SizePoint("d", 32_000_000_000, 1.0)]
    found = degradation_by_size(points)
    assert (found.small, found.n_small, found.large, found.n_large) == (21.0, 2, 15.0, 1)
    assert found.excess == close(0.4)  # the published 40% more
    assert found.note is None


@pytest.mark.parametrize(
    ("points", "reason"),
    [
        ([SizePoint("a", 7 * 10**9, 20.0)], "no model of 70B or more"),
        ([SizePoint("a", 70 * 10**9, 20.0)], "no model below 10B"),
        ([SizePoint("a", 7 * 10**9, 20.0), SizePoint("b", 70 * 10**9, 0.0)], "lose nothing"),
        ([SizePoint(n, 7 * 10**9, 20.0) for n in "abc"], "one size only"),
        ([], "fewer than three"),
    ],
)
def test_what_is_undefined_says_why(points, reason):
    found = degradation_by_size(points)
    assert found.excess is None
    assert reason in found.note
