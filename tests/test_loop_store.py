from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from loop_helpers import EchoPatient, make_case, make_plan, quick, script

from verisim_tasks._files import write_atomically
from verisim_tasks.errors import UserError
from verisim_tasks.loop.engine import run_consultations
from verisim_tasks.loop.restricted import without_text
from verisim_tasks.loop.store import (
    check_writable,
    dump,
    load_transcripts,
    merge_ranks,
    rank_file,
    write_run_info,
    write_transcripts,
)
from verisim_tasks.records.transcript import Transcript


@pytest.fixture
def transcripts() -> list[Transcript]:
    plans = [make_plan(make_case(i), {"memory_recall": 2}) for i in ("card-902", "card-901")]
    return run_consultations(plans, script("Hm\u2028\x85?", "Final Diagnosis: Flu"), EchoPatient(), quick())


def test_lines_are_strict_json_sorted_and_lossless(tmp_path: Path, transcripts: list[Transcript]) -> None:
    path = write_transcripts(tmp_path / "new" / "folder", transcripts)
    assert path.name == "transcripts.jsonl"
    lines = path.read_text().splitlines()
    assert len(lines) == 4
    keys = [(r["case_id"], r["variant"], r["repeat"]) for r in map(json.loads, lines)]
    assert keys == sorted(keys)
    assert {v for _, v, _ in keys} == {"clean", "memory_recall_l2"}
    assert sorted(load_transcripts(path), key=dump) == sorted(transcripts, key=dump)


def test_not_a_number_is_never_written(transcripts: list[Transcript]) -> None:
    broken = transcripts[0].model_copy(update={"instrument": {"x": float("nan")}})
    assert "NaN" not in dump(transcripts[0])
    assert json.loads(dump(broken))["instrument"]["x"] is None


def test_a_second_run_keeps_the_first(tmp_path: Path, transcripts: list[Transcript]) -> None:
    write_transcripts(tmp_path, transcripts)
    first = (tmp_path / "transcripts.jsonl").read_bytes()
    write_transcripts(tmp_path, transcripts)
    assert [p.name for p in tmp_path.iterdir()] == ["transcripts.jsonl"]
    write_transcripts(tmp_path, transcripts[:2])
    (kept,) = (p for p in tmp_path.iterdir() if p.name != "transcripts.jsonl")
    assert kept.read_bytes() == first


def test_ranks_are_merged_and_doubles_dropped(tmp_path: Path, transcripts: list[Transcript]) -> None:
    whole = write_transcripts(tmp_path / "whole", transcripts).read_bytes()
    write_transcripts(tmp_path, transcripts[:3], rank_file(0))
    write_transcripts(tmp_path, transcripts[1:], rank_file(1))
    assert merge_ranks(tmp_path, 2).read_bytes() == whole
    assert [p.name for p in tmp_path.iterdir() if p.is_file()] == ["transcripts.jsonl"]


def test_a_broken_line_is_named(tmp_path: Path, transcripts: list[Transcript]) -> None:
    path = write_transcripts(tmp_path, transcripts)
    path.write_text(path.read_text() + "\n{}\n")
    with pytest.raises(UserError, match="line 6 of"):
        load_transcripts(path)


def test_a_killed_writer_leaves_the_old_file_whole(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    write_atomically(path, "old")
    program = f"""
import os, signal
from pathlib import Path
from verisim_tasks import _files as store
store.os.replace = lambda *a: os.kill(os.getpid(), signal.SIGKILL)
store.write_atomically(Path({str(path)!r}), "new" * 100000)
"""
    done = subprocess.run([sys.executable, "-c", program], check=False, timeout=120)
    assert done.returncode == -9
    assert path.read_text() == "old"


def test_a_failed_write_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(UnicodeEncodeError):
        write_atomically(tmp_path / "file.txt", "\ud800")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="is a file"):
        check_writable(tmp_path / "file" / "runs", "run_dir")
    check_writable(tmp_path / "not" / "yet", "run_dir")
    assert not (tmp_path / "not").exists()


def test_a_read_only_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda *a: False)  # the tests may run as root
    with pytest.raises(UserError, match="no permission"):
        check_writable(tmp_path, "run_dir")


def test_run_info_holds_versions_and_counts(tmp_path: Path, transcripts: list[Transcript]) -> None:
    write_run_info(tmp_path, quick().model_dump(mode="json"), transcripts)
    info = json.loads((tmp_path / "run.json").read_text())
    assert info["stop_reasons"] == {"diagnosed": 4}
    assert info["versions"]["lm_eval"]
    assert info["fingerprints"] == [transcripts[0].fingerprint]


def test_restricted_transcripts_lose_every_word(transcripts: list[Transcript]) -> None:
    bare = without_text(transcripts[0])
    assert {t.text for t in bare.turns} == {"[restricted]"}
    assert "Answer" not in bare.model_dump_json()
    assert bare.outcome == transcripts[0].outcome
