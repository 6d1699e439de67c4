"""Reading what a doctor model wrote. Its output is hostile input: every oddity has a defined outcome.

Thinking is removed; a thought that never ends leaves nothing to hear. What it wrote for the other side, and all that
follows, is cut. Loops are said once. A diagnosis counts only behind its marker and only with a condition behind it.
"""

from __future__ import annotations

from dataclasses import dataclass

from verisim_tasks.language.model_text import clean_characters, own_side, say_once, strip_thinking
from verisim_tasks.loop.diagnosis_text import find_diagnosis, find_differential

FLAGS: tuple[str, ...] = (
    "empty",
    "think",
    "unclosed_think",
    "both_sides",
    "loop",
    "several_questions",
    "diagnosis_and_question",
    "diagnosis_without_content",
)
"""Everything that can be unusual about a doctor's message; the engine adds ``forced``."""


@dataclass(frozen=True)
class DoctorMessage:
    """One doctor message, read."""

    visible: str
    """What the other side hears; empty when nothing was said."""
    diagnosis: str | None = None
    """The condition behind the marker; it ends the consultation."""
    differential: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


def read_doctor(text: str, *, forced: bool = False) -> DoctorMessage:
    """Read one model output.

    Args:
        text: What the model wrote, unchanged.
        forced: Whether the doctor had to conclude; then a plain ``Diagnosis:`` is a marker too.

    Returns:
        The message; never raises, whatever the text.
    """
    flags: list[str] = []
    spoken, thought, closed = strip_thinking(clean_characters(text))
    if thought:
        flags.append("think" if closed else "unclosed_think")
    own, cut = own_side(spoken if closed else "", "doctor")
    if cut:
        flags.append("both_sides")
    visible, looped = say_once(own)
    if looped:
        flags.append("loop")
    if not visible:
        flags.append("empty")
    diagnosis, mentioned = find_diagnosis(visible, forced=forced)
    questions = visible.count("?") + visible.count("？")
    if diagnosis is None and mentioned:
        flags.append("diagnosis_without_content")
    if diagnosis is not None and questions:
        flags.append("diagnosis_and_question")
    elif questions > 1:
        flags.append("several_questions")
    return DoctorMessage(visible, diagnosis, find_differential(visible), tuple(flags))
