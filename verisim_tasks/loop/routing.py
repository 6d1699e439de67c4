"""Who hears a doctor's message: the patient, the examiner, or both."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Protocol

from verisim_tasks.loop.prompts import RESULTS
from verisim_tasks.records.case import Case
from verisim_tasks.records.transcript import Disclosure, Turn

_FABRICATED = re.compile(rf"(?:^|\n)\W*{RESULTS}.*", re.IGNORECASE | re.DOTALL)


class ExaminerAnswer(Protocol):
    """What an examiner made of one message."""

    @property
    def ordered(self) -> tuple[str, ...]:
        """The examinations that were ordered."""

    @property
    def results(self) -> tuple[Any, ...]:
        """The entries of the case that answer, each with its ``id``."""

    @property
    def not_recorded(self) -> tuple[str, ...]:
        """Those that the case does not hold."""

    @property
    def text(self) -> str:
        """The results, empty when nothing was ordered."""

    @property
    def remainder(self) -> str:
        """The message without its orders: what is left for the patient."""


class Examining(Protocol):
    """Reports the results of what a doctor orders, and nothing else."""

    def examine(self, case: Case, message: str) -> ExaminerAnswer:
        """The results of what this message orders."""

    def describe(self) -> dict[str, Any]:
        """Everything about this examiner that belongs in the instrument fingerprint (JSON-able)."""


def without_fabricated_results(text: str) -> str:
    """A doctor's message up to where it begins to write the examiner's results itself."""
    return _FABRICATED.sub("", text).strip()


def routed(message: Turn, answer: ExaminerAnswer) -> list[Turn]:
    """The doctor's turn with who heard it, and the examiner's turn where something was ordered.

    A message that orders nothing is for the patient, whole.
    """
    if not answer.ordered or not answer.text.strip():
        return [message]
    left = answer.remainder.strip()
    doctor = message.model_copy(
        update={
            "heard_by": ("patient", "examiner") if left else ("examiner",),
            "patient_heard": left if left and left != message.text else None,
        }
    )
    flags = ("not_recorded",) if answer.not_recorded else ()
    results = Turn(
        index=message.index,
        speaker="examiner",
        text=answer.text.strip(),
        heard_by=("doctor",),
        asked=tuple(answer.ordered),
        disclosed=tuple(Disclosure(fact_id=result.id) for result in answer.results),
        flags=flags,
    )
    return [doctor, results]


def patient_side(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """The dialogue as the patient heard it: without the examiner, and without orders."""
    return tuple(_as_heard(t) for t in turns if t.speaker == "patient" or _hears(t))


def _hears(turn: Turn) -> bool:
    return turn.speaker == "doctor" and "patient" in turn.heard_by


def _as_heard(turn: Turn) -> Turn:
    return turn if turn.patient_heard is None else turn.model_copy(update={"text": turn.patient_heard})
