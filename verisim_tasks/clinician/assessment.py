"""What a dialogue so far amounts to."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from verisim_tasks.clinician.beliefs import Finding
from verisim_tasks.clinician.hearing import Trouble
from verisim_tasks.clinician.knowledge import Array
from verisim_tasks.clinician.measures import Sex
from verisim_tasks.clinician.questions import Question


@dataclass
class Assessment:
    """Findings, patient and ranked diseases. A report can be written from it later."""

    findings: dict[str, Finding] = field(default_factory=dict)
    """By feature id."""
    age: float | None = None
    """Years."""
    sex: Sex | None = None
    caregiver: bool = False
    """The speaker talks about a relative."""
    asked: list[str] = field(default_factory=list)
    """Question ids in order, repeats included."""
    messages: int = 0
    """Doctor messages so far."""
    answered: int = 0
    """Of these, the ones that the patient answered."""
    put: Question | None = None
    """The question that waits for its answer."""
    pending: Question | None = None
    """The last question, when it is still open."""
    trouble: Trouble | None = None
    """Why it is."""
    worried: bool = False
    posterior: Array = field(default_factory=lambda: np.zeros(0))
    """Probability of every disease, in the order of the knowledge."""
    ranking: tuple[tuple[str, float], ...] = ()
    """The likeliest diseases and their probabilities, most likely first."""

    def copy(self) -> Assessment:
        """One that can go on without changing this one."""
        return replace(self, findings=dict(self.findings), asked=list(self.asked))
