"""Who plays the patient, and who judges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from verisim_metrics.judging import Judge, Question
from verisim_tasks.errors import UserError
from verisim_tasks.loop.model import ModelSpeaker
from verisim_tasks.loop.model_judge import make_model_judge
from verisim_tasks.loop.prompts import Message
from verisim_tasks.loop.replies import Failed, TooLong
from verisim_tasks.loop.role_model import SAME, ModelSpec, chat_channel, create_model, name_of
from verisim_tasks.loop.simulating import is_same
from verisim_tasks.patient.base import Patient
from verisim_tasks.patient.persona import PersonaScript
from verisim_tasks.patient.played.patient import Ask, PlayedPatient, Style
from verisim_tasks.patient.played.prompts import ChatMessage
from verisim_tasks.patient.scripted import ScriptedPatient
from verisim_tasks.records.transcript import Role
from verisim_tasks.settings import Settings
from verisim_tasks.verify.verifier import Draft, Extract, Verifier

WHO = "patient"
MAX_REPLY_TOKENS = 120
"""About 90 words; a patient is told to stay under 50."""
STOPS = ("\nDoctor:", "\n\n")


@dataclass(frozen=True)
class NoReply:
    """The patient model gave no answer, and why."""

    reason: str


def make_patient(settings: Settings, doctor: Any = None, judge: Judge | None = None) -> tuple[Patient, Role]:
    """The patient that the settings name, and how the role is named in transcripts.

    Args:
        settings: Of these, ``patient`` and ``persona`` are read, and ``judge`` where none is given.
        doctor: The model under test, for ``"same"``.
        judge: Extracts the claims of a played patient's drafts.

    Raises:
        UserError: for a model that cannot be made, or has no chat template.
    """
    script = ScriptedPatient() if settings.persona is None else PersonaScript()
    if settings.patient == "scripted":
        return script, Role(model="scripted", settings=script.describe())
    judge = judge or make_judge(settings, doctor)
    if isinstance(settings.patient, str):
        if doctor is None:
            raise UserError('the patient is "same", but there is no model under test here; name a model and model_args')
        identity = {"model": SAME, "weights": name_of(doctor), "args": ""}
        return _played(doctor, identity, "act", judge, script, same=True)
    spec = ModelSpec.read(settings.patient.model_dump(include={"model", "model_args"}), WHO)
    same = doctor is not None and is_same(spec.identity, doctor)
    return _played(create_model(spec, WHO), spec.identity, settings.patient.style, judge, script, same=same)


def make_judge(settings: Settings, doctor: Any = None) -> Judge | None:
    """The judge that the settings name, if any; raises ``UserError`` for a model that cannot be made."""
    if settings.judge is None:
        return None
    given = settings.judge if isinstance(settings.judge, str) else settings.judge.model_dump()
    model = make_model_judge(given, doctor=doctor)
    return Judge(model, identity=model.identity, cache={}, count_tokens=model.count_tokens)


def _played(
    lm: Any, identity: dict[str, str], style: Style, judge: Judge | None, script: ScriptedPatient, *, same: bool
) -> tuple[Patient, Role]:
    verifier = Verifier(extract=judged_claims(judge) if judge else None)
    patient = PlayedPatient(
        model_ask(lm), verifier.verify, model=identity, style=style, extractor=_described(judge), script=script
    )
    name = ":".join(filter(None, (identity["model"], identity["weights"])))
    return patient, Role(model=name, settings=patient.describe(), same_as_doctor=same)


def _described(judge: Judge | None) -> dict[str, Any] | str:
    return judge.describe() if judge else "rules"


def judged_claims(judge: Judge) -> Extract:
    """Claim extraction by a judge: all drafts in one call; None, and so the rules, where it gives no list."""

    def extract(drafts: Sequence[Draft]) -> list[Sequence[str] | None]:
        spoken = [d for d in drafts if d.text.strip()]
        found = judge(
            [Question("claim_extraction", {"question": d.exchange.message, "message": d.text}) for d in spoken]
        )
        claims = {id(d): j.answer for d, j in zip(spoken, found, strict=True) if j.reason is None}
        return [a if isinstance(a := claims.get(id(d)), tuple) else None for d in drafts]

    return extract


def model_ask(lm: Any) -> Ask:
    """An lm-eval model as the writer of a patient's words: one batched call for all chats.

    Raises:
        UserError: for a model without a chat template.
    """
    channel = chat_channel(lm, WHO)
    speaker = ModelSpeaker(lm, chat=True, gen_kwargs={"until": list(STOPS)}, max_reply_tokens=MAX_REPLY_TOKENS, who=WHO)
    speaker.channel = channel

    def ask(chats: Sequence[list[ChatMessage]]) -> list[str | NoReply]:
        replies = speaker([tuple(Message(m["role"], m["content"]) for m in chat) for chat in chats])  # type: ignore[arg-type]
        return [_reply(reply) for reply in replies]

    return ask


def _reply(reply: str | TooLong | Failed) -> str | NoReply:
    if isinstance(reply, TooLong):
        return NoReply(f"the prompt has {reply.tokens} tokens and the model has room for {reply.limit}")
    return NoReply(reply.error) if isinstance(reply, Failed) else reply
