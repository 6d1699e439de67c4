from __future__ import annotations

import math
from typing import Any

import pytest
from lm_eval.api.metrics import mean_stderr
from loop_helpers import EchoPatient, make_plan, quick, script

from verisim_tasks.loop.engine import run_consultations
from verisim_tasks.tasks import scores
from verisim_tasks.tasks.scores import aggregations, case_metrics, higher_is_better

TRANSCRIPT = run_consultations(
    [make_plan(noise={"memory_recall": 1})], script("Final Diagnosis: Flu"), EchoPatient(), quick()
)[0]


def score(**given: float | None) -> dict[str, float | None]:
    return {**dict.fromkeys((*scores.MEANS, "censored")), **given}


def aggregate(cases: list[dict[str, Any]]) -> dict[str, Any]:
    return {name: aggregate([case[name] for case in cases]) for name, aggregate in aggregations().items()}


def test_every_case_has_every_key_and_every_key_an_aggregator() -> None:
    full = case_metrics([score(turns=3.0)], [TRANSCRIPT])
    empty = case_metrics([score()], [TRANSCRIPT])
    assert list(full) == list(empty)
    assert set(full) == set(aggregations())
    assert set(higher_is_better()) <= set(full)


def test_a_standard_error_comes_after_its_metric() -> None:
    names = list(case_metrics([score()], [TRANSCRIPT]))
    for name in names:
        if name.endswith("_stderr"):
            assert names.index(name.removesuffix("_stderr")) < names.index(name)


def test_undefined_values_are_left_out_and_counted() -> None:
    cases = [case_metrics([score(key_facts=v)], [TRANSCRIPT]) for v in (1.0, None, 0.0)]
    found = aggregate(cases)
    assert found["key_facts"] == 0.5
    assert found["key_facts_n"] == 2


def test_nothing_defined_is_nan_where_groups_average_and_null_elsewhere() -> None:
    found = aggregate([case_metrics([score()], [TRANSCRIPT])])
    for name, value in found.items():
        if name in {n for n, _ in (*scores.GROUP_METRICS, *scores.NOISY_GROUP_METRICS)}:
            assert math.isnan(value), name
        else:
            assert value in (None, 0, "N/A"), name


def test_the_standard_error_is_lm_evals() -> None:
    values = [1.0, 0.0, 0.0, 1.0, 1.0]
    assert scores.stderr_of_mean(values) == pytest.approx(mean_stderr(values))
    assert scores.stderr_of_mean([1.0]) == "N/A"  # None would crash lm-eval's table


def test_repeats_are_averaged_within_a_case_before_cases_are_compared() -> None:
    thrice = case_metrics([score(diagnostic_accuracy=a) for a in (1.0, 1.0, 1.0)], [TRANSCRIPT] * 3)
    once = case_metrics([score(diagnostic_accuracy=0.0)], [TRANSCRIPT])
    assert aggregate([thrice, once])["diagnostic_accuracy"] == 0.5


def test_turn_inflation_is_a_ratio_of_sums() -> None:
    cases = [case_metrics([score(turns=n, clean_turns=c)], [TRANSCRIPT]) for n, c in ((20.0, 10.0), (2.0, 2.0))]
    found = aggregate(cases)
    assert found["turn_inflation"] == pytest.approx(22 / 12 - 1)
    assert found["turn_inflation_n"] == 2
    assert found["turn_inflation_stderr"] > 0


def test_a_pair_with_an_error_is_left_out_of_ratios() -> None:
    cases = [case_metrics([score(turns=20.0, clean_turns=10.0)], [TRANSCRIPT]), case_metrics([score()], [TRANSCRIPT])]
    found = aggregate(cases)
    assert found["turn_inflation"] == pytest.approx(1.0)
    assert found["turn_inflation_n"] == 1


def test_the_drop_is_paired_and_in_points() -> None:
    pairs = ((1.0, 1.0), (0.0, 1.0), (0.0, 0.0), (None, 1.0))
    cases = [case_metrics([score(diagnostic_accuracy=n, clean_accuracy=c)], [TRANSCRIPT]) for n, c in pairs]
    found = aggregate(cases)
    assert found["accuracy_drop"] == pytest.approx(100 * (2 / 3 - 1 / 3))
    assert found["accuracy_drop_relative"] == pytest.approx(0.5)
    assert found["accuracy_drop_n"] == 3


def test_a_drop_from_almost_nothing_is_hidden() -> None:
    pairs = [(0.0, 1.0)] + [(0.0, 0.0)] * 5
    cases = [case_metrics([score(diagnostic_accuracy=n, clean_accuracy=c)], [TRANSCRIPT]) for n, c in pairs]
    found = aggregate(cases)
    assert math.isnan(found["accuracy_drop"])
    assert found["accuracy_drop_relative"] is None
    assert found["accuracy_drop_stderr"] == "N/A"
    assert found["accuracy_drop_n"] == 6


def test_errors_are_counted() -> None:
    broken = TRANSCRIPT.model_copy(update={"outcome": TRANSCRIPT.outcome.model_copy(update={"stop_reason": "error"})})
    found = aggregate([case_metrics([score(), score()], [broken, TRANSCRIPT]), case_metrics([score()], [TRANSCRIPT])])
    assert found["errors"] == 1
    assert found["context_limits"] == 0
