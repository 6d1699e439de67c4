"""Estimates of what noise costs: noisy against clean over the same cases, with intervals.

Columns are variants: each maps a case to its value there, repeats averaged. One variant is one column; a group of
variants is pooled (``micro``) or averaged (``macro``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from verisim_metrics.aggregate import (
    HIDDEN,
    MIN_CLEAN_ACCURACY,
    Estimate,
    Pooling,
    Value,
    by_case,
    estimate,
    mean_sums,
    ratio_sums,
)

Columns = Sequence[Mapping[str, Value]]


def mean_estimate(columns: Columns, cases: Sequence[str], pooling: Pooling = "micro") -> Estimate:
    """The mean over cases, in the unit of the values."""
    return estimate(mean_sums(columns, cases), pooling=pooling)


def inflation_estimate(turns: Columns, clean_turns: Columns, cases: Sequence[str], pooling: Pooling) -> Estimate:
    """Turn inflation: ``sum(noisy turns) / sum(clean turns) - 1``; 0.4 is 40% more turns."""
    return estimate(ratio_sums(turns, clean_turns, cases), pooling=pooling, then=lambda ratio: ratio - 1.0)


def per_turn_estimate(values: Columns, turns: Columns, cases: Sequence[str], pooling: Pooling) -> Estimate:
    """Turn-weighted rate: sum of the values over sum of the turns."""
    return estimate(ratio_sums(values, turns, cases), pooling=pooling)


def drop_estimate(noisy: Columns, clean: Columns, cases: Sequence[str], pooling: Pooling) -> Estimate:
    """Accuracy lost, clean minus noisy, in points (0-100 scale); hidden where clean accuracy is below 20%."""
    drops = [_differences(c, n) for n, c in zip(noisy, clean, strict=True)]
    found = estimate(mean_sums(drops, cases), pooling=pooling, then=lambda drop: 100.0 * drop)
    return _hidden(found) if _too_weak(clean, noisy, cases) else found


def relative_drop_estimate(noisy: Columns, clean: Columns, cases: Sequence[str], pooling: Pooling) -> Estimate:
    """Share of the clean accuracy that is lost: ``1 - noisy / clean``; hidden where clean accuracy is below 20%."""
    found = estimate(ratio_sums(noisy, clean, cases), pooling=pooling, then=lambda ratio: 1.0 - ratio)
    return _hidden(found) if _too_weak(clean, noisy, cases) else found


def paired_columns(
    pairs: Sequence[tuple[Value, Value]], ids: Sequence[str] | None = None
) -> tuple[dict[str, Value], dict[str, Value], list[str]]:
    """Columns of ``(noisy, clean)`` pairs, repeats averaged, and their cases in order.

    Args:
        pairs: One pair for each consultation; a pair with an undefined half counts for neither.
        ids: The case of each pair; every pair is a case of its own when left out.
    """
    names = [f"{i:09d}" for i in range(len(pairs))] if ids is None else list(ids)
    whole = [(n, c) if n is not None and c is not None and n == n and c == c else (None, None) for n, c in pairs]
    noisy = by_case((name, pair[0]) for name, pair in zip(names, whole, strict=True))
    clean = by_case((name, pair[1]) for name, pair in zip(names, whole, strict=True))
    return noisy, clean, sorted(noisy)


def _differences(clean: Mapping[str, Value], noisy: Mapping[str, Value]) -> dict[str, Value]:
    return {
        case: None if (n := noisy[case]) is None or (c := clean.get(case)) is None else c - n for case in sorted(noisy)
    }


def _too_weak(clean: Columns, noisy: Columns, cases: Sequence[str]) -> bool:
    """Whether the clean accuracy of the pairs is too low for a drop to mean anything."""
    kept = [
        {case: c[case] if n.get(case) is not None else None for case in c} for n, c in zip(noisy, clean, strict=True)
    ]
    accuracy = estimate(mean_sums(kept, cases), resamples=1).value
    return accuracy is not None and accuracy < MIN_CLEAN_ACCURACY


def _hidden(found: Estimate) -> Estimate:
    return replace(found, value=None, low=None, high=None, note=HIDDEN)
