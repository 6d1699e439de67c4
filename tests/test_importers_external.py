"""The importers on public data, where it is at hand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from verisim_tasks.cases.importers import Account, Imported, import_file
from verisim_tasks.cases.importers.write import write_cases
from verisim_tasks.cases.validate import validate_file
from verisim_tasks.patient.base import PatientSetting
from verisim_tasks.patient.conversation import Conversation
from verisim_tasks.patient.scripted import ScriptedPatient
from verisim_tasks.records.noise import NoiseProfile

FOLDER = os.environ.get("VERISIM_EXTERNAL_DATA")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not FOLDER,
        reason="VERISIM_EXTERNAL_DATA IS NOT SET: the importers were NOT tried on AgentClinic and VeriSim data",
    ),
]
QUESTIONS = (
    "What brings you in today?",
    "When did it start?",
    "Do you have any pain?",
    "Have you had a fever?",
    "What medicines do you take?",
    "Do you have any allergies?",
    "Do you smoke or drink alcohol?",
    "Does anything run in your family?",
    "What other medical problems do you have?",
    "Is there anything else?",
)


def external(*parts: str) -> Path:
    path = Path(FOLDER or ".").joinpath(*parts)
    if not path.exists():
        pytest.fail(f"{path} is missing from VERISIM_EXTERNAL_DATA")
    return path


@pytest.fixture(scope="module")
def agentclinic() -> list[Imported]:
    return import_file("agentclinic", external("agentclinic", "agentclinic_medqa.jsonl")).imported


def errors(imported: list[Imported], folder: Path) -> list[str]:
    write_cases(imported, folder)
    found = [p for f in sorted(folder.glob("*.yaml")) for p in validate_file(f, bank=False)]
    return [str(p) for p in found if p.severity == "error"]


def test_all_107_agentclinic_cases_import_and_validate(agentclinic: list[Imported], tmp_path: Path) -> None:
    assert len(agentclinic) == 107
    assert errors(agentclinic, tmp_path / "out") == []


def test_95_percent_of_the_sentences_are_in_facts(agentclinic: list[Imported]) -> None:
    total = Account("total", "", [t for i in agentclinic for t in i.account.traces])
    share = total.share("fact")
    assert share is not None
    assert share >= 0.95


def test_all_107_answer_ten_questions(agentclinic: list[Imported]) -> None:
    patient = ScriptedPatient()
    for imported in agentclinic:
        conversation = Conversation(patient, PatientSetting(imported.case, NoiseProfile({})))
        assert conversation.opening
        assert all(conversation.say(q).text for q in QUESTIONS), imported.case.id


def test_all_five_profiles_import_and_run_with_their_own_noise(tmp_path: Path) -> None:
    imported = import_file("verisim", external("verisim_reference")).imported
    assert len(imported) == 5
    assert errors(imported, tmp_path / "out") == []
    patient = ScriptedPatient()
    for one in imported:
        assert len(one.case.suggested_noise) == 2
        setting = PatientSetting(one.case, NoiseProfile(dict(one.case.suggested_noise)))
        conversation = Conversation(patient, setting)
        assert all(conversation.say(q).text for q in QUESTIONS)
