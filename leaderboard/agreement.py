"""Agreement of several raters' tables: all of them together, each two of them, and each with the judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from verisim_leaderboard.rating.tables import Ratings, shared_columns
from verisim_leaderboard.statistics.agreement import (
    Coefficient,
    Level,
    category_counts,
    cohen,
    fleiss,
    gwet_ac1,
    krippendorff,
)
from verisim_metrics.judging import load_rubric, rubric_names
from verisim_tasks.errors import UserError


@dataclass(frozen=True)
class Agreement:
    """One measure for some raters on one criterion."""

    criterion: str
    raters: tuple[str, ...]
    coefficient: Coefficient


def agreement(
    people: Sequence[Ratings], judge: Ratings | None = None, columns: Sequence[str] = (), level: Level = "ordinal"
) -> list[Agreement]:
    """Fleiss, AC1 and alpha of the people; Cohen of each two of them, and of each with the judge.

    Args:
        people: One table a rater.
        judge: The judge's table; it does not count among the people.
        columns: The criteria; all that every table has when left out.
        level: How differences between grades weigh, for alpha and for the second kappa.

    Raises:
        UserError: for fewer than two raters, two of one name, no shared criterion, or a cell that is no number.
    """
    everyone = [*people, *([judge] if judge else [])]
    names = [table.rater for table in everyone]
    if len(everyone) < 2:
        raise UserError("agreement needs two raters; name two files or more, or one and --judge")
    if len(set(names)) < len(names):
        raise UserError(f"two files are called {max(names, key=names.count)!r}; give each rater a name of its own")
    found = []
    for column in shared_columns(everyone, columns):
        found += _of_criterion(column, people, judge, level)
    return found


def scale_of(column: str, values: Sequence[float]) -> list[float]:
    """The categories of a criterion: those of its rubric where it has one, else what was given; ascending.

    Raises:
        UserError: for a grade that the rubric does not know.
    """
    given = sorted(set(values))
    if column not in rubric_names():
        return given
    known = sorted(p.value for p in load_rubric(column).points if p.value is not None)
    strange = [v for v in given if known and v not in known]
    if strange:
        raise UserError(
            f"{column}: grade {strange[0]:g} is not on the scale {known[0]:g} to {known[-1]:g}; mend the cell"
        )
    return known or given


def _of_criterion(column: str, people: Sequence[Ratings], judge: Ratings | None, level: Level) -> list[Agreement]:
    everyone = [*people, *([judge] if judge else [])]
    items = sorted({item for table in everyone for item in table.values})
    numbers = {table.rater: table.numbers(column) for table in everyone}
    matrix = np.array([[numbers[t.rater].get(item, np.nan) for t in everyone] for item in items], dtype=np.float64)
    scale = scale_of(column, [float(v) for v in matrix[~np.isnan(matrix)]])
    found = []
    if len(people) >= 2:
        counts = category_counts(matrix[:, : len(people)], scale)
        together = (fleiss(counts), gwet_ac1(counts), krippendorff(counts, scale, level))
        found += [Agreement(column, tuple(t.rater for t in people), c) for c in together]
    kinds: tuple[Level, ...] = ("nominal",) if level == "nominal" else ("nominal", level)
    for a, b in combinations(range(len(everyone)), 2):
        pair = (everyone[a].rater, everyone[b].rater)
        found += [Agreement(column, pair, cohen(matrix[:, a], matrix[:, b], scale, kind)) for kind in kinds]
    return found
