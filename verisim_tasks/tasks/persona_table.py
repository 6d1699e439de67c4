"""Which persona each case gets where the setting ``persona`` is ``table``: stored and balanced.

``fixtures/patientsim/persona_table.yaml`` is made by ``scripts/assign_personas.py``: one persona for each case and
repeat, the 37 used as evenly as can be in every beginning of the case order. A case outside the table, or one whose
row does not fit it, gets a draw that depends on nothing but its id and the repeat.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

from verisim_metrics.patientsim.personas import Persona, all_personas, find_persona
from verisim_tasks._stable import choose
from verisim_tasks.language.lexicon import load_yaml
from verisim_tasks.records.case import Case

PersonaTable = Mapping[str, Sequence[Persona]]
"""Personas by case id and repeat."""


def assign_persona(case: Case, repeat: int, table: PersonaTable | None = None) -> Persona:
    """The persona of one consultation; never one whose noise would mimic the case's own disease.

    Args:
        case: The case.
        repeat: Counts from 0.
        table: The stored assignment, unless another is given.
    """
    rows = (stored_personas() if table is None else table).get(case.id, ())
    if repeat < len(rows) and fits(rows[repeat], case.incompatible_noise):
        return rows[repeat]
    return choose([p for p in all_personas() if fits(p, case.incompatible_noise)], "persona", case.id, repeat)


def fits(persona: Persona, incompatible: Sequence[str]) -> bool:
    """Whether the persona's noise holds none of these dimensions."""
    return not set(persona.noise) & set(incompatible)


@functools.cache
def stored_personas() -> PersonaTable:
    """The stored assignment."""
    rows: Mapping[str, Sequence[str]] = load_yaml("patientsim", "persona_table.yaml")["cases"]
    return {case_id: tuple(find_persona(name) for name in names) for case_id, names in rows.items()}
