"""Doctors who consult apart and are led to one diagnosis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from loop_helpers import EchoPatient, ScriptLM, make_case, make_plan
from test_loop_examiner import OrderLines

from verisim_tasks.clinician.model import ClinicianLM
from verisim_tasks.errors import UserError
from verisim_tasks.loop.collab_prompts import Collected, facts_text, read_merge, read_points
from verisim_tasks.loop.collaboration import Colleague, Group, run_collaborations, same_diagnosis
from verisim_tasks.loop.colleagues import UnderTest, make_central, make_doctors, role_prefaces
from verisim_tasks.loop.model import ModelSpeaker
from verisim_tasks.loop.prompts import Conversation
from verisim_tasks.loop.replies import Failed
from verisim_tasks.loop.restricted import without_text
from verisim_tasks.records.transcript import Collaboration, Report, Role, Transcript
from verisim_tasks.settings import CollaborationOptions, RoleModel, Settings

MERGED = "Symptoms: cough\nExaminations: ECG: normal\nDisputed:\n- Is there a fever?\n- Order: ECG"
Speak = Callable[[Sequence[Conversation]], list[Any]]


def report(diagnosis: str) -> str:
    return f"Symptoms: cough\nExaminations: none\nDiagnosis: {diagnosis}\nRationale: reasons\nTreatment: rest"


def doctor(name: str, first: Any, *later: str) -> Colleague:
    """Thinks ``first`` after its consultation, and the others one after another when it revises."""
    opinions = iter(later)
    last = [first]

    def speak(prompts: Sequence[Conversation]) -> list[Any]:
        return [first if isinstance(first, Failed) else f"Final Diagnosis: {first}"] * len(prompts)

    def write(prompts: Sequence[Conversation]) -> list[str]:
        if prompts and "Revise your report now" in prompts[0][-1].content:
            last[0] = next(opinions, last[0])
        return [report(last[0])] * len(prompts)

    return Colleague(name, speak, write, Role(model=name), preface=f"You are {name}.")


def central(merged: str = MERGED, synthesis: str = "Diagnosis: gout\nRationale: both\nTreatment: rest") -> Speak:
    def answer(prompt: Conversation) -> str:
        note = prompt[-1].content
        if note.startswith("Merge"):
            return merged
        return "- the fever" if note.startswith("List") else synthesis

    return lambda prompts: [answer(p) for p in prompts]


def run(*doctors: Colleague, lead: Speak | None = None, **options: Any) -> list[Transcript]:
    group = Group(
        doctors=doctors,
        central=lead or central(),
        central_role=Role(model="central"),
        patient=EchoPatient(),
        patient_role=Role(model="echo"),
        examiner=OrderLines(),
        examiner_role=Role(model="lines"),
    )
    settings = Settings(max_turns=5, collaboration=CollaborationOptions(**options))
    return run_collaborations([make_plan()], group, settings, {"a": 1})


def met(transcripts: list[Transcript]) -> Collaboration:
    found = transcripts[0].collaboration
    assert found is not None
    return found


def test_doctors_who_agree_at_once_need_no_revision() -> None:
    transcripts = run(doctor("A", "gout"), doctor("B", "acute gout"))
    assert [t.variant for t in transcripts] == ["clean", "clean_doctor1", "clean_doctor2"]
    shared = met(transcripts)
    assert (shared.consensus, shared.revisions, shared.settled_by) == (True, 0, "consensus")
    assert transcripts[0].outcome.diagnosis == "gout"
    assert transcripts[0].report is not None
    assert transcripts[0].report.symptoms == "cough"
    assert transcripts[0].report.examinations == "ECG: normal"


def test_revisions_end_when_they_agree() -> None:
    shared = met(run(doctor("A", "gout", "gout", "asthma"), doctor("B", "asthma", "migraine", "asthma")))
    assert [[o.diagnosis for o in r.opinions] for r in shared.rounds] == [
        ["gout", "asthma"],
        ["gout", "migraine"],
        ["asthma", "asthma"],
    ]
    assert shared.rounds[0].disagreements == ("the fever",)
    assert (shared.consensus, shared.revisions, shared.settled_by) == (True, 2, "consensus")


def test_after_the_last_round_the_central_agent_decides() -> None:
    transcripts = run(doctor("A", "asthma"), doctor("B", "migraine"), rounds=2)
    shared = met(transcripts)
    assert (shared.consensus, shared.revisions, shared.settled_by) == (False, 2, "central")
    assert transcripts[0].outcome.diagnosis == "gout"
    assert transcripts[0].report is not None
    assert transcripts[0].report.symptoms == "cough"


def test_a_central_agent_without_a_word_leaves_the_first_doctors_diagnosis() -> None:
    transcripts = run(doctor("A", "asthma"), doctor("B", "migraine"), lead=lambda prompts: [""] * len(prompts))
    assert met(transcripts).settled_by == "first_doctor"
    assert transcripts[0].outcome.diagnosis == "asthma"
    assert met(transcripts).symptoms == "cough"


def test_disputed_facts_are_asked_again_of_patient_and_examiner() -> None:
    transcripts = run(doctor("A", "gout"), doctor("B", "gout"))
    turns = transcripts[0].turns
    assert [(t.speaker, t.heard_by) for t in turns[1:]] == [
        ("doctor", ("patient",)),
        ("patient", ("doctor",)),
        ("doctor", ("examiner",)),
        ("examiner", ("doctor",)),
    ]
    assert met(transcripts).disputed == ("Is there a fever?", "Order: ECG")
    assert transcripts[0].outcome.turns == 2


def test_the_answers_reach_every_doctor() -> None:
    seen: list[str] = []

    def write(prompts: Sequence[Conversation]) -> list[str]:
        seen.extend(p[-1].content for p in prompts)
        return [report("asthma")] * len(prompts)

    listening = Colleague("B", doctor("B", "asthma").speak, write, Role(model="B"))
    run(doctor("A", "gout"), listening, rounds=1)
    assert "Question: Is there a fever?" in seen[1]
    assert "Examination results: ECG: normal" in seen[1]
    assert "A thinks of: gout\nReasons:\nreasons" in seen[1]
    assert "- the fever" in seen[1]


def test_dispute_resolution_can_be_switched_off() -> None:
    transcripts = run(doctor("A", "gout"), doctor("B", "gout"), dispute_resolution=False)
    assert transcripts[0].turns == ()
    assert met(transcripts).asked_again is False
    assert met(transcripts).disputed


def test_the_central_agent_sees_reports_and_no_record() -> None:
    seen: list[str] = []
    lead = central()

    def listening(prompts: Sequence[Conversation]) -> list[Any]:
        seen.extend(m.content for p in prompts for m in p)
        return lead(prompts)

    run(doctor("A", "asthma"), doctor("B", "migraine"), lead=listening)
    assert not any("zebrapox" in text or "I smoke" in text for text in seen)


def test_one_doctor_alone_decides_and_nobody_confers() -> None:
    transcripts = run(doctor("A", Failed("boom")), doctor("B", "gout"))
    shared = met(transcripts)
    assert (shared.consensus, shared.settled_by, shared.rounds) == (None, "one_doctor", ())
    assert shared.absent == {"A": "ended in error"}
    assert transcripts[0].outcome.diagnosis == "gout"
    assert transcripts[0].outcome.stop_reason == "diagnosed"


def undecided(*later: str) -> Colleague:
    """Asks to the end, names nothing, and may come to something when it hears the others."""
    return Colleague("U", lambda prompts: ["How long?"] * len(prompts), doctor("U", "", *later).write, Role(model="U"))


def test_a_doctor_without_a_diagnosis_may_come_to_one_in_the_discussion() -> None:
    shared = met(run(undecided("gout"), doctor("B", "gout")))
    assert [[o.diagnosis for o in r.opinions] for r in shared.rounds] == [[None, "gout"], ["gout", "gout"]]
    assert (shared.consensus, shared.settled_by, shared.absent) == (True, "consensus", {})


def test_doctors_who_never_name_anything_disagree_to_the_end() -> None:
    transcripts = run(undecided(), undecided(), lead=central(synthesis="Diagnosis: <condition>"), rounds=1)
    shared = met(transcripts)
    assert (shared.consensus, shared.revisions, shared.settled_by) == (False, 1, None)
    assert transcripts[0].outcome.diagnosis is None


def test_when_all_fail_the_collaboration_is_an_error() -> None:
    transcripts = run(doctor("A", Failed("boom")), doctor("B", Failed("boom")))
    assert transcripts[0].outcome.stop_reason == "error"
    assert transcripts[0].report is None
    assert transcripts[0].report_missing


def test_a_revision_that_fails_keeps_the_opinion() -> None:
    def write(prompts: Sequence[Conversation]) -> list[Any]:
        revising = prompts and "Revise" in prompts[0][-1].content
        return ["" if revising else report("asthma")] * len(prompts)

    stubborn = Colleague("B", doctor("B", "asthma").speak, write, Role(model="B"))
    shared = met(run(doctor("A", "gout"), stubborn, rounds=1))
    assert [o.diagnosis for o in shared.rounds[-1].opinions] == ["gout", "asthma"]


def test_it_survives_json_and_leaves_no_text_of_a_restricted_case() -> None:
    transcript = run(doctor("A", "asthma"), doctor("B", "migraine"))[0]
    assert Transcript.model_validate_json(transcript.model_dump_json()) == transcript
    bare = without_text(transcript).collaboration
    assert bare is not None
    assert (bare.symptoms, bare.examinations) == (None, None)
    assert bare.revisions == 4
    assert all(o.text is None for r in bare.rounds for o in r.opinions)


def test_the_same_disease_by_another_name_is_the_same() -> None:
    assert same_diagnosis("heart attack", "acute myocardial infarction")
    assert not same_diagnosis("asthma", "gout")
    assert not same_diagnosis(None, "gout")


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("- a fever?\n2. **the ECG**\n\n- a fever?", ("a fever?", "the ECG")),
        ("None.", ()),
        ("No contradictions were found", ()),
        ("", ()),
        (None, ()),
    ],
)
def test_lists_are_read_without_marks(text: str | None, points: tuple[str, ...]) -> None:
    assert read_points(text) == points


def test_a_merge_without_a_part_falls_back_to_the_reports() -> None:
    own = [("A", Report(symptoms="cough\nfever", examinations="x")), ("B", Report(symptoms="cough"))]
    assert read_merge(None, own) == Collected("cough\nfever", "x")
    assert read_merge("Symptoms: both\n**Disputed facts:**\n1. fever", own).disputed == ("fever",)
    assert facts_text(Collected(None, "x"), ()) == "Symptoms:\nnone\n\nExaminations:\nx"


def under_test(lm: Any) -> UnderTest:
    speaker = ModelSpeaker(lm, chat=True, gen_kwargs={}, max_reply_tokens=64)
    return UnderTest(lm, speaker, Role(model="x"), chat=True, gen_kwargs={}, max_reply_tokens=64, preface="Be brief.")


def plain(speaker: ModelSpeaker, lm: Any) -> ModelSpeaker:
    return speaker


def test_one_model_plays_different_roles() -> None:
    doctors = make_doctors(2, under_test(ScriptLM()), plain)
    assert [d.name for d in doctors] == ["Doctor 1", "Doctor 2"]
    assert doctors[0].preface != doctors[1].preface
    assert all((d.preface or "").startswith("Be brief.") for d in doctors)
    assert len({preface for _, preface in role_prefaces()}) == 3


def test_the_clinician_asks_in_different_ways() -> None:
    doctors = make_doctors(3, under_test(ClinicianLM()), plain)
    assert [d.role.settings["policy"] for d in doctors] == ["default", "broad", "focused"]


def test_doctors_can_be_named_and_one_model_is_loaded_once() -> None:
    named = RoleModel(model="verisim-clinician", model_args={"policy": "focused"})
    doctors = make_doctors(["same", named, named], under_test(ScriptLM()), plain)
    assert [d.role.model for d in doctors] == ["x", "verisim-clinician", "verisim-clinician"]
    assert doctors[1].speak is doctors[2].speak
    assert make_central("same", under_test(ScriptLM()), plain)[1].same_as_doctor


def test_an_unknown_colleague_is_one_clear_error() -> None:
    with pytest.raises(UserError, match="colleague model 'verisim-clinican'"):
        make_doctors([RoleModel(model="verisim-clinican"), "same"], under_test(ScriptLM()), plain)


def test_cases_of_all_kinds_go_through_together() -> None:
    plans = [make_plan(make_case(f"card-90{n}")) for n in range(3)]
    group = Group(
        (doctor("A", "asthma", "gout"), doctor("B", "gout")),
        central(),
        Role(model="central"),
        EchoPatient(),
        Role(model="echo"),
        OrderLines(),
        Role(model="lines"),
    )
    transcripts = run_collaborations(plans, group, Settings(max_turns=3), {"a": 1})
    assert [t.case_id for t in transcripts[:3]] == ["card-900", "card-901", "card-902"]
    assert len(transcripts) == 9
