"""Social and cultural: what carries stigma is softened, not offered, denied at first."""

from __future__ import annotations

from dataclasses import replace

from verisim_tasks.noise.scene import Scene
from verisim_tasks.patient.history import SIGNS
from verisim_tasks.patient.plan import Aside, Line, Plan
from verisim_tasks.records.transcript import NoiseEvent

NAME = "social_cultural"
_ABUSE = ("abuse", "violence", "assault", "neglect", "non-accidental", "hit by", "beaten")


def select(plan: Plan, scene: Scene) -> Plan:
    """Sensitive facts wait for a direct question, then for a sign that it is safe to tell."""
    if not scene.row(NAME):
        return plan
    lines: list[Line] = []
    events: list[NoiseEvent] = []
    guarded = False
    for line in plan.lines:
        fact = line.fact
        if fact is None or not fact.sensitive or line.mode != "tell":
            lines.append(line)
        elif scene.rate(NAME, "direct_only") and line.target.specificity != "specific" and not line.told_before:
            lines.append(replace(line, mode="hold"))
            events.append(scene.event(NAME, "not_direct", line))
        elif _denies(line, scene):
            guarded = guarded or _about_abuse(line, scene)
            mode = "hold" if _about_abuse(line, scene) else "deny_falsely"
            lines.append(replace(line, mode=mode))  # type: ignore[arg-type]
            events.append(scene.event(NAME, "guarded" if mode == "hold" else "deny_first", line))
        else:
            retracts = bool(_same_concept(line, scene) & scene.history.falsely_denied)
            lines.append(replace(line, retracts=retracts))
            if retracts:
                events.append(scene.event(NAME, "admit", line))
    changed = plan.with_lines(lines, *events)
    return replace(changed, instead=Aside("guarded", NAME)) if guarded and changed.instead is None else changed


def phrase(plan: Plan, scene: Scene) -> Plan:
    """Embarrassment before a sensitive fact; an admission before what was denied."""
    told = [line for line in plan.spoken if line.mode == "tell" and line.fact is not None and line.fact.sensitive]
    if not told or not scene.row(NAME):
        return plan
    if any(line.retracts for line in told):
        return replace(plan, before=(*plan.before, Aside("admit", NAME)))
    if scene.happens(NAME, "embarrassed"):
        return replace(plan, before=(*plan.before, Aside("embarrassed", NAME))).noting(scene.event(NAME, "embarrassed"))
    return plan


def _denies(line: Line, scene: Scene) -> bool:
    """Whether this question about a present sensitive fact still meets a denial."""
    row = scene.row(NAME)
    assert line.fact is not None
    concept = _same_concept(line, scene)
    if not scene.applies(NAME, "deny_first", line.fact.concept) or concept & set(scene.history.told):
        return False
    signs = sum(scene.history.signs.values()) + sum(a in SIGNS for a in sorted(scene.message.acts))
    asked = max(scene.history.asked[f] for f in sorted(concept))
    return signs < row["signs_needed"] and asked + 1 < row["questions_needed"]


def _same_concept(line: Line, scene: Scene) -> set[str]:
    assert line.fact is not None
    return {f.id for f in scene.setting.case.facts if f.concept == line.fact.concept}


def _about_abuse(line: Line, scene: Scene) -> bool:
    """A caregiver evades a question about abuse, and never denies it."""
    text = f"{line.fact.concept} {line.fact.statement}".lower() if line.fact else ""
    return scene.by_caregiver and any(word in text for word in _ABUSE)
