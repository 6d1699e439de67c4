"""Several processes and several machines: the same transcripts and scores as one."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import rank_program

from verisim_tasks.cases.bank import load_cases
from verisim_tasks.cli.main import main
from verisim_tasks.errors import UserError
from verisim_tasks.loop.request import cases_by_id
from verisim_tasks.loop.shards import Shard, split_source


def small_bank(folder: Path, count: int) -> Path:
    folder.mkdir(parents=True)
    for case in list(load_cases())[:count]:
        (folder / f"{case.id}.yaml").write_text(case.model_dump_json())
    return folder


def test_shards_deal_out_every_case_once() -> None:
    whole = list(cases_by_id("bank"))
    parts = [list(cases_by_id(f"bank#{i}/5")) for i in range(1, 6)]
    assert sorted(c for part in parts for c in part) == sorted(whole)
    assert {len(part) for part in parts} <= {len(whole) // 5, len(whole) // 5 + 1}
    assert list(cases_by_id("bank#1/1")) == whole


@pytest.mark.parametrize("text", ["0/8", "9/8", "3", "a/b", "-1/3", "1/0", "3/8/2", ""])
def test_a_shard_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="write 3/8"):
        Shard.read(text)


def test_a_source_is_split_from_its_shard() -> None:
    assert split_source("bank") == ("bank", Shard(1, 1))
    assert split_source("/data/a#b/cases#3/8") == ("/data/a#b/cases", Shard(3, 8))
    with pytest.raises(UserError, match="leaves some shards empty"):
        Shard(1, 3).part([1, 2])


def ranks(world_size: int, run_dir: Path, cases: Path, *, dies_at: int = -1, expect: tuple[int, ...] = (0,)) -> Any:
    """Run the program in so many processes; what lm-eval found."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    out = run_dir.with_suffix(".json")
    running = [
        subprocess.Popen(
            [sys.executable, rank_program.__file__, *map(str, (rank, world_size, port, run_dir, cases, dies_at, out))],
            env={**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(world_size)
    ]
    said = [process.communicate(timeout=400)[1] for process in running]
    codes = [process.returncode for process in running]
    assert set(codes) <= set(expect), (codes, *(text[-1500:] for text in said))
    return json.loads(out.read_text()) if out.is_file() else None


def rounded(value: Any) -> Any:
    """Sums over cases in another order differ in the last digit."""
    if isinstance(value, dict):
        return {k: rounded(v) for k, v in value.items()}
    if isinstance(value, list):
        return [rounded(v) for v in value]
    return round(value, 12) if isinstance(value, float) else value


@pytest.mark.slow
def test_two_ranks_give_what_one_gives_and_each_goes_on_with_what_the_other_began(tmp_path: Path) -> None:
    cases = small_bank(tmp_path / "cases", 5)
    scores = tmp_path / "one.json"
    rank_program.evaluate(0, 1, str(tmp_path / "one"), str(cases), -1, str(scores))  # alone: no process of its own
    expected = json.loads(scores.read_text())
    transcripts = (tmp_path / "one" / "transcripts.jsonl").read_bytes()
    assert transcripts.count(b"\n") == 15

    def same(folder: Path, found: Any) -> None:
        assert (folder / "transcripts.jsonl").read_bytes() == transcripts
        assert rounded(found) == rounded(expected)

    same(tmp_path / "two", ranks(2, tmp_path / "two", cases))
    folder = tmp_path / "more"
    ranks(1, folder, cases, dies_at=3, expect=(9, 1, -6))
    logged = {p.name: p.read_bytes().count(b'"said"') for p in folder.glob("turns*.jsonl")}
    assert sum(logged.values()) >= 15 * 3 * 2 - 12  # three turns of doctor and patient, twins shared or not
    same(folder, ranks(2, folder, cases))
    folder = tmp_path / "fewer"
    ranks(2, folder, cases, dies_at=3, expect=(9, 1, -6))
    assert len(list(folder.glob("turns*.jsonl"))) == 2
    rank_program.evaluate(0, 1, str(folder), str(cases), -1, str(scores))
    same(folder, json.loads(scores.read_text()))


def lm_eval_scores(folder: Path) -> Any:
    data = json.loads(sorted(folder.rglob("results_*.json"))[-1].read_text())
    return [data["results"], data["groups"]]


@pytest.mark.slow
def test_merged_shards_are_the_single_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VERISIM_COMMAND", "")
    small_bank(tmp_path / "cases", 5)

    def run(name: str, *more: str) -> int:
        settings = {"cases": "cases", "max_turns": 6, "run_dir": name}
        model = ["--model", "verisim-clinician", "--tasks", "verisim_core", "--output_path", f"{name}/results"]
        return main(["run", *model, "--metadata", json.dumps({"verisim": settings}), *more])

    assert run("whole") == 0
    assert run("a", "--shard", "1/2") == 0
    assert run("b", "--shard", "2/2") == 0
    whole = (tmp_path / "whole" / "transcripts.jsonl").read_bytes()
    capsys.readouterr()
    assert main(["merge", "b", "a", "--out", "merged"]) == 0
    assert "10 transcripts of 2 runs are in merged/transcripts.jsonl" in capsys.readouterr().out
    assert (tmp_path / "merged" / "transcripts.jsonl").read_bytes() == whole
    info = [json.loads((tmp_path / name / "run.json").read_text()) for name in ("whole", "merged")]
    assert {**info[0], "settings": {**info[0]["settings"], "run_dir": "merged"}} == info[1]
    calls: list[int] = []
    monkeypatch.setattr(
        "verisim_tasks.clinician.model.ClinicianLM.generate_until", lambda self, requests, **_: calls.append(1)
    )
    assert main(["run", "--resume", "merged", "--output_path", "merged/results"]) == 0
    assert calls == []  # everything is replayed
    assert lm_eval_scores(tmp_path / "merged") == lm_eval_scores(tmp_path / "whole")
    assert (tmp_path / "merged" / "transcripts.jsonl").read_bytes() == whole

    assert main(["merge", "a", "--out", "half"]) == 3
    assert "without shard 2/2" in capsys.readouterr().err
    for wrong, words in (
        (["a", "b", "--out", "merged"], "already holds a run"),
        (["a", "cases", "--out", "new"], "holds no transcripts.jsonl, and others do"),
        (["cases", "--out", "new"], "no transcripts.jsonl in cases"),
    ):
        assert main(["merge", *wrong]) == 2
        assert words in capsys.readouterr().err
    changed = whole.replace(b"Final Diagnosis", b"final diagnosis", 1)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "transcripts.jsonl").write_bytes(changed)
    (tmp_path / "other" / "run.json").write_bytes((tmp_path / "whole" / "run.json").read_bytes())
    assert main(["merge", "whole", "other", "--out", "new"]) == 2
    assert "and it differs" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_a_limit_and_a_shard_do_not_go_together(capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["run", "--model", "verisim-clinician", "--tasks", "verisim_clean", "--shard", "1/2", "--limit", "2"]
    assert main(argv) == 2
    assert "--shard deals out all cases" in capsys.readouterr().err
