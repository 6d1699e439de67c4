"""The same words in every process: other hash seeds, other batch sizes, a cold and a warm cache."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
from pathlib import Path
from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager
from verisim_tasks.cli.path import config_folder
from verisim_tasks.clinician.model import ClinicianLM

out, cache, batch_size = sys.argv[1:]
settings = {"verisim": {"run_dir": out, "max_turns": 6}}
simple_evaluate(
    model="verisim-clinician",
    model_args="model=clinician",
    batch_size=int(batch_size),
    tasks=["verisim_core", "verisim_memory_recall_l4"],
    limit=3,
    use_cache=cache,
    task_manager=TaskManager(include_path=str(config_folder()), include_defaults=False, metadata=settings),
    bootstrap_iters=0,
)
"""


def transcripts(folder: Path, cache: Path, *, hash_seed: str, batch_size: int) -> bytes:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder), str(cache), str(batch_size)],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return (folder / "transcripts.jsonl").read_bytes()


@pytest.mark.slow
def test_transcripts_do_not_depend_on_process_batch_size_or_cache(tmp_path: Path) -> None:
    cold = transcripts(tmp_path / "a", tmp_path / "cache", hash_seed="1", batch_size=1)
    warm = transcripts(tmp_path / "b", tmp_path / "cache", hash_seed="2", batch_size=16)
    fresh = transcripts(tmp_path / "c", tmp_path / "other", hash_seed="3", batch_size=16)
    assert cold.count(b"\n") == 9
    assert cold == warm == fresh
