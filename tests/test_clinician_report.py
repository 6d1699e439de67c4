"""The built-in clinician's orders and reports, alone and among colleagues."""

from __future__ import annotations

import json
from typing import Any

import pytest
from lm_eval.api.instance import Instance

from verisim_metrics.mvme.report import PARTS, missing_parts, parse_report
from verisim_tasks.cases.bank import find_case
from verisim_tasks.clinician.care import GENERAL, care_of, care_table
from verisim_tasks.clinician.colleague import answer
from verisim_tasks.clinician.consult import default_clinician
from verisim_tasks.clinician.knowledge import default_knowledge
from verisim_tasks.clinician.model import ClinicianLM
from verisim_tasks.clinician.orders import MOST, as_order, next_order
from verisim_tasks.clinician.papers import read_papers, split_results
from verisim_tasks.clinician.signs import level, signs, telling, weigh, weights_of
from verisim_tasks.loop.channel import chat_messages, plain_text
from verisim_tasks.loop.collab_prompts import (
    Collected,
    disagreements_request,
    facts_text,
    merge_request,
    revision_request,
    synthesis_request,
)
from verisim_tasks.loop.prompts import Conversation, conversation, onestep_request, report_request
from verisim_tasks.records.case_text import record_text
from verisim_tasks.records.transcript import Opinion, Report, Turn

TURNS = (
    Turn(index=0, speaker="patient", text="I have chest pain. I am a 60 year old man.", heard_by=("doctor",)),
    Turn(index=1, speaker="doctor", text="Do you have a fever?", heard_by=("patient",)),
    Turn(index=1, speaker="patient", text="No, no fever.", heard_by=("doctor",)),
    Turn(index=2, speaker="doctor", text="Order: ECG, lipase", heard_by=("examiner",)),
    Turn(index=2, speaker="examiner", text="ECG: ST elevation in V2-V4\nlipase: 20 U/L (reference < 60)"),
)
ENDED = (*TURNS, Turn(index=3, speaker="doctor", text="Final Diagnosis: acute myocardial infarction"))


def chat(prompt: Conversation) -> str:
    return json.dumps(chat_messages(prompt))


def write(prompt: Conversation, *, plain: bool = False, **kwargs: Any) -> str:
    text = plain_text(prompt) if plain else chat(prompt)
    request = Instance("generate_until", {}, (text, {"until": []}), 0)
    return ClinicianLM(**kwargs).generate_until([request])[0]


@pytest.mark.parametrize("render", [chat, plain_text])
def test_results_are_told_apart_from_what_was_said(render: Any) -> None:
    papers = read_papers(render(conversation(TURNS, max_turns=9, forced=False, examiner=True)))
    assert papers.task == "message"
    assert papers.has_examiner
    assert papers.limit == 9
    assert papers.results == ("ECG: ST elevation in V2-V4", "lipase: 20 U/L (reference < 60)")
    assert [role for role, _ in papers.prompt.dialogue] == ["patient", "doctor", "patient", "doctor"]
    assert "ST elevation" not in " ".join(said for _, said in papers.prompt.dialogue)


@pytest.mark.parametrize("render", [chat, plain_text])
def test_a_call_to_conclude_is_seen_behind_results(render: Any) -> None:
    assert read_papers(render(conversation(TURNS, max_turns=3, forced=True, examiner=True))).prompt.forced


@pytest.mark.parametrize("plain", [True, False])
def test_a_report_has_all_five_parts(plain: bool) -> None:
    report = parse_report(write(report_request(ENDED, max_turns=9, examiner=True), plain=plain))
    assert missing_parts(report) == ()
    assert "No fever" in (report.symptoms or "")
    assert "60 years old" in (report.symptoms or "")
    assert report.examinations == "- ECG: ST elevation in V2-V4\n- lipase: 20 U/L (reference < 60)"
    assert report.diagnosis == "acute myocardial infarction"
    assert "ST elevation" in (report.rationale or "")


def test_a_report_of_an_interview_alone_says_that_nothing_was_examined() -> None:
    report = parse_report(write(report_request(TURNS[:3], max_turns=9)))
    assert "nothing was examined" in (report.examinations or "")


@pytest.mark.parametrize("plain", [True, False])
def test_a_whole_record_gives_the_three_concluding_parts(plain: bool) -> None:
    report = parse_report(write(onestep_request(record_text(find_case("card-001"))), plain=plain))
    assert missing_parts(report, PARTS[2:]) == ()
    assert report.diagnosis == "acute myocardial infarction"
    assert "troponin" in (report.rationale or "")


def test_the_clinician_orders_before_it_concludes_and_only_where_there_is_an_examiner() -> None:
    opening = TURNS[:3]
    asked = write(conversation(opening, max_turns=3, forced=False, examiner=True))
    assert asked.startswith("Order: ")
    assert "Order:" not in write(conversation(opening, max_turns=3, forced=False))
    forced = write(conversation(TURNS, max_turns=3, forced=True, examiner=True))
    assert "Final Diagnosis: acute myocardial infarction" in forced


def test_results_change_the_conclusion() -> None:
    opening = Turn(index=0, speaker="patient", text="I have had bad pain in my upper belly and back since last night.")
    order = Turn(index=1, speaker="doctor", text="Order: lipase", heard_by=("examiner",))
    concluded = [
        write(conversation((opening, order, results), max_turns=2, forced=True, examiner=True))
        for results in (
            Turn(index=1, speaker="examiner", text="lipase: 900 U/L (reference < 60)"),
            Turn(index=1, speaker="examiner", text="lipase: 20 U/L (reference < 60)"),
        )
    ]
    assert "Final Diagnosis: acute pancreatitis" in concluded[0]
    assert "Final Diagnosis: acute pancreatitis" not in concluded[1]


RANKING = (("acute myocardial infarction", 0.5), ("acute pancreatitis", 0.3), ("asthma", 0.1))


def test_the_first_order_is_for_the_likeliest_the_second_for_the_others() -> None:
    first = next_order(RANKING, (), concluding=True, left=5)
    assert "ECG" in first
    assert "examination of the heart" in first
    assert len(first.split(",")) <= MOST
    second = next_order(RANKING, (("doctor", first),), concluding=True, left=4)
    assert not set(first.removeprefix("Order: ").split(", ")) & set(second.removeprefix("Order: ").split(", "))
    assert next_order(RANKING, (("doctor", first), ("doctor", second)), concluding=True, left=3) == ""


@pytest.mark.parametrize(("concluding", "left", "orders"), [(False, 9, False), (False, 3, True), (True, 1, False)])
def test_orders_come_at_the_end_but_not_too_late(concluding: bool, left: int, orders: bool) -> None:
    assert bool(next_order(RANKING, (), concluding=concluding, left=left)) is orders


def test_a_part_of_the_body_becomes_an_order() -> None:
    assert as_order("heart") == "examination of the heart"
    assert as_order("rectal examination") == "rectal examination"


def test_every_disease_has_its_care() -> None:
    names = {d.name for d in default_knowledge().diseases}
    assert set(care_table()) == names
    assert care_of("an unheard-of disease") == GENERAL


def test_signs_are_about_known_diseases() -> None:
    names = {d.name for d in default_knowledge().diseases}
    assert all(set(sign.weights) <= names for sign in signs())
    assert all(sign.weights for sign in signs())


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ("1,840 ng/L (reference < 16)", "high"),
        ("0.4 mmol/L (reference < 0.6)", "normal"),
        ("3.6 (reference 4.0-7.8)", "low"),
        ("45 (reference > 60)", "low"),
        ("raised", "high"),
        ("within range", "normal"),
        ("pending", None),
        ("no growth (reference no growth)", None),
    ],
)
def test_a_result_is_read_against_its_reference(result: str, expected: str | None) -> None:
    assert level(result) == expected


def test_what_a_result_denies_is_no_sign() -> None:
    assert weights_of("ECG: No ST elevation in V4R") == {}
    assert weights_of("ECG: ST elevation in V4")["acute myocardial infarction"] > 0
    assert weights_of("serum beta-hCG: Negative (reference negative)")["ectopic pregnancy"] < 0
    assert weights_of("serum beta-hCG: Positive (reference negative)")["ectopic pregnancy"] > 0
    assert weights_of("troponin: not recorded") == {}


def test_weighing_keeps_a_distribution_and_counts_a_result_once() -> None:
    clinician = default_clinician()
    state = clinician.assess((("patient", "I have chest pain."),))
    line = "troponin: 900 ng/L (reference < 16)"
    once, twice = (weigh(clinician.knowledge, state, [line] * n) for n in (1, 2))
    assert once.posterior.sum() == pytest.approx(1)
    assert once.ranking == twice.ranking
    assert telling([line, line, "TSH: 2 (reference 1-4)"], "acute myocardial infarction") == [line]


def test_text_without_results_is_left_alone() -> None:
    assert split_results("The examination results: fine") == ("The examination results: fine", [])


REPORTS = [
    ("Doctor 1", Report(symptoms="- Chest pain\n- No fever\n- Nausea", examinations="- ECG: normal")),
    ("Doctor 2", Report(symptoms="- Chest pain\n- Fever", examinations="- ECG: ST elevation\n- lipase: 20")),
]
OPINIONS = [
    Opinion(doctor="Doctor 1", diagnosis="asthma", text="Diagnosis: asthma\nRationale: wheeze\nTreatment: x"),
    Opinion(doctor="Doctor 2", diagnosis="acute myocardial infarction", text=None),
    Opinion(doctor="Doctor 3", diagnosis="acute myocardial infarction", text=None),
]


def test_the_clinician_merges_reports_and_names_what_is_disputed() -> None:
    merged = answer(default_clinician(), chat(merge_request(REPORTS))) or ""
    parts = parse_report(merged.partition("Disputed:")[0])
    assert parts.symptoms == "- Chest pain\n- Nausea"
    assert "- lipase: 20" in (parts.examinations or "")
    disputed = merged.partition("Disputed:")[2]
    assert "fever" in disputed
    assert "Order: ECG" in disputed
    assert "Merge now" not in merged


def test_the_clinician_lists_disagreements_and_decides_by_majority() -> None:
    listed = answer(default_clinician(), chat(disagreements_request(OPINIONS))) or ""
    assert "Doctor 1 thinks of asthma, Doctor 2 of acute myocardial infarction" in listed
    decided = parse_report(answer(default_clinician(), chat(synthesis_request("Symptoms:\n- x", OPINIONS))))
    assert decided.diagnosis == "acute myocardial infarction"
    assert decided.treatment


def test_the_clinician_revises_on_what_the_others_found() -> None:
    held = conversation(TURNS[:3], max_turns=9, forced=False, examiner=True)
    again = (
        Turn(index=1, speaker="doctor", text="Are you short of breath?"),
        Turn(index=1, speaker="patient", text="No."),
    )
    facts = facts_text(Collected("- Cold sweat", "- troponin: 900 ng/L (reference < 16)"), again)
    revised = parse_report(answer(default_clinician(), chat(revision_request(held, facts, OPINIONS, ["the pain"]))))
    assert revised.diagnosis == "acute myocardial infarction"
    assert "cold sweat" in (revised.rationale or "").casefold()


def test_what_is_no_matter_for_colleagues_is_answered_as_ever() -> None:
    assert answer(default_clinician(), chat(conversation(TURNS, max_turns=9, forced=False))) is None
    assert answer(default_clinician(), "Patient: hello\nDoctor:") is None
