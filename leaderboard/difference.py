"""Two entries side by side: which settings differ, and whether their scores differ by more than chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verisim_leaderboard.entry import read_scored
from verisim_leaderboard.flatten import Change, changes
from verisim_leaderboard.record import Entry
from verisim_leaderboard.rows import Run
from verisim_leaderboard.scores import columns, tables_of
from verisim_leaderboard.statistics import PairedTest, detectable_difference, holm, paired_test

COMPARED = "diagnostic_accuracy"


@dataclass(frozen=True)
class VariantComparison:
    """First against second model on the cases that both were asked about, in one variant."""

    variant: str
    test: PairedTest
    """Differences are first minus second accuracy, as shares."""
    p_holm: float | None
    detectable: float | None
    """Smallest true difference that these cases show with power 80%, as a share."""


def settings_that_differ(first: Entry, second: Entry) -> list[Change]:
    """Everything about model, instrument, settings and versions in which two entries differ."""
    return changes(_settings(first), _settings(second))


def compare_models(first: Path, second: Path, cases: str | None = None) -> list[VariantComparison]:
    """Paired tests from two files of transcripts, for each variant that both hold, corrected together (Holm).

    Raises:
        UserError: for files that cannot be read, or cases that are not there.
    """
    return compare_runs(read_scored(first, cases)[0], read_scored(second, cases)[0])


def compare_runs(first: Run, second: Run) -> list[VariantComparison]:
    """The same for transcripts that are already scored."""
    a, b = tables_of(first.rows), tables_of(second.rows)
    names = [name for name in a if name in b]
    tests = [_test(columns([a[name]], COMPARED)[0], columns([b[name]], COMPARED)[0]) for name in names]
    corrected = holm([test.p for test in tests])
    return [
        VariantComparison(name, test, p, detectable_difference(test.n, test.spread))
        for name, test, p in zip(names, tests, corrected, strict=True)
    ]


def _test(first: dict[str, float | None], second: dict[str, float | None]) -> PairedTest:
    shared: Sequence[str] = sorted(first.keys() & second.keys())
    return paired_test([first[case] for case in shared], [second[case] for case in shared])


def _settings(entry: Entry) -> dict[str, Any]:
    data = entry.model_dump(mode="json")
    parts = ("model", "contamination", "instrument", "settings", "versions", "scored_with")
    return {name: data[name] for name in parts}
