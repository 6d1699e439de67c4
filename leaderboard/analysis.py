"""What an entry says about its own run beyond the scores: tests of each variant, and robustness over levels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from verisim_leaderboard.record import DimensionRobustness, Robustness, Score, VariantTest
from verisim_leaderboard.scores import CLEAN, GROUPS, LEVELS, Tables, columns, pairs, score, variant_name
from verisim_leaderboard.statistics import PairedTest, detectable_difference, holm, level_area, paired_test
from verisim_metrics.aggregate import HIDDEN, MIN_CLEAN_ACCURACY, Value
from verisim_metrics.paired import mean_estimate
from verisim_tasks.records.noise import DIMENSIONS

ACCURACY = "diagnostic_accuracy"
NO_WHOLE_CURVE = "no dimension was run at all levels with the clean variant"


def variant_tests(tables: Tables) -> tuple[VariantTest, ...]:
    """Noisy against clean accuracy of each noisy variant, corrected together."""
    found = {name: _clean_against_noisy(tables, name) for name in tables if name != CLEAN}
    corrected = holm([test.p for test in found.values()])
    return tuple(_record(name, test, p) for (name, test), p in zip(found.items(), corrected, strict=True))


def robustness(tables: Tables) -> Robustness:
    """The areas of the dimensions that were run at all levels, and the one that retains least."""
    dimensions = tuple(_areas(tables))
    worst = min(
        (d for d in dimensions if d.retained is not None), key=lambda d: (d.retained, d.dimension), default=None
    )
    if worst is not None:
        return Robustness(dimensions=dimensions, worst=worst.dimension)
    return Robustness(dimensions=dimensions, worst=None, note=HIDDEN if dimensions else NO_WHOLE_CURVE)


def _clean_against_noisy(tables: Tables, name: str) -> PairedTest:
    noisy, clean = pairs([tables[name]], ACCURACY, "clean_accuracy")
    cases = sorted(noisy[0])
    return paired_test([clean[0][case] for case in cases], [noisy[0][case] for case in cases])


def _record(name: str, test: PairedTest, p_holm: float | None) -> VariantTest:
    drop = detectable_difference(test.n, test.spread)
    return VariantTest(
        variant=name,
        n=test.n,
        changed=test.changed,
        statistic=test.statistic,
        p=test.p,
        p_holm=p_holm,
        rank_biserial=test.rank_biserial,
        cohens_d=test.cohens_d,
        detectable_drop=None if drop is None or drop > 1 else 100.0 * drop,
    )


def _areas(tables: Tables) -> Iterator[DimensionRobustness]:
    for dimension in DIMENSIONS:
        names = [variant_name(dimension, level) for level in (0, *LEVELS)]
        if all(name in tables for name in names):
            curve = [column[0] for column in (columns([tables[name]], ACCURACY) for name in names)]
            cases = sorted({row.case_id for name in GROUPS[dimension] for row in tables[name]})
            area = score(mean_estimate([_case_areas(curve, cases)], cases))
            yield DimensionRobustness(dimension=dimension, area=area, retained=_retained(area, curve[0], cases))


def _case_areas(curve: list[dict[str, Value]], cases: list[str]) -> dict[str, Value]:
    return {case: level_area([column.get(case) for column in curve]) for case in cases}


def _retained(area: Score, clean: Mapping[str, Value], cases: list[str]) -> float | None:
    base = mean_estimate([{case: clean.get(case) for case in cases}], cases).value
    return None if base is None or base < MIN_CLEAN_ACCURACY or area.value is None else area.value / base
