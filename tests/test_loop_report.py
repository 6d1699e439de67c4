"""The five-part report after the diagnosis."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from loop_helpers import EchoPatient, ScriptLM, make_case, make_plan, quick, script

from verisim_tasks.errors import UserError
from verisim_tasks.loop.engine import run_consultations
from verisim_tasks.loop.model import ModelSpeaker
from verisim_tasks.loop.modes import report_length, report_writer
from verisim_tasks.loop.onestep import run_onestep, stated_diagnosis
from verisim_tasks.loop.prompts import Conversation, Message, report_request
from verisim_tasks.loop.replies import Failed, TooLong
from verisim_tasks.loop.reports import read_report
from verisim_tasks.records.case_text import record_text
from verisim_tasks.records.transcript import Report, Role, Transcript

WHOLE = "Symptoms: cough\nExaminations: none\nDiagnosis: Flu\nRationale: it is winter\nTreatment: rest"


def run(writer: Any, doctor: Any = None, noise: dict[str, int] | None = None) -> list[Transcript]:
    spoken = doctor or script("How long?", "Final Diagnosis: Flu")
    return run_consultations([make_plan(noise=noise)], spoken, EchoPatient(), quick(), write_reports=writer)


def always(reply: Any) -> Any:
    return lambda prompts: [reply] * len(prompts)


def test_a_report_is_stored_and_is_no_turn() -> None:
    transcript = run(always(WHOLE))[0]
    assert transcript.report is not None
    assert (transcript.report.diagnosis, transcript.report.treatment) == ("Flu", "rest")
    assert transcript.report.raw == WHOLE
    assert transcript.report_missing is None
    assert (transcript.outcome.turns, len(transcript.turns)) == (2, 4)


def test_without_an_examiner_there_are_no_examinations_whatever_is_written() -> None:
    report = run(always(WHOLE.replace("none", "ECG: normal")))[0].report
    assert report is not None
    assert report.examinations is None
    assert "ECG" in (report.raw or "")


def test_all_reports_are_asked_for_in_one_call_after_the_last_turn() -> None:
    calls: list[Sequence[Conversation]] = []

    def writer(prompts: Sequence[Conversation]) -> list[str]:
        calls.append(prompts)
        return [WHOLE] * len(prompts)

    assert len(run(writer, noise={"memory_recall": 3})) == 2
    assert [len(call) for call in calls] == [2]
    assert [m.role for m in calls[0][0]] == ["system", "user", "assistant", "user", "assistant", "note"]
    assert "conclude now" not in calls[0][0][-1].content


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Failed("boom"), "the model failed: boom"),
        (TooLong(9, 5), "the prompt has 9 tokens and the model has room for 5"),
        ("", "nothing was written"),
        ("<think>Diagnosis: Flu", "nothing was written"),
    ],
)
def test_a_failed_report_is_missing_with_its_reason(reply: Any, reason: str) -> None:
    transcript = run(always(reply))[0]
    assert transcript.report is None
    assert transcript.report_missing == reason
    assert transcript.outcome.diagnosis == "Flu"


@pytest.mark.parametrize("error", [RuntimeError("down"), UserError("the model answered nothing")])
def test_no_fault_of_a_report_loses_the_consultation(error: Exception) -> None:
    def writer(prompts: Sequence[Conversation]) -> list[str]:
        raise error

    transcript = run(writer)[0]
    assert transcript.outcome.stop_reason == "diagnosed"
    assert str(error) in (transcript.report_missing or "")


def test_a_writer_that_answers_too_little_is_a_fault_too() -> None:
    assert "1 reports were asked for" in (run(lambda prompts: [])[0].report_missing or "")


def test_free_text_is_kept_and_has_no_part() -> None:
    transcript = run(always("I think it is the flu."))[0]
    assert transcript.report == Report(raw="I think it is the flu.")
    assert transcript.report_missing == "no part has a heading"


def test_what_ended_in_an_error_has_no_report() -> None:
    asked: list[int] = []

    def writer(prompts: Sequence[Conversation]) -> list[str]:
        asked.append(len(prompts))
        return [WHOLE] * len(prompts)

    transcript = run(writer, doctor=script(Failed("boom")))[0]
    assert transcript.report_missing == "the consultation ended in error"
    assert asked in ([], [0])


def test_thoughts_are_no_part_of_a_report() -> None:
    read = read_report(f"<think>Diagnosis: gout</think>{WHOLE}")
    assert read.report is not None
    assert read.report.diagnosis == "Flu"
    assert "gout" in (read.report.raw or "")


def test_by_default_nobody_is_asked_for_a_report() -> None:
    plain = run_consultations([make_plan()], script("Final Diagnosis: Flu"), EchoPatient(), quick())[0]
    assert (plain.report, plain.report_missing) == (None, "no report was asked for")


def test_a_report_has_a_length_and_stops_of_its_own() -> None:
    lm = ScriptLM(lambda prompt: WHOLE)
    doctor = ModelSpeaker(lm, chat=True, gen_kwargs={"until": ["\n"], "max_gen_toks": 8}, max_reply_tokens=5)
    write = report_writer(doctor, lm, max_report_tokens=700)
    assert write([(Message("user", "x"),)]) == [WHOLE]
    assert lm.kwargs[-1]["max_gen_toks"] == 700
    assert lm.kwargs[-1]["until"] == []
    assert doctor.kwargs["max_gen_toks"] == 8


def test_a_small_context_leaves_half_for_the_consultation() -> None:
    lm = ScriptLM()
    lm.max_length = 400  # type: ignore[attr-defined]
    assert report_length(lm, 768) == 200
    assert report_length(ScriptLM(), 768) == 768


def test_the_request_names_the_five_parts() -> None:
    for examiner in (False, True):
        note = report_request((), max_turns=5, examiner=examiner)[-1].content
        assert all(f"{part}:" in note for part in ("Symptoms", "Examinations", "Diagnosis", "Rationale", "Treatment"))


CASE = make_case(
    rationale=["because of the reasons"],
    treatment=["bed rest"],
    tests=[{"id": "t01", "name": "ECG", "result": "normal", "unit": "mV", "reference": "< 1"}],
    examination=[{"id": "e01", "name": "heart", "result": "no murmur"}],
    vitals={"systolic_mmhg": 120, "diastolic_mmhg": 80, "temperature_c": 36.5},
    differential=[{"name": "another thing"}],
)


def test_a_record_has_everything_but_the_conclusions() -> None:
    text = record_text(CASE)
    assert "Age and sex: 50 years old, male" in text
    assert "- ECG: normal mV (reference < 1)" in text
    assert "- heart: no murmur" in text
    assert "- blood pressure: 120/80 mmHg" in text
    for word in ("zebrapox", "because of the reasons", "bed rest", "another thing"):
        assert word not in text


def onestep(reply: Any) -> Transcript:
    return run_onestep([make_plan(CASE)], always(reply), roles={"doctor": Role(model="x")}, instrument={"a": 1})[0]


def test_one_step_is_one_record_one_report_and_no_message() -> None:
    transcript = onestep(WHOLE)
    assert [t.speaker for t in transcript.turns] == ["examiner"]
    assert (transcript.outcome.diagnosis, transcript.outcome.turns) == ("Flu", 0)
    assert transcript.report is not None
    assert (transcript.report.symptoms, transcript.report.examinations) == (None, None)
    assert transcript.report.rationale == "it is winter"
    assert Transcript.model_validate_json(json.dumps(transcript.model_dump(mode="json"))) == transcript


def test_one_step_ends_in_an_error_when_nothing_can_be_had() -> None:
    assert onestep(Failed("boom")).outcome.stop_reason == "error"
    assert onestep(TooLong(9, 5)).outcome.stop_reason == "context_limit"
    assert onestep("I do not know.").outcome.diagnosis is None


@pytest.mark.parametrize("text", ["1. **Flu**\n2. Cold", "- Flu.", "Flu\nand more", "  Flu  "])
def test_the_first_disease_of_a_report_is_its_diagnosis(text: str) -> None:
    assert stated_diagnosis(Report(diagnosis=text)) == "Flu"


def test_a_report_without_words_states_nothing() -> None:
    assert stated_diagnosis(None) is None
    assert stated_diagnosis(Report(diagnosis="...")) is None
    assert stated_diagnosis(Report(diagnosis="<condition>")) is None
    assert stated_diagnosis(Report(diagnosis="not yet known")) is None
