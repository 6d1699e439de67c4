"""Interviews in which the model under test plays the patient and a fixed interviewer asks (PatientSim, 2505.17818).

The patient gets the whole record and a persona, as a played patient does, and is left alone with them: nothing is
planned, verified or mended, so that its own truthfulness is measured. All interviews advance in step.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from verisim_tasks._stable import digest
from verisim_tasks.clinician.model import ClinicianLM
from verisim_tasks.loop.channel import Channel
from verisim_tasks.loop.engine import DoctorGenerate, run_consultations
from verisim_tasks.loop.instrument import describe_instrument
from verisim_tasks.loop.keeping import NOWHERE, Keeping
from verisim_tasks.loop.model import ModelSpeaker
from verisim_tasks.loop.modes import Call
from verisim_tasks.loop.prompts import Conversation, Message
from verisim_tasks.loop.replies import Failed, TooLong
from verisim_tasks.loop.role_model import ModelSpec, chat_channel, create_model
from verisim_tasks.loop.role_speaker import role_speaker
from verisim_tasks.loop.simulating import is_same
from verisim_tasks.patient.base import Exchange, PatientSetting
from verisim_tasks.patient.persona import persona_of
from verisim_tasks.patient.played.patient import heard
from verisim_tasks.patient.played.prompts import prompts_digest, simulation_prompt
from verisim_tasks.records.transcript import Role, Transcript, Turn
from verisim_tasks.settings import Settings

WHO: Final = "interviewer"
CONTEXT = "its context is full"
"""Why a patient falls silent for good; such an interview is scored up to there."""


def run_interviews(call: Call) -> list[Transcript]:
    """One transcript for each plan, in order; ``call.doctor`` speaks for the model under test, here as the patient."""
    patient = UnaidedPatient(patient_speaker(call.doctor), call.preface)
    patient.prepare([plan.setting() for plan in call.plans])
    ask, role = make_interviewer(call.settings, call.lm, call.doctor, call.keeping)
    transcripts = run_consultations(
        call.plans,
        ask,
        patient,  # type: ignore[arg-type]  # a Failed in place of a turn is what the loop takes for one
        call.settings,
        roles={WHO: role, "patient": call.doctor.role(call.doctor_name)},
        instrument={
            **describe_instrument(call.cases.values(), patient.describe(), call.settings.max_turns),
            WHO: {"model": role.model, **role.settings},
        },
        progress=call.progress,
    )
    return [_settled(t) for t in transcripts]


def make_interviewer(
    settings: Settings, lm: Any, under_test: ModelSpeaker, keeping: Keeping = NOWHERE
) -> tuple[DoctorGenerate, Role]:
    """Who asks, and how the role is named in transcripts; raises ``UserError`` for a model that cannot be had."""
    if settings.interviewer == "same":
        return under_test, under_test.role("same").model_copy(update={"same_as_doctor": True})
    if settings.interviewer == "clinician":
        clinician = ClinicianLM()
        return _asker(clinician, settings, keeping), Role(model=clinician.model, settings=clinician.get_model_info())
    spec = ModelSpec.read(settings.interviewer.model_dump(include={"model", "model_args"}), WHO)
    interviewer = create_model(spec, WHO)
    name = ":".join(filter(None, (spec.identity["model"], spec.identity["weights"])))
    role = Role(model=name, settings={"model": spec.identity}, same_as_doctor=is_same(spec.identity, lm))
    return _asker(interviewer, settings, keeping, spec.args), role


def _asker(lm: Any, settings: Settings, keeping: Keeping, args: Mapping[str, Any] | None = None) -> ModelSpeaker:
    channel = chat_channel(lm, WHO)
    options = {"chat": True, "gen_kwargs": {}, "max_reply_tokens": settings.max_reply_tokens}
    speaker = role_speaker(lm, WHO, keeping, args=args, name=WHO, **options)
    speaker.channel = channel
    return speaker


@dataclass(frozen=True)
class PatientChannel(Channel):
    """A channel for the other side: without a template the script goes on with what the patient says."""

    def render(self, lm: Any, prompt: Conversation) -> Any:
        """The prompt as the model takes it."""
        if self.kind != "plain":
            return super().render(lm, prompt)
        system = [m.content for m in prompt if m.role == "system"]
        names = {"user": "Doctor", "assistant": "Patient"}
        lines = [f"{names[m.role]}: {' '.join(m.content.split())}" for m in prompt if m.role in names]
        return "\n\n".join([*system, "\n".join([*lines, "Patient:"])])


def patient_speaker(under_test: ModelSpeaker) -> ModelSpeaker:
    """The model under test with the same settings, seen from the patient's side."""
    speaker = copy.copy(under_test)
    speaker.channel = PatientChannel(**dataclasses.asdict(under_test.channel))
    return speaker


class UnaidedPatient:
    """A patient whose every word, the opening too, is the model's own. Keeps the openings of the call, nothing else."""

    def __init__(self, ask: ModelSpeaker, preface: str | None = None) -> None:
        self._ask = ask
        self._preface = (preface or "").strip()
        self._openings: dict[str, Turn | Failed] = {}

    def prepare(self, settings: Sequence[PatientSetting]) -> None:
        """Have all openings written in one call of the model."""
        openings = self._say([(s, (), "") for s in settings], [0] * len(settings))
        self._openings.update(zip(map(_key, settings), openings, strict=True))

    def open(self, setting: PatientSetting) -> Turn:
        """What the patient says first. Raises ``RuntimeError`` where the model gave nothing."""
        opening = self._openings[_key(setting)]
        if isinstance(opening, Failed):
            raise RuntimeError(opening.error)
        return opening

    def reply(self, exchanges: Sequence[Exchange]) -> list[Turn | Failed]:
        """One turn for each exchange, in order, in one call of the model; what failed is marked."""
        return self._say([(e.setting, e.turns, e.message) for e in exchanges], [e.index for e in exchanges])

    def describe(self) -> dict[str, Any]:
        """What belongs in the instrument fingerprint; the model itself is what is measured."""
        return {"patient": "under test", "prompts": prompts_digest()}

    def _say(
        self, asked: Sequence[tuple[PatientSetting, Sequence[Turn], str]], indexes: Sequence[int]
    ) -> list[Turn | Failed]:
        replies = self._ask([self._prompt(*one) for one in asked])
        return [_turn(reply, index) for reply, index in zip(replies, indexes, strict=True)]

    def _prompt(self, setting: PatientSetting, turns: Sequence[Turn], message: str) -> Conversation:
        persona = persona_of(setting)
        chat = simulation_prompt(setting.case, turns, message, persona.description if persona else "")
        system = "\n\n".join(filter(None, (self._preface, chat[0]["content"])))
        rest = [Message(cast("Any", m["role"]), m["content"]) for m in chat[1:]]
        return (Message("system", system), *rest)


def _turn(reply: str | TooLong | Failed, index: int) -> Turn | Failed:
    if isinstance(reply, TooLong):
        return Failed(f"{CONTEXT}: {reply.tokens} tokens, and there is room for {reply.limit}")
    if isinstance(reply, Failed):
        return reply
    said = heard(reply)
    raw = reply.encode("utf-8", "replace").decode("utf-8") if reply != said else None
    return Turn(index=index, speaker="patient", text=said, heard_by=("doctor",), raw=raw)


def _key(setting: PatientSetting) -> str:
    persona = persona_of(setting)
    return digest([setting.case.id, setting.seed, setting.repeat, persona.id if persona else None])


def _settled(transcript: Transcript) -> Transcript:
    """A patient without room to answer ends the interview, and is no fault of the run."""
    outcome = transcript.outcome
    if CONTEXT not in (outcome.error or ""):
        return transcript
    ended = outcome.model_copy(update={"stop_reason": "context_limit", "error": None})
    return transcript.model_copy(update={"outcome": ended})
