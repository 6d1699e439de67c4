"""Memory and recall: dates become ranges, details drop out, history comes only with a cue."""

from __future__ import annotations

from dataclasses import replace

from verisim_tasks.noise.scene import Scene
from verisim_tasks.patient.grounding import SYMPTOM_ITEMS
from verisim_tasks.patient.plan import Aside, Line, Plan
from verisim_tasks.records.transcript import NoiseEvent

NAME = "memory_recall"

SPARED_ITEMS = (
    "age", "gender", "race", "occupation", "living_situation", "children", "marital_status", "insurance", "exercise",
    "tobacco", "alcohol", "illicit_drug", "sexual_history", "arrival_transport", "chief_complaint",
)  # fmt: skip
"""Nobody forgets these."""
SPARED_CONCEPTS = (
    "occupation", "marital_status", "children_home", "education_literacy", "language_barrier", "immigration",
    "caregiver_role", "religion_culture", "exercise", "driving", "pregnancy",
)  # fmt: skip
"""The same, where the doctor's words name a concept."""
VIVID_ASPECTS = (None, "location", "character", "severity", "radiation")
"""What is felt now; timing, triggers and course have to be remembered."""
LAST_RESORT = 2
"""After a list was asked for this often before, it comes without a cue."""


def select(plan: Plan, scene: Scene) -> Plan:
    """Holds back what needs a cue, and all but the first of several."""
    if not scene.row(NAME):
        return plan
    lines: list[Line] = []
    events: list[NoiseEvent] = []
    aside: str | None = None
    for line in plan.lines:
        if line.mode != "hold" and not line.told_before and needs_cue(line, scene):
            lines.append(replace(line, mode="hold"))
            events.append(scene.event(NAME, "need_cue", line))
            now = is_symptom(line, scene) and (line.fact is None or line.fact.aspect in VIVID_ASPECTS)
            aside = aside or ("unsure_symptom" if now else "cannot_recall")
        else:
            lines.append(line)
    if plan.spoken and all(line.mode == "hold" for line in lines) and plan.spoken[0].target.specificity == "open":
        # whoever is asked to tell in their own words can tell something
        return _first_of_many(plan, scene) if scene.rate(NAME, "first_of_many") else plan
    changed = plan.with_lines(lines, *events)
    if aside and changed.instead is None:
        changed = replace(changed, instead=Aside(aside, NAME))
    return _first_of_many(changed, scene) if scene.rate(NAME, "first_of_many") else changed


def phrase(plan: Plan, scene: Scene) -> Plan:
    """Says that the details are not exact, or the order not sure."""
    blurred = [line for line in plan.spoken if line.fact is not None and "|time" in line.fact.lay]
    if blurred and scene.happens(NAME, "inexact"):
        return replace(plan, after=(*plan.after, Aside("inexact", NAME))).noting(scene.event(NAME, "inexact"))
    told = [line for line in plan.spoken if line.mode == "tell" and not is_spared(line, scene)]
    if told and scene.happens(NAME, "sequence_unsure"):
        return replace(plan, after=(*plan.after, Aside("sequence_unsure", NAME))).noting(
            scene.event(NAME, "sequence_unsure")
        )
    return plan


def needs_cue(line: Line, scene: Scene) -> bool:
    """Whether this item is not yet recalled: it depends on what was asked and how, not on whether it is there."""
    if is_spared(line, scene):
        return False
    asked = scene.asked_before(line)
    cued = line.target.specificity == "specific"
    if scene.applies(NAME, "need_second_cue", line.key):
        return asked == 0 if cued else asked < LAST_RESORT
    return scene.applies(NAME, "need_cue", line.key) and not cued and asked < LAST_RESORT


def is_spared(line: Line, scene: Scene) -> bool:
    """Acute, salient or constant things are not forgotten.

    Where the doctor names a known thing the rule looks at that alone, so that presence and absence fare alike.
    """
    concept = scene.asked_concept(line)
    aspect = line.fact.aspect if line.fact else None
    if concept is not None and aspect is None:
        constant = concept.kind == "habit" or concept.sensitive or concept.id in SPARED_CONCEPTS
        return constant or (concept.kind == "symptom" and concept.salient)
    item = line.fact.category if line.fact else line.target.item
    vivid = is_symptom(line, scene) and aspect in VIVID_ASPECTS
    return item in SPARED_ITEMS or (vivid and concept is not None and concept.salient)


def is_symptom(line: Line, scene: Scene) -> bool:
    """About how the patient is now, not about history, medicines or family."""
    concept = scene.asked_concept(line)
    if concept is not None:
        return concept.kind == "symptom"
    return line.fact is not None and line.fact.category in SYMPTOM_ITEMS


def _first_of_many(plan: Plan, scene: Scene) -> Plan:
    """Of several facts that answer one question only the first is told; the rest takes another question."""
    told: set[str] = set()
    lines: list[Line] = []
    events: list[NoiseEvent] = []
    for line in plan.lines:
        later = line.mode == "tell" and line.target.key in told and not is_spared(line, scene)
        if later:
            events.append(scene.event(NAME, "first_of_many", line))
        elif line.mode == "tell":
            told.add(line.target.key)
        lines.append(replace(line, mode="hold") if later else line)
    changed = plan.with_lines(lines, *events)
    return replace(changed, after=(*changed.after, Aside("more_later", NAME))) if events else changed
