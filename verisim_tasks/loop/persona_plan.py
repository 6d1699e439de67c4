"""A consultation to run whose patient has a persona."""

from __future__ import annotations

from dataclasses import dataclass

from verisim_metrics.patientsim.personas import PLAIN, Persona
from verisim_tasks.loop.plan import Plan
from verisim_tasks.patient.persona import PersonaSetting, with_persona


@dataclass(frozen=True)
class PersonaPlan(Plan):
    """A plan with a persona; its clean twin has the same one, and ``noise`` is that of the variant alone."""

    persona: Persona = PLAIN

    def setting(self) -> PersonaSetting:
        """The patient of this consultation: the persona's noise is laid over the variant's."""
        noise = with_persona(self.noise, self.persona)
        return PersonaSetting(case=self.case, noise=noise, seed=self.seed, repeat=self.repeat, persona=self.persona)
