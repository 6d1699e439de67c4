"""How a clinician asks: when to stop, what to open with, how much to hop about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from verisim_tasks.errors import UserError, did_you_mean


@dataclass(frozen=True)
class Policy:
    """One question policy. Clinicians with different policies share knowledge and hearing, not the way of asking.

    The numbers that end a consultation were chosen on clean patients alone: of the rules that keep about as many
    diagnoses right as the most patient one, a quick one. A doctor that always asks to the limit cannot be slowed.
    """

    name: str = "default"
    opening: tuple[str, ...] = ("onset", "story", "others")
    """Open questions asked first, in this order (ids of ``script.OPEN_QUESTIONS``)."""
    routine: tuple[str, ...] = ("conditions", "medicines", "allergies", "family")
    """Open questions that fill up a consultation in which nothing else is worth asking before ``min_questions``."""
    min_questions: int = 7
    """Answered questions before a voluntary conclusion."""
    soft_limit: int = 11
    """At this many answered questions the certainty asked for has fallen to ``sure_late``."""
    sure_early: float = 0.92
    """Posterior of the leading disease (0-1) that ends the consultation right after ``min_questions``."""
    sure_late: float = 0.0
    """The same at ``soft_limit``; between the two it falls in a straight line. 0 ends the consultation there."""
    margin: float = 0.4
    """Least lead (0-1) over the second disease at a voluntary conclusion before ``soft_limit``."""
    least_gain: float = 0.004
    """Expected information (nats) below which no question is worth asking."""
    same_topic: float = 1.35
    """Factor on a question's value when it stays within the topic just talked about."""
    left_topic: float = 0.8
    """Factor when the topic was talked about and left before."""
    openness: float = 1.0
    """Factor on the value of open questions."""
    order_seed: int = 0
    """Decides between questions of nearly equal value, and the small words."""
    max_asks: int = 2
    """How often one question is put in total when the answer stays unclear."""


POLICIES: Mapping[str, Policy] = MappingProxyType(
    {
        "default": Policy(),
        "broad": Policy(
            name="broad",
            opening=("story", "others", "conditions", "medicines", "onset"),
            min_questions=10,
            soft_limit=16,
            sure_late=0.5,
            same_topic=1.1,
            left_topic=1.0,
            openness=2.0,
            order_seed=1,
        ),
        "focused": Policy(
            name="focused",
            opening=("onset",),
            min_questions=6,
            soft_limit=14,
            sure_early=0.85,
            sure_late=0.5,
            same_topic=1.7,
            openness=0.4,
            order_seed=2,
        ),
    }
)


def find_policy(name: str) -> Policy:
    """The policy of this name; ``UserError`` for an unknown one."""
    if name not in POLICIES:
        raise UserError(f"unknown clinician policy {name!r}{did_you_mean(name, POLICIES)}")
    return POLICIES[name]
