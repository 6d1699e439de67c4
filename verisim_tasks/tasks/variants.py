"""The 26 variants of the suite and the names of their tasks, groups and tags."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from verisim_tasks.errors import UserError, did_you_mean
from verisim_tasks.records.case import Case
from verisim_tasks.records.noise import DIMENSIONS, MAX_LEVEL, NoiseProfile
from verisim_tasks.tasks.mixed import assign_mixed

MIXED = "mixed"


@dataclass(frozen=True)
class Variant:
    """How the patients of one task tell their story: one fixed noise for all, or the mixed protocol."""

    name: str
    noise: NoiseProfile | None
    """None for the mixed protocol, whose noise differs from case to case."""

    def noise_for(self, case: Case, repeat: int) -> NoiseProfile | None:
        """The noise of one consultation; None where it would mimic the case's own disease."""
        if self.noise is None:
            return assign_mixed(case, repeat)
        return None if set(self.noise) & set(case.incompatible_noise) else self.noise

    @property
    def task(self) -> str:
        """The name of the variant's task."""
        return f"verisim_{self.name}"


CLEAN = Variant("clean", NoiseProfile())
BY_DIMENSION: dict[str, tuple[Variant, ...]] = {
    d: tuple(Variant(f"{d}_l{level}", NoiseProfile({d: level})) for level in range(1, MAX_LEVEL + 1))
    for d in DIMENSIONS
}
VARIANTS: tuple[Variant, ...] = (CLEAN, *(v for vs in BY_DIMENSION.values() for v in vs), Variant(MIXED, None))
"""Clean, the six dimensions at four levels each, and mixed."""

GROUPS: dict[str, tuple[str, ...]] = {
    **{f"verisim_{d}": tuple(v.task for v in variants) for d, variants in BY_DIMENSION.items()},
    "verisim_noisy": (*(f"verisim_{d}" for d in DIMENSIONS), f"verisim_{MIXED}"),
    "verisim_core": (CLEAN.task, f"verisim_{MIXED}"),
    "verisim": (CLEAN.task, "verisim_noisy"),
}
"""Groups and their direct members; below one group no task is reached twice."""


def level_tag(level: int) -> str:
    """The tag of all single-dimension tasks of a level."""
    return f"verisim_level_{level}"


def variant_of(config: Mapping[str, Any]) -> Variant:
    """The variant that a task configuration describes with its keys ``variant`` and ``noise``.

    Raises:
        UserError: for an unknown dimension, level or noise.
    """
    noise = config.get("noise", {})
    name = str(config.get("variant") or config.get("task") or "custom")
    if noise == MIXED:
        return Variant(name, None)
    if not isinstance(noise, Mapping):
        raise UserError(
            f"noise of task {config.get('task')!r} is {noise!r}; write a mapping such as {{memory_recall: 3}}"
            f"{did_you_mean(str(noise), (MIXED,)) if isinstance(noise, str) else ''}"
        )
    return Variant(name, NoiseProfile(noise))
