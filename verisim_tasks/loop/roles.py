"""Who plays the patient."""

from __future__ import annotations

from verisim_tasks.patient.base import Patient
from verisim_tasks.settings import Settings


def make_patient(settings: Settings) -> Patient:
    """The patient that the settings name. A patient played by a language model will be made here too."""
    from verisim_tasks.patient.scripted import ScriptedPatient

    return ScriptedPatient()
