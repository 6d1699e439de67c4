"""Cognitive processing: slowed, overloaded, stuck on the question before."""

from __future__ import annotations

from dataclasses import replace

from verisim_tasks._stable import draw
from verisim_tasks.noise.scene import Scene
from verisim_tasks.patient.plan import Aside, Plan

NAME = "cognitive_processing"
REPEATS_HEARD = 2
"""After a question was put this often before, as much as can be followed is answered."""


def select(plan: Plan, scene: Scene) -> Plan:
    """Long or compound questions get the first clause, or a request to repeat; or the question before is answered.

    The most dazed lose the thread of a longer answer.
    """
    row = scene.row(NAME)
    if not row or not plan.lines:
        return plan
    first = plan.lines[0]
    asked = scene.asked_before(first)
    overload = _is_overload(scene)
    if row.get("ask_repeat") and asked == 0 and (overload or scene.applies(NAME, "always_repeat", first.key)):
        return plan.holding_all(Aside("ask_repeat", NAME), scene.event(NAME, "ask_repeat", first))
    if row.get("always_repeat") and overload and 0 < asked < REPEATS_HEARD:
        return plan.holding_all(Aside("ask_simplify", NAME), scene.event(NAME, "ask_simplify", first))
    if asked == 0 and _stuck(scene, first.key) and plan.lines[0].key not in scene.history.previous:
        told = tuple(f for f in scene.history.previous if f in scene.history.told)[:1]
        if told:
            held = plan.holding_all(Aside("previous", NAME), scene.event(NAME, "previous", first))
            return replace(held, again=told)
    if overload and row.get("first_clause"):
        plan = _first_clause_only(plan, scene)
    return _first_thing_only(plan, scene) if scene.happens(NAME, "loses_thread") else plan


def phrase(plan: Plan, scene: Scene) -> Plan:
    """Hesitation before the answer."""
    if plan.spoken and scene.happens(NAME, "hesitate"):
        return replace(plan, before=(Aside("hesitate", NAME), *plan.before)).noting(scene.event(NAME, "hesitate"))
    return plan


def _is_overload(scene: Scene) -> bool:
    many = sum(len(targets) for targets in scene.targets) > 1
    return many or scene.message.compound or scene.message.longest > scene.row(NAME).get("long_words", 1000)


def _stuck(scene: Scene, key: str) -> bool:
    setting = scene.setting
    return draw(setting.seed, setting.repeat, setting.case.id, NAME, "previous", key) < scene.rate(NAME, "previous")


def _first_clause_only(plan: Plan, scene: Scene) -> Plan:
    first = plan.lines[0]
    kept, lost = [], []
    for line in plan.lines:
        follows = line.clause == first.clause and line.target.key == first.target.key
        if line.mode == "hold" or follows:
            kept.append(line)
        else:
            kept.append(replace(line, mode="hold"))
            lost.append(line)
    if not lost:
        return plan
    events = [scene.event(NAME, "first_clause", line) for line in lost]
    return replace(plan.with_lines(kept, *events), before=(Aside("first_only", NAME), *plan.before))


def _first_thing_only(plan: Plan, scene: Scene) -> Plan:
    """One thing is told, then the thread is lost."""
    later = {line.key for line in plan.spoken[1:]}
    if not later or plan.instead is not None:
        return plan
    lost = [line for line in plan.lines if line.mode != "hold" and line.key in later]
    lines = [replace(line, mode="hold") if line in lost else line for line in plan.lines]
    events = [scene.event(NAME, "loses_thread", line) for line in lost]
    return replace(plan.with_lines(lines, *events), after=(Aside("loses_thread", NAME), *plan.after))
