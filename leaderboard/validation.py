"""Does an entry hang together? What can be seen without its transcripts: impossible and contradicting values."""

from __future__ import annotations

from collections.abc import Iterator

from verisim_leaderboard.problems import Problem
from verisim_leaderboard.record import Entry, Score, ScoreTable, VariantEntry
from verisim_leaderboard.score_names import RANGES, describe
from verisim_leaderboard.scores import CLEAN, MIXED
from verisim_metrics.aggregate import MIN_CLEAN_ACCURACY
from verisim_tasks._stable import digest

TOLERANCE = 1e-9
WHOLE: tuple[str, ...] = ("diagnostic_accuracy", "diagnostic_category", "clean_accuracy", "turns", "clean_turns")
"""Whole numbers in every consultation, so that without repeats value x n is whole too."""


def impossible(entry: Entry) -> Iterator[Problem]:
    """Everything in an entry that no run can give."""
    for place, table in _tables(entry):
        for name, score in table.items():
            yield from (Problem("impossible", f"{place}: {name} {reason}") for reason in _score_faults(name, score))
    for variant in entry.variants:
        yield from (Problem("impossible", f"{variant.variant}: {reason}") for reason in _variant_faults(entry, variant))
    yield from (Problem("impossible", reason) for reason in _entry_faults(entry))


def _tables(entry: Entry) -> Iterator[tuple[str, ScoreTable]]:
    yield "headline", {name: getattr(entry.headline, name) for name in type(entry.headline).model_fields}
    yield from ((v.variant, v.scores) for v in entry.variants)
    for group in entry.groups:
        yield from ((f"{group.group}, micro", group.micro), (f"{group.group}, macro", group.macro))
    yield from ((f"{c.dimension}, level {p.level}", p.scores) for c in entry.curves for p in c.points)


def _score_faults(name: str, score: Score) -> Iterator[str]:
    low, high = RANGES[describe(name).unit]
    for end in (score.value, score.low, score.high):
        if end is not None and not low - TOLERANCE <= end <= high + TOLERANCE:
            yield f"is {end:g}, outside {low:g} to {high:g}"
    if (score.low is None) != (score.high is None):
        yield "has one end of an interval only"
    if score.value is not None and score.low is not None and score.high is not None:
        slack = 1e-6 * max(1.0, abs(score.value))
        if not score.low - slack <= score.value <= score.high + slack:
            yield f"is {score.value:g}, outside its own interval {score.low:g} to {score.high:g}"
    if score.value is not None and score.n == 0:
        yield "has a value but n is 0"


def _variant_faults(entry: Entry, variant: VariantEntry) -> Iterator[str]:
    cases, limit = variant.counts.cases, entry.instrument.parts.get("max_turns")
    for name, score in variant.scores.items():
        if score.n > cases:
            yield f"{name} has n {score.n}, but there are {cases} cases"
        elif score.coverage is not None and abs(score.coverage * cases - score.n) > 1e-6 * max(1, cases):
            yield f"{name} has n {score.n} of {cases} cases, but coverage {score.coverage:g}"
        if name in ("turns", "clean_turns") and isinstance(limit, int) and (score.value or 0) > limit + TOLERANCE:
            yield f"{name} is {score.value:g}, above the limit of {limit}"
    if entry.settings.repeats == 1:
        yield from _unrepeated_faults(variant)


def _unrepeated_faults(variant: VariantEntry) -> Iterator[str]:
    """Without repeats, sums over cases are whole, and differences of means are means of differences."""
    scores = variant.scores
    for name in WHOLE:
        found = scores.get(name)
        if found is not None and found.value is not None:
            total = found.value * found.n
            if abs(total - round(total)) > 1e-6 * max(1.0, total):
                yield f"{name} is {found.value:.9g}, which no whole number over {found.n} cases gives"
    noisy, clean = scores.get("diagnostic_accuracy"), scores.get("clean_accuracy")
    drop = scores.get("accuracy_drop")
    if noisy and clean and drop and noisy.n == clean.n == drop.n and noisy.value is not None:
        if clean.value is None or clean.value < MIN_CLEAN_ACCURACY:
            return
        expected = 100 * (clean.value - noisy.value)
        if drop.value is None or abs(drop.value - expected) > 1e-6:
            yield f"accuracy_drop is {drop.value}, but clean minus noisy accuracy is {expected:.9g}"


def _entry_faults(entry: Entry) -> Iterator[str]:
    names = [v.variant for v in entry.variants]
    if len(set(names)) < len(names):
        yield "a variant stands in the entry twice"
    total = sum(v.counts.consultations for v in entry.variants)
    if not total == entry.counts.consultations == entry.transcripts.consultations:
        yield (
            f"variants hold {total} consultations, the counts {entry.counts.consultations}, "
            f"the transcripts {entry.transcripts.consultations}"
        )
    if (entry.kind == "standard") == bool(entry.differences):
        yield f"kind is {entry.kind}, but {len(entry.differences)} differences from the standard are listed"
    if entry.kind == "standard" and digest(entry.instrument.parts) != entry.instrument.fingerprint:
        yield "the instrument's parts do not have the fingerprint that is stated"
    yield from _headline_faults(entry)
    yield from _curve_faults(entry)


def _headline_faults(entry: Entry) -> Iterator[str]:
    tables = {v.variant: v.scores for v in entry.variants}
    pairs = (
        ("clean_accuracy", CLEAN, "diagnostic_accuracy"),
        ("mixed_accuracy", MIXED, "diagnostic_accuracy"),
        *((name, MIXED, name) for name in ("accuracy_drop", "accuracy_drop_relative", "turn_inflation", "censored")),
    )
    for name, variant, source in pairs:
        shown, found = getattr(entry.headline, name), tables.get(variant, {}).get(source)
        if (found.value if found else None) != shown.value:
            yield f"the headline's {name} is {shown.value}, the {variant} variant says {found.value if found else None}"


def _curve_faults(entry: Entry) -> Iterator[str]:
    tables = {v.variant: v.scores for v in entry.variants}
    for curve in entry.curves:
        for point in curve.points:
            if point.level and point.variant in tables and point.scores != tables[point.variant]:
                yield f"the curve of {curve.dimension} at level {point.level} is not what {point.variant} says"
