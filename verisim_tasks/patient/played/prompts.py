"""What a language model is told when it plays the patient: the role, what a person could know, today's manners.

The reference diagnosis stands in no prompt. Facts that the noise profile holds back on this turn are left out of it.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from verisim_tasks._stable import digest
from verisim_tasks._templates import render, source
from verisim_tasks.noise.communication_style import rambles
from verisim_tasks.noise.emotional_state import minimises
from verisim_tasks.noise.markup import plain
from verisim_tasks.noise.scene import Scene
from verisim_tasks.patient.grounding import Target
from verisim_tasks.patient.persona import persona_of
from verisim_tasks.patient.plan import Line, Plan
from verisim_tasks.patient.speech import word_fact
from verisim_tasks.patient.wording import informed
from verisim_tasks.records.case import Case, Fact
from verisim_tasks.records.noise import DIMENSIONS
from verisim_tasks.records.transcript import Turn

ChatMessage = dict[str, str]

PACKAGE = "verisim_tasks.patient.played"
TEMPLATES = ("patient", "note", "reword", *DIMENSIONS)
GREETING = "How can I help you?"
"""What the doctor is taken to have said before the patient's opening."""
MAX_WORDS = 50
"""What the patient is told to keep under; the verifier's limits are its own."""


def patient_prompt(scene: Scene, plan: Plan, turns: Sequence[Turn], instead: str, feedback: str) -> list[ChatMessage]:
    """The chat for one answer.

    Args:
        scene: The doctor's message and all that has passed.
        plan: What the noise lets out on this turn.
        turns: Everything said so far, the doctor's present message excluded.
        instead: What a patient says who gives no answer yet.
        feedback: What was wrong with the last draft; empty on the first.

    Returns:
        A system message with the role, the dialogue (doctor ``user``, patient ``assistant``), and the doctor's
        message with a note on what answers it.
    """
    said = [
        {"role": "user" if t.speaker == "doctor" else "assistant", "content": t.text.strip()}
        for t in turns
        if t.speaker != "examiner" and t.text.strip()
    ]
    note = _render(
        "note",
        near=[_worded(line.fact, scene) for line in plan.spoken if line.fact and line.mode != "deny_falsely"],
        deflection="" if _answers(plan) else instead,
        absent=any(line.mode == "absent" for line in plan.spoken),
        feedback=feedback,
    )
    asked = scene.message.text.strip() or "(The doctor says nothing.)"
    return [
        {"role": "system", "content": _role(scene, plan)},
        {"role": "user", "content": GREETING},
        *said,
        {"role": "user", "content": f"{asked}\n\n({note})"},
    ]


def simulation_prompt(case: Case, turns: Sequence[Turn], message: str, persona: str) -> list[ChatMessage]:
    """The chat for one answer of a model that plays the patient unaided: record, persona and dialogue, no note.

    Args:
        case: Whose record it is; all of it may be told.
        turns: Everything said so far, the doctor's present message excluded; empty for the opening.
        message: The doctor's present message.
        persona: Who the patient is, in sentences.
    """
    said = [
        {"role": "user" if t.speaker == "doctor" else "assistant", "content": t.text.strip()}
        for t in turns
        if t.speaker != "examiner" and t.text.strip()
    ]
    asked = [{"role": "user", "content": message.strip() or "(The doctor says nothing.)"}] if turns else []
    system = _part(case, [(fact, plain(informed(fact.lay, case))) for fact in case.facts], persona=persona)
    return [{"role": "system", "content": system}, {"role": "user", "content": GREETING}, *said, *asked]


_EXAMPLE = (
    "The pain started about two days ago, and walking makes it worse.",
    "It began some two days ago, and it gets worse when I walk.",
)


def reword_prompt(text: str, feedback: str) -> list[ChatMessage]:
    """The chat for one answer of a model too small to play a part: it puts a scripted answer in other words.

    Args:
        text: The scripted patient's answer.
        feedback: What was wrong with the last draft; only whether there is any is told.
    """
    return [
        {
            "role": "system",
            "content": "You rewrite sentences. You keep the meaning and every detail, and change the wording.",
        },
        {"role": "user", "content": _render("reword", text=_EXAMPLE[0], feedback="")},
        {"role": "assistant", "content": _EXAMPLE[1]},
        {"role": "user", "content": _render("reword", text=text, feedback=feedback)},
    ]


def _answers(plan: Plan) -> bool:
    return bool(plan.spoken) and all(line.mode != "deny_falsely" for line in plan.spoken)


def _role(scene: Scene, plan: Plan) -> str:
    case = scene.setting.case
    held = {line.fact.id for line in plan.lines if line.mode in ("hold", "deny_falsely") and line.fact is not None}
    persona = persona_of(scene.setting)
    return _part(
        case,
        [(f, _worded(f, scene)) for f in case.facts if f.id not in held],
        persona=persona.description if persona else "",
        manners=_manners(scene),
        told=[_worded(case.fact(i), scene) for i in scene.history.told],
    )


def _part(
    case: Case,
    known: Sequence[tuple[Fact, str]],
    *,
    persona: str,
    manners: Sequence[str] = (),
    told: Sequence[str] = (),
) -> str:
    """The part to be played: who it is, and what this person knows, each fact in words."""
    caregiver = case.informant.role == "caregiver"
    return _render(
        "patient",
        who=_who(case),
        heading=f"What is true of {case.informant.patient_name or 'the patient'}, in your own words:"
        if caregiver
        else "What is true of you, in your own words:",
        facts=[words for fact, words in known if fact.polarity == "present"],
        denied=[words for fact, words in known if fact.polarity == "denied"],
        caregiver=caregiver,
        patient_name=case.informant.patient_name or "the patient",
        max_words=MAX_WORDS,
        persona=persona,
        manners=manners,
        told=told,
    )


def _who(case: Case) -> str:
    person = case.demographics
    years = f"{person.age:g}-year-old"
    if case.informant.role == "caregiver":
        return f"{case.informant.name}, the {case.informant.relation} of a {years} {person.sex} patient,"
    return f"a {years} {person.sex} patient" + (f", by occupation {person.occupation}," if person.occupation else "")


def _worded(fact: Fact, scene: Scene) -> str:
    """The fact as this patient can put it today: blurred and in the words that the noise leaves."""
    target = Target(fact.id, (fact.id,), "specific", True)
    return word_fact(Line(0, target, fact, "tell"), fact, scene)[0]


def _manners(scene: Scene) -> list[str]:
    terse = "You answer curtly and a little beside the point."
    wordy = "You come to the answer by way of something that has nothing to do with it."
    off = "You mostly talk of something else." if rambles(scene) else "You mostly answer in one or two words."
    return [
        _render(
            dimension,
            level=scene.level(dimension),
            style_2=wordy if rambles(scene) else terse,
            style_4=off,
            extreme="make little of everything" if minimises(scene) else "fear the worst aloud",
        )
        for dimension in DIMENSIONS
        if scene.level(dimension)
    ]


@functools.cache
def prompts_digest() -> str:
    """A digest of every template, for the instrument fingerprint."""
    return digest({name: source(PACKAGE, f"{name}.jinja") for name in TEMPLATES})


def _render(name: str, **values: object) -> str:
    return render(PACKAGE, f"{name}.jinja", **values)
