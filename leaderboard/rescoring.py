"""Score an entry's transcripts again and say what differs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from verisim_leaderboard.entry import Computed, computed, read_scored
from verisim_leaderboard.flatten import Change, changes
from verisim_leaderboard.patient_side import compare_patient_side
from verisim_leaderboard.record import Entry
from verisim_leaderboard.rows import Run

TOLERANCE = 1e-9
"""Relative, absolute below one: the same transcripts give the same scores, up to the order of a sum."""


def rescore(entry: Entry, transcripts: Path, cases: str | None = None, *, quick: bool = False) -> list[Change]:
    """Every deterministic value of an entry that its transcripts do not give; empty when all agree.

    What a judge or another model scored is not compared: the entry keeps it apart, under ``reported``. ``quick`` leaves
    out the patient's side too, which the built-in NLI has to read.

    Raises:
        UserError: for transcripts that cannot be read, or cases that are not there.
    """
    run, loaded = read_scored(transcripts, cases)
    return [*compare(entry, run), *([] if quick else compare_patient_side(entry, transcripts, loaded))]


def compare(entry: Entry, run: Run) -> list[Change]:
    """The same for transcripts that are already scored."""
    return changes(_of_entry(entry), _of_run(computed(run, lambda task, cases: {})), TOLERANCE)


def _of_entry(entry: Entry) -> dict[str, Any]:
    data = entry.model_dump(mode="json")
    names = [name for name in Computed.__dataclass_fields__ if name != "turns"]
    return _without_reported({**{name: data[name] for name in names}, "turns": entry.cost.turns})


def _of_run(found: Computed) -> dict[str, Any]:
    def plain(value: Any) -> Any:
        if isinstance(value, tuple):
            return [plain(inner) for inner in value]
        return value.model_dump(mode="json") if hasattr(value, "model_dump") else value

    return _without_reported({name: plain(getattr(found, name)) for name in Computed.__dataclass_fields__})


def _without_reported(parts: dict[str, Any]) -> dict[str, Any]:
    variants = [{key: value for key, value in v.items() if key != "reported"} for v in parts["variants"]]
    return {**parts, "variants": variants}
