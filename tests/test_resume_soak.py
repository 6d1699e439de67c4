"""A short soak of the real command line: two kills, a few seconds of fuzz. ``make soak`` runs the long one."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "soak.py"


def soak(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *argv: str) -> list[str]:
    """The lines the script prints; it starts and kills processes of its own, and need not be one itself."""
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), *argv])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(SCRIPT), run_name="__main__")
    printed = capsys.readouterr()
    assert ended.value.code == 0, printed.out[-2000:] + printed.err[-2000:]
    return printed.out.splitlines()


@pytest.mark.slow
def test_two_kills_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["--kills", "2", "--cases", "2", "--tasks", "verisim_memory_recall_l4", "--fuzz", "0"]
    said = soak(monkeypatch, capsys, *argv, "--out", str(tmp_path))
    assert json.loads(said[-1]) == {"kills": 2, "problems": []}
    assert said[-2].startswith("2 kills, ")


@pytest.mark.slow
def test_a_short_fuzz_breaks_no_reader(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    *read, last = soak(monkeypatch, capsys, "--kills", "0", "--fuzz", "2.5")  # seconds for each of eight readers
    assert json.loads(last) == {"kills": 0, "problems": []}
    assert len(read) == 8
    assert all(line.endswith(" texts") for line in read)
