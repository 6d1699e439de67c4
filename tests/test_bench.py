"""Memory of what is written, and the benchmarks themselves in small."""

from __future__ import annotations

import json
import sys
import tracemalloc
from pathlib import Path

import pytest
from loop_helpers import EchoPatient, make_case, make_plan, quick, script

from verisim_tasks.loop.engine import run_consultations
from verisim_tasks.loop.store import merge_ranks, rank_file, read_transcripts, write_run_info, write_transcripts
from verisim_tasks.records.transcript import Transcript

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def benchmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))


@pytest.fixture
def transcripts() -> list[Transcript]:
    """Many, large, and sharing their words, so that they take little room until they are written."""
    (one,) = run_consultations([make_plan(make_case())], script("Final Diagnosis: Flu"), EchoPatient(), quick())
    large = one.model_copy(update={"instrument": {"words": "x" * 20_000}})
    return [large.model_copy(update={"repeat": n}) for n in range(400)]


def peak_of(work: object) -> int:
    tracemalloc.start()
    try:
        assert callable(work)
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_transcripts_are_written_merged_and_counted_one_at_a_time(
    tmp_path: Path, transcripts: list[Transcript]
) -> None:
    whole = write_transcripts(tmp_path / "whole", transcripts)
    size = whole.stat().st_size
    assert size > 400 * 20_000
    assert peak_of(lambda: write_transcripts(tmp_path / "again", transcripts)) < size / 10
    assert peak_of(lambda: write_transcripts(tmp_path / "again", transcripts)) < size / 10  # beside an earlier file
    write_transcripts(tmp_path, transcripts[:250], rank_file(0))
    write_transcripts(tmp_path, transcripts[150:], rank_file(1))
    assert peak_of(lambda: merge_ranks(tmp_path, 2)) < size / 10
    assert (tmp_path / "transcripts.jsonl").read_bytes() == whole.read_bytes()
    assert not list(tmp_path.glob("*.tmp"))
    assert (
        peak_of(lambda: write_run_info(tmp_path, {}, read_transcripts(whole))) < size / 4
    )  # reading the versions of libraries takes some
    assert json.loads((tmp_path / "run.json").read_text())["consultations"] == 400


def test_flatness_looks_at_large_runs_alone(benchmarks: None) -> None:
    from growth import flatness

    rows = [
        {"consultations": n, "ms_per_consultation": ms, "cpu_ms_per_consultation": ms, "mb_per_consultation": mb}
        for n, ms, mb in ((100, 30.0, 0.5), (1000, 4.0, 0.05), (10000, 4.4, 0.04))
    ]
    assert flatness(rows) == {
        "ms_per_consultation": 0.1,
        "cpu_ms_per_consultation": 0.1,
        "mb_per_consultation": 0.2,
    }
    assert flatness(rows[:2]) == {}


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from /proc")
def test_growth_is_measured_beside_the_start(benchmarks: None) -> None:
    from growth import growth

    row = growth(12, warm_up=4)
    assert row["consultations"] == 12
    assert 0 < row["start_mb"] <= row["peak_mb"] + 1
    assert row["ms_per_consultation"] > 0
