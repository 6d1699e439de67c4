"""Do lm-eval's own numbers and ours agree? Each disagreement becomes one sentence in the entry."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from verisim_leaderboard.record import GroupEntry, ScoreTable, VariantEntry
from verisim_leaderboard.results import Results

TOLERANCE = 1e-6
"""Relative, and absolute below one."""

GROUP_METRICS: tuple[str, ...] = ("diagnostic_accuracy", "key_facts", "turns")
"""What lm-eval's groups hold as means of their tasks. Ratios of groups are pooled in the entry alone."""


def disagreements(
    results: Results, variants: Iterable[VariantEntry], groups: Iterable[GroupEntry], aside: Iterable[str] = ()
) -> Iterator[str]:
    """One sentence for each metric that both hold with different values, and for each task without transcripts.

    Tasks ``aside`` have transcripts with an instrument of their own, and are not compared.
    """
    seen = set(aside)
    for variant in variants:
        seen.add(variant.task)
        yield from _compare(results, variant.task, variant.scores, tuple(variant.scores))
    for group in groups:
        if not group.missing:
            yield from _compare(results, f"verisim_{group.group}", group.macro, GROUP_METRICS)
    yield from _without_transcripts(results, seen)


def _compare(results: Results, task: str, table: ScoreTable, names: Iterable[str]) -> Iterator[str]:
    theirs = results.metrics(task)
    for name in names:
        ours = table[name].value
        other = theirs.get(name)
        if ours is None or other is None:
            continue
        if not math.isclose(ours, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
            yield f"{task}: {name} is {ours:.6g} from the transcripts, but {other:.6g} in lm-eval's results"


def _without_transcripts(results: Results, seen: set[str]) -> Iterator[str]:
    for task in results.suite_tasks:
        if task not in seen:
            yield f"{task}: in lm-eval's results, but the transcripts hold no consultation of it"
