"""What the doctor is told, as plain data: the contract, the dialogue so far, the call to conclude."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Literal, NamedTuple

from verisim_tasks._stable import digest
from verisim_tasks._templates import render, source
from verisim_tasks.records.transcript import Turn

PACKAGE = "verisim_tasks.loop"
TEMPLATES: tuple[str, ...] = (
    "doctor.jinja",
    "conclude.jinja",
    "doctor_examiner.jinja",
    "report.jinja",
    "onestep.jinja",
    "collab_central.jinja",
    "collab_merge.jinja",
    "collab_disagreements.jinja",
    "collab_revise.jinja",
    "collab_synthesis.jinja",
    "roles.yaml",
)
RESULTS = "Examination results:"
"""Begins what the examiner reports, as the doctor sees it."""

RECORD = "You are a doctor. Below is the record of one patient."
"""Stands before a whole record."""

Role = Literal["system", "user", "assistant", "note"]
"""``note`` is a word of the suite in mid-dialogue; a channel decides how its model gets to see it."""


class Message(NamedTuple):
    """One message of a doctor's prompt."""

    role: Role
    content: str


Conversation = tuple[Message, ...]


def conversation(
    turns: Sequence[Turn], *, max_turns: int, forced: bool, preface: str | None = None, examiner: bool = False
) -> Conversation:
    """The doctor's prompt for the next message.

    Args:
        turns: Everything said so far, the patient's opening first.
        max_turns: Doctor messages allowed in all.
        forced: Whether the next message must conclude.
        preface: A user's own system instruction, put before the contract.
        examiner: Whether there is somebody to order examinations from.

    Returns:
        The contract, then the dialogue as the doctor heard it. Messages in which nothing was heard are left out.
    """
    contract = render(PACKAGE, "doctor_examiner.jinja" if examiner else "doctor.jinja", max_turns=max_turns)
    messages = [system_message(contract, preface)]
    for turn in turns:
        if turn.text.strip() and (turn.speaker == "doctor" or not turn.heard_by or "doctor" in turn.heard_by):
            messages.append(_as_message(turn))
    if forced:
        messages.append(Message("note", render(PACKAGE, "conclude.jinja")))
    return tuple(messages)


def report_request(
    turns: Sequence[Turn], *, max_turns: int, preface: str | None = None, examiner: bool = False
) -> Conversation:
    """The doctor's prompt for the five-part report: the whole consultation, then what to write."""
    held = conversation(turns, max_turns=max_turns, forced=False, preface=preface, examiner=examiner)
    return (*held, Message("note", render(PACKAGE, "report.jinja", examiner=examiner)))


def onestep_request(record: str, preface: str | None = None) -> Conversation:
    """The doctor's prompt for a report on a whole record, which stands with the instructions to keep its lines."""
    given = system_message(f"{RECORD}\n\n{record}", preface)
    return given, Message("note", render(PACKAGE, "onestep.jinja"))


def system_message(contract: str, preface: str | None = None) -> Message:
    """Instructions, a user's own before ours."""
    return Message("system", f"{preface.strip()}\n\n{contract}" if preface and preface.strip() else contract)


def _as_message(turn: Turn) -> Message:
    text = turn.text.strip()
    if turn.speaker == "examiner":
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        return Message("note", "\n".join([RESULTS, *(f"- {line.removeprefix('- ')}" for line in lines)]))
    return Message("assistant" if turn.speaker == "doctor" else "user", text)


@functools.cache
def prompts_digest() -> str:
    """A digest of every prompt template, for the instrument fingerprint."""
    return digest({"results": RESULTS, "record": RECORD, **{name: source(PACKAGE, name) for name in TEMPLATES}})
