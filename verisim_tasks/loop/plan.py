"""What is to be run: one case, one noise, one seed, one repeat."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from verisim_tasks.patient.base import PatientSetting
from verisim_tasks.records.case import Case
from verisim_tasks.records.noise import NoiseProfile

CLEAN_TASK = "verisim_clean"
CLEAN_VARIANT = "clean"


@dataclass(frozen=True)
class Plan:
    """One consultation to run, and the task and variant it is run for."""

    task: str
    variant: str
    case: Case
    noise: NoiseProfile
    seed: int = 1234
    repeat: int = 0

    @property
    def key(self) -> tuple[str, str, int, int]:
        """What makes two plans the same consultation, whatever task they belong to."""
        return (self.case.id, str(self.noise), self.seed, self.repeat)

    def heading(self) -> dict[str, Any]:
        """What a transcript says of what was run."""
        return {
            "task": self.task,
            "variant": self.variant,
            "case_id": self.case.id,
            "noise": dict(self.noise),
            "seed": self.seed,
            "repeat": self.repeat,
        }

    def clean_twin(self) -> Plan:
        """The same consultation without noise."""
        return replace(self, task=CLEAN_TASK, variant=CLEAN_VARIANT, noise=NoiseProfile())

    def setting(self) -> PatientSetting:
        """The patient of this consultation."""
        return PatientSetting(case=self.case, noise=self.noise, seed=self.seed, repeat=self.repeat)
