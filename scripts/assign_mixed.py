"""Make ``fixtures/mixed.yaml``: which two dimensions, at which levels, each case gets in the mixed protocol.

For every repeat the cases are walked in their stratified order and each gets the pair, then the levels, used least so
far, so that every prefix is as balanced as it can be. Dimensions that a case declares incompatible are not assigned.

    python scripts/assign_mixed.py [--check]
"""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import yaml
from _stored import keep

from verisim_tasks._stable import draw
from verisim_tasks.tasks.mixed import LEVELS, compatible_pairs

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "fixtures" / "mixed.yaml"
CASES = ROOT / "fixtures" / "cases"
PREFIXES = ("card", "derm", "endo", "gast", "gyna", "infe", "neph", "neur", "paed", "psyc", "pulm", "rheu")
"""In the order in which the stratified bank goes through the specialties."""
PER_SPECIALTY = 6
REPEATS = 5

Row = dict[str, int]


def case_order() -> list[str]:
    return [f"{prefix}-{number:03d}" for number in range(1, PER_SPECIALTY + 1) for prefix in PREFIXES]


def incompatible(case_id: str) -> tuple[str, ...]:
    path = CASES / f"{case_id}.yaml"
    if not path.is_file():
        return ()
    return tuple(yaml.safe_load(path.read_text(encoding="utf-8")).get("incompatible_noise") or ())


class Balance:
    """What has been used, within the current repeat and over all."""

    def __init__(self) -> None:
        self.here: Counter[Any] = Counter()
        self.total: Counter[Any] = Counter()

    def cost(self, row: Row, repeated: bool, tie: float) -> tuple[Any, ...]:
        pair = tuple(row)
        cells = list(row.items())
        return (
            repeated,
            self.here[pair],
            sum(self.here[d] for d in pair),
            max(self.here[d] for d in pair),
            sum(self.here[c] for c in cells),
            sum(self.here[level] for level in row.values()),
            self.total[tuple(cells)],
            self.total[pair],
            sum(self.total[c] for c in cells),
            tie,
        )

    def use(self, row: Row) -> None:
        keys = [tuple(row), tuple(row.items()), *row, *row.items(), *row.values()]
        self.here.update(keys)
        self.total.update(keys)


def assign() -> dict[str, list[Row]]:
    balance = Balance()
    table: dict[str, list[Row]] = {case_id: [] for case_id in case_order()}
    for repeat in range(REPEATS):
        balance.here.clear()
        for case_id, rows in table.items():
            pairs = compatible_pairs(incompatible(case_id))
            options = [dict(zip(p, levels, strict=True)) for p in pairs for levels in itertools.product(LEVELS, LEVELS)]
            used = {tuple(row) for row in rows}
            best = min(
                options,
                key=lambda o: balance.cost(o, tuple(o) in used, draw("mixed", case_id, repeat, o)),
            )
            balance.use(best)
            rows.append(best)
    return table


def render(table: dict[str, list[Row]]) -> str:
    lines = [
        "# The mixed protocol: two noise dimensions for each case, at levels 1 to 3, one row for each repeat.",
        "# Made by scripts/assign_mixed.py; do not edit by hand.",
        "version: 1",
        "cases:",
    ]
    for case_id, rows in table.items():
        lines.append(f"  {case_id}:")
        lines += ["    - {" + ", ".join(f"{d}: {level}" for d, level in row.items()) + "}" for row in rows]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(keep(lambda: {TARGET: render(assign())}, __doc__))
