"""The command line when a run is stopped or stays incomplete: exit codes, what is said, and how it is completed."""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fault_server import serving
from resume_helpers import make_bank
from role_helpers import judging
from test_faults import answer

from verisim_tasks.cli._command import announce
from verisim_tasks.cli.main import main

SETTINGS = {"cases": "cases", "run_dir": "run", "max_turns": 5, "report": False, "nli": None}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VERISIM_COMMAND", "")
    make_bank(tmp_path / "cases")
    return tmp_path


def argv(url: str, **settings: object) -> list[str]:
    model = f"model=tiny,base_url={url},num_concurrent=1,max_retries=1,timeout=2"
    return [
        *["run", "--model", "local-chat-completions", "--model_args", model, "--apply_chat_template"],
        *["--tasks", "verisim_clean", "--output_path", "results"],
        *["--metadata", json.dumps({"verisim": {**SETTINGS, **settings}})],
    ]


def transcripts(folder: Path) -> bytes:
    return (folder / "transcripts.jsonl").read_bytes()


@pytest.mark.slow
def test_an_incomplete_run_exits_with_3_and_is_completed_by_resume(
    place: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("tenacity", reason="lm-eval's API models need it (lm-eval[api])")
    with serving(answer) as server:
        assert main(argv(server.url, run_dir="whole")) == 0
        total = len(server.seen)
    with serving(answer, dies_after=2) as server:
        assert main(argv(server.url)) == 3
    said = capfd.readouterr().err
    assert "verisim: 3 of 3 consultations ended in an error and are in no score" in said
    assert "verisim run --resume run" in said.splitlines()[-1]
    with serving(answer) as server:  # on another port: where the model is does not matter
        again = ["--model_args", f"model=tiny,base_url={server.url},num_concurrent=1,max_retries=1,timeout=2"]
        assert main(["run", "--resume", "run", *again]) == 0
        assert len(server.seen) == total - 1  # what lm-eval lost with a failed batch was never kept
    assert transcripts(place / "run") == transcripts(place / "whole")
    capfd.readouterr()
    with serving(answer) as server:
        changed = json.dumps({"verisim": {**SETTINGS, "max_turns": 3}})
        assert main(["run", "--resume", "run", *again, "--metadata", changed]) == 2
        assert server.seen == []
    assert "settings.max_turns was 5 and is 3" in capfd.readouterr().err


@pytest.mark.slow
def test_ctrl_c_exits_with_130_and_says_how_to_go_on(place: Path) -> None:
    pytest.importorskip("tenacity", reason="lm-eval's API models need it (lm-eval[api])")

    def slow(messages: list[dict[str, str]]) -> str:
        time.sleep(0.5)
        return answer(messages)

    with serving(slow) as server:
        running = subprocess.Popen(
            [sys.executable, "-m", "verisim_tasks.cli.main", *argv(server.url)],
            env={**os.environ, "HF_HUB_OFFLINE": "1"},
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
            preexec_fn=functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # ignored in background jobs
        )
        while len(server.seen) < 2 and running.poll() is None:
            time.sleep(0.01)
        os.killpg(running.pid, signal.SIGINT)
        said = running.communicate(timeout=120)[1]
    assert running.returncode == 130, said[-2000:]
    assert "verisim: stopped; what was said is kept in run" in said
    assert "verisim run --resume run" in said
    assert "Traceback" not in said


def about_reports(words: str) -> str | None:
    return "500" if "report" in json.loads(words)[-1]["content"].lower() else None


@pytest.mark.slow
def test_a_lost_report_and_a_lost_judge_score_exit_with_3_and_are_completed(
    place: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("tenacity", reason="lm-eval's API models need it (lm-eval[api])")
    with serving(lambda messages: judging(messages[-1]["content"])) as judge, serving(answer) as server:
        args = f"model=tiny,base_url={judge.url},num_concurrent=1,max_retries=1,timeout=2"
        scored = {"report": True, "nli": None, "judge": {"model": "local-chat-completions", "model_args": args}}
        server.fails = about_reports
        assert main(argv(server.url, **scored)) == 3
        said = capfd.readouterr().err.splitlines()
        assert "verisim: 3 reports could not be had" in said[-2]
        assert "questions of the scores" not in said[-2]
        assert "verisim run --resume run" in said[-1]
        server.fails, judge.fails, asked = (lambda words: None), (lambda words: "500"), len(server.seen)
        assert main(["run", "--resume", "run"]) == 3
        assert len(server.seen) > asked
        said = capfd.readouterr().err.splitlines()
        assert "questions of the scores were not answered, and what rests on them is null" in said[-2]
        assert "reports could not" not in said[-2]
        judge.fails, asked = (lambda words: None), len(server.seen)
        assert main(["run", "--resume", "run"]) == 0
        assert len(server.seen) == asked


def test_resume_needs_a_run_and_its_command(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--resume", "nowhere"]) == 2
    assert "no run to go on with" in capsys.readouterr().err
    (place / "run").mkdir()
    (place / "run" / "turns.jsonl").write_text('{"section": "x", "log": 1, "header": {}, "command": null}\n')
    assert main(["run", "--resume", "run"]) == 2
    assert "keeps no command" in capsys.readouterr().err


def test_a_command_with_a_secret_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERISIM_COMMAND", "")
    for word in ("model=x,api_key=sk-1", '{"auth_token": "x"}', "hf_token=x", "openai_api_key=1"):
        announce(["--model_args", word], None)
        assert "VERISIM_COMMAND" not in os.environ
    announce(["--model_args", "model=x,max_gen_toks=5", "--gen_kwargs", "max_tokens=3"], "1/2")
    kept = json.loads(os.environ["VERISIM_COMMAND"])
    assert kept["shard"] == "1/2"
    assert kept["argv"][-1] == "max_tokens=3"
