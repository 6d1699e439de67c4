"""Ordering examinations: what fits the diseases that are likeliest when the questions are done."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from verisim_tasks.clinician.care import care_of
from verisim_tasks.clinician.consult import DIFFERENTIAL, Clinician
from verisim_tasks.clinician.dialogue import Dialogue
from verisim_tasks.clinician.papers import Papers
from verisim_tasks.clinician.signs import weigh

ROUNDS = 2
"""Orders per consultation: for the likeliest disease, then for the two behind it."""
MOST = 8
"""Examinations in one order."""
MARK = "Order:"
CONCLUSION = "Final Diagnosis:"

_PLACE = re.compile(r"\b(?:examination|test|body mass index|blood pressure|nystagmus|gait|acuity)\b")


def with_examinations(clinician: Clinician, papers: Papers, text: str) -> str:
    """What the clinician says where it may order: its message, an order, or a conclusion that weighs the results.

    Args:
        clinician: Whose knowledge is used.
        papers: The prompt.
        text: What it would say without an examiner.
    """
    dialogue = papers.prompt.dialogue
    concluding = CONCLUSION in text
    state = weigh(clinician.knowledge, clinician.assess(dialogue, papers.prompt.preamble), papers.results)
    if not papers.prompt.forced:
        left = None if papers.limit is None else papers.limit - sum(role == "doctor" for role, _ in dialogue)
        order = next_order(state.ranking, dialogue, concluding=concluding, left=left)
        if order:
            return order
    return conclusion(state.ranking) if concluding else text


def conclusion(ranking: Sequence[tuple[str, float]]) -> str:
    """The diagnosis and what else was thought of."""
    names = [name for name, _ in ranking[: DIFFERENTIAL + 1]]
    text = f"Thank you, that helps. {CONCLUSION} {names[0]}"
    return text + (f"\nDifferential: {', '.join(names[1:])}" if len(names) > 1 else "")


def next_order(ranking: Sequence[tuple[str, float]], dialogue: Dialogue, *, concluding: bool, left: int | None) -> str:
    """The order to give now, empty when there is none to give.

    Args:
        ranking: The likeliest diseases, most likely first.
        dialogue: What was said so far.
        concluding: Whether the clinician would conclude now.
        left: Messages left, this one included; ``None`` when there is no limit.
    """
    given = [text for role, text in dialogue if role == "doctor" and MARK in text]
    pressed = left is not None and left <= ROUNDS - len(given) + 1
    if len(given) >= ROUNDS or left == 1 or not (concluding or pressed):
        return ""
    names = [name for name, _ in ranking]
    wanted = _wanted(names[:1] if not given else names[:3])
    ordered = {item for text in given for item in _items(text)}
    new = [item for item in dict.fromkeys(wanted) if item not in ordered][:MOST]
    return f"{MARK} {', '.join(new)}" if new else ""


def _wanted(diseases: Sequence[str]) -> Iterator[str]:
    for disease in diseases:
        care = care_of(disease)
        yield from (as_order(place) for place in care.examine)
        yield from care.tests


def as_order(place: str) -> str:
    """A part of the body as something to order."""
    return place if _PLACE.search(place) else f"examination of the {place}"


def _items(text: str) -> list[str]:
    return [item.strip() for item in text.partition(MARK)[2].split(",")]
