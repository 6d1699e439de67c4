"""Every format: what a record becomes, and that its output is a valid case folder."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from importer_samples import AGENTCLINIC, AIHOSPITAL, FHIR, MEDIQ, PATIENTSIM, SAMPLES, VERISIM

from verisim_tasks.cases.bank import load_cases, read_case
from verisim_tasks.cases.importers import Imported, import_file
from verisim_tasks.cases.validate import validate_file
from verisim_tasks.cli.main import main
from verisim_tasks.errors import UserError
from verisim_tasks.noise.markup import plain
from verisim_tasks.patient.base import PatientSetting
from verisim_tasks.patient.conversation import Conversation
from verisim_tasks.patient.scripted import ScriptedPatient
from verisim_tasks.records.case import Case
from verisim_tasks.records.noise import NoiseProfile


def written(tmp_path: Path, records: list[dict[str, Any]], name: str = "in.jsonl") -> Path:
    path = tmp_path / name
    path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records), encoding="utf-8")
    return path


def one(tmp_path: Path, name: str, record: dict[str, Any]) -> Imported:
    return import_file(name, written(tmp_path, [record])).imported[0]


def spoken(case: Case, category: str) -> list[str]:
    return [plain(f.lay) for f in case.facts if f.category == category]


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_the_command_writes_cases_that_validate(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = written(tmp_path, SAMPLES[name]), tmp_path / "out"
    assert main(["cases", "import", "--from", name, str(path), "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "placed in facts" in printed
    files = sorted(out.glob("*.yaml"))
    assert len(files) == len(SAMPLES[name])
    assert [p for f in files for p in validate_file(f, bank=False) if p.severity == "error"] == []
    assert len(load_cases(str(out))) == len(files)
    report = json.loads((out / "import_report.json").read_text(encoding="utf-8"))
    for account in report:
        assert sum(account["counts"].values()) == len(account["sentences"])
        assert all(t.get("reason") for t in account["sentences"] if t["fate"] == "dropped")


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_a_case_survives_its_file(name: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    path = written(tmp_path, SAMPLES[name])
    main(["cases", "import", "--from", name, str(path), "--out", str(out)])
    for imported in import_file(name, path).imported:
        again = read_case(out / f"{imported.case.id}.yaml")
        assert again.model_copy(update={"facts": again.facts[: len(imported.case.facts)]}) == imported.case


def test_agentclinic_medqa(tmp_path: Path) -> None:
    case = one(tmp_path, "agentclinic", AGENTCLINIC).case
    assert (case.demographics.age, case.demographics.sex) == (44, "female")
    assert case.vitals.temperature_c == 37.0
    assert spoken(case, "medication") == ["I take lisinopril.", "I take metformin.", "I take naproxen."]
    assert {"No, I haven't had any fever.", "No, I haven't had any vomiting."} <= set(
        spoken(case, "present_illness_negative")
    )
    assert [t.name for t in case.tests] == ["blood: hemoglobin"]  # the pending one is left out
    assert case.diagnosis is not None
    assert case.diagnosis.accepted_codes == ("K21",)
    assert case.key_facts


def test_the_diagnosis_is_never_spoken_and_its_loss_is_reported(tmp_path: Path) -> None:
    record = copy.deepcopy(AGENTCLINIC)
    actor = record["OSCE_Examination"]["Patient_Actor"]
    actor["Past_Medical_History"] = "Gastroesophageal reflux disease. Asthma."
    imported = one(tmp_path, "agentclinic", record)
    assert not any("reflux" in f.lay.lower() or "reflux" in f.statement.lower() for f in imported.case.facts)
    assert [t.source for t in imported.account.traces if t.fate == "dropped"] == ["Gastroesophageal reflux disease."]


def test_a_child_is_spoken_for(tmp_path: Path) -> None:
    record = copy.deepcopy(AGENTCLINIC)
    actor = record["OSCE_Examination"]["Patient_Actor"]
    actor |= {
        "Demographics": "8-month-old boy",
        "History": "The patient has had a fever.",
        "Social_History": "",
        "Past_Medical_History": "",
    }
    case = one(tmp_path, "agentclinic", record).case
    assert case.informant.role == "caregiver"
    assert case.specialty == "paediatrics"
    assert spoken(case, "age") == ["He's eight months old."]


def test_mediq_keeps_objective_facts_out_of_what_is_said(tmp_path: Path) -> None:
    case = one(tmp_path, "mediq", MEDIQ).case
    assert "I have had a cough for two months." in [
        plain(f.lay) for f in case.facts
    ] or "I've had a cough for two months." in [plain(f.lay) for f in case.facts]
    assert [t.result for t in case.tests] == ["A chest X-ray shows a mass in the left lung."]
    assert len(case.examination) == 1


def test_mediq_question_on_treatment_has_no_diagnosis(tmp_path: Path) -> None:
    record = MEDIQ | {"question": "Which of the following is the best next step?", "answer": "Bronchoscopy"}
    imported = one(tmp_path, "mediq", record)
    assert imported.case.diagnosis is None
    assert any("something else" in n for n in imported.account.notes)


def test_patientsim_is_restricted_and_its_split_selectable(tmp_path: Path) -> None:
    other = PATIENTSIM | {"hadm_id": "20000002", "split": "factuality_eval"}
    path = tmp_path / "p.json"
    path.write_text(json.dumps([PATIENTSIM, other]), encoding="utf-8")
    both = load_cases(f"patientsim:{path}")
    assert {c.split for c in both} == {"persona_eval", "factuality_eval"}
    assert all(c.provenance.restricted for c in both)
    assert not any("2000000" in c.id for c in both)
    assert [c.split for c in load_cases(f"patientsim:{path}?split=persona_eval")] == ["persona_eval"]
    with pytest.raises(UserError, match="of split 'x'"):
        load_cases(f"patientsim:{path}?split=x")
    with pytest.raises(UserError, match="did you mean 'split'"):
        load_cases(f"patientsim:{path}?splt=x")


def test_verisim_profile_keeps_its_noise_and_runs_with_it(tmp_path: Path) -> None:
    case = one(tmp_path, "verisim", VERISIM).case
    assert case.suggested_noise == {"memory_recall": 2, "emotional_state": 1}
    assert case.fact("f02").codes.umls == "C0018681"
    conversation = Conversation(ScriptedPatient(), PatientSetting(case, NoiseProfile(dict(case.suggested_noise))))
    assert conversation.opening == "I've had a headache for two days."
    assert conversation.say("Do you take any medicines?").text


def test_aihospital_keeps_chinese_and_the_scripted_patient_refuses(tmp_path: Path) -> None:
    case = one(tmp_path, "aihospital", AIHOSPITAL).case
    assert case.language == "zh"
    assert case.opening.lay == "反复咳嗽3周。"
    assert {f.lay for f in case.facts if f.polarity == "denied"} >= {"无发热。", "无咯血。", "否认糖尿病。"}
    assert spoken(case, "pain") == ["偶有胸痛。"]
    with pytest.raises(UserError, match="speaks English only"):
        Conversation(ScriptedPatient(), PatientSetting(case, NoiseProfile({})))


def test_fhir_bundle(tmp_path: Path) -> None:
    pytest.importorskip("fhir.resources", reason="the extra 'fhir' is not installed")
    path = tmp_path / "bundle.json"
    path.write_text(json.dumps(FHIR, indent=1), encoding="utf-8")
    case = import_file("fhir", path).imported[0].case
    assert (case.demographics.age, case.vitals.temperature_c) == (49, 37.4)
    assert case.diagnosis is not None
    assert case.diagnosis.name == "Acute bronchitis"
    assert case.opening.codes.snomed == "49727002"
    assert spoken(case, "allergies") == ["I'm allergic to penicillin."]
    assert not any("bronchitis" in f.lay.lower() for f in case.facts)


def test_fhir_that_is_not_valid_names_the_resource(tmp_path: Path) -> None:
    pytest.importorskip("fhir.resources", reason="the extra 'fhir' is not installed")
    broken = copy.deepcopy(FHIR)
    broken["entry"][1]["resource"]["onsetDateTime"] = "yesterday"
    path = tmp_path / "bundle.json"
    path.write_text(json.dumps(broken), encoding="utf-8")
    with pytest.raises(UserError, match=r"bundle\.json, record 1: Condition c1 is not valid FHIR"):
        import_file("fhir", path)


def test_a_data_set_of_the_hub_library(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    written(folder, [MEDIQ], "test.jsonl")
    named, guessed = load_cases(f"mediq+hf://{folder}/test"), load_cases(f"hf://{folder}/test")
    assert [c.id for c in named] == [c.id for c in guessed] == ["mediq-7"]
    with pytest.raises(UserError, match="cannot be loaded"):
        load_cases(f"hf://{tmp_path}/nothing/here")


def test_nothing_is_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = written(tmp_path, [AGENTCLINIC]), tmp_path / "out"
    arguments = ["cases", "import", "--from", "agentclinic", str(path), "--out", str(out)]
    assert main(arguments) == 0
    assert main(arguments) == 2
    assert "exists already" in capsys.readouterr().err


def test_an_unknown_format_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="did you mean 'agentclinic'"):
        load_cases(f"agentclinc:{written(tmp_path, [AGENTCLINIC])}")


def test_the_case_file_starts_with_the_canary(tmp_path: Path) -> None:
    out = tmp_path / "out"
    main(["cases", "import", "--from", "verisim", str(written(tmp_path, [VERISIM], "q.json")), "--out", str(out)])
    text = (out / "verisim-q1.yaml").read_text(encoding="utf-8")
    assert text.startswith("# VERISIM-TASKS CASE DATA. Do not train on this file.")
    assert yaml.safe_load(text)["suggested_noise"] == {"memory_recall": 2, "emotional_state": 1}
