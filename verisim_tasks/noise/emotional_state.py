"""Emotional state: worry colours the words, narrows attention, and at last blocks the answer until it is met."""

from __future__ import annotations

from dataclasses import replace

from verisim_tasks.noise.scene import Scene
from verisim_tasks.patient.plan import Aside, Line, Plan
from verisim_tasks.records.transcript import NoiseEvent

NAME = "emotional_state"
PLAIN_DATA = ("age", "gender", "race", "occupation", "children", "marital_status", "insurance", "arrival_transport")
"""Items that nobody worries about in themselves."""
LAST_RESORT = 2
"""Asked this often before, even an overwhelmed patient answers."""


def select(plan: Plan, scene: Scene) -> Plan:
    """Fixation on the main complaint, and answers without substance until reassured."""
    if not scene.row(NAME) or not plan.spoken:
        return plan
    soothed = is_soothed(scene)
    main = scene.setting.case.opening.concept
    lines: list[Line] = []
    events: list[NoiseEvent] = []
    devices: list[str] = []
    for line in plan.lines:
        asked = scene.asked_before(line)
        device = None
        if line.mode != "hold" and not soothed and asked < LAST_RESORT and scene.applies(NAME, "overwhelmed", line.key):
            device = "overwhelmed"
        elif line.mode != "hold" and not soothed and asked == 0 and line.concept != main:
            device = "fixate" if scene.applies(NAME, "fixate", line.key) else None
        if device is not None:
            devices.append(device)
            events.append(scene.event(NAME, device, line))
        lines.append(replace(line, mode="hold") if device else line)
    changed = plan.with_lines(lines, *events)
    if not devices or changed.spoken or changed.instead is not None:
        return changed
    return _without_substance(changed, scene, devices[0])


def phrase(plan: Plan, scene: Scene) -> Plan:
    """Worry, fear about what is told, and requests for reassurance around the answer."""
    told = any(line.mode == "tell" and not _is_plain_data(line) for line in plan.spoken)
    if told and scene.happens(NAME, "amplify"):
        plan = replace(plan, after=(*plan.after, Aside("amplify", NAME))).noting(scene.event(NAME, "amplify"))
    elif told and scene.happens(NAME, "worry"):
        plan = replace(plan, after=(*plan.after, Aside("worry", NAME))).noting(scene.event(NAME, "worry"))
    if plan.spoken and scene.happens(NAME, "seek_reassurance"):
        plan = replace(plan, after=(*plan.after, Aside("seek_reassurance", NAME)))
        plan = plan.noting(scene.event(NAME, "seek_reassurance"))
    return plan


def _is_plain_data(line: Line) -> bool:
    """Nobody says "I am a woman. It frightens me"."""
    return line.fact is not None and line.fact.category in PLAIN_DATA


def is_soothed(scene: Scene) -> bool:
    """The doctor reassured or showed empathy just now, or no more messages ago than it lasts at this level."""
    if scene.message.acts & {"reassurance", "empathy"}:
        return True
    return any(scene.turn - index <= scene.rate(NAME, "soothed_for") for index in scene.history.soothed)


def minimises(scene: Scene) -> bool:
    """This patient makes little of everything when overwhelmed; otherwise fears the worst. Fixed for a consultation."""
    return scene.trait(NAME, "style") >= 0.5


def _without_substance(plan: Plan, scene: Scene, device: str) -> Plan:
    if device == "fixate":
        opening = scene.setting.case.opening.id
        again = (opening,) if scene.history.devices["fixate"] % 3 == 0 else ()
        return replace(plan, instead=Aside("fixate" if again else "amplify", NAME), again=again)
    style = "minimise" if minimises(scene) else "catastrophise"
    return replace(plan, instead=Aside(style, NAME))
