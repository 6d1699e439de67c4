"""The patient's side of every task and the task ``verisim_patientsim``, inside lm-eval itself with scripted models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from fake_judges import constant_judge, fake_judge, in_turn
from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager
from lm_eval.utils import make_table
from loop_helpers import ScriptLM, doctor_turns, make_case

from verisim_metrics.judging import Judge
from verisim_metrics.patientsim.simulator import BY_JUDGE, COUNTS, FIGURES, OF_PERSONA, Simulator
from verisim_tasks.cli.path import config_folder
from verisim_tasks.errors import UserError
from verisim_tasks.loop import request, roles
from verisim_tasks.loop.simulating import same_models
from verisim_tasks.records.case import Case
from verisim_tasks.records.transcript import Role, Transcript
from verisim_tasks.tasks.persona_table import assign_persona

CASES = ("card-901", "card-902", "card-903")
OPENING = "My chest has hurt since this morning."


def chest_case(case_id: str, **changes: Any) -> Case:
    told = {"category": "chief_complaint", "concept": "chest pain", "statement": "Chest pain since this morning"}
    smokes = {"category": "tobacco", "concept": "smoking", "statement": "Current smoker", "key": True}
    facts = [{"id": "f01", "lay": OPENING, **told}, {"id": "f02", "lay": "I smoke.", **smokes}]
    return make_case(case_id, facts=facts, **changes)


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    folder = tmp_path / "cases"
    folder.mkdir()
    for name in CASES:
        case = chest_case(name, incompatible_noise=["cognitive_processing"] if name == "card-903" else [])
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(case.model_dump(mode="json")))
    return folder


def asks(prompt: str) -> str:
    return "Do you smoke?" if doctor_turns(prompt) < 1 else "Final Diagnosis: zebrapox of the heart"


def evaluate(bank: Path, *tasks: str, lm: Any = None, settings: dict[str, Any] | None = None, **more: Any) -> Any:
    ours = {"cases": str(bank), "run_dir": str(bank.parent / "run"), "max_turns": 4, "report": False}
    manager = TaskManager(
        include_path=str(config_folder()),
        include_defaults=False,
        metadata={"verisim": {**ours, **(settings or {})}},
    )
    return simple_evaluate(
        model=lm or ScriptLM(asks),
        tasks=list(tasks),
        task_manager=manager,
        **{"apply_chat_template": True, "bootstrap_iters": 10, **more},
    )


def stored(bank: Path, *below: str) -> list[Transcript]:
    path = bank.parent.joinpath("run", *below, "transcripts.jsonl")
    return [Transcript.model_validate_json(line) for line in path.read_text().splitlines()]


def metric(found: Any, task: str, name: str) -> Any:
    return found["results"][task][f"{name},none"]


def test_every_doctor_task_says_how_truthful_its_patient_was(bank: Path) -> None:
    found = evaluate(bank, "verisim_core")
    for task in ("verisim_clean", "verisim_mixed"):
        assert metric(found, task, "contradict") == 0.0
        assert metric(found, task, "entail_n") == 3
        assert metric(found, task, "supported_sentences") >= 3
        assert metric(found, task, "plausibility") is None
        assert "plausibility_n,none" not in found["results"][task]
        assert not any(key.startswith("persona_") for key in found["results"][task])
        metadata = found["configs"][task]["metadata"]
        assert metadata["scored_by"]["truth"]["nli"]["nli"] == "minilm-hybrid"
        assert len(metadata["scored_by"]["truth"]["fingerprint"]) == 64
        assert metadata["scored_by"]["judged"] is None
        assert metadata["same_models"] == []
    assert 0 < metric(found, "verisim_clean", "entail") <= 1
    assert 0 < metric(found, "verisim_clean", "icov") < 1
    assert make_table(found)
    json.dumps(found["configs"])


def test_without_an_nli_and_a_judge_there_is_nothing_to_score(bank: Path) -> None:
    found = evaluate(bank, "verisim_clean", settings={"nli": None}, limit=1)
    assert all(metric(found, "verisim_clean", name) is None for name in FIGURES if name not in OF_PERSONA)
    assert all(metric(found, "verisim_clean", name) == 0 for name in COUNTS)
    assert found["configs"]["verisim_clean"]["metadata"]["scored_by"] == {"truth": None, "judged": None}


def test_a_persona_is_recorded_played_and_shared_by_the_twin(bank: Path) -> None:
    given = {"persona": {"personality": "impatient", "cefr": "B", "recall": "low"}}
    found = evaluate(bank, "verisim_memory_recall_l1", settings=given)
    assert metric(found, "verisim_memory_recall_l1", "persona_recall") is None
    for transcript in stored(bank):
        assert transcript.persona == {
            "personality": "impatient",
            "language": "B",
            "recall": "low",
            "dazed": "normal",
        }
    assert {t.variant for t in stored(bank)} == {"memory_recall_l1", "clean"}
    assert {json.dumps(t.noise) for t in stored(bank)} == {'{"memory_recall": 1}', "{}"}


def test_a_case_that_a_persona_would_mimic_is_left_out(bank: Path) -> None:
    found = evaluate(bank, "verisim_clean", settings={"persona": "dazed"})
    assert found["configs"]["verisim_clean"]["metadata"]["left_out"] == ["card-903"]
    assert (
        evaluate(bank, "verisim_clean", settings={"persona": "table"})["n-samples"]["verisim_clean"]["effective"] == 3
    )


def use_judge(monkeypatch: pytest.MonkeyPatch, judge: Judge) -> None:
    for module in (request, roles):
        monkeypatch.setattr(
            module, "make_judge", lambda settings, doctor=None, keeping=None: judge if settings.judge else None
        )


def test_a_judge_adds_its_scores_and_stands_in_the_results(bank: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_judge(monkeypatch, constant_judge(3))
    given = {"judge": {"model": "dummy"}, "persona": "verbose"}
    found = evaluate(bank, "verisim_clean", settings=given)
    for name in ("realism", "truth_preservation", "persona_personality", "persona_realism"):
        assert metric(found, "verisim_clean", name) == 3.0
        assert metric(found, "verisim_clean", f"{name}_n") == 3
    metadata = found["configs"]["verisim_clean"]["metadata"]
    assert metadata["scored_by"]["judged"]["judge"]["model"] == {"model": "fake"}
    assert "persona_realism" in metadata["scored_by"]["judged"]["rubrics"]
    assert metadata["judge_cost"][0]["calls"] > 0
    assert metric(found, "verisim_clean", "unjudged") == 0
    assert metric(found, "verisim_clean", "icov_all_judge") == pytest.approx(1 / 23)  # of the age, says this judge
    assert metric(found, "verisim_clean", "icon") == 3.0
    assert {t.roles["judge"].model for t in stored(bank)} == {"fake"}


def test_a_judge_that_never_answers_leaves_nulls_and_a_count(bank: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_judge(monkeypatch, fake_judge(in_turn("no idea")))
    found = evaluate(bank, "verisim_clean", settings={"judge": {"model": "dummy"}, "nli": "judge"}, limit=1)
    assert all(metric(found, "verisim_clean", name) is None for name in BY_JUDGE if name not in OF_PERSONA)
    assert metric(found, "verisim_clean", "entail") is None
    assert metric(found, "verisim_clean", "unjudged") >= 4
    assert metric(found, "verisim_clean", "diagnostic_accuracy") == 1.0


def test_roles_that_are_one_model_are_flagged(bank: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judge = Judge(lambda prompts: [""] * len(prompts), identity={"model": "hf", "weights": "script", "args": "x"})
    use_judge(monkeypatch, judge)
    found = evaluate(bank, "verisim_clean", settings={"judge": {"model": "dummy"}}, limit=1)
    assert found["configs"]["verisim_clean"]["metadata"]["same_models"] == ["judge is the model under test"]
    assert all(t.roles["judge"].same_as_doctor for t in stored(bank))


def patient(prompt: str) -> str:
    """A patient model: the doctor's last words decide."""
    last = prompt.rpartition("<user>")[2] if "<user>" in prompt else prompt.rpartition("Doctor:")[2]
    if "smok" in last:
        return "I smoke.\nDoctor: And then?"
    return OPENING if "help you" in last else "I am not sure."


def test_the_model_under_test_plays_the_patient(bank: Path) -> None:
    lm = ScriptLM(patient)
    found = evaluate(bank, "verisim_patientsim", lm=lm)
    results = found["results"]["verisim_patientsim"]
    assert results["entail,none"] == 1.0
    assert results["contradict,none"] == 0.0
    assert results["errors,none"] == 0
    assert results["persona_realism,none"] is None
    assert not any(key.startswith("diagnostic_accuracy") for key in results)
    transcripts = stored(bank, "patientsim")
    assert [t.case_id for t in transcripts] == list(CASES)
    for transcript in transcripts:
        assert transcript.persona == assign_persona(chest_case(transcript.case_id), 0).as_record()
        assert transcript.variant == "patientsim"
        assert transcript.roles["interviewer"].model == "verisim-clinician"
        assert transcript.roles["patient"].model == "script"
        assert transcript.patient_turns()[0].text == OPENING
        assert not any(t.segments or t.verification for t in transcript.patient_turns())
    assert all("zebrapox" not in prompt for prompt in lm.prompts)
    assert "What you are like, the whole time" in lm.prompts[0]
    assert len(lm.calls) <= 1 + 3  # all openings at once, then one call a turn
    assert make_table(found)


def test_a_patient_without_a_chat_template_writes_on_in_a_script(bank: Path) -> None:
    lm = ScriptLM(patient)
    evaluate(bank, "verisim_patientsim", lm=lm, apply_chat_template=False, limit=1)
    assert all(prompt.endswith("\nPatient:") for prompt in lm.prompts)
    turns = [t.text for t in stored(bank, "patientsim")[0].patient_turns()]
    assert turns
    assert not any("Doctor" in text for text in turns)


def test_a_failing_patient_costs_its_own_interview_only(bank: Path) -> None:
    second = assign_persona(chest_case("card-902"), 0).description

    def fails(prompt: str) -> str:
        if second in prompt and prompt.count("<user>") > 1:
            raise RuntimeError("broken")
        return patient(prompt)

    found = evaluate(bank, "verisim_patientsim", lm=ScriptLM(fails))
    reasons = sorted(t.outcome.stop_reason for t in stored(bank, "patientsim"))
    assert reasons.count("error") == 1
    assert metric(found, "verisim_patientsim", "errors") == 1
    assert metric(found, "verisim_patientsim", "icov_n") == 2


def test_the_interviewer_may_be_the_model_itself_and_is_then_flagged(bank: Path) -> None:
    def both(prompt: str) -> str:
        return asks(prompt) if "Final Diagnosis" in prompt else patient(prompt)

    found = evaluate(bank, "verisim_patientsim", lm=ScriptLM(both), settings={"interviewer": "same"}, limit=1)
    flagged = found["configs"]["verisim_patientsim"]["metadata"]["same_models"]
    assert flagged == ["interviewer is the model under test"]
    assert next(t.text for t in stored(bank, "patientsim")[0].turns if t.speaker == "doctor") == "Do you smoke?"


def test_both_kinds_of_tasks_run_in_one_call_and_are_stored_apart(bank: Path) -> None:
    def any_role(prompt: str) -> str:
        return asks(prompt) if "Final Diagnosis" in prompt else patient(prompt)

    found = evaluate(bank, "verisim_clean", "verisim_patientsim", lm=ScriptLM(any_role), limit=2)
    assert metric(found, "verisim_clean", "diagnostic_accuracy") == 1.0
    assert metric(found, "verisim_patientsim", "entail") == 1.0
    assert {t.variant for t in stored(bank)} == {"clean"}
    assert {t.variant for t in stored(bank, "patientsim")} == {"patientsim"}


def test_repeats_are_added_up_and_get_personas_of_their_own(bank: Path) -> None:
    evaluate(bank, "verisim_patientsim", lm=ScriptLM(patient), settings={"repeats": 2}, limit=1)
    transcripts = stored(bank, "patientsim")
    assert [t.repeat for t in transcripts] == [0, 1]
    assert transcripts[0].persona != transcripts[1].persona


def test_an_nli_that_cannot_be_had_is_said_before_the_first_token(bank: Path) -> None:
    lm = ScriptLM(asks)
    with pytest.raises(UserError, match="cannot be loaded"):
        evaluate(bank, "verisim_clean", lm=lm, settings={"nli": "/nowhere/at/all"})
    assert not lm.calls


def test_a_fault_while_scoring_costs_no_consultation(bank: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(self: Any, transcripts: Any, cases: Any) -> Any:
        raise RuntimeError("out of memory")

    monkeypatch.setattr(Simulator, "score", breaks)
    found = evaluate(bank, "verisim_clean", limit=1)
    assert metric(found, "verisim_clean", "diagnostic_accuracy") == 1.0
    assert metric(found, "verisim_clean", "entail") is None
    assert found["configs"]["verisim_clean"]["metadata"]["scored_by"] == {"error": "RuntimeError: out of memory"}
    assert len(stored(bank)) == 1


def role(weights: str, args: str = "1", *, same: bool = False) -> Role:
    identity = {"model": "hf", "weights": weights, "args": args}
    return Role(model=f"hf:{weights}", settings=identity, same_as_doctor=same)


def test_each_two_roles_of_one_model_are_named() -> None:
    played = Role(model="hf:a", settings={"model": role("a").settings, "patient": "model"})
    doctor = Role(model="d")
    assert same_models({"doctor": doctor, "patient": played, "judge": role("a")}) == (
        "judge is the same model as patient",
    )
    assert same_models({"doctor": doctor, "patient": played, "judge": role("a", "2")}) == ()
    assert same_models({"doctor": doctor, "patient": played, "judge": role("b")}) == ()
    interview = {"patient": doctor, "interviewer": role("a"), "judge": role("a")}
    assert same_models(interview) == ("judge is the same model as interviewer",)
    assert same_models({**interview, "judge": role("a", same=True)}) == ("judge is the model under test",)


def test_restricted_words_are_scored_and_not_stored(bank: Path) -> None:
    for path in bank.glob("*.yaml"):
        data = yaml.safe_load(path.read_text())
        data["provenance"]["restricted"] = True
        path.write_text(yaml.safe_dump(data))
    found = evaluate(bank, "verisim_clean", limit=2)
    assert metric(found, "verisim_clean", "entail_n") == 2
    assert {t.text for transcript in stored(bank) for t in transcript.turns} == {"[restricted]"}
