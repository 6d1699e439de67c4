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
from verisim_tasks.loop.labels import REPORT, labelled
from verisim_tasks.loop.plan import Plan
from verisim_tasks.loop.prompts import Conversation, conversation, report_request
from verisim_tasks.loop.replies import Failed, TooLong, ask_apart
from verisim_tasks.loop.reports import NO_REPORT_AFTER, SWITCHED_OFF, ReportReply, ask_for_reports, read_report
from verisim_tasks.loop.routing import ExaminerAnswer, Examining, patient_side, routed, without_fabricated_results
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
    report: ReportReply = field(default_factory=lambda: ReportReply(None, SWITCHED_OFF))

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


@dataclass(frozen=True)
class _Room:
    """Who is there, and the rules of the consultation."""

    doctor: DoctorGenerate
    patient: Patient
    examiner: Examining | None
    max_turns: int
    preface: str | None
    progress: Progress | None


def run_consultations(
    plans: Sequence[Plan],
    doctor_generate: DoctorGenerate,
    patient: Patient,
    settings: Settings,
    *,
    examiner: Examining | None = None,
    write_reports: DoctorGenerate | None = None,
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
        examiner: Carries out what the doctor orders; without one, orders go to the patient like anything said.
        write_reports: Plays the doctor when the reports are written; without it there are none.
        roles: How the doctor and the patient are named in the transcripts.
        instrument: What the fingerprint is taken of; described from the plans' own cases when left out.
        preface: A user's own system instruction, put before the doctor's contract.
        progress: Told once a turn.

    Returns:
        One transcript for each plan, in order; then the clean twins that no plan asked for.
    """
    everything = [*plans, *_missing_twins(plans)]
    running = {plan.key: _Consultation(plan) for plan in everything}
    room = _Room(doctor_generate, patient, examiner, settings.max_turns, preface, progress)
    _open(running.values(), patient)
    _take_turns(list(running.values()), room)
    if write_reports is not None:
        _write_reports(running.values(), write_reports, room)
    if instrument is None:
        seen = examiner.describe() if examiner is not None else None
        cases = [p.case for p in everything]
        instrument = describe_instrument(cases, patient.describe(), settings.max_turns, examiner=seen)
    write = _Writer(roles or {"doctor": UNNAMED, "patient": UNNAMED}, instrument, running)
    return [write(plan) for plan in everything]


def ask_questions(
    plans: Sequence[Plan], questions: Sequence[Sequence[str]], patient: Patient, examiner: Examining | None
) -> list[tuple[Turn, ...]]:
    """Put these questions and orders to the patient and examiner of each plan, one after the other, all plans in step.

    Returns:
        The turns of each plan, the patient's opening first. A patient or an examiner that fails ends its plan's turns.
    """
    asked = [_Consultation(plan) for plan in plans]
    _open(asked, patient)
    for turn in range(1, max(map(len, questions), default=0) + 1):
        waiting = []
        for consultation, lines in zip(asked, questions, strict=True):
            if consultation.outcome is None and turn <= len(lines):
                message = Turn(index=turn, speaker="doctor", text=lines[turn - 1], heard_by=("patient",))
                consultation.turns.append(message)
                waiting.append(consultation)
        if examiner is not None:
            _examine(waiting, examiner)
        _hear_patients([c for c in waiting if c.outcome is None], patient, turn)
    return [tuple(c.turns) for c in asked]


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


def _take_turns(consultations: list[_Consultation], room: _Room) -> None:
    messages = 0
    for turn in range(1, room.max_turns + 1):
        still_open = [c for c in consultations if c.outcome is None]
        if not still_open:
            break
        forced = turn == room.max_turns
        replies = room.doctor([labelled(_prompt(c, room, forced=forced), c.plan, turn) for c in still_open])
        for consultation, reply in zip(still_open, replies, strict=True):
            _hear_doctor(consultation, reply, turn, forced)
        messages += len(still_open)
        if room.examiner is not None:
            _examine([c for c in still_open if c.outcome is None], room.examiner)
        _hear_patients([c for c in still_open if c.outcome is None], room.patient, turn)
        if room.progress is not None:
            left = sum(c.outcome is None for c in consultations)
            room.progress(turn=turn, open_=left, closed=len(consultations) - left, messages=messages)


def _prompt(consultation: _Consultation, room: _Room, *, forced: bool) -> Conversation:
    return conversation(
        consultation.turns,
        max_turns=room.max_turns,
        forced=forced,
        preface=room.preface,
        examiner=room.examiner is not None,
    )


def _write_reports(consultations: Iterable[_Consultation], doctor: DoctorGenerate, room: _Room) -> None:
    """One report for every consultation that came to its end, all in one call. A failure costs a report, no more."""
    ended: list[_Consultation] = []
    for consultation in consultations:
        reason = consultation.outcome.stop_reason if consultation.outcome else "error"
        if reason in ("diagnosed", "turn_limit"):
            ended.append(consultation)
        else:
            consultation.report = ReportReply(None, NO_REPORT_AFTER.format(reason=reason))
    has_examiner = room.examiner is not None
    prompts = [
        report_request(c.turns, max_turns=room.max_turns, preface=room.preface, examiner=has_examiner) for c in ended
    ]
    prompts = [labelled(prompt, c.plan, REPORT) for prompt, c in zip(prompts, ended, strict=True)]
    for consultation, reply in zip(ended, ask_for_reports(prompts, doctor), strict=True):
        consultation.report = read_report(reply, examined=has_examiner)


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


def _examine(consultations: list[_Consultation], examiner: Examining) -> None:
    """Let the examiner hear the last messages, and answer what they order."""

    def ask(many: Sequence[_Consultation]) -> list[ExaminerAnswer]:
        return [examiner.examine(c.plan.case, c.turns[-1].text) for c in many]

    for consultation in consultations:
        _cut_fabricated(consultation)
    for consultation, answer in zip(consultations, ask_apart(ask, consultations), strict=True):
        if isinstance(answer, Failed):
            consultation.close("error", error=f"examiner: {answer.error}")
        else:
            consultation.turns[-1:] = routed(consultation.turns[-1], answer)


def _cut_fabricated(consultation: _Consultation) -> None:
    message = consultation.turns[-1]
    kept = without_fabricated_results(message.text)
    if kept != message.text:
        flags = tuple(dict.fromkeys((*message.flags, "both_sides")))
        changed = {"text": kept, "raw": message.raw or message.text, "flags": flags}
        consultation.turns[-1] = message.model_copy(update=changed)


def _hear_patients(consultations: list[_Consultation], patient: Patient, turn: int) -> None:
    waiting = [c for c in consultations if "patient" in _last_message(c).heard_by]
    exchanges = [_exchange(c, turn) for c in waiting]
    for consultation, answer in zip(waiting, ask_apart(patient.reply, exchanges), strict=True):
        if isinstance(answer, Failed):
            consultation.close("error", error=f"patient: {answer.error}")
        else:
            consultation.turns.append(answer)


def _last_message(consultation: _Consultation) -> Turn:
    return next(t for t in reversed(consultation.turns) if t.speaker == "doctor")


def _exchange(consultation: _Consultation, turn: int) -> Exchange:
    *before, message = patient_side(consultation.turns)
    return Exchange(consultation.plan.setting(), tuple(before), message=message.text, index=turn)


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
            **plan.heading(),
            roles=self.roles,
            turns=tuple(consultation.turns),
            outcome=outcome,
            report=consultation.report.report,
            report_missing=consultation.report.reason,
            clean_twin=None if plan.noise.is_clean else self._twin(plan),
            fingerprint=digest(self.instrument),
            instrument=self.instrument,
        )

    def _twin(self, plan: Plan) -> CleanTwin:
        outcome = self.running[plan.clean_twin().key].outcome
        if outcome is None:
            raise RuntimeError(f"the clean twin of {plan.key} was never closed")
        return CleanTwin(diagnosis=outcome.diagnosis, stop_reason=outcome.stop_reason, turns=outcome.turns)
