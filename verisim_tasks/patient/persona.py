"""A patient with a persona (PatientSim, arXiv 2505.17818): its noise, its manner, and the words it understands.

A persona is a trait of the patient, not of the task: it comes on top of the noise of a variant, and the clean twin has
it too. Where an axis overlaps with a noise dimension the patient plays that dimension, at the higher of the two levels:

=====================  ==========================================================================================
recall low             memory_recall 3
dazed high             cognitive_processing 3
CEFR A, CEFR B         health_literacy 4, 2; and asks back about words above the level, once for each word
verbose, impatient     communication_style 3, 2; and phrases of that manner
distrust, overanxious  social_cultural 3, emotional_state 3; and phrases of that manner
pleasing               phrases of that manner only
=====================  ==========================================================================================

``fixtures/patientsim/personas.yaml`` says what each axis means and where our patient differs from it. The phrases stand
in ``fixtures/patientsim/persona_phrases.yaml``; they tell nothing medical.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from verisim_metrics.patientsim.comprehension import hard_words
from verisim_metrics.patientsim.personas import PLAIN, Persona
from verisim_tasks._stable import digest, draw
from verisim_tasks.language.lexicon import load_yaml
from verisim_tasks.noise.scene import Scene
from verisim_tasks.patient.base import Exchange, PatientSetting
from verisim_tasks.patient.plan import Aside, Plan
from verisim_tasks.patient.scripted import ScriptedPatient
from verisim_tasks.records.noise import NoiseProfile
from verisim_tasks.records.transcript import NoiseEvent, Segment, Turn

MANNER = "persona"
"""Stands for the dimension in noise events that a persona's manner causes."""
STYLES: Mapping[str, float] = {"rambling": 0.0, "terse": 1.0, "catastrophising": 0.0, "minimising": 1.0}
"""What a patient of each style would have drawn."""
LIMITED: tuple[str, ...] = ("A", "B")
"""CEFR levels at which words may be too hard."""


@dataclass(frozen=True)
class PersonaSetting(PatientSetting):
    """A patient who is somebody. ``noise`` holds the persona's own noise already."""

    persona: Persona = PLAIN


def persona_of(setting: PatientSetting) -> Persona | None:
    """The persona of a patient, if any."""
    return setting.persona if isinstance(setting, PersonaSetting) else None


def with_persona(noise: NoiseProfile, persona: Persona) -> NoiseProfile:
    """The noise of a variant and of a persona together: the higher level of each dimension."""
    own = persona.noise
    return NoiseProfile({d: max(noise.level(d), own.level(d)) for d in (*noise, *own)})


@dataclass(frozen=True)
class PersonaScene(Scene):
    """A scene in which the persona, and not the seed, decides between the two ways of a dimension."""

    def trait(self, dimension: str, name: str) -> float:
        """As for every patient, but for the style that the persona has."""
        persona = persona_of(self.setting)
        style = persona.styles.get(dimension) if persona is not None and name == "style" else None
        return STYLES[style] if style is not None else super().trait(dimension, name)


class PersonaScript(ScriptedPatient):
    """The scripted patient with a manner of its own. Without a persona it says what the scripted patient says."""

    def scene(self, exchange: Exchange) -> Scene:
        """How this patient understands a message at this point."""
        scene = super().scene(exchange)
        return scene if persona_of(exchange.setting) is None else PersonaScene(**vars(scene))

    def plan(self, scene: Scene) -> Plan:
        """What is told, held back or asked back about; a learner of the language asks about a hard word first."""
        plan = super().plan(scene)
        persona = persona_of(scene.setting)
        if persona is None or persona.language not in LIMITED or not plan.lines or plan.asks_about:
            return plan
        asked = scene.history.devices
        known = (w for w in hard_words(scene.message.text, persona.language) if not asked[f"ask_meaning:{w}"])
        word = next(known, None)
        if word is None:
            return plan
        event = scene.event("health_literacy", "ask_meaning", plan.lines[0], detail=word)
        return replace(plan.holding_all(Aside("ask_meaning", "health_literacy"), event), asks_about=word)

    def voice(self, scene: Scene, plan: Plan) -> Turn:
        """The plan in words, with the manner of the persona around them."""
        turn = super().voice(scene, plan)
        persona = persona_of(scene.setting)
        return turn if persona is None else _in_manner(turn, persona, scene)

    def describe(self) -> dict[str, Any]:
        """What belongs in the instrument fingerprint, the persona's data included."""
        return {
            **super().describe(),
            "persona": digest([load_yaml("patientsim", f"{name}.yaml") for name in ("personas", "persona_phrases")]),
        }


def _in_manner(turn: Turn, persona: Persona, scene: Scene) -> Turn:
    """The turn with a phrase of the personality before or after it, on some turns."""
    manner: Mapping[str, Any] = load_yaml("patientsim", "persona_phrases.yaml").get(persona.personality, {})
    setting = scene.setting
    key = (setting.seed, setting.repeat, setting.case.id, MANNER, persona.personality)
    if not manner or draw(*key, "turn", scene.turn) >= manner["rate"]:
        return turn
    place = "before" if draw(*key, "place", scene.turn) < 0.5 else "after"
    phrases = manner[place]
    text = phrases[(int(draw(*key, place) * len(phrases)) + scene.turn) % len(phrases)]
    said = Segment(text=text, kind="noise", device=f"{MANNER}_{persona.personality}")
    segments = (said, *turn.segments) if place == "before" else (*turn.segments, said)
    event = NoiseEvent(dimension=MANNER, level=0, device=persona.personality)
    joined = " ".join(s.text for s in segments)
    return turn.model_copy(update={"text": joined, "segments": segments, "events": (*turn.events, event)})
