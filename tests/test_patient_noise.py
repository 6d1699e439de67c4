"""Noise draws: blind to who the patient is, telling nothing by deflecting, the same in every process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import pytest
from interviews import QUESTIONS, everybody, hold, profiles

from verisim_tasks.cases.bank import find_case, load_cases
from verisim_tasks.errors import UserError
from verisim_tasks.language.lexicon import default_lexicon
from verisim_tasks.patient.base import Exchange, PatientSetting
from verisim_tasks.patient.conversation import Conversation
from verisim_tasks.patient.scripted import ScriptedPatient
from verisim_tasks.records.case import Case
from verisim_tasks.records.noise import DIMENSIONS, NoiseProfile
from verisim_tasks.records.transcript import Turn

DEFLECTING = {
    "need_cue", "ask_repeat", "ask_simplify", "previous", "ask_meaning", "ask_plain", "overwhelmed", "fixate", "evade",
}  # fmt: skip


def everything(case: Case) -> list[list[Turn]]:
    """The interview in every noise profile."""
    return [turns for _, turns in hold(ScriptedPatient(), [PatientSetting(case, noise) for noise in profiles()])]


@pytest.fixture(scope="module")
def unchanged() -> list[list[Turn]]:
    return everything(find_case("rheu-001"))


@pytest.mark.parametrize("change", [{"race": "Black"}, {"race": "Asian"}, {"occupation": "judge"}, {"sex": "other"}])
def test_noise_is_blind_to_race_sex_and_occupation(change: dict[str, str], unchanged: list[list[Turn]]) -> None:
    case = find_case("rheu-001")
    if change == {"sex": "other"}:
        change = {"sex": "female" if case.demographics.sex == "male" else "male"}
    other = case.model_copy(update={"demographics": case.demographics.model_copy(update=change)})
    for one, two in zip(unchanged, everything(other), strict=True):
        assert [t.events for t in one] == [t.events for t in two]
        assert [t.withheld for t in one] == [t.withheld for t in two]


def deflected(turn: Turn) -> bool:
    return bool({e.device for e in turn.events} & DEFLECTING) and not turn.disclosed and not turn.denials


def is_news(turns: list[Turn]) -> bool:
    """The answer tells a fact, and not the opening once more."""
    told = [d.fact_id for d in turns[-1].disclosed]
    return bool(told) and turns[0].disclosed[0].fact_id not in told


def first_answers(patient: ScriptedPatient, asked: Sequence[tuple[PatientSetting, str]]) -> list[list[Turn]]:
    """The opening, a question of its own for each patient, and the answer; all are asked in one step."""
    openings = [patient.open(setting) for setting, _ in asked]
    exchanges = [
        Exchange(setting, (opening,), question, 1) for opening, (setting, question) in zip(openings, asked, strict=True)
    ]
    return [[opening, answer] for opening, answer in zip(openings, patient.reply(exchanges), strict=True)]


Row = tuple[str, list[Case], list[Case]]


def concepts_told(patient: ScriptedPatient, cases: Sequence[Case]) -> dict[str, list[Case]]:
    """Concepts and the cases that have them as a plain, present fact that is not told at once."""
    having: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        index = patient.index_of(case)
        for fact in case.facts:
            concept = index.concept_of[fact.id]
            plain = fact.polarity == "present" and fact.aspect is None and not fact.sensitive
            told_at_once = fact.concept == case.opening.concept
            if concept and plain and not told_at_once and fact.category not in ("family_medical_history", "children"):
                having[concept] += [case] if case not in having[concept] else []
    return having


def present_and_absent(patient: ScriptedPatient, cases: Sequence[Case]) -> list[Row]:
    """Questions about a known concept, with the cases that have it and those that neither state nor deny it."""
    lexicon, rows = default_lexicon(), []
    having = sorted(concepts_told(patient, cases).items())
    questions = [f"Do you have {lexicon.concepts[concept].name}?" for concept, _ in having]
    asked = [(PatientSetting(case, NoiseProfile()), question) for question in questions for case in cases]
    answered = iter(first_answers(patient, asked))
    for question, (_, present) in zip(questions, having, strict=True):
        turns = {case.id: next(answered) for case in cases}
        absent = [c for c in cases if not turns[c.id][-1].disclosed]
        told = [c for c in present if is_news(turns[c.id])]
        if told and absent:
            rows.append((question, told, absent))
    return rows


@pytest.fixture(scope="module")
def asked_about() -> tuple[ScriptedPatient, list[Row]]:
    patient = ScriptedPatient()
    return patient, present_and_absent(patient, load_cases()[:24])


@pytest.mark.slow
@pytest.mark.parametrize("level", [3, 4])
@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_a_deflection_does_not_tell_whether_an_item_is_there(
    dimension: str, level: int, asked_about: tuple[ScriptedPatient, list[Row]]
) -> None:
    """For each concept: deflected as often where it is present as where it is absent (difference within 3 s.e.)."""
    patient, rows = asked_about
    noise = NoiseProfile({dimension: level})
    asked = [
        (PatientSetting(case, noise, seed), question)
        for question, *groups in rows
        for group in groups
        for case in group
        for seed in range(4)
    ]
    answered = iter(first_answers(patient, asked))
    difference, variance, deflections = 0.0, 0.0, 0
    for _, *groups in rows:
        rates = []
        for group in groups:
            hits = [deflected(next(answered)[-1]) for _ in range(4 * len(group))]
            rates.append((sum(hits) / len(hits), len(hits)))
            deflections += sum(hits)
        (p, n), (q, m) = rates
        pooled = (p * n + q * m) / (n + m)
        weight = n * m / (n + m)
        difference += weight * (p - q)
        variance += weight**2 * pooled * (1 - pooled) * (1 / n + 1 / m)
    if deflections:
        assert abs(difference) <= 3 * variance**0.5 + 1e-9, (dimension, level, difference, variance**0.5)


def two_patients_in_every_profile() -> list[list[dict[str, Any]]]:
    settings = [PatientSetting(find_case(case), noise) for case in ("card-001", "paed-001") for noise in profiles()]
    return [[turn.model_dump(mode="json") for turn in turns] for _, turns in hold(ScriptedPatient(), settings)]


@pytest.mark.slow
def test_the_same_words_in_every_process() -> None:
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"  # another than this process has
    done = subprocess.run(
        [sys.executable, __file__],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": seed},
    )
    there = json.loads(done.stdout)
    assert there
    assert there == two_patients_in_every_profile()


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


if __name__ == "__main__":
    print(json.dumps(two_patients_in_every_profile()))
