import math

import numpy as np
import pytest
from scipy.stats import bootstrap

from verisim_metrics import aggregate
from verisim_metrics.aggregate import HIDDEN, by_case, estimate, mean_sums, per_turn, ratio_sums, resample_counts
from verisim_metrics.paired import (
    drop_estimate,
    inflation_estimate,
    mean_estimate,
    paired_columns,
    per_turn_estimate,
    relative_drop_estimate,
)


def test_mean_is_over_defined_values_with_their_count():
    assert aggregate.mean([1.0, None, 0.0, math.nan]) == (0.5, 2)
    assert aggregate.mean([None]) == (None, 0)


def test_turn_inflation_is_a_ratio_of_sums_not_a_mean_of_ratios():
    pairs = [(20.0, 10.0), (2.0, 2.0), (None, 5.0)]
    assert aggregate.turn_inflation(pairs) == pytest.approx(22 / 12 - 1)  # the mean of ratios would say 0.5
    assert aggregate.turn_inflation([]) is None
    assert aggregate.turn_inflation([(1.0, 0.0)]) is None


def test_drop_in_points_and_relative():
    pairs = [(1.0, 1.0), (0.0, 1.0), (0.0, 0.0), (1.0, 1.0), (None, 1.0)]
    assert aggregate.accuracy_drop(pairs) == pytest.approx(25.0)
    assert aggregate.relative_accuracy_drop(pairs) == pytest.approx(1 / 3)


@pytest.mark.parametrize(("right", "shown"), [(1, False), (2, True)])
def test_drop_is_hidden_below_20_percent_clean_accuracy(right, shown):
    pairs = [(0.0, float(i < right)) for i in range(10)]
    assert (aggregate.accuracy_drop(pairs) is not None) is shown
    assert (aggregate.relative_accuracy_drop(pairs) is not None) is shown
    noisy, clean, cases = paired_columns(pairs)
    found = drop_estimate([noisy], [clean], cases, "micro")
    assert (found.value is not None) is shown
    assert found.note == (None if shown else HIDDEN)
    assert (relative_drop_estimate([noisy], [clean], cases, "micro").value is not None) is shown


def test_the_hidden_threshold_looks_at_pairs_only():
    noisy = {**{f"c{i}": 0.0 for i in range(10)}, "x1": None, "x2": None}
    clean = {**{f"c{i}": float(i < 1) for i in range(10)}, "x1": 1.0, "x2": 1.0}
    assert drop_estimate([noisy], [clean], sorted(noisy), "micro").note == HIDDEN


def test_repeats_are_averaged_within_a_case_first():
    values = [("a", 1.0), ("a", 1.0), ("a", 0.0), ("b", 0.0), ("c", None), ("b", None)]
    cases = by_case(values)
    assert cases == {"a": pytest.approx(2 / 3), "b": 0.0, "c": None}
    found = mean_estimate([cases], ["a", "b", "c"])
    assert found.value == pytest.approx(1 / 3)
    assert (found.n, found.cases) == (2, 3)
    assert found.coverage == pytest.approx(2 / 3)


def test_per_turn_is_weighted_by_turns():
    assert per_turn([1.0, 0.0, None], [10.0, 2.0, 50.0]) == pytest.approx(1 / 12)
    found = per_turn_estimate([{"a": 1.0, "b": 0.0}], [{"a": 10.0, "b": 2.0}], ["a", "b"], "micro")
    assert found.value == pytest.approx(1 / 12)


def test_macro_and_micro_differ_where_variants_differ_in_cases():
    columns = [{"a": 1.0, "b": 1.0, "c": 1.0}, {"a": 0.0}]
    cases = ["a", "b", "c"]
    assert mean_estimate(columns, cases, "micro").value == pytest.approx(3 / 4)
    assert mean_estimate(columns, cases, "macro").value == pytest.approx(1 / 2)


def test_a_group_pools_turns_in_micro_and_averages_ratios_in_macro():
    noisy, clean = [{"a": 20.0}, {"a": 3.0}], [{"a": 10.0}, {"a": 2.0}]
    assert inflation_estimate(noisy, clean, ["a"], "micro").value == pytest.approx(23 / 12 - 1)
    assert inflation_estimate(noisy, clean, ["a"], "macro").value == pytest.approx((1.0 + 0.5) / 2)


def test_macro_ignores_a_variant_without_any_value():
    found = mean_estimate([{"a": 1.0}, {"a": None}], ["a"], "macro")
    assert found.value == 1.0


def test_an_undefined_estimate_is_none_with_zero_n():
    for columns, cases in (([{"a": None}], ["a"]), ([{}], [])):
        found = mean_estimate(columns, cases)
        assert (found.value, found.n, found.low, found.high) == (None, 0, None, None)


def test_one_case_has_no_interval():
    found = mean_estimate([{"a": 1.0}], ["a"])
    assert (found.value, found.low, found.high) == (1.0, None, None)


def test_interval_agrees_with_scipy():
    generator = np.random.default_rng(7)
    clean = generator.integers(5, 15, 60).astype(float)
    noisy = clean + generator.integers(0, 8, 60)
    cases = [f"c{i:02d}" for i in range(60)]
    sums = ratio_sums([dict(zip(cases, noisy, strict=True))], [dict(zip(cases, clean, strict=True))], cases)
    found = estimate(sums, then=lambda ratio: ratio - 1, resamples=20_000)

    def inflation(n, c, axis):
        return n.sum(axis=axis) / c.sum(axis=axis) - 1

    reference = bootstrap(
        (noisy, clean), inflation, paired=True, vectorized=True, method="percentile", n_resamples=20_000,
        random_state=np.random.default_rng(1),
    ).confidence_interval  # fmt: skip
    assert found.low == pytest.approx(reference.low, abs=0.01)
    assert found.high == pytest.approx(reference.high, abs=0.01)
    assert found.low < found.value < found.high


def test_the_bootstrap_is_paired():
    """Every case loses exactly 3 turns of 10, so the inflation of any resample is the same."""
    cases = [f"c{i}" for i in range(20)]
    clean = {case: 10.0 * (1 + i) for i, case in enumerate(cases)}
    noisy = {case: 1.3 * turns for case, turns in clean.items()}
    found = inflation_estimate([noisy], [clean], cases, "micro")
    assert (found.low, found.high) == (pytest.approx(0.3), pytest.approx(0.3))


def test_the_bootstrap_is_seeded_and_draws_as_many_cases_as_there_are():
    assert np.array_equal(resample_counts(12), resample_counts(12))
    assert not np.array_equal(resample_counts(12), resample_counts(12, seed=2))
    assert resample_counts(12).shape == (aggregate.RESAMPLES, 12)
    assert set(resample_counts(12).sum(axis=1)) == {12.0}


def test_undefined_cases_do_not_move_the_estimate():
    cases = [f"c{i}" for i in range(10)]
    column = {case: float(i % 2) for i, case in enumerate(cases)}
    more = {**column, "x1": None, "x2": math.nan}
    first, second = mean_estimate([column], cases), mean_estimate([more], [*cases, "x1", "x2"])
    assert (first.value, first.n) == (second.value, second.n) == (0.5, 10)
    assert second.coverage == pytest.approx(10 / 12)


def test_pairs_with_an_undefined_half_count_for_neither():
    noisy, clean, cases = paired_columns([(10.0, 5.0), (30.0, None), (4.0, math.nan)], ["a", "a", "b"])
    assert (noisy, clean, cases) == ({"a": 10.0, "b": None}, {"a": 5.0, "b": None}, ["a", "b"])


def test_mean_sums_keeps_zero_apart_from_undefined():
    sums = mean_sums([{"a": 0.0, "b": None}], ["a", "b"])
    assert sums.defined == 1
    assert sums.counted.tolist() == [[True], [False]]
