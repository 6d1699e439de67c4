"""What the consultation loop needs of a patient, whoever plays it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from verisim_tasks.records.case import Case
from verisim_tasks.records.noise import NoiseProfile
from verisim_tasks.records.transcript import Turn


@dataclass(frozen=True)
class PatientSetting:
    """Which patient this is; fixed for one consultation."""

    case: Case
    noise: NoiseProfile
    seed: int = 1234
    repeat: int = 0


@dataclass(frozen=True)
class Exchange:
    """One doctor message that waits for the patient's answer."""

    setting: PatientSetting
    turns: tuple[Turn, ...]
    """Everything said so far, this doctor message excluded."""
    message: str
    """What the patient hears: the doctor's visible words."""
    index: int
    """The doctor message's number, from 1."""


class Patient(Protocol):
    """A simulated patient. Keeps no state of its own: what it says follows from the setting and the turns."""

    def open(self, setting: PatientSetting) -> Turn:
        """The opening line (index 0), the same at every noise level."""

    def reply(self, exchanges: Sequence[Exchange]) -> list[Turn]:
        """One patient turn for each exchange, in order."""

    def describe(self) -> dict[str, Any]:
        """Everything about this patient that belongs in the instrument fingerprint (JSON-able)."""
