"""What has passed in a consultation so far, read off its turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from verisim_tasks.patient.questions import read_message
from verisim_tasks.records.transcript import Turn

SIGNS = ("normalise", "privacy", "reason")
"""What makes it easier to speak of something that carries stigma."""


@dataclass(frozen=True)
class History:
    """Facts told, questions asked and signs given before the present message."""

    told: tuple[str, ...]
    """Fact ids in the order they were first told."""
    asked: Counter[str]
    """How often each item was asked about."""
    previous: tuple[str, ...]
    """Items of the message before."""
    falsely_denied: frozenset[str]
    """Facts denied and not yet admitted."""
    signs: Counter[str]
    """How often the doctor normalised, assured privacy or gave a reason."""
    soothed: tuple[int, ...]
    """Indexes of messages that reassured or showed empathy."""
    devices: Counter[str]
    """How often each noise device was used; ``ask_meaning:<word>`` counts by word."""
    replies: int


def read_history(turns: Sequence[Turn]) -> History:
    """The history of the turns given (the present message excluded)."""
    told: dict[str, None] = {}
    asked: Counter[str] = Counter()
    denied: set[str] = set()
    signs: Counter[str] = Counter()
    devices: Counter[str] = Counter()
    soothed: list[int] = []
    previous: tuple[str, ...] = ()
    replies = 0
    for turn in turns:
        if turn.speaker == "doctor":
            acts = read_message(turn.text).acts
            signs.update(a for a in SIGNS if a in acts)
            if acts & {"reassurance", "empathy"}:
                soothed.append(turn.index)
        elif turn.speaker == "patient":
            replies += turn.index > 0
            told.update({d.fact_id: None for d in turn.disclosed})
            asked.update(set(turn.asked))
            previous = turn.asked
            devices.update(e.device for e in turn.events)
            devices.update(f"{e.device}:{e.detail}" for e in turn.events if e.device == "ask_meaning")
            denied |= {d.fact_id for d in turn.denials if d.kind == "justified" and d.fact_id and not d.retracted}
            denied -= {d.fact_id for d in turn.disclosed}
    return History(tuple(told), asked, previous, frozenset(denied), signs, tuple(soothed), devices, replies)
