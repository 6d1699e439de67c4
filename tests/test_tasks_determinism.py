"""The same words in every process: other hash seeds, other batch sizes, a cold and a warm cache."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager

from verisim_tasks.cli.path import config_folder
from verisim_tasks.clinician.model import ClinicianLM


def run(folder: str, cache: str, batch_size: int) -> None:
    # NLI judges transcripts and writes nothing into them
    settings = {"verisim": {"run_dir": folder, "max_turns": 6, "nli": None}}
    assert ClinicianLM  # registered under its name
    simple_evaluate(
        model="verisim-clinician",
        model_args="model=clinician",
        batch_size=batch_size,
        tasks=["verisim_core", "verisim_memory_recall_l4"],
        limit=3,
        use_cache=cache,
        task_manager=TaskManager(include_path=str(config_folder()), include_defaults=False, metadata=settings),
        bootstrap_iters=0,
    )


def transcripts(folder: Path) -> bytes:
    return (folder / "transcripts.jsonl").read_bytes()


def in_a_process(folder: Path, cache: Path, *, batch_size: int, hash_seed: str, threads: str) -> bytes:
    done = subprocess.run(
        [sys.executable, __file__, str(folder), str(cache), str(batch_size)],
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "OMP_NUM_THREADS": threads},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return transcripts(folder)


@pytest.mark.slow
def test_transcripts_do_not_depend_on_process_batch_size_or_cache(tmp_path: Path) -> None:
    cold = in_a_process(tmp_path / "a", tmp_path / "cache", batch_size=1, hash_seed="1", threads="1")
    warm = in_a_process(tmp_path / "b", tmp_path / "cache", batch_size=16, hash_seed="2", threads="2")
    run(str(tmp_path / "c"), str(tmp_path / "other"), 16)  # in this process: cold again, other batches than the first
    assert cold.count(b"\n") == 9
    assert cold == warm == transcripts(tmp_path / "c")


if __name__ == "__main__":
    run(sys.argv[1], sys.argv[2], int(sys.argv[3]))
