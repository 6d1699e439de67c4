"""All six dimensions in their fixed order."""

from __future__ import annotations

from types import ModuleType

from verisim_tasks.noise import (
    cognitive_processing,
    communication_style,
    emotional_state,
    health_literacy,
    memory_recall,
    social_cultural,
)
from verisim_tasks.noise.scene import Scene
from verisim_tasks.patient.plan import Plan

MODULES: tuple[ModuleType, ...] = (
    cognitive_processing,
    social_cultural,
    memory_recall,
    health_literacy,
    emotional_state,
    communication_style,
)
"""Each has ``NAME``, ``select(plan, scene)`` and ``phrase(plan, scene)``; the order is part of the instrument."""


def select(plan: Plan, scene: Scene) -> Plan:
    """The plan after every dimension has chosen what is told, held back or asked back about."""
    for module in MODULES:
        plan = module.select(plan, scene)
    return plan


def phrase(plan: Plan, scene: Scene) -> Plan:
    """The plan with what every dimension wraps around the told facts."""
    for module in MODULES:
        plan = module.phrase(plan, scene)
    return plan
