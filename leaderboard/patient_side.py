"""The patient's side of an entry scored again: truth and coverage as the built-in NLI gives them, without a judge."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from verisim_leaderboard.flatten import Change, changes
from verisim_leaderboard.reading import TranscriptReader
from verisim_leaderboard.record import Entry
from verisim_metrics.nli import make_nli
from verisim_metrics.patientsim.simulator import BY_JUDGE, COUNTS, FIGURES, Simulator
from verisim_tasks.records.case import Case
from verisim_tasks.records.transcript import Transcript

BUILTIN = "builtin"
NAMES: tuple[str, ...] = tuple(name for name in FIGURES if name not in BY_JUDGE)
COUNTED: tuple[str, ...] = tuple(name for name in COUNTS if name != "unjudged")
TOLERANCE = 2e-3
"""Relative, absolute below one: on other hardware a sentence on the edge may fall to the other side."""


def is_repeatable(entry: Entry) -> bool:
    """Whether the entry's truth scores come from the built-in NLI, so that anybody can compute them again."""
    return entry.settings.suite.get("nli") == BUILTIN


def repeatable_scores(entry: Entry) -> int:
    """How many of an entry's reported scores ``compare_patient_side`` computes again."""
    names = {*NAMES, *COUNTED} if is_repeatable(entry) else set()
    return sum(name in names for v in entry.variants for name in v.reported)


def compare_patient_side(entry: Entry, transcripts: Path, cases: Mapping[str, Case]) -> list[Change]:
    """The truth and coverage scores of an entry that its transcripts do not give; empty when they are not repeatable.

    Raises:
        UserError: for transcripts that cannot be read, or cases that are not there.
    """
    if not is_repeatable(entry):
        return []
    names = {v.variant for v in entry.variants}
    found = patient_side(transcripts, cases, names)
    stated = {
        v.variant: {name: v.reported[name].value for name in (*NAMES, *COUNTED) if name in v.reported}
        for v in entry.variants
    }
    return changes({"reported": stated}, {"reported": found}, TOLERANCE)


def patient_side(path: Path, cases: Mapping[str, Case], variants: set[str]) -> dict[str, dict[str, float | None]]:
    """Truth and coverage scores by variant, pooled over its transcripts; undefined where nothing was counted."""
    sums: dict[str, dict[str, float]] = defaultdict(lambda: dict.fromkeys((*NAMES, *COUNTED), 0.0))
    numbers: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(NAMES, 0))
    simulator = Simulator(make_nli(BUILTIN))
    names = [transcript.variant for transcript in _of(path, variants)]
    for variant, scores in zip(names, simulator.score(_of(path, variants), cases), strict=True):
        figures, counts = scores.figures(), scores.counts()
        for name in NAMES:
            total, number = figures.get(name, (0.0, 0))
            sums[variant][name] += total
            numbers[variant][name] += number
        for name in COUNTED:
            sums[variant][name] += counts[name]
    return {variant: _pooled(sums[variant], numbers[variant]) for variant in sorted(sums)}


def _pooled(sums: Mapping[str, float], numbers: Mapping[str, int]) -> dict[str, float | None]:
    means = {name: sums[name] / numbers[name] if numbers[name] else None for name in NAMES}
    return {**means, **{name: sums[name] for name in COUNTED}}


def _of(path: Path, variants: set[str]) -> Iterator[Transcript]:
    return (transcript for _, transcript in TranscriptReader(path) if transcript.variant in variants)
