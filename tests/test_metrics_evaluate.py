"""The headline metrics through ``evaluate.load(<path>)``, offline."""

import math
from importlib.resources import files
from pathlib import Path

import evaluate
import pytest

import verisim_metrics

FOLDER = Path(str(files(verisim_metrics)))
NAMES = ("diagnostic_accuracy", "accuracy_drop", "turn_inflation", "key_facts")


@pytest.fixture(scope="module")
def metrics(tmp_path_factory):
    cache = str(tmp_path_factory.mktemp("evaluate"))
    return {name: evaluate.load(str(FOLDER / name), cache_dir=cache) for name in NAMES}


def test_diagnostic_accuracy(metrics):
    reference = {"name": "Acute appendicitis", "synonyms": ["appendicitis"], "accepted_codes": ["K35.80"]}
    found = metrics["diagnostic_accuracy"].compute(
        predictions=["appendicitis", "migraine", "", "Acute appendicitis"], references=[reference] * 4
    )
    assert (found["diagnostic_accuracy"], found["n"], len(found["rules"])) == (0.5, 4, 4)


def test_diagnostic_accuracy_without_synonyms_or_codes(metrics):
    reference = {"name": "Migraine", "synonyms": [], "accepted_codes": []}
    found = metrics["diagnostic_accuracy"].compute(predictions=["migraine"], references=[reference])
    assert found["diagnostic_accuracy"] == 1.0


def test_accuracy_drop(metrics):
    found = metrics["accuracy_drop"].compute(predictions=[1, 0, 0, 1], references=[1, 1, 1, 1])
    assert (found["accuracy_drop"], found["accuracy_drop_relative"], found["n"]) == (50.0, 0.5, 4)
    assert found["interval"][0] <= 50.0 <= found["interval"][1]


def test_accuracy_drop_averages_repeats_and_leaves_out_nan(metrics):
    found = metrics["accuracy_drop"].compute(
        predictions=[1, 0, 0, 1], references=[1, 1, math.nan, 1], case_ids=["a", "a", "b", "c"]
    )
    assert (found["accuracy_drop"], found["n"]) == (25.0, 2)


def test_accuracy_drop_is_hidden_for_a_weak_model(metrics):
    found = metrics["accuracy_drop"].compute(predictions=[0] * 10, references=[1] + [0] * 9)
    assert (found["accuracy_drop"], found["accuracy_drop_relative"], found["clean_accuracy"]) == (None, None, 0.1)


def test_turn_inflation(metrics):
    found = metrics["turn_inflation"].compute(predictions=[12, 10], references=[8, 8])
    assert (found["turn_inflation"], found["n"]) == (0.375, 2)


def test_key_facts(metrics):
    found = metrics["key_facts"].compute(
        predictions=[["f02", "f07"], [], ["f01"]], references=[["f02", "f03"], ["f04"], []]
    )
    assert (found["key_facts"], found["n"], found["per_consultation"]) == (0.25, 2, [0.5, 0.0, None])


@pytest.mark.parametrize("name", NAMES)
def test_each_metric_has_a_card(name):
    card = (FOLDER / name / "README.md").read_text(encoding="utf-8")
    for part in ("range", "direction", "## Example", "## Citation", f'evaluate.load("metrics/{name}")'):
        assert part in card
