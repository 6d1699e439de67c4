"""What the doctor is told, as plain data: the contract, the dialogue so far, the call to conclude."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Literal, NamedTuple

from verisim_tasks._stable import digest
from verisim_tasks._templates import render, source
from verisim_tasks.records.transcript import Turn

PACKAGE = "verisim_tasks.loop"
TEMPLATES: tuple[str, ...] = ("doctor.jinja", "conclude.jinja")

Role = Literal["system", "user", "assistant", "note"]
"""``note`` is a word of the suite in mid-dialogue; a channel decides how its model gets to see it."""


class Message(NamedTuple):
    """One message of a doctor's prompt."""

    role: Role
    content: str


Conversation = tuple[Message, ...]


def conversation(turns: Sequence[Turn], *, max_turns: int, forced: bool, preface: str | None = None) -> Conversation:
    """The doctor's prompt for the next message.

    Args:
        turns: Everything said so far, the patient's opening first.
        max_turns: Doctor messages allowed in all.
        forced: Whether the next message must conclude.
        preface: A user's own system instruction, put before the contract.

    Returns:
        The contract, then the dialogue as the doctor heard it. Messages in which nothing was heard are left out.
    """
    contract = render(PACKAGE, "doctor.jinja", max_turns=max_turns)
    messages = [Message("system", f"{preface.strip()}\n\n{contract}" if preface and preface.strip() else contract)]
    for turn in turns:
        if turn.text.strip() and (turn.speaker == "doctor" or not turn.heard_by or "doctor" in turn.heard_by):
            messages.append(Message("assistant" if turn.speaker == "doctor" else "user", turn.text.strip()))
    if forced:
        messages.append(Message("note", render(PACKAGE, "conclude.jinja")))
    return tuple(messages)


@functools.cache
def prompts_digest() -> str:
    """A digest of every prompt template, for the instrument fingerprint."""
    return digest({name: source(PACKAGE, name) for name in TEMPLATES})
