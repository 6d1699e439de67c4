"""Time and memory of many consultations with a doctor who needs no time, beside what the start costs.

The start is a warm-up over every case and variant in the same process, a few at a time so that it leaves no free memory
behind: afterwards every fact is encoded and every model loaded. What is measured is what a large run has to pay.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from doctors import Clock, InstantLM, requests
from lm_eval.api.instance import Instance

from verisim_tasks.loop.request import REQUEST_TYPE, consult
from verisim_tasks.tasks.consultation import ready_patient

WARM_UP = 1900
"""Consultations of the start: all cases under all variants."""
AT_ONCE = 20
FLAT_FROM = 1000
MEGABYTE = 1e6


def in_own_process(size: int, warm_up: int) -> dict[str, Any]:
    """One size in a fresh process, so that memory is its own."""
    argv = [sys.executable, str(Path(__file__).with_name("run.py")), "--one-size", str(size), "--warm-up", str(warm_up)]
    done = subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def growth(size: int, warm_up: int = WARM_UP) -> dict[str, Any]:
    """Wall time and memory of so many consultations after the start."""
    ready_patient()
    lm = InstantLM()
    inside = Clock(lm)
    start = requests(warm_up, Path(), seed=1)
    for first in range(0, warm_up, AT_ONCE):
        with tempfile.TemporaryDirectory() as folder:
            consult(lm, [_into(folder, one) for one in start[first : first + AT_ONCE]])
    gc.collect()
    with tempfile.TemporaryDirectory() as folder:
        wanted = requests(size, Path(folder))
        base, inside.seconds, began, cpu = begin_peak(), 0.0, time.perf_counter(), time.process_time()
        consult(lm, wanted)
        wall, cpu, peak = time.perf_counter() - began, time.process_time() - cpu, peak_bytes()
        lines = (Path(folder) / "turns.jsonl").read_bytes().count(b'"patient"')
        transcripts = (Path(folder) / "transcripts.jsonl").stat().st_size
    rest = wall - inside.seconds
    return {
        "consultations": size,
        "wall_s": round(wall, 2),
        "ms_per_consultation": round(1000 * rest / size, 2),
        "cpu_ms_per_consultation": round(1000 * cpu / size, 2),
        "patient_turns_per_s": round(lines / rest, 1),
        "start_mb": round(base / MEGABYTE),
        "peak_mb": round(peak / MEGABYTE),
        "mb_per_consultation": round((peak - base) / MEGABYTE / size, 4),
        "transcripts_mb": round(transcripts / MEGABYTE, 1),
    }


def _into(folder: str, one: Instance) -> Instance:
    """The same consultation, kept in another folder."""
    request = json.loads(one.args[0])
    request["circumstances"]["settings"]["run_dir"] = folder
    return Instance(REQUEST_TYPE, one.doc, (json.dumps(request),), one.idx, one.metadata)


def flatness(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """How far time and memory per consultation lie apart from 1,000 consultations on, as a share of the first."""
    large = [row for row in rows if row["consultations"] >= FLAT_FROM]
    return {
        name: round(max(abs(row[name] / large[0][name] - 1) for row in large), 3)
        for name in ("ms_per_consultation", "cpu_ms_per_consultation", "mb_per_consultation")
        if len(large) > 1 and large[0][name]
    }


def begin_peak() -> float:
    """Forget the peak so far, where the system can; bytes in memory now.

    What the start freed is given back first (glibc): a small run would live in it and seem to need less than it does.
    """
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS") or peak_bytes()


def peak_bytes() -> float:
    """The most bytes in memory since ``begin_peak``."""
    return _status("VmHWM") or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def _status(name: str) -> float | None:
    """A figure of Linux about this process, in bytes."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return float(line.split()[1]) * 1024
    return None
