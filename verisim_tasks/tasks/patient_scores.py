"""The patient's side as lm-eval's per-case metrics and their aggregates.

Per case a metric is the pair of a sum and the number it is over, repeats added up; a score is the ratio of the sums
over all cases, so that sentences are pooled and profiles averaged. ``<metric>_n`` counts the cases in which it is
defined. An undefined score is None; nothing here is averaged by groups. A score that needs a judge is None without one,
and has then no ``_n`` and no ``_stderr``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from verisim_metrics.patientsim.simulator import (
    BY_JUDGE,
    COUNTS,
    FIGURES,
    OF_JUDGE_ALONE,
    OF_PERSONA,
    Figure,
    PatientScores,
)
from verisim_tasks.settings import Settings
from verisim_tasks.tasks.scores import count_defined, inflation, stderr_of_inflation, total

LOWER_IS_BETTER: tuple[str, ...] = ("contradict",)


def case_figures(scores: Iterable[PatientScores], settings: Settings, *, persona: bool) -> dict[str, Any]:
    """The metrics of one case, its repeats added up; a figure over nothing is None.

    Args:
        scores: Of each repeat; none where they were not scored.
        settings: Of these, ``judge`` is read.
        persona: Whether the patients of the task have one.
    """
    every = list(scores)
    figures = [s.figures() for s in every]
    counts = [s.counts() for s in every]
    found: dict[str, Any] = {}
    for name in _names(persona=persona):
        found[name] = _added([f[name] for f in figures if name in f])
        if _can_be_told(name, settings):
            found[f"{name}_stderr"] = found[f"{name}_n"] = found[name]
    return {**found, **{name: sum(c[name] for c in counts) for name in COUNTS}}


def aggregations(settings: Settings, *, persona: bool) -> dict[str, Callable[[Sequence[Any]], Any]]:
    """One aggregator for every key of ``case_figures``."""
    found: dict[str, Callable[[Sequence[Any]], Any]] = {}
    for name in _names(persona=persona):
        found[name] = ratio_of_sums
        if _can_be_told(name, settings):
            found[f"{name}_stderr"] = stderr_of_inflation  # a ratio less one has the ratio's standard error
            found[f"{name}_n"] = count_defined
    return {**found, **dict.fromkeys(COUNTS, total)}


def higher_is_better(*, persona: bool) -> dict[str, bool]:
    """Direction of the metrics that have one."""
    return {name: name not in LOWER_IS_BETTER for name in _names(persona=persona)}


def ratio_of_sums(figures: Sequence[Figure | None]) -> float | None:
    """Sum of sums over sum of numbers; None where nothing was counted."""
    ratio = inflation(figures)
    return None if ratio is None else ratio + 1


def _names(*, persona: bool) -> list[str]:
    return [name for name in FIGURES if persona or name not in OF_PERSONA]


def _can_be_told(name: str, settings: Settings) -> bool:
    if name in BY_JUDGE and settings.judge is None:
        return False
    return settings.nli is not None or name in OF_JUDGE_ALONE


def _added(figures: Sequence[Figure]) -> Figure | None:
    number = sum(n for _, n in figures)
    return (sum(value for value, _ in figures), number) if number else None
