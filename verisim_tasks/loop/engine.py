"""The pure core: runs consultations in step and writes their transcripts. Knows nothing of lm-eval.

All consultations advance together, one doctor message each per turn, so that whoever plays the doctor is asked for a
whole turn at once. The clean twin of a noisy consultation is run once and shared by all its noisy variants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from verisim_tasks._stable import digest
from verisim_tasks.loop.doctor_text import DoctorMessage, read_doctor
from verisim_tasks.loop.instrument import describe_instrument
from verisim_tasks.loop.plan import Plan
from verisim_tasks.loop.prompts import Conversation, conversation
from verisim_tasks.loop.replies import Failed, TooLong, ask_apart
from verisim_tasks.patient.base import Exchange, Patient
from verisim_tasks.records.transcript import CleanTwin, Outcome, Role, StopReason, Transcript, Turn
from verisim_tasks.settings import Settings

Reply = str | TooLong | Failed
DoctorGenerate = Callable[[Sequence[Conversation]], Sequence[Reply]]
"""Whoever plays the doctor: one reply for each prompt, in order."""

UNNAMED = Role(model="unnamed")


class Progress(Protocol):
    """Hears how far the run is, once a turn."""

    def __call__(self, *, turn: int, open_: int, closed: int, messages: int) -> None:
        """``messages`` counts doctor messages since the start."""


@dataclass
class _Consultation:
    """One consultation while it runs."""

    plan: Plan
    turns: list[Turn] = field(default_factory=list)
    outcome: Outcome | None = None

    @property
    def messages(self) -> int:
        return sum(t.speaker == "doctor" for t in self.turns)

    def close(self, reason: StopReason, message: DoctorMessage | None = None, error: str | None = None) -> None:
        self.outcome = Outcome(
            diagnosis=message.diagnosis if message else None,
            differential=message.differential if message else (),
            stop_reason=reason,
            turns=self.messages,
            error=error,
        )


def run_consultations(
    plans: Sequence[Plan],
    doctor_generate: DoctorGenerate,
    patient: Patient,
    settings: Settings,
    *,
    roles: dict[str, Role] | None = None,
    instrument: dict[str, Any] | None = None,
    preface: str | None = None,
    progress: Progress | None = None,
) -> list[Transcript]:
    """Run every plan, and the clean twin of every noisy one.

    Args:
        plans: What to run. Plans that are the same consultation are run once.
        doctor_generate: Plays the doctor.
        patient: Plays every patient.
        settings: Of these, the loop reads ``max_turns``.
        roles: How the doctor and the patient are named in the transcripts.
        instrument: What the fingerprint is taken of; described from the plans' own cases when left out.
        preface: A user's own system instruction, put before the doctor's contract.
        progress: Told once a turn.

    Returns:
        One transcript for each plan, in order; then the clean twins that no plan asked for.
    """
    everything = [*plans, *_missing_twins(plans)]
    running = {plan.key: _Consultation(plan) for plan in everything}
    _open(running.values(), patient)
    _take_turns(list(running.values()), doctor_generate, patient, settings.max_turns, preface, progress)
    if instrument is None:
        instrument = describe_instrument([p.case for p in everything], patient.describe(), settings.max_turns)
    write = _Writer(roles or {"doctor": UNNAMED, "patient": UNNAMED}, instrument, running)
    return [write(plan) for plan in everything]


def _missing_twins(plans: Iterable[Plan]) -> list[Plan]:
    planned = {p.key for p in plans}
    twins = {t.key: t for p in plans if not p.noise.is_clean and (t := p.clean_twin()).key not in planned}
    return list(twins.values())


def _open(consultations: Iterable[_Consultation], patient: Patient) -> None:
    waiting = list(consultations)
    openings = ask_apart(lambda many: [patient.open(c.plan.setting()) for c in many], waiting)
    for consultation, opening in zip(waiting, openings, strict=True):
        if isinstance(opening, Failed):
            consultation.close("error", error=f"patient: {opening.error}")
        else:
            consultation.turns.append(opening)


def _take_turns(
    consultations: list[_Consultation],
    doctor_generate: DoctorGenerate,
    patient: Patient,
    max_turns: int,
    preface: str | None,
    progress: Progress | None,
) -> None:
    messages = 0
    for turn in range(1, max_turns + 1):
        still_open = [c for c in consultations if c.outcome is None]
        if not still_open:
            break
        forced = turn == max_turns
        replies = doctor_generate(
            [conversation(c.turns, max_turns=max_turns, forced=forced, preface=preface) for c in still_open]
        )
        for consultation, reply in zip(still_open, replies, strict=True):
            _hear_doctor(consultation, reply, turn, forced)
        messages += len(still_open)
        _hear_patients([c for c in still_open if c.outcome is None], patient, turn)
        if progress is not None:
            left = sum(c.outcome is None for c in consultations)
            progress(turn=turn, open_=left, closed=len(consultations) - left, messages=messages)


def _hear_doctor(consultation: _Consultation, reply: Reply, turn: int, forced: bool) -> None:
    if isinstance(reply, TooLong):
        consultation.close("context_limit")
        return
    if isinstance(reply, Failed):
        consultation.close("error", error=f"doctor: {reply.error}")
        return
    message = read_doctor(reply, forced=forced)
    consultation.turns.append(
        Turn(
            index=turn,
            speaker="doctor",
            text=message.visible,
            heard_by=("patient",),
            raw=_valid(reply) if reply != message.visible else None,
            flags=(*message.flags, *(["forced"] if forced else [])),
        )
    )
    if forced:
        consultation.close("turn_limit", message)
    elif message.diagnosis is not None:
        consultation.close("diagnosed", message)


def _hear_patients(consultations: list[_Consultation], patient: Patient, turn: int) -> None:
    exchanges = [
        Exchange(c.plan.setting(), tuple(c.turns[:-1]), message=c.turns[-1].text, index=turn) for c in consultations
    ]
    for consultation, answer in zip(consultations, ask_apart(patient.reply, exchanges), strict=True):
        if isinstance(answer, Failed):
            consultation.close("error", error=f"patient: {answer.error}")
        else:
            consultation.turns.append(answer)


def _valid(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


@dataclass(frozen=True)
class _Writer:
    """Makes the transcript of a plan from what was run."""

    roles: dict[str, Role]
    instrument: dict[str, Any]
    running: dict[tuple[str, str, int, int], _Consultation]

    def __call__(self, plan: Plan) -> Transcript:
        consultation = self.running[plan.key]
        outcome = consultation.outcome
        if outcome is None:
            raise RuntimeError(f"consultation {plan.key} was never closed")
        return Transcript(
            task=plan.task,
            variant=plan.variant,
            case_id=plan.case.id,
            noise=dict(plan.noise),
            seed=plan.seed,
            repeat=plan.repeat,
            roles=self.roles,
            turns=tuple(consultation.turns),
            outcome=outcome,
            clean_twin=None if plan.noise.is_clean else self._twin(plan),
            fingerprint=digest(self.instrument),
            instrument=self.instrument,
        )

    def _twin(self, plan: Plan) -> CleanTwin:
        outcome = self.running[plan.clean_twin().key].outcome
        if outcome is None:
            raise RuntimeError(f"the clean twin of {plan.key} was never closed")
        return CleanTwin(diagnosis=outcome.diagnosis, stop_reason=outcome.stop_reason, turns=outcome.turns)
