"""A small standard run: four cases, clean and mixed, with its results file, cases and standard."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metrics_helpers import RIGHT, WRONG, answer, make_case, make_transcript, told, write_cases, write_transcripts

from verisim_leaderboard.declaration import Declaration
from verisim_leaderboard.entry import case_bank_digest
from verisim_leaderboard.standard import Standard
from verisim_leaderboard.submission import add
from verisim_tasks.cases.bank import with_implied_facts
from verisim_tasks.records.case import Case
from verisim_tasks.records.transcript import Transcript

MIXED = {"memory_recall": 2, "emotional_state": 1}
KNOWN = Declaration(
    submitter="A clinic", canonical_name="org/tiny-1B", licence="MIT", open_weights=True, revision="a" * 40
)


def bank(count: int = 4) -> list[Case]:
    """Cases as they are when loaded."""
    return [with_implied_facts(make_case(f"c{i}")) for i in range(count)]


def parts_of(cases: list[Case], **more: Any) -> dict[str, Any]:
    digest = case_bank_digest({case.id: case for case in cases})
    return {"cases": {"count": len(cases), "digest": digest}, "max_turns": 20, **more}


def standard_of(cases: list[Case], **more: Any) -> Standard:
    return Standard(parts_of(cases, **more), {case.id: case for case in cases})


def consultations(cases: list[Case], wrong: int = 2, **more: Any) -> list[Transcript]:
    """Clean all right in 10 turns; under mixed noise the first ``wrong`` are wrong, in 12 turns."""
    found = []
    key = told("k1", "k2")
    for i, case in enumerate(cases):
        found.append(make_transcript(answer(1, key), case_id=case.id, turns=10, instrument=parts_of(cases), **more))
        found.append(
            make_transcript(
                answer(1, key[:1]),
                case_id=case.id,
                noise=MIXED,
                variant="mixed",
                diagnosis=WRONG if i < wrong else RIGHT,
                turns=12,
                twin=(RIGHT, "diagnosed", 10),
                instrument=parts_of(cases),
                **more,
            )
        )
    return found


def results_data(config: dict[str, Any] | None = None, suite: dict[str, Any] | None = None) -> dict[str, Any]:
    metadata = {"version": 1.0, "verisim": {"max_turns": 20, "max_reply_tokens": 64, **(suite or {})}}
    return {
        "results": {"verisim_clean": {"diagnostic_accuracy,none": 1.0}, "verisim_mixed": {}},
        "configs": {task: {"task": task, "metadata": metadata} for task in ("verisim_clean", "verisim_mixed")},
        "config": {"model": "hf", "model_args": {"pretrained": "org/tiny-1B"}, "limit": None, **(config or {})},
        "date": 1767225600.5,
        "model_name": "org/tiny-1B",
        "total_evaluation_time_seconds": "12.5",
    }


@dataclass(frozen=True)
class SmallRun:
    """A run's folder and everything needed to judge it."""

    folder: Path
    cases: str
    standard: Standard

    def add(self, declaration: Declaration = KNOWN, **more: Any) -> Path:
        """Put the run among the entries beside it."""
        given = {"cases": self.cases, "standard": self.standard, **more}
        return add(self.folder, self.folder.parent / "entries", declaration, **given)


def small_run(
    place: Path,
    transcripts: list[Transcript] | None = None,
    *,
    cases: list[Case] | None = None,
    data: dict[str, Any] | None = None,
    standard: Standard | None = None,
) -> SmallRun:
    held = bank() if cases is None else cases
    folder = place / "run"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results_1.json").write_text(json.dumps(data or results_data()), encoding="utf-8")
    write_transcripts(folder / "transcripts.jsonl", consultations(held) if transcripts is None else transcripts)
    write_cases(place / "cases", held)
    return SmallRun(folder, str(place / "cases"), standard or standard_of(held))
