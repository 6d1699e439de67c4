"""Prompts that know which message of which consultation they ask for, so that a run log can tell them apart."""

from __future__ import annotations

import hashlib
import json
from typing import Any, NamedTuple

from verisim_tasks.loop.plan import Plan
from verisim_tasks.loop.prompts import Conversation, Message
from verisim_tasks.patient.base import PatientSetting
from verisim_tasks.patient.persona import persona_of

REPORT = "report"
"""Stands for the turn where the report is asked for."""


class Label(NamedTuple):
    """One message of one consultation, whatever task it belongs to."""

    case: str
    noise: str
    seed: int
    repeat: int
    persona: str | None
    turn: int | str


class LabelledPrompt(tuple[Message, ...]):
    """A doctor's prompt with its label; to everybody else it is a conversation like any other."""

    label: Label


def labelled(prompt: Conversation, plan: Plan, turn: int | str) -> LabelledPrompt:
    """The prompt for one message of a plan's consultation."""
    made = LabelledPrompt(prompt)
    persona = persona_of(plan.setting())
    made.label = Label(*plan.key, persona.id if persona else None, turn)
    return made


def label_of(prompt: Conversation) -> Label | None:
    """The label of a prompt, where it has one."""
    return prompt.label if isinstance(prompt, LabelledPrompt) else None


def patient_label(setting: PatientSetting, turn: int) -> Label:
    """The label of a patient's turn. ``noise`` is what the patient plays, that of a persona included."""
    persona = persona_of(setting)
    return Label(
        setting.case.id, str(setting.noise), setting.seed, setting.repeat, persona.id if persona else None, turn
    )


def words_digest(*words: Any) -> str:
    """Changes with every word of a prompt or an exchange (JSON-able; lone surrogates too)."""
    return hashlib.sha256(json.dumps(words).encode()).hexdigest()[:24]
