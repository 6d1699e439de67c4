"""One conversation with a patient, message by message: what `verisim ask` and `verisim chat` hold."""

from __future__ import annotations

from dataclasses import dataclass, field

from verisim_tasks.patient.base import Exchange, Patient, PatientSetting
from verisim_tasks.records.transcript import Turn


@dataclass
class Conversation:
    """A consultation led by whoever calls :meth:`say`."""

    patient: Patient
    setting: PatientSetting
    turns: list[Turn] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.turns:
            self.turns.append(self.patient.open(self.setting))

    @property
    def opening(self) -> str:
        """The patient's first line."""
        return self.turns[0].text

    def say(self, message: str) -> Turn:
        """The patient's answer to a doctor's message."""
        index = self.turns[-1].index + 1
        exchange = Exchange(self.setting, tuple(self.turns), message, index)
        answer = self.patient.reply([exchange])[0]
        doctor = Turn(index=index, speaker="doctor", text=message, heard_by=("patient",))
        self.turns += [doctor, answer]
        return answer
