"""Health literacy: lay words, slang, vague body talk, and questions back about clinicians' words.

Level 1 (``lay_words``) is what remains when the clinical words of :mod:`verisim_tasks.patient.wording` are not known.
"""

from __future__ import annotations

from dataclasses import replace

from verisim_tasks.noise.scene import Scene
from verisim_tasks.patient.plan import Aside, Line, Plan
from verisim_tasks.records.transcript import Form, NoiseEvent

NAME = "health_literacy"
PATIENCE = 2
"""How often a patient asks back about the same thing before answering as well as can be."""


def select(plan: Plan, scene: Scene) -> Plan:
    """Asks back on what is too technical or too long; otherwise chooses slang or vague wording."""
    row = scene.row(NAME)
    if not row or not plan.lines:
        return plan
    word = _unknown_word(scene)
    if word is not None:
        event = scene.event(NAME, "ask_meaning", plan.lines[0], detail=word)
        return replace(plan.holding_all(Aside("ask_meaning", NAME), event), asks_about=word)
    if row.get("plain_only") and scene.asked_before(plan.lines[0]) < PATIENCE and _is_long(scene):
        return plan.holding_all(Aside("ask_plain", NAME), scene.event(NAME, "ask_plain", plan.lines[0]))
    lines: list[Line] = []
    events: list[NoiseEvent] = []
    for line in plan.lines:
        form = _form(line, scene)
        lines.append(replace(line, form=form) if form else line)
        if form:
            events.append(scene.event(NAME, form, line))
    return plan.with_lines(lines, *events)


def phrase(plan: Plan, scene: Scene) -> Plan:
    """Nothing around the words; the words themselves changed in :func:`select`."""
    return plan


def _form(line: Line, scene: Scene) -> Form | None:
    fact = line.fact
    if fact is None or line.mode != "tell":
        return None
    concept = scene.concept(line)
    has_vague = fact.vague is not None or (fact.aspect is None and concept is not None and concept.vague is not None)
    if has_vague and not line.told_before and scene.applies(NAME, "vague", fact.id):
        return "vague"
    if fact.colloquial is not None and scene.rate(NAME, "colloquial"):
        return "colloquial"
    return None


def _unknown_word(scene: Scene) -> str | None:
    """The first of the doctor's words that this patient does not know and has not yet asked about twice."""
    least = 1 if scene.rate(NAME, "ask_meaning_moderate") else 2
    if not scene.rate(NAME, "ask_meaning"):
        return None
    for word, level in scene.message.jargon:
        if level >= least and scene.history.devices[f"ask_meaning:{word}"] < PATIENCE:
            return word
    return None


def _is_long(scene: Scene) -> bool:
    many = sum(len(targets) for targets in scene.targets) > 1
    return many or scene.message.compound or scene.message.longest > scene.row(NAME)["max_words"]
