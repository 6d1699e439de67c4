"""How many concepts of the cases have an identifier and enough lay words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from verisim_tasks.records.case import Case
from verisim_tasks.terminology.build import SYMPTOM_ITEMS
from verisim_tasks.terminology.records import Context, Entry
from verisim_tasks.terminology.spelling import name_key
from verisim_tasks.terminology.store import Contexts

ENOUGH_LAY = 3
"""Lay expressions that a well covered concept has, spelling variants counted once."""


@dataclass(frozen=True)
class Coverage:
    """Counts over distinct symptom concepts, and over the facts that are about them."""

    concepts: int
    covered: int
    """With an identifier and enough lay words, for every part of a compound."""
    with_code: int
    with_exact_code: int
    """With an identifier of HPO, UMLS, SNOMED CT or ICD-10-CM of the concept itself, not of the nearest one."""
    with_lay: int
    facts: int
    covered_facts: int
    uncovered: tuple[str, ...]

    @property
    def share(self) -> float | None:
        """Covered concepts among all (0-1), None when there are none."""
        return self.covered / self.concepts if self.concepts else None

    def __str__(self) -> str:
        if not self.concepts:
            return "symptoms: none in these cases"
        return (
            f"symptoms with a concept id and >= {ENOUGH_LAY} lay expressions: {self.covered} of {self.concepts} "
            f"({self.covered / self.concepts:.1%}); facts {self.covered_facts} of {self.facts} "
            f"({self.covered_facts / self.facts:.1%}); with an id {self.with_code}, with an exact id "
            f"{self.with_exact_code}, with the lay expressions {self.with_lay}"
        )


def coverage(cases: Iterable[Case], contexts: Contexts) -> Coverage:
    """Coverage of the symptoms of the cases."""
    said = [f.concept for case in cases for f in case.facts if f.category in SYMPTOM_ITEMS]
    names = sorted(set(said))
    parts = {name: _parts(contexts, contexts.concepts.get(name)) for name in names}
    coded = {n for n in names if parts[n] and all(p.codes for p in parts[n])}
    exact = {n for n in coded if all(any(c.match == "exact" for c in p.codes) for p in parts[n])}
    lay = {n for n in names if parts[n] and all(len({name_key(t) for t in p.lay}) >= ENOUGH_LAY for p in parts[n])}
    good = coded & lay
    return Coverage(
        concepts=len(names),
        covered=len(good),
        with_code=len(coded),
        with_exact_code=len(exact),
        with_lay=len(lay),
        facts=len(said),
        covered_facts=sum(concept in good for concept in said),
        uncovered=tuple(n for n in names if n not in good),
    )


def _parts(contexts: Contexts, entry: Entry | None) -> list[Context]:
    return [contexts.by_id[i] for i in entry.ids] if entry else []
