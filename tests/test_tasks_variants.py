from __future__ import annotations

import runpy
import sys
from collections import Counter
from pathlib import Path

import pytest
import yaml
from lm_eval.api.group import Group
from lm_eval.tasks._index import Kind, TaskIndex
from loop_helpers import make_case

from verisim_tasks.cases.bank import find_case
from verisim_tasks.cli.path import config_folder
from verisim_tasks.errors import UserError
from verisim_tasks.records.noise import DIMENSIONS, NoiseProfile
from verisim_tasks.tasks.mixed import PAIRS, assign_mixed, stored_table
from verisim_tasks.tasks.variants import GROUPS, VARIANTS, variant_of

ROOT = Path(__file__).resolve().parent.parent


def test_there_are_26_variants() -> None:
    assert len(VARIANTS) == len({v.task for v in VARIANTS}) == 26
    assert VARIANTS[0].task == "verisim_clean"
    assert VARIANTS[-1].task == "verisim_mixed"


def leaves(name: str) -> list[str]:
    return [leaf for m in GROUPS[name] for leaf in leaves(m)] if name in GROUPS else [name]


@pytest.mark.parametrize(("group", "count"), [("verisim", 26), ("verisim_noisy", 25), ("verisim_core", 2)])
def test_no_group_reaches_a_task_twice(group: str, count: int) -> None:
    assert len(leaves(group)) == len(set(leaves(group))) == count


def test_lm_eval_finds_every_task_group_and_tag() -> None:
    index = TaskIndex.build([config_folder()])
    kinds = {kind: {n for n, e in index.items() if e.kind is kind} for kind in Kind}
    assert {v.task for v in VARIANTS} <= kinds[Kind.PY_TASK]
    assert set(GROUPS) <= kinds[Kind.GROUP]
    assert {f"verisim_level_{n}" for n in (1, 2, 3, 4)} <= kinds[Kind.TAG]
    assert index["verisim_level_3"].tags == {f"verisim_{d}_l3" for d in DIMENSIONS}


def test_groups_average_what_is_defined_in_all_of_their_tasks() -> None:
    for name in GROUPS:
        config = yaml.safe_load((config_folder() / f"{name}_group.yaml").read_text())
        metrics = {m["metric"]: m["weight_by_size"] for m in config["aggregate_metric_list"]}
        assert metrics["diagnostic_accuracy"] is False
        assert metrics["diagnostic_accuracy_micro"] is True
        assert ("accuracy_drop" in metrics) == ("verisim_clean" not in leaves(name))
        assert "turn_inflation" not in metrics  # a mean of ratios would be wrong
        assert Group.from_config({k: v for k, v in config.items() if k != "task"}).has_aggregation


@pytest.mark.parametrize("script", ["make_task_configs.py", "assign_mixed.py", "assign_personas.py"])
def test_stored_files_are_what_the_scripts_make(
    script: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(ROOT / "scripts" / script)
    monkeypatch.syspath_prepend(ROOT / "scripts")
    monkeypatch.setattr(sys, "argv", [path, "--check"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(path, run_name="__main__")
    assert ended.value.code == 0, capsys.readouterr().err


def test_an_incompatible_case_is_left_out_of_a_dimension() -> None:
    case = make_case(incompatible_noise=["memory_recall"])
    by_name = {v.name: v for v in VARIANTS}
    assert by_name["memory_recall_l1"].noise_for(case, 0) is None
    assert by_name["clean"].noise_for(case, 0) == NoiseProfile()
    assert by_name["health_literacy_l1"].noise_for(case, 0) == NoiseProfile({"health_literacy": 1})


def test_a_configuration_may_name_any_noise() -> None:
    variant = variant_of({"task": "mine", "variant": "two", "noise": {"memory_recall": 4, "health_literacy": 1}})
    assert (variant.name, len(variant.noise or {})) == ("two", 2)


@pytest.mark.parametrize("noise", [{"memory": 1}, {"memory_recall": 5}, {"memory_recall": "high"}, "mixd", 3])
def test_a_wrong_noise_is_refused(noise: object) -> None:
    with pytest.raises(UserError):
        variant_of({"task": "mine", "noise": noise})


def test_every_planned_case_and_repeat_has_two_dimensions_at_level_1_to_3() -> None:
    table = stored_table()
    assert len(table) == 72
    for rows in table.values():
        assert len(rows) == 5
        assert all(len(row) == 2 and set(row.values()) <= {1, 2, 3} for row in rows)
        assert len({tuple(row) for row in rows}) >= 3  # another pair at every repeat, where the case allows it


@pytest.mark.parametrize("repeat", range(5))
def test_the_assignment_is_balanced_in_every_prefix(repeat: int) -> None:
    rows = [rows[repeat] for rows in stored_table().values()]
    for size in range(1, len(rows) + 1):
        pairs = Counter(dict.fromkeys(PAIRS, 0))
        pairs.update(tuple(row) for row in rows[:size])
        dimensions = Counter(d for row in rows[:size] for d in row)
        levels = Counter(level for row in rows[:size] for level in row.values())
        assert max(pairs.values()) - min(pairs.values()) <= 2
        assert max(dimensions.values()) - min(dimensions[d] for d in DIMENSIONS) <= 3
        assert max(levels.values()) - min(levels[n] for n in (1, 2, 3)) <= 4


def test_a_case_outside_the_table_gets_a_stable_draw() -> None:
    case = make_case("other-123")
    first = assign_mixed(case, 7)
    assert first == assign_mixed(make_case("other-123"), 7)
    assert first is not None
    assert len(first) == 2
    assert len({assign_mixed(make_case(f"other-{n}"), 0) for n in range(30)}) > 10


def test_mixed_never_assigns_an_incompatible_dimension() -> None:
    for case_id in (*list(stored_table())[:20], "other-1", "other-2"):
        case = make_case(case_id, incompatible_noise=list(DIMENSIONS[:3]))
        for repeat in range(6):
            noise = assign_mixed(case, repeat)
            assert noise is not None
            assert not set(noise) & set(DIMENSIONS[:3])
    assert assign_mixed(make_case(incompatible_noise=list(DIMENSIONS[:5])), 0) is None


def test_a_case_with_noise_of_its_own_keeps_it_in_the_mixed_protocol() -> None:
    own = {"memory_recall": 4, "emotional_state": 1}
    case = find_case("card-001").model_copy(update={"suggested_noise": own})
    assert dict(assign_mixed(case, 0) or {}) == own
