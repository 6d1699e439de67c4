"""From the scores of single consultations to lm-eval's per-case metrics and their aggregates.

Every case emits every key. What is undefined for a case is None and left out of means; how many cases were in is
reported as ``<metric>_n``. lm-eval has no standard error for aggregators of its own users, so it is emitted as a
metric called ``<metric>_stderr``, after the metric. An undefined aggregate is NaN where groups average it, else None.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from verisim_tasks.records.transcript import Transcript

Scores = Mapping[str, float | None]
Pair = tuple[float, float]
"""``(noisy, clean)`` of one case."""

MEANS: tuple[str, ...] = (
    "diagnostic_accuracy",
    "diagnostic_category",
    "clean_accuracy",
    "diagnosed_before_limit",
    "turns",
    "clean_turns",
    "key_facts",
    "key_facts_recognisable",
    "sensitive_facts",
    "asked_facts",
    "volunteered_facts",
    "hallucination_rate_draft",
    "hallucination_rate",
    "fallback_rate",
)
"""Plain means over the cases in which the score is defined."""

MICRO: tuple[str, ...] = ("diagnostic_accuracy", "key_facts")
"""Also emitted as ``<metric>_micro``, which groups average by number of cases instead of by task."""

GROUP_METRICS: tuple[tuple[str, bool], ...] = (
    ("diagnostic_accuracy", False),
    ("diagnostic_accuracy_micro", True),
    ("key_facts", False),
    ("key_facts_micro", True),
    ("turns", False),
)
"""What every group averages, and whether by size. Ratios are pooled in the leaderboard entry, not here."""

NOISY_GROUP_METRICS: tuple[tuple[str, bool], ...] = (("accuracy_drop", False),)
"""Averaged only by groups without the clean task, where it is not defined."""

HIDDEN_BELOW = 0.20
"""Below this clean accuracy a drop says nothing and is hidden."""

NO_STDERR = "N/A"
"""What lm-eval itself writes for a missing standard error; anything else would break its table."""

_PAIRED = ("accuracy_drop", "accuracy_drop_relative", "turn_inflation")


def case_metrics(scores: Sequence[Scores], transcripts: Sequence[Transcript]) -> dict[str, Any]:
    """The metrics of one case, its repeats averaged.

    Args:
        scores: What ``verisim_metrics.consultation.score_consultation`` gave for each repeat.
        transcripts: The repeats themselves, in the same order.
    """
    found: dict[str, Any] = {}
    for name in MEANS:
        value = _mean([s.get(name) for s in scores])
        found[name] = found[f"{name}_stderr"] = found[f"{name}_n"] = value
    found.update({f"{name}_micro": found[name] for name in MICRO})
    accuracy = _pair(scores, "diagnostic_accuracy", "clean_accuracy")
    found["accuracy_drop"] = found["accuracy_drop_stderr"] = accuracy
    found["accuracy_drop_relative"] = found["accuracy_drop_n"] = accuracy
    turns = _pair(scores, "turns", "clean_turns")
    found["turn_inflation"] = found["turn_inflation_stderr"] = found["turn_inflation_n"] = turns
    found["turn_inflation_censored"] = None if turns is None else _mean([s.get("censored") for s in scores])
    for reason in ("error", "context_limit"):
        found[f"{reason}s"] = sum(t.outcome.stop_reason == reason for t in transcripts)
    return found


def aggregations() -> dict[str, Callable[[Sequence[Any]], Any]]:
    """One aggregator for every key of ``case_metrics``."""
    grouped = {name for name, _ in (*GROUP_METRICS, *NOISY_GROUP_METRICS)}
    found: dict[str, Callable[[Sequence[Any]], Any]] = {}
    for name in MEANS:
        found[name] = mean_or_nan if name in grouped else mean_or_none
        found[f"{name}_stderr"] = stderr_of_mean
        found[f"{name}_n"] = count_defined
    found.update({f"{name}_micro": mean_or_nan for name in MICRO})
    found["accuracy_drop"] = drop_in_points
    found["accuracy_drop_stderr"] = stderr_of_drop
    found["accuracy_drop_relative"] = relative_drop
    found["turn_inflation"] = inflation
    found["turn_inflation_stderr"] = stderr_of_inflation
    found.update({"accuracy_drop_n": count_defined, "turn_inflation_n": count_defined})
    found["turn_inflation_censored"] = mean_or_none
    found.update({"errors": total, "context_limits": total})
    return found


def higher_is_better() -> dict[str, bool]:
    """Direction of the metrics that have one."""
    better = {**dict.fromkeys(MEANS, True), "turns": False, "clean_turns": False}
    for name in ("asked_facts", "volunteered_facts"):
        del better[name]
    better.update(dict.fromkeys(("hallucination_rate_draft", "hallucination_rate", "fallback_rate"), False))
    better.update({f"{name}_micro": True for name in MICRO})
    return {**better, **dict.fromkeys(_PAIRED, False), "errors": False}


def mean_or_none(values: Sequence[float | None]) -> float | None:
    """Mean over defined values; None when there are none."""
    return _mean(values)


def mean_or_nan(values: Sequence[float | None]) -> float:
    """Mean over defined values; NaN when there are none."""
    mean = _mean(values)
    return math.nan if mean is None else mean


def stderr_of_mean(values: Sequence[float | None]) -> float | str:
    """Standard error of the mean over defined values."""
    defined = [v for v in values if v is not None]
    if len(defined) < 2:
        return NO_STDERR
    mean = sum(defined) / len(defined)
    return math.sqrt(sum((v - mean) ** 2 for v in defined) / (len(defined) - 1) / len(defined))


def count_defined(values: Sequence[Any]) -> int:
    """In how many cases the score is defined."""
    return sum(v is not None for v in values)


def total(values: Sequence[int]) -> int:
    """Sum of counts."""
    return sum(values)


def drop_in_points(pairs: Sequence[Pair | None]) -> float:
    """Clean minus noisy accuracy over cases with both, in percentage points; NaN when hidden."""
    noisy, clean = _means(pairs)
    return math.nan if clean is None or noisy is None or clean < HIDDEN_BELOW else 100 * (clean - noisy)


def relative_drop(pairs: Sequence[Pair | None]) -> float | None:
    """The drop as a share of clean accuracy; None when hidden."""
    noisy, clean = _means(pairs)
    return None if clean is None or noisy is None or clean < HIDDEN_BELOW else (clean - noisy) / clean


def stderr_of_drop(pairs: Sequence[Pair | None]) -> float | str:
    """Standard error of the paired drop, in points."""
    if math.isnan(drop_in_points(pairs)):
        return NO_STDERR
    return stderr_of_mean([None if p is None else 100 * (p[1] - p[0]) for p in pairs])


def inflation(pairs: Sequence[Pair | None]) -> float | None:
    """Ratio of sums of turns, noisy to clean, minus 1."""
    defined = [p for p in pairs if p is not None]
    clean = sum(c for _, c in defined)
    return sum(n for n, _ in defined) / clean - 1 if clean else None


def stderr_of_inflation(pairs: Sequence[Pair | None]) -> float | str:
    """Standard error of a ratio of sums (delta method)."""
    defined = [p for p in pairs if p is not None]
    clean = sum(c for _, c in defined)
    if len(defined) < 2 or not clean:
        return NO_STDERR
    ratio = sum(n for n, _ in defined) / clean
    spread = sum((n - ratio * c) ** 2 for n, c in defined)
    return math.sqrt(spread * len(defined) / (len(defined) - 1)) / clean


def _mean(values: Sequence[float | None]) -> float | None:
    defined = [float(v) for v in values if v is not None]
    return sum(defined) / len(defined) if defined else None


def _means(pairs: Sequence[Pair | None]) -> tuple[float | None, float | None]:
    defined = [p for p in pairs if p is not None]
    return _mean([n for n, _ in defined]), _mean([c for _, c in defined])


def _pair(scores: Sequence[Scores], noisy: str, clean: str) -> Pair | None:
    """Means over the repeats in which both are defined."""
    both = [(n, c) for s in scores if (n := s.get(noisy)) is not None and (c := s.get(clean)) is not None]
    if not both:
        return None
    return sum(n for n, _ in both) / len(both), sum(c for _, c in both) / len(both)
