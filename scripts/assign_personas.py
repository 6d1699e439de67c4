"""Make ``fixtures/patientsim/persona_table.yaml``: which of the 37 personas each case plays, for each repeat.

For every repeat the cases are walked in their stratified order and each gets the persona whose values were used least
so far, so that every beginning of the order is as balanced as it can be. Personas whose noise a case declares
incompatible are not assigned, and none twice to a case.

    python scripts/assign_personas.py [--check]
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from _stored import keep

from verisim_metrics.patientsim.personas import Persona, all_personas
from verisim_tasks._stable import draw
from verisim_tasks.cases.bank import load_cases
from verisim_tasks.tasks.persona_table import fits

TARGET = Path(__file__).resolve().parent.parent / "fixtures" / "patientsim" / "persona_table.yaml"
REPEATS = 5


class Balance:
    """What has been used, within the current repeat and over all."""

    def __init__(self) -> None:
        self.here: Counter[object] = Counter()
        self.total: Counter[object] = Counter()

    def cost(self, persona: Persona, tie: float) -> tuple[float, ...]:
        """Lower is better: personas evenly, then the values of the widest axes evenly."""
        cells = [(axis, getattr(persona, axis)) for axis in ("personality", "language", "recall")]
        pairs = [(a, b) for a in cells for b in cells if a < b]
        return (
            self.here[persona.id],
            *(self.here[cell] for cell in cells),
            sum(self.here[pair] for pair in pairs),
            self.total[persona.id],
            tie,
        )

    def use(self, persona: Persona) -> None:
        cells = [(axis, getattr(persona, axis)) for axis in ("personality", "language", "recall")]
        keys = [persona.id, *cells, *((a, b) for a in cells for b in cells if a < b)]
        self.here.update(keys)
        self.total.update(keys)


def assign() -> dict[str, list[Persona]]:
    cases = list(load_cases("bank"))
    table: dict[str, list[Persona]] = {case.id: [] for case in cases}
    balance = Balance()
    for repeat in range(REPEATS):
        balance.here.clear()
        for case in cases:
            options = [p for p in all_personas() if fits(p, case.incompatible_noise) and p not in table[case.id]]
            best = min(options, key=lambda p: balance.cost(p, draw("persona", case.id, repeat, p.id)))
            balance.use(best)
            table[case.id].append(best)
    return table


def render(table: dict[str, list[Persona]]) -> str:
    lines = [
        "# The personas of verisim_patientsim: one for each case and repeat, by id.",
        "# Made by scripts/assign_personas.py; do not edit by hand.",
        "version: 1",
        "cases:",
        *(f"  {case_id}: [{', '.join(p.id for p in personas)}]" for case_id, personas in table.items()),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(keep(lambda: {TARGET: render(assign())}, __doc__))
