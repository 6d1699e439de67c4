"""Who plays the patient, and who judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from verisim_metrics.judging import Judge, Question
from verisim_tasks.errors import UserError
from verisim_tasks.loop.keeping import NOWHERE, Keeping
from verisim_tasks.loop.labels import LabelledPrompt, patient_label
from verisim_tasks.loop.model_judge import make_model_judge
from verisim_tasks.loop.prompts import Conversation, Message
from verisim_tasks.loop.prompts import Role as MessageRole
from verisim_tasks.loop.replies import Failed, TooLong
from verisim_tasks.loop.role_model import SAME, ModelSpec, chat_channel, create_model, name_of
from verisim_tasks.loop.role_speaker import role_speaker
from verisim_tasks.loop.simulating import is_same
from verisim_tasks.patient.base import Patient
from verisim_tasks.patient.persona import PersonaScript
from verisim_tasks.patient.played.patient import Ask, PlayedPatient, Style, TurnChat
from verisim_tasks.patient.played.prompts import ChatMessage
from verisim_tasks.patient.scripted import ScriptedPatient, default_patient
from verisim_tasks.records.transcript import Role
from verisim_tasks.settings import Settings
from verisim_tasks.verify.verifier import Draft, Extract, Verifier

WHO: Final = "patient"
MAX_REPLY_TOKENS = 120
"""About 90 words; a patient is told to stay under 50."""
STOPS = ("\nDoctor:", "\n\n")


@dataclass(frozen=True)
class NoReply:
    """The patient model gave no answer, and why."""

    reason: str


def make_patient(
    settings: Settings, doctor: Any = None, judge: Judge | None = None, keeping: Keeping = NOWHERE
) -> tuple[Patient, Role]:
    """The patient that the settings name, and how the role is named in transcripts.

    Args:
        settings: Of these, ``patient`` and ``persona`` are read, and ``judge`` where none is given.
        doctor: The model under test, for ``"same"``.
        judge: Extracts the claims of a played patient's drafts.
        keeping: Where the words of a patient's model are kept; its turns stand in the run log anyway.

    Raises:
        UserError: for a model that cannot be made, or has no chat template.
    """
    script = default_patient() if settings.persona is None else PersonaScript()
    if settings.patient == "scripted":
        return script, Role(model="scripted", settings=script.describe())
    judge = judge or make_judge(settings, doctor, keeping)
    if isinstance(settings.patient, str):
        if doctor is None:
            raise UserError('the patient is "same", but there is no model under test here; name a model and model_args')
        identity = {"model": SAME, "weights": name_of(doctor), "args": ""}
        return _played(model_ask(doctor, keeping), identity, "act", judge, script, same=True)
    spec = ModelSpec.read(settings.patient.model_dump(include={"model", "model_args"}), WHO)
    same = doctor is not None and is_same(spec.identity, doctor)
    ask = model_ask(create_model(spec, WHO), keeping, spec.args)
    return _played(ask, spec.identity, settings.patient.style, judge, script, same=same)


def make_judge(settings: Settings, doctor: Any = None, keeping: Keeping = NOWHERE) -> Judge | None:
    """The judge that the settings name, if any, with its replies kept; ``UserError`` for one that cannot be made."""
    if settings.judge is None:
        return None
    given = settings.judge if isinstance(settings.judge, str) else settings.judge.model_dump()
    model = make_model_judge(given, doctor=doctor)
    args = None if isinstance(given, str) else ModelSpec.read(given, "judge").args
    memory = keeping.by_key("judge", model.lm, args)
    return Judge(model, identity=model.identity, cache=memory, count_tokens=model.count_tokens)


def _played(
    ask: Ask, identity: dict[str, str], style: Style, judge: Judge | None, script: ScriptedPatient, *, same: bool
) -> tuple[Patient, Role]:
    verifier = Verifier(extract=judged_claims(judge) if judge else None)
    patient = PlayedPatient(
        ask, verifier.verify, model=identity, style=style, extractor=_described(judge), script=script
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


def model_ask(lm: Any, keeping: Keeping = NOWHERE, args: Mapping[str, Any] | None = None) -> Ask:
    """An lm-eval model as the writer of a patient's words: one batched call for all chats.

    Args:
        lm: The model.
        keeping: Of this, the content cache is used: the run log keeps whole turns.
        args: What the model was made with, where that is known.

    Raises:
        UserError: for a model without a chat template.
    """
    channel = chat_channel(lm, WHO)
    options = {"chat": True, "gen_kwargs": {"until": list(STOPS)}, "max_reply_tokens": MAX_REPLY_TOKENS}
    speaker = role_speaker(lm, WHO, keeping, args=args, name=None, **options)
    speaker.channel = channel

    def ask(chats: Sequence[list[ChatMessage]]) -> list[str | NoReply]:
        return [_reply(reply) for reply in speaker([_conversation(chat) for chat in chats])]

    return ask


def _conversation(chat: list[ChatMessage]) -> Conversation:
    """A chat as a prompt, with the label of the turn it is for where it knows it."""
    prompt = LabelledPrompt(Message(cast(MessageRole, m["role"]), m["content"]) for m in chat)
    if not isinstance(chat, TurnChat):
        return tuple(prompt)
    prompt.label = patient_label(chat.setting, chat.turn)
    return prompt


def _reply(reply: str | TooLong | Failed) -> str | NoReply:
    if isinstance(reply, TooLong):
        return NoReply(f"the prompt has {reply.tokens} tokens and the model has room for {reply.limit}")
    return NoReply(reply.error) if isinstance(reply, Failed) else reply
