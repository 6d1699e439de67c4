"""Communication style: rambling or terse, off the point, one fact at a time."""

from __future__ import annotations

from dataclasses import replace

from verisim_tasks.noise.scene import Scene
from verisim_tasks.patient.plan import Aside, Line, Plan
from verisim_tasks.records.transcript import NoiseEvent

NAME = "communication_style"


def rambles(scene: Scene) -> bool:
    """This patient rambles; otherwise is terse. Fixed for a consultation."""
    return scene.trait(NAME, "style") < 0.5


def select(plan: Plan, scene: Scene) -> Plan:
    """Evades the first question about an item, and tells one of several facts."""
    if not scene.row(NAME) or not plan.spoken:
        return plan
    lines: list[Line] = []
    events: list[NoiseEvent] = []
    evaded, told = False, 0
    for line in plan.lines:
        device = None
        if line.mode != "hold" and scene.asked_before(line) == 0 and scene.applies(NAME, "evade", line.key):
            device, evaded = "evade", True
        elif line.mode != "hold" and told and scene.rate(NAME, "one_fact"):
            device = "one_fact"
        told += line.mode != "hold" and device is None
        if device:
            events.append(scene.event(NAME, device, line))
        lines.append(replace(line, mode="hold") if device else line)
    changed = plan.with_lines(lines, *events)
    if evaded and not changed.spoken and changed.instead is None:
        changed = replace(changed, instead=Aside("off_topic" if rambles(scene) else "one_word", NAME))
    return changed


def phrase(plan: Plan, scene: Scene) -> Plan:
    """Fillers, digressions and tangents around the answer; a terse patient leaves all asides out."""
    if not plan.spoken or not scene.row(NAME):
        return plan
    if scene.happens(NAME, "indirect"):
        if rambles(scene):
            return replace(plan, before=(Aside("tangent", NAME),)).noting(scene.event(NAME, "tangent"))
        return replace(plan, before=(), after=()).noting(scene.event(NAME, "clipped"))
    if scene.happens(NAME, "filler"):
        plan = replace(plan, before=(Aside("filler", NAME), *plan.before)).noting(scene.event(NAME, "filler"))
    if rambles(scene) and scene.happens(NAME, "digress"):
        plan = replace(plan, after=(*plan.after, Aside("digress", NAME))).noting(scene.event(NAME, "digress"))
    return plan
