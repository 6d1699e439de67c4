"""Noise draws: blind to who the patient is, telling nothing by deflecting, the same in every process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict

import pytest
from interviews import QUESTIONS, everybody, hold, profiles

from verisim_tasks.cases.bank import find_case, load_cases
from verisim_tasks.errors import UserError
from verisim_tasks.language.lexicon import default_lexicon
from verisim_tasks.patient.base import PatientSetting
from verisim_tasks.patient.conversation import Conversation
from verisim_tasks.patient.scripted import ScriptedPatient
from verisim_tasks.records.case import Case
from verisim_tasks.records.noise import DIMENSIONS, NoiseProfile
from verisim_tasks.records.transcript import Turn

DEFLECTING = {
    "need_cue", "ask_repeat", "ask_simplify", "previous", "ask_meaning", "ask_plain", "overwhelmed", "fixate", "evade",
}  # fmt: skip


@pytest.mark.parametrize("change", [{"race": "Black"}, {"race": "Asian"}, {"occupation": "judge"}, {"sex": "other"}])
def test_noise_is_blind_to_race_sex_and_occupation(change: dict[str, str]) -> None:
    case = find_case("rheu-001")
    if change == {"sex": "other"}:
        change = {"sex": "female" if case.demographics.sex == "male" else "male"}
    other = case.model_copy(update={"demographics": case.demographics.model_copy(update=change)})
    patient = ScriptedPatient()
    for noise in profiles():
        one = hold(patient, [PatientSetting(case, noise)])[0][1]
        two = hold(patient, [PatientSetting(other, noise)])[0][1]
        assert [t.events for t in one] == [t.events for t in two]
        assert [t.withheld for t in one] == [t.withheld for t in two]


def deflected(turn: Turn) -> bool:
    return bool({e.device for e in turn.events} & DEFLECTING) and not turn.disclosed and not turn.denials


def is_news(turns: list[Turn]) -> bool:
    """The answer tells a fact, and not the opening once more."""
    told = [d.fact_id for d in turns[-1].disclosed]
    return bool(told) and turns[0].disclosed[0].fact_id not in told


def present_and_absent(cases: list[Case]) -> list[tuple[str, list[Case], list[Case]]]:
    """Questions about a known concept, with the cases that have it and those that neither state nor deny it."""
    lexicon, patient = default_lexicon(), ScriptedPatient()
    having: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        index = patient.index_of(case)
        for fact in case.facts:
            concept = index.concept_of[fact.id]
            plain = fact.polarity == "present" and fact.aspect is None and not fact.sensitive
            told_at_once = fact.concept == case.opening.concept
            if concept and plain and not told_at_once and fact.category not in ("family_medical_history", "children"):
                having[concept] += [case] if case not in having[concept] else []
    rows = []
    for concept, present in sorted(having.items()):
        question = f"Do you have {lexicon.concepts[concept].name}?"
        absent = [
            c for c in cases if not hold(patient, [PatientSetting(c, NoiseProfile())], [question])[0][1][-1].disclosed
        ]
        told = [c for c in present if is_news(hold(patient, [PatientSetting(c, NoiseProfile())], [question])[0][1])]
        if told and absent:
            rows.append((question, told, absent))
    return rows


@pytest.mark.slow
def test_a_deflection_does_not_tell_whether_an_item_is_there() -> None:
    """For each concept: deflected as often where it is present as where it is absent (difference within 3 s.e.)."""
    rows = present_and_absent(load_cases()[:24])
    patient = ScriptedPatient()
    for dimension in DIMENSIONS:
        for level in (3, 4):
            noise = NoiseProfile({dimension: level})
            difference, variance, deflections = 0.0, 0.0, 0
            for question, present, absent in rows:
                rates = []
                for group in (present, absent):
                    settings = [PatientSetting(c, noise, seed) for c in group for seed in range(4)]
                    hits = [deflected(turns[-1]) for _, turns in hold(patient, settings, [question])]
                    rates.append((sum(hits) / len(hits), len(hits)))
                    deflections += sum(hits)
                (p, n), (q, m) = rates
                pooled = (p * n + q * m) / (n + m)
                weight = n * m / (n + m)
                difference += weight * (p - q)
                variance += weight**2 * pooled * (1 - pooled) * (1 / n + 1 / m)
            if deflections:
                assert abs(difference) <= 3 * variance**0.5 + 1e-9, (dimension, level, difference, variance**0.5)


SCRIPT = """
import json, sys
sys.path.insert(0, "tests")
from interviews import QUESTIONS, hold, profiles
from verisim_tasks.cases.bank import find_case
from verisim_tasks.patient.base import PatientSetting
from verisim_tasks.patient.scripted import ScriptedPatient
settings = [PatientSetting(find_case(c), n) for c in ("card-001", "paed-001") for n in profiles()]
print(json.dumps([[t.model_dump(mode="json") for t in turns] for _, turns in hold(ScriptedPatient(), settings)]))
"""


@pytest.mark.slow
def test_the_same_words_in_every_process() -> None:
    outputs = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, env=_environment(seed)
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
    assert json.loads(outputs.pop())


def _environment(seed: str) -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONHASHSEED": seed}


def test_the_same_words_alone_and_among_many() -> None:
    patient = ScriptedPatient()
    settings = list(everybody([find_case("neur-002"), find_case("gyna-001")]))
    together = hold(patient, settings)
    for setting, turns in together[:: len(together) // 7]:
        assert hold(ScriptedPatient(), [setting])[0][1] == turns


def test_the_clean_twin_is_the_same_whatever_the_profile_beside_it() -> None:
    setting = PatientSetting(find_case("card-002"), NoiseProfile())
    alone = hold(ScriptedPatient(), [setting], QUESTIONS[:8])[0][1]
    beside = hold(ScriptedPatient(), [PatientSetting(setting.case, profiles()[4]), setting], QUESTIONS[:8])[1][1]
    assert alone == beside


@pytest.mark.parametrize(
    "words", [["memory=2"], ["memory_recall=5"], ["memory_recall"], ["memory_recall=1,memory_recall=2"]]
)
def test_bad_profiles_are_named(words: list[str]) -> None:
    with pytest.raises(UserError):
        NoiseProfile.parse(words)


def test_stigma_needs_a_sign_and_what_was_denied_is_admitted() -> None:
    case = find_case("card-002")
    noise = NoiseProfile({"social_cultural": 4})
    talk = Conversation(ScriptedPatient(), PatientSetting(case, noise))
    first = talk.say("Do you use any recreational drugs?")
    assert [d.kind for d in first.denials] == ["justified"]
    second = talk.say(
        "I ask everyone this, it is confidential, and it helps me treat you safely. Do you use any drugs?"
    )
    assert any(
        case.fact(d.fact_id).concept == case.fact(first.denials[0].fact_id or "").concept for d in second.disclosed
    )
    assert "admit" in {e.device for e in second.events}


def test_reassurance_lets_an_overwhelmed_patient_answer() -> None:
    noise = NoiseProfile({"emotional_state": 4})
    cold, warm = 0, 0
    for case in load_cases()[:12]:
        if "emotional_state" in case.incompatible_noise:
            continue
        for lead, count in (("", "cold"), ("I'm sorry, that must be frightening. You are in good hands. ", "warm")):
            talk = Conversation(ScriptedPatient(), PatientSetting(case, noise))
            told = sum(bool(talk.say(f"{lead}{q}").disclosed) for q in ("When did it start?", "Do you smoke?"))
            cold, warm = (cold + told, warm) if count == "cold" else (cold, warm + told)
    assert warm > 2 * cold


def test_at_the_highest_level_reassurance_wears_off_sooner() -> None:
    case = find_case("neur-002")
    told = {}
    for level in (3, 4):
        talk = Conversation(ScriptedPatient(), PatientSetting(case, NoiseProfile({"emotional_state": level})))
        talk.say("I'm sorry, you are in good hands. When did it start?")
        questions = (
            "Any trouble swallowing?",
            "Do your jaws tire?",
            "Is your speech slurred?",
            "Are your eyelids heavy?",
        )
        told[level] = sum(bool(talk.say(question).disclosed) for question in questions)
    assert told[4] < told[3]


def test_a_very_dazed_patient_tells_one_thing_and_loses_the_thread() -> None:
    lost = 0
    for case in load_cases()[:24]:
        if "cognitive_processing" in case.incompatible_noise:
            continue
        talk = Conversation(ScriptedPatient(), PatientSetting(case, NoiseProfile({"cognitive_processing": 4})))
        for question in ("Tell me more.", "Please, tell me more.", "Anything else?", "Anything else at all?"):
            turn = talk.say(question)
            events = [e for e in turn.events if e.device == "loses_thread"]
            lost += bool(events)
            assert not events or len(turn.disclosed) == 1
            assert {e.fact_id for e in events if e.fact_id} <= set(turn.withheld)
    assert lost > 5
