"""A short soak of the real command line: two kills, a few seconds of fuzz. ``make soak`` runs the long one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "soak.py"


@pytest.mark.slow
def test_two_kills_and_a_short_fuzz_change_nothing(tmp_path: Path) -> None:
    argv = ["--kills", "2", "--cases", "2", "--tasks", "verisim_memory_recall_l4", "--fuzz", "2.5"]
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *argv, "--out", str(tmp_path)],
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert json.loads(done.stdout.splitlines()[-1]) == {"kills": 2, "problems": []}
    assert done.stdout.count(": killed at ") == 2
