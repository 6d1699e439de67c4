"""Rows of scored consultations in, score tables of variants, groups and dimensions out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from verisim_leaderboard.record import (
    Counts,
    Curve,
    CurvePoint,
    GroupEntry,
    Headline,
    Reported,
    Score,
    ScoreTable,
    VariantEntry,
)
from verisim_leaderboard.rows import Row
from verisim_leaderboard.score_names import ordered
from verisim_metrics.aggregate import Estimate, Pooling, Value, by_case
from verisim_metrics.consultation import SCORE_NAMES
from verisim_metrics.paired import (
    drop_estimate,
    inflation_estimate,
    mean_estimate,
    paired_columns,
    per_turn_estimate,
    relative_drop_estimate,
)
from verisim_tasks.records.noise import DIMENSIONS, MAX_LEVEL

CLEAN = "clean"
MIXED = "mixed"
LEVELS: tuple[int, ...] = tuple(range(1, MAX_LEVEL + 1))

MEANS: tuple[str, ...] = tuple(name for name in SCORE_NAMES if name != "accuracy_drop")
"""Scores of a consultation that are simply averaged: all but the drop, which is hidden for weak models."""

NAMES: tuple[str, ...] = (
    *SCORE_NAMES,
    *("accuracy_drop_relative", "turn_inflation", "key_facts_per_turn", "key_facts_recognisable_per_turn"),
)
"""Everything that a score table holds."""

Table = Sequence[Row]
Tables = Mapping[str, Table]
"""Rows by variant."""
ReportedBy = Callable[[str, int], dict[str, Reported]]
"""What lm-eval's results alone hold of a task with so many cases."""


def variant_name(dimension: str, level: int) -> str:
    """The variant of one dimension at one level; level 0 is the clean one."""
    return f"{dimension}_l{level}" if level else CLEAN


GROUPS: dict[str, tuple[str, ...]] = {
    **{d: tuple(variant_name(d, level) for level in LEVELS) for d in DIMENSIONS},
    **{f"level_{level}": tuple(variant_name(d, level) for d in DIMENSIONS) for level in LEVELS},
    "noisy": (*(variant_name(d, level) for d in DIMENSIONS for level in LEVELS), MIXED),
}
"""Groups and their variants."""

ORDER: tuple[str, ...] = (CLEAN, *GROUPS["noisy"])
"""Known variants in the order they are reported; others follow by name."""


def tables_of(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Rows by variant, in the order of ``ORDER``."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.variant, []).append(row)
    place = {name: i for i, name in enumerate(ORDER)}
    return {name: found[name] for name in sorted(found, key=lambda n: (place.get(n, len(ORDER)), n))}


def variant_entries(tables: Tables, reported: ReportedBy) -> tuple[VariantEntry, ...]:
    """One entry for each variant that was run; ``reported`` gives what lm-eval's results alone hold of a task."""
    known = {variant_name(d, level): (d, level) for d in DIMENSIONS for level in LEVELS}
    return tuple(
        VariantEntry(
            variant=name,
            task=table[0].task,
            dimension=known[name][0] if name in known else None,
            level=known[name][1] if name in known else (0 if name == CLEAN else None),
            counts=count(table),
            scores=score_table([table]),
            reported=reported(table[0].task, len({row.case_id for row in table})),
        )
        for name, table in tables.items()
    )


def group_entries(tables: Tables) -> tuple[GroupEntry, ...]:
    """One entry for each group of which something was run."""
    found = []
    for group, names in GROUPS.items():
        present = [name for name in names if name in tables]
        if present:
            chosen = [tables[name] for name in present]
            found.append(
                GroupEntry(
                    group=group,
                    variants=tuple(present),
                    missing=tuple(name for name in names if name not in tables),
                    counts=count([row for table in chosen for row in table]),
                    micro=score_table(chosen, "micro"),
                    macro=score_table(chosen, "macro"),
                )
            )
    return tuple(found)


def curves(tables: Tables) -> tuple[Curve, ...]:
    """Levels 0 to 4 of each dimension of which something was run."""
    return tuple(
        Curve(dimension=d, points=tuple(_point(tables, d, level) for level in (0, *LEVELS)))
        for d in DIMENSIONS
        if any(name in tables for name in GROUPS[d])
    )


def headline(tables: Tables) -> Headline:
    """Clean accuracy, and what the mixed protocol costs; null where a variant was not run."""
    clean, mixed = score_table([tables.get(CLEAN, [])]), score_table([tables.get(MIXED, [])])
    return Headline(
        clean_accuracy=clean["diagnostic_accuracy"],
        mixed_accuracy=mixed["diagnostic_accuracy"],
        accuracy_drop=mixed["accuracy_drop"],
        accuracy_drop_relative=mixed["accuracy_drop_relative"],
        turn_inflation=mixed["turn_inflation"],
        censored=mixed["censored"],
    )


def count(rows: Sequence[Row]) -> Counts:
    """How consultations ended."""
    return Counts(
        cases=len({row.case_id for row in rows}),
        consultations=len(rows),
        errors=sum(row.stop_reason == "error" for row in rows),
        excluded=sum(row.excluded for row in rows),
        censored=sum(row.scores["censored"] == 1.0 for row in rows),
        context_limits=sum(row.stop_reason == "context_limit" for row in rows),
    )


def score_table(tables: Sequence[Table], pooling: Pooling = "micro") -> ScoreTable:
    """All scores of one variant (one table) or of a group of variants (several)."""
    cases = sorted({row.case_id for table in tables for row in table})
    means = {name: score(mean_estimate(columns(tables, name), cases, pooling)) for name in MEANS}
    noisy, clean = pairs(tables, "diagnostic_accuracy", "clean_accuracy")
    turns, clean_turns = pairs(tables, "turns", "clean_turns")
    ratios = {
        "accuracy_drop": drop_estimate(noisy, clean, cases, pooling),
        "accuracy_drop_relative": relative_drop_estimate(noisy, clean, cases, pooling),
        "turn_inflation": inflation_estimate(turns, clean_turns, cases, pooling),
    }
    for name in ("key_facts", "key_facts_recognisable"):
        ratios[f"{name}_per_turn"] = per_turn_estimate(*pairs(tables, name, "turns"), cases, pooling)
    found = {**means, **{name: score(ratio) for name, ratio in ratios.items()}}
    return {name: found[name] for name in ordered(found)}


def score(found: Estimate) -> Score:
    """An estimate as the entry records it."""
    return Score(value=found.value, n=found.n, coverage=found.coverage, low=found.low, high=found.high, note=found.note)


def _point(tables: Tables, dimension: str, level: int) -> CurvePoint:
    name = variant_name(dimension, level)
    table: Table = tables.get(name, [])
    if level == 0:
        cases = {row.case_id for noisy in GROUPS[dimension] for row in tables.get(noisy, [])}
        table = [row for row in table if row.case_id in cases]
    return CurvePoint(level=level, variant=name, cases=len({row.case_id for row in table}), scores=score_table([table]))


def columns(tables: Sequence[Table], name: str) -> list[dict[str, Value]]:
    """One score of each table as a column: case to value, repeats averaged."""
    return [by_case((row.case_id, row.scores[name]) for row in table) for table in tables]


def pairs(tables: Sequence[Table], first: str, second: str) -> tuple[list[dict[str, Value]], list[dict[str, Value]]]:
    """Two scores as columns, over the consultations that have both."""
    found = [
        paired_columns([(row.scores[first], row.scores[second]) for row in table], [row.case_id for row in table])
        for table in tables
    ]
    return [c[0] for c in found], [c[1] for c in found]
