"""What a patient is about to say: a plan of lines that noise may change, and what the changes were."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from verisim_tasks.patient.grounding import Target
from verisim_tasks.records.case import Fact
from verisim_tasks.records.transcript import Form, NoiseEvent

Mode = Literal["tell", "deny", "absent", "unsure", "deny_falsely", "hold"]
"""tell a present fact, deny a denied one, deny what the case does not hold, have no answer, deny a present
sensitive fact at first, or hold the answer back."""


@dataclass(frozen=True)
class Line:
    """One thing that was asked, and what the patient does about it."""

    clause: int
    """Which of the message's clauses asked, from 0."""
    target: Target
    fact: Fact | None
    mode: Mode
    form: Form = "full"
    told_before: bool = False
    retracts: bool = False
    """Tells what was denied earlier."""

    @property
    def key(self) -> str:
        """What draws and counts go by: the fact, or the absent item."""
        return self.fact.id if self.fact else self.target.key

    @property
    def concept(self) -> str:
        """What it is about, in words."""
        if self.fact:
            return self.fact.concept
        return self.target.concept or self.target.phrase or self.target.item or self.target.key


@dataclass(frozen=True)
class Aside:
    """Words around the answer that carry no clinical content."""

    device: str
    dimension: str
    """A noise dimension, or ``plain`` for ordinary manners."""


@dataclass(frozen=True)
class Plan:
    """A whole turn before it is put into words."""

    lines: tuple[Line, ...] = ()
    instead: Aside | None = None
    """What is said when no line is left to say, or in place of all lines."""
    before: tuple[Aside, ...] = ()
    after: tuple[Aside, ...] = ()
    events: tuple[NoiseEvent, ...] = ()
    asks_about: str | None = None
    """The doctor's word that the patient asks about."""
    again: tuple[str, ...] = field(default=())
    """Facts already told that are said once more (the opening, the answer before)."""

    @property
    def spoken(self) -> tuple[Line, ...]:
        """Lines that will be said."""
        return tuple(line for line in self.lines if line.mode != "hold")

    def with_lines(self, lines: Sequence[Line], *events: NoiseEvent) -> Plan:
        """The plan with other lines and more events."""
        return replace(self, lines=tuple(lines), events=(*self.events, *events))

    def noting(self, *events: NoiseEvent) -> Plan:
        """The plan with more events."""
        return replace(self, events=(*self.events, *events))

    def holding_all(self, aside: Aside, *events: NoiseEvent) -> Plan:
        """Nothing is answered; the aside is said instead."""
        held = tuple(replace(line, mode="hold") for line in self.lines)
        return replace(self, lines=held, instead=aside, events=(*self.events, *events))
