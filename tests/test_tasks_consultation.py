"""The tasks inside lm-eval itself, with small language models that follow a script."""

from __future__ import annotations

import json
import math
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager
from lm_eval.utils import make_table
from loop_helpers import ScriptLM, doctor_turns, make_case

from verisim_tasks.cli.path import config_folder
from verisim_tasks.errors import UserError

CASES = ("card-901", "card-902", "card-903", "card-904")


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    folder = tmp_path / "cases"
    folder.mkdir()
    for name in CASES:
        incompatible = ["memory_recall"] if name == "card-904" else []
        case = make_case(name, incompatible_noise=incompatible)
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(case.model_dump(mode="json")))
    return folder


def right(prompt: str) -> str:
    return "Do you smoke?" if doctor_turns(prompt) < 1 else "Final Diagnosis: zebrapox of the heart"


def evaluate(bank: Path, *tasks: str, lm: Any = None, settings: dict[str, Any] | None = None, **more: Any) -> Any:
    ours = {"cases": str(bank), "run_dir": str(bank.parent / "run"), "max_turns": 4, **(settings or {})}
    manager = TaskManager(
        include_path=str(config_folder()), include_defaults=False, metadata={"verisim": ours, "token": "secret"}
    )
    return simple_evaluate(
        model=lm or ScriptLM(right),
        tasks=list(tasks),
        task_manager=manager,
        **{"apply_chat_template": True, "bootstrap_iters": 10, **more},
    )


def stored(bank: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (bank.parent / "run" / "transcripts.jsonl").read_text().splitlines()]


def test_a_single_noise_task_reports_its_own_pairs(bank: Path) -> None:
    results = evaluate(bank, "verisim_health_literacy_l1")["results"]["verisim_health_literacy_l1"]
    assert results["sample_len"] == 4
    assert results["diagnostic_accuracy,none"] == 1.0
    assert results["diagnostic_accuracy_n,none"] == 4
    assert results["accuracy_drop,none"] == 0.0
    assert results["turn_inflation,none"] == 0.0
    assert results["turns,none"] == 2.0
    assert results["diagnostic_accuracy_stderr,none"] == 0.0
    assert {t["variant"] for t in stored(bank)} == {"health_literacy_l1", "clean"}


def test_groups_report_macro_and_micro_and_the_table_prints(bank: Path) -> None:
    found = evaluate(bank, "verisim", limit=2)
    assert len(found["configs"]) == 26
    group = found["groups"]["verisim_noisy"]
    assert group["diagnostic_accuracy,none"] == group["diagnostic_accuracy_micro,none"] == 1.0
    assert group["accuracy_drop,none"] == 0.0
    assert "accuracy_drop,none" not in found["groups"]["verisim"]
    assert make_table(found)
    assert make_table(found, "groups")
    assert len(stored(bank)) == 2 * 26


def test_a_case_whose_disease_the_noise_would_mimic_is_left_out_and_counted(bank: Path) -> None:
    found = evaluate(bank, "verisim_memory_recall_l1", "verisim_clean")
    assert found["n-samples"]["verisim_memory_recall_l1"] == {"original": 3, "effective": 3}
    assert found["configs"]["verisim_memory_recall_l1"]["metadata"]["left_out"] == ["card-904"]
    assert found["n-samples"]["verisim_clean"]["effective"] == 4


def test_results_hold_our_settings_and_no_secret(bank: Path) -> None:
    found = evaluate(bank, "verisim_clean", limit=1)
    config = found["configs"]["verisim_clean"]
    assert config["metadata"]["verisim"]["max_turns"] == 4
    assert config["metadata"]["noise"] == {}
    assert "secret" not in json.dumps(config)


def test_limit_and_samples_choose_cases(bank: Path) -> None:
    evaluate(bank, "verisim_clean", limit=2)
    assert [t["case_id"] for t in stored(bank)] == ["card-901", "card-902"]
    found = evaluate(bank, "verisim_clean", samples={"verisim_clean": [2, 0]})
    assert [t["case_id"] for t in stored(bank)] == ["card-901", "card-903"]
    assert sorted(s["doc"]["case_id"] for s in found["samples"]["verisim_clean"]) == ["card-901", "card-903"]


def test_limit_zero_is_one_sentence(bank: Path) -> None:
    with pytest.raises(UserError, match="limit 0"):
        evaluate(bank, "verisim_clean", limit=0)


def test_samples_hold_ids_and_the_transcript(bank: Path) -> None:
    (sample,) = evaluate(bank, "verisim_clean", limit=1)["samples"]["verisim_clean"]
    assert sample["target"] == "card-901"
    assert sample["doc"] == {"case_id": "card-901", "specialty": "cardiology", "variant": "clean"}
    assert json.loads(sample["resps"][0][0])["outcome"]["diagnosis"] == "zebrapox of the heart"
    assert "zebrapox" not in json.dumps([sample["arguments"], sample["doc"], sample["target"]])


def test_repeats_are_run_with_their_own_noise_and_averaged(bank: Path) -> None:
    found = evaluate(bank, "verisim_mixed", settings={"repeats": 3}, limit=2)
    assert found["n-samples"]["verisim_mixed"]["effective"] == 2
    noisy = [t for t in stored(bank) if t["variant"] == "mixed"]
    assert sorted(t["repeat"] for t in noisy) == [0, 0, 1, 1, 2, 2]
    assert len({json.dumps(t["noise"]) for t in noisy if t["case_id"] == "card-901"}) > 1
    assert all(len(t["noise"]) == 2 for t in noisy)
    (first, _) = found["samples"]["verisim_mixed"]
    assert len(first["resps"]) == 3


def test_predict_only_runs_and_stores_transcripts(bank: Path) -> None:
    found = evaluate(bank, "verisim_clean", predict_only=True, limit=1)
    assert set(found["results"]["verisim_clean"]) >= {"bypass,none"}
    assert len(stored(bank)) == 1


def test_gen_kwargs_and_system_instruction_reach_the_doctor(bank: Path) -> None:
    lm = ScriptLM(right)
    evaluate(
        bank,
        "verisim_clean",
        lm=lm,
        limit=1,
        gen_kwargs="max_gen_toks=33,top_p=0.5",
        system_instruction="Be kind.",
        num_fewshot=3,
    )
    assert lm.kwargs[0] == {"until": [], "max_gen_toks": 33, "do_sample": False, "top_p": 0.5}
    assert all("Be kind.\n\nYou are a doctor." in p for p in lm.prompts)


def test_a_seed_in_gen_kwargs_is_refused_before_the_first_token(bank: Path) -> None:
    lm = ScriptLM(right)
    with pytest.raises(UserError, match="seed"):
        evaluate(bank, "verisim_clean", lm=lm, gen_kwargs="seed=3")
    assert lm.calls == []


def test_cached_requests_do_not_hide_new_settings(bank: Path) -> None:
    for turns in (2, 3):
        lm = ScriptLM(lambda p: "Hm?")
        short = {"max_turns": turns, "report": False}
        evaluate(bank, "verisim_clean", lm=lm, limit=1, settings=short, cache_requests=True)
        assert len(lm.calls) == turns


def test_the_response_cache_gives_the_same_transcripts_without_the_model(bank: Path) -> None:
    seen = []
    for _ in range(2):
        lm = ScriptLM(right)
        evaluate(bank, "verisim_core", lm=lm, use_cache=str(bank.parent / "cache"))
        seen.append((len(lm.prompts), (bank.parent / "run" / "transcripts.jsonl").read_bytes()))
    assert seen[0][0] > 0
    assert seen[1][0] == 0
    assert seen[0][1] == seen[1][1]


def test_a_failed_consultation_is_out_of_the_scores_and_counted(bank: Path) -> None:
    class Fragile(ScriptLM):
        def generate_until(self, requests: Any, disable_tqdm: bool = False) -> list[str]:
            if any(doctor_turns(r.args[0]) == 1 for r in requests):
                raise RuntimeError("500")
            return super().generate_until(requests, disable_tqdm)

    found = evaluate(bank, "verisim_health_literacy_l1", lm=Fragile(right))
    results = found["results"]["verisim_health_literacy_l1"]
    assert results["errors,none"] == 4
    assert results["diagnostic_accuracy_n,none"] == 0
    assert math.isnan(results["diagnostic_accuracy,none"])
    assert results["turn_inflation,none"] is None
    assert make_table(found)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"max_turn": 3}, "did you mean 'max_turns'"),
        ({"max_turns": 0}, "max_turns"),
        ({"cases": "/nowhere/at/all"}, "/nowhere/at/all"),
    ],
)
def test_wrong_settings_stop_the_run_when_the_task_is_built(
    bank: Path, settings: dict[str, Any], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lm = ScriptLM(right)
    with pytest.raises(UserError, match=words) as caught:
        evaluate(bank, "verisim_clean", lm=lm, settings=settings)
    assert isinstance(caught.value, SystemExit)
    assert lm.calls == []
    assert len(capsys.readouterr().err.strip().splitlines()[-1]) > 20
    assert not (bank.parent / "run").exists()


def test_a_run_folder_that_is_a_file_stops_the_run(bank: Path) -> None:
    (bank.parent / "run").write_text("")
    with pytest.raises(UserError, match="is a file"):
        evaluate(bank, "verisim_clean")


def test_an_empty_or_malformed_case_file_is_named(bank: Path) -> None:
    for text in ("", "id: [", "id: card-1\n"):
        (bank / "card-901.yaml").write_text(text)
        with pytest.raises(UserError, match=r"card-901\.yaml"):
            evaluate(bank, "verisim_clean", settings={"cases": str(bank / "card-901.yaml")})


def test_two_tasks_that_overlap_are_lm_evals_own_error(bank: Path) -> None:
    with pytest.raises(ValueError, match="Duplicate task"):
        evaluate(bank, "verisim_noisy", "verisim_core")


TWO_RANKS = """
import json, os, sys
import torch.distributed as dist
sys.path.insert(0, {tests!r})
from pathlib import Path
from loop_helpers import ScriptLM
import test_tasks_consultation as t

rank = int(os.environ["RANK"])
dist.init_process_group("gloo", rank=rank, world_size=2)

class Sharded(ScriptLM):
    device = "cpu"
    rank = rank
    world_size = 2
    def all_gather(self, tensor):
        import torch
        parts = [torch.zeros_like(tensor) for _ in range(2)]
        dist.all_gather(parts, tensor)
        return torch.stack(parts)
    def gather_object(self, obj, dst=0):
        parts = [None, None] if rank == dst else None
        dist.gather_object(obj, parts, dst=dst)
        return parts
    def barrier(self):
        dist.barrier()

tasks = ("verisim_memory_recall_l2", "verisim_core")
found = t.evaluate(Path({bank!r}), *tasks, lm=Sharded(t.right), settings={{"nli": None}})
if rank == 0:
    Path({out!r}).write_text(json.dumps(found["results"], default=str))
dist.destroy_process_group()
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.slow
def test_two_processes_give_the_scores_and_transcripts_of_one(bank: Path, tmp_path: Path) -> None:
    # none of what NLI scores is compared below
    whole = evaluate(bank, "verisim_memory_recall_l2", "verisim_core", settings={"nli": None})["results"]
    alone = (bank.parent / "run" / "transcripts.jsonl").read_bytes()
    (bank.parent / "run" / "transcripts.jsonl").unlink()
    program = TWO_RANKS.format(tests=str(Path(__file__).parent), bank=str(bank), out=str(tmp_path / "results.json"))
    environment = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    running = [
        subprocess.Popen([sys.executable, "-c", program], env={**environment, "RANK": str(rank)}, cwd=tmp_path)
        for rank in (0, 1)
    ]
    assert [p.wait(timeout=300) for p in running] == [0, 0]
    sharded = json.loads((tmp_path / "results.json").read_text())
    for task, results in whole.items():
        for name in ("diagnostic_accuracy,none", "turns,none", "accuracy_drop,none", "key_facts,none", "sample_len"):
            if name in results:
                assert sharded[task][name] == pytest.approx(results[name], nan_ok=True), (task, name)
    assert (bank.parent / "run" / "transcripts.jsonl").read_bytes() == alone
    assert not list((bank.parent / "run").glob("transcripts.rank*"))
