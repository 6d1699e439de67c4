"""Personas of patients: settings, the stored table, the scripted patient's manner, the played patient's prompt."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from verisim_metrics.patientsim.personas import AXES, PLAIN, all_personas, find_persona
from verisim_tasks.cases.bank import find_case, load_cases
from verisim_tasks.errors import UserError
from verisim_tasks.loop.persona_plan import PersonaPlan
from verisim_tasks.noise.communication_style import rambles
from verisim_tasks.patient.base import Exchange, PatientSetting
from verisim_tasks.patient.persona import PersonaScript, PersonaSetting, persona_of, with_persona
from verisim_tasks.patient.played.patient import PlayedPatient
from verisim_tasks.patient.played.prompts import simulation_prompt
from verisim_tasks.patient.scripted import ScriptedPatient
from verisim_tasks.records.noise import NoiseProfile
from verisim_tasks.records.transcript import Turn
from verisim_tasks.settings import read_settings
from verisim_tasks.tasks.persona_table import assign_persona, fits, stored_personas
from verisim_tasks.verify.verifier import Verifier

QUESTIONS = ("When did it start?", "Does it radiate anywhere?", "Do you smoke?", "What medicines do you take?")


def hold(script: ScriptedPatient, setting: PatientSetting, questions: tuple[str, ...] = QUESTIONS) -> list[Turn]:
    turns = [script.open(setting)]
    for index, question in enumerate(questions, start=1):
        doctor = Turn(index=index, speaker="doctor", text=question)
        answer = script.reply([Exchange(setting, tuple(turns), question, index)])[0]
        turns += [doctor, answer]
    return [t for t in turns if t.speaker == "patient"]


def setting(persona: Any, noise: dict[str, int] | None = None) -> PersonaSetting:
    found = find_persona(persona)
    profile = with_persona(NoiseProfile(noise or {}), found)
    return PersonaSetting(case=find_case("card-001"), noise=profile, persona=found)


@pytest.fixture(scope="module")
def script() -> PersonaScript:
    return PersonaScript()


def test_personas_are_named_by_axes_by_id_or_by_one_word():
    given = {"personality": "verbose", "cefr": "B", "recall": "low", "dazed": "normal"}
    assert find_persona(given).id == "verbose-B-low-normal"
    assert find_persona("verbose-B-low-normal") == find_persona(given)
    assert find_persona("distrust").as_record() == {**PLAIN.as_record(), "personality": "distrust"}
    assert find_persona("dazed").dazed == "high"
    for wrong, words in (({"cefr": "A", "language": "B"}, "given twice"), ("verbos", "did you mean 'verbose'")):
        with pytest.raises(UserError, match=words):
            find_persona(wrong)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"persona": "impatent"}, "did you mean 'impatient'"),
        ({"persona": {"cefr": "D"}}, "cefr cannot be 'D'"),
        ({"persona": 3}, "'persona'"),
        ({"nli": "judge"}, "needs a judge"),
        ({"nli": 3}, "'nli'"),
        ({"interviewer": {"model_args": {}}}, "'interviewer'"),
    ],
)
def test_a_wrong_setting_is_one_clear_sentence(given, words):
    with pytest.raises(UserError, match=words) as caught:
        read_settings({"verisim": given})
    assert "\n" not in str(caught.value)
    assert "alue error" not in str(caught.value)


def test_the_table_is_balanced_in_every_beginning_and_fits_every_case():
    cases = list(load_cases("bank"))
    for repeat in range(5):
        rows = [assign_persona(case, repeat) for case in cases]
        assert all(fits(p, c.incompatible_noise) for p, c in zip(rows, cases, strict=True))
        assert rows == [stored_personas()[c.id][repeat] for c in cases]
        for size in (12, 36, 72):
            for axis in ("personality", "language", "recall"):
                counts = Counter(getattr(p, axis) for p in rows[:size])
                assert set(counts) == set(AXES[axis])
                assert max(counts.values()) - min(counts.values()) <= 3, (repeat, size, axis)
        assert len({p.id for p in rows}) >= 36


def test_a_case_outside_the_table_gets_a_draw_that_fits_it():
    case = find_case("card-001").model_copy(update={"id": "x-1", "incompatible_noise": ("social_cultural",)})
    drawn = [assign_persona(case, repeat) for repeat in range(40)]
    assert drawn == [assign_persona(case, repeat) for repeat in range(40)]
    assert all(p.personality != "distrust" for p in drawn)
    assert len({p.id for p in drawn}) > 10


def test_the_higher_level_of_variant_and_persona_counts():
    low = find_persona({"recall": "low"})
    assert with_persona(NoiseProfile({"memory_recall": 4}), low) == NoiseProfile({"memory_recall": 4})
    assert with_persona(NoiseProfile({"memory_recall": 1}), low) == NoiseProfile({"memory_recall": 3})
    both = {"memory_recall": 3, "emotional_state": 2}
    assert with_persona(NoiseProfile({"emotional_state": 2}), low) == NoiseProfile(both)


def test_the_clean_twin_has_the_same_persona():
    persona = find_persona("dazed")
    plan = PersonaPlan("t", "v", find_case("card-001"), NoiseProfile({"memory_recall": 2}), persona=persona)
    twin = plan.clean_twin()
    assert isinstance(twin, PersonaPlan)
    assert (twin.noise.is_clean, persona_of(twin.setting())) == (True, persona)
    assert dict(twin.setting().noise) == {"cognitive_processing": 3}
    assert twin.key != plan.key


def test_without_a_persona_nothing_changes(script):
    plain = PatientSetting(find_case("card-001"), NoiseProfile({"memory_recall": 2}))
    assert hold(script, plain) == hold(ScriptedPatient(), plain)
    assert [t.text for t in hold(script, setting("plain"))] == [
        t.text for t in hold(ScriptedPatient(), PatientSetting(find_case("card-001"), NoiseProfile()))
    ]


@pytest.mark.parametrize("personality", ["verbose", "pleasing", "impatient", "distrust", "overanxious"])
def test_a_manner_shows_and_tells_nothing(script, personality):
    given = setting({"personality": personality})
    turns = hold(script, given)
    assert turns == hold(script, given)
    devices = [e.device for t in turns for e in t.events if e.dimension == "persona"]
    assert set(devices) == {personality}
    for turn in turns:
        assert turn.text == " ".join(s.text for s in turn.segments)
        assert all(not s.fact_ids for s in turn.segments if (s.device or "").startswith("persona_"))
    bare = hold(ScriptedPatient(), PatientSetting(given.case, given.noise))
    assert [t.disclosed for t in turns] == [t.disclosed for t in bare]
    assert [t.denials for t in turns] == [t.denials for t in bare]


def test_the_persona_decides_between_the_two_ways_of_a_dimension(script):
    for case_id in ("card-001", "derm-001", "endo-001", "gast-001"):
        for personality, is_rambling in (("verbose", True), ("impatient", False)):
            persona = find_persona(personality)
            given = PersonaSetting(find_case(case_id), persona.noise, persona=persona)
            scene = script.scene(Exchange(given, (script.open(given),), "When did it start?", 1))
            assert rambles(scene) is is_rambling


def test_a_learner_asks_about_a_hard_word_and_then_answers(script):
    asked = "Does the pain radiate to your jaw?"
    turns = hold(script, setting({"cefr": "A"}), (asked,) * 6)
    words = Counter(e.detail for t in turns for e in t.events if e.device == "ask_meaning")
    assert words["radiate"] in (1, 2)  # the noise of the level may ask once more
    assert words["jaw"] == 1
    assert turns[-1].disclosed or turns[-1].denials
    assert "radiate" in turns[1].text
    assert not turns[1].disclosed
    fluent = hold(script, setting({"cefr": "C"}), (asked,))
    assert not any(e.device == "ask_meaning" for t in fluent for e in t.events)


def test_every_persona_opens_with_the_complaint_and_stays_true_to_the_record(script):
    case = find_case("card-001")
    known = {fact.id for fact in case.facts}
    for persona in all_personas():
        turns = hold(script, setting(persona.as_record()))
        assert turns[0].text == hold(ScriptedPatient(), PatientSetting(case, NoiseProfile()))[0].text
        assert {d.fact_id for t in turns for d in t.disclosed} <= known


def test_the_played_patient_is_told_who_it_is():
    asked: list[Any] = []

    def ask(chats: Any) -> list[str]:
        asked.extend(chats)
        return ["I don't know."] * len(chats)

    played = PlayedPatient(ask, Verifier().verify, model={"model": "fake"}, script=PersonaScript())
    given = setting({"personality": "distrust", "cefr": "B"})
    opening = played.open(given)
    played.reply([Exchange(given, (opening,), "When did it start?", 1)])
    assert given.persona.description in asked[0][0]["content"]
    plain = PatientSetting(given.case, given.noise)
    asked.clear()
    played.reply([Exchange(plain, (opening,), "When did it start?", 1)])
    assert "the whole time" not in asked[0][0]["content"]


def test_the_prompt_of_an_unaided_patient_holds_the_whole_record_and_no_note():
    case = find_case("card-001")
    assert case.diagnosis is not None
    first = simulation_prompt(case, (), "", "Shy.")
    assert [m["role"] for m in first] == ["system", "user"]
    assert "What you are like, the whole time: Shy." in first[0]["content"]
    opening = Turn(index=0, speaker="patient", text="My chest hurts.")
    chat = simulation_prompt(case, (opening,), "When did it start?", "")
    assert [m["role"] for m in chat] == ["system", "user", "assistant", "user"]
    assert chat[-1]["content"] == "When did it start?"
    system = chat[0]["content"]
    assert system.count("\n- ") >= len([f for f in case.facts if f.lay])
    assert case.diagnosis.name.lower() not in system.lower()
    assert "[" not in system
