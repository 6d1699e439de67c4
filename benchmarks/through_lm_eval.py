"""Whole evaluations through lm-eval, full scoring included, timed from the first consultation to the last score."""

from __future__ import annotations

import functools
import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from doctors import Clock, smollm2
from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager

from verisim_tasks.cli.path import config_folder
from verisim_tasks.clinician.model import ClinicianLM
from verisim_tasks.loop.request import REQUEST_TYPE, attach, cases_by_id
from verisim_tasks.loop.simulating import make_simulator
from verisim_tasks.loop.store import TRANSCRIPTS, read_transcripts
from verisim_tasks.settings import Settings

SCORED = 200
"""Transcripts of which the rate of scoring is taken."""


def group_time(cases: int) -> dict[str, Any]:
    """The whole group ``verisim`` with the built-in clinician and no NLI; then how fast its transcripts are scored."""
    with tempfile.TemporaryDirectory() as folder:
        found = evaluate(ClinicianLM(), ["verisim"], Path(folder), cases, nli=None)
        transcripts = [t for t, _ in zip(read_transcripts(Path(folder) / TRANSCRIPTS), range(SCORED), strict=False)]
    simulator = make_simulator(Settings(), None)
    list(simulator.score(transcripts[:5], cases_by_id("bank")))  # loads the models
    began = time.perf_counter()
    list(simulator.score(transcripts, cases_by_id("bank")))
    rate = len(transcripts) / (time.perf_counter() - began)
    return {"cases": cases, **found, "patients_scored_per_s": round(rate, 1)}


def outside_model(cases: int, tasks: Sequence[str], tokens: int, max_turns: int) -> dict[str, Any]:
    """Share of the wall time that is not SmolLM2's, with reports, NLI and all scores."""
    settings = {"max_reply_tokens": tokens, "max_report_tokens": 2 * tokens, "max_turns": max_turns}
    return {"cases": cases, "tasks": list(tasks), **evaluate(smollm2(16), tasks, None, cases, **settings)}


def evaluate(lm: Any, tasks: Sequence[str], run_dir: Path | None, limit: int, **settings: Any) -> dict[str, Any]:
    """Seconds after lm-eval's start, and the share of them outside the model."""
    attach()
    with tempfile.TemporaryDirectory() as folder:
        ours = {"run_dir": str(run_dir or folder), **settings}
        manager = TaskManager(include_path=str(config_folder()), include_defaults=False, metadata={"verisim": ours})
        inside, began = Clock(lm), _Start()
        with began:
            found = simple_evaluate(
                model=lm, tasks=list(tasks), task_manager=manager, limit=limit, apply_chat_template=True
            )
        wall = time.perf_counter() - began.at
        info = json.loads((Path(ours["run_dir"]) / "run.json").read_text(encoding="utf-8"))
    return {
        "consultations": info["consultations"],
        "seconds": round(wall, 2),
        "share_outside_model": round(1 - inside.seconds / wall, 4),
        "metrics": sum(len(row) for row in found["results"].values()),
    }


class _Start:
    """Notes when the first consultation begins."""

    def __init__(self) -> None:
        self.at = time.perf_counter()
        self._original = getattr(LM, REQUEST_TYPE)

    def __enter__(self) -> None:
        @functools.wraps(self._original)
        def noted(lm: Any, requests: Any) -> Any:
            self.at = time.perf_counter()
            return self._original(lm, requests)

        setattr(LM, REQUEST_TYPE, noted)

    def __exit__(self, *error: object) -> None:
        setattr(LM, REQUEST_TYPE, self._original)
