"""The paper's protocol: every case gets exactly two dimensions, each at level 1 to 3.

The assignment is stored (``fixtures/mixed.yaml``), one pair for each case and repeat, balanced over pairs and levels
in every prefix of the case order, so that it does not depend on ``--limit``. A case outside the table gets a draw
that depends on nothing but its id and the repeat.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from verisim_tasks._stable import choose
from verisim_tasks._yaml import parse_yaml
from verisim_tasks.records.case import Case
from verisim_tasks.records.noise import DIMENSIONS, NoiseProfile

LEVELS: tuple[int, ...] = (1, 2, 3)
PAIRS: tuple[tuple[str, str], ...] = tuple(itertools.combinations(DIMENSIONS, 2))
"""The 15 pairs of dimensions."""

Table = Mapping[str, Sequence[NoiseProfile]]
"""Noise by case id and repeat."""


def assign_mixed(case: Case, repeat: int, table: Table | None = None) -> NoiseProfile | None:
    """The two dimensions of one consultation; None where fewer than two are compatible with the case.

    A case that brings a noise profile of its own, as published VeriSim profiles do, keeps it.

    Args:
        case: The case; dimensions that would mimic its disease are never assigned.
        repeat: Counts from 0.
        table: The stored assignment, unless another is given.
    """
    if case.suggested_noise:
        return NoiseProfile({str(d): level for d, level in case.suggested_noise.items()})
    rows = (stored_table() if table is None else table).get(case.id, ())
    if repeat < len(rows) and not set(rows[repeat]) & set(case.incompatible_noise):
        return rows[repeat]
    pairs = compatible_pairs(case.incompatible_noise)
    if not pairs:
        return None
    pair = choose(pairs, "mixed", case.id, repeat, "pair")
    return NoiseProfile({d: choose(LEVELS, "mixed", case.id, repeat, "level", d) for d in pair})


def compatible_pairs(incompatible: Sequence[str]) -> list[tuple[str, str]]:
    """The pairs that hold none of these dimensions."""
    return [pair for pair in PAIRS if not set(pair) & set(incompatible)]


@functools.cache
def stored_table() -> Table:
    """The stored assignment."""
    text = (files("verisim_fixtures") / "mixed.yaml").read_text(encoding="utf-8")
    data: dict[str, Any] = parse_yaml(text)
    return {case_id: tuple(NoiseProfile(row) for row in rows) for case_id, rows in data["cases"].items()}
