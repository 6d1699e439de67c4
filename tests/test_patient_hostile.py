"""Whatever the doctor writes: no leak, no crash, never out of the role."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from interviews import profiles
from test_patient_truth import leaks

from verisim_tasks.cases.bank import find_case, load_cases
from verisim_tasks.patient.base import PatientSetting
from verisim_tasks.patient.conversation import Conversation
from verisim_tasks.patient.scripted import ScriptedPatient
from verisim_tasks.records.noise import NoiseProfile

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "hostile_doctor.jsonl").read_text(encoding="utf-8").split("\n")
    if line
]
MACHINE = ("language model", "as an ai", "system prompt", "i am a simulated", "my instructions", "icd", "key: true")


@pytest.fixture(scope="module")
def patient() -> ScriptedPatient:
    return ScriptedPatient()


@pytest.mark.parametrize("row", ROWS, ids=[r["id"] for r in ROWS])
def test_hostile_words_get_a_person_s_answer(patient: ScriptedPatient, row: dict[str, str]) -> None:
    for number, case in enumerate(load_cases()[int(row["id"][1:]) % 3 :: 3]):
        assert case.diagnosis
        text = row["text"].replace("{diagnosis}", case.diagnosis.name) * int(row.get("repeat", 1))
        noise = profiles()[number % len(profiles())]
        if set(noise) & set(case.incompatible_noise):
            noise = NoiseProfile()
        turn = Conversation(patient, PatientSetting(case, noise)).say(text)
        assert turn.text.strip()
        assert len(turn.text.split()) < 120
        assert not leaks(turn.text, case), turn.text
        assert not [m for m in MACHINE if m in turn.text.lower()], turn.text


@given(st.text(max_size=300))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_gets_an_answer(text: str) -> None:
    case = find_case("card-001")
    turn = Conversation(SHARED, PatientSetting(case, NoiseProfile({"health_literacy": 4}))).say(text)
    assert turn.text.strip()
    assert not leaks(turn.text, case)


SHARED = ScriptedPatient()
