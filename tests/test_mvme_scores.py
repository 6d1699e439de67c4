"""Scores of written reports, the Chief Physician, and the behaviour checks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fake_judges import FakeGenerate, fake_judge, user_text

from verisim_metrics.judging import Failure, JudgePrompt
from verisim_metrics.mvme.behaviour import Share, observe
from verisim_metrics.mvme.judge import chief_marks, reference_text
from verisim_metrics.mvme.linking import Pair, link_icd
from verisim_metrics.mvme.report import PARTS
from verisim_metrics.mvme.scores import EXCLUDED, score_reports
from verisim_tasks.cases.bank import find_case
from verisim_tasks.cli.main import main
from verisim_tasks.loop.store import write_transcripts
from verisim_tasks.records.case import Case
from verisim_tasks.records.transcript import (
    ClaimVerdict,
    Denial,
    Disclosure,
    Outcome,
    Report,
    Role,
    Transcript,
    Turn,
    Verification,
    VerifiedDraft,
)

REPORT = Report(
    symptoms="Squeezing upper abdominal pressure since this morning",
    examinations="ECG: Sinus bradycardia 54 per minute",
    diagnosis="acute inferior myocardial infarction",
    rationale="The pressure is worse on walking",
    treatment="Aspirin and primary percutaneous coronary intervention",
    raw="x",
)


@pytest.fixture(scope="module")
def case() -> Case:
    return find_case("card-001")


def transcript(report: Report | None = REPORT, **changes: Any) -> Transcript:
    return Transcript(
        **{
            "task": "verisim_mvme",
            "variant": "mvme",
            "case_id": "card-001",
            "noise": {},
            "seed": 1,
            "roles": {"doctor": Role(model="x")},
            "turns": (),
            "outcome": Outcome(diagnosis="STEMI", stop_reason="diagnosed", turns=1),
            "report": report,
            "fingerprint": "f",
            **changes,
        }
    )


def letters(prompt: JudgePrompt) -> str:
    """B for the diagnosis, C where it hears of that, A otherwise."""
    text = user_text(prompt)
    task = prompt.messages[0]["content"] + text
    letter = "B" if "the doctor's diagnosis agrees" in task else "C" if "diagnosis_grade" in text else "A"
    return json.dumps({"justification": "x", "choice": letter, "score": letter})


def test_the_chief_physician_marks_every_part_and_tells_the_grade_of_the_diagnosis(case: Case) -> None:
    backend = FakeGenerate(letters)
    (marks,) = chief_marks([(case, REPORT)], fake_judge(backend))
    assert list(marks) == list(PARTS)
    assert {part: mark.value for part, mark in marks.items()} == {
        "symptoms": 4,
        "examinations": 4,
        "diagnosis": 3,
        "rationale": 2,
        "treatment": 2,
    }
    assert [len(batch) for batch in backend.batches] == [3, 2]
    assert all("B" in user_text(p) for p in backend.batches[1])


def test_a_missing_part_is_not_asked_about(case: Case) -> None:
    backend = FakeGenerate(letters)
    (marks,) = chief_marks(
        [(case, REPORT.model_copy(update={"examinations": None, "diagnosis": None}))], fake_judge(backend)
    )
    assert marks["examinations"].value is None
    assert marks["examinations"].reason == "the report does not have this part"
    assert len(backend.prompts) == 3
    assert "unknown" in user_text(backend.batches[1][0])


def test_a_judge_that_fails_leaves_a_reason_and_no_report_is_no_question(case: Case) -> None:
    failing = FakeGenerate(lambda prompt: Failure("down"))
    judged, empty = chief_marks([(case, REPORT), (case, None)], fake_judge(failing))
    assert {mark.value for mark in (*judged.values(), *empty.values())} == {None}
    assert "down" in (judged["symptoms"].reason or "")
    assert empty["symptoms"].reason == "there is no report"


def test_the_reference_holds_the_conclusions(case: Case) -> None:
    text = reference_text(case)
    assert case.diagnosis is not None
    assert case.diagnosis.name in text
    assert case.treatment[0] in text


def test_all_scores_of_a_report(case: Case) -> None:
    (scores,) = score_reports([transcript()], {case.id: case}, fake_judge(FakeGenerate(letters)))
    assert scores.coverage["diagnosis"].mark == 4
    assert scores.chief["diagnosis"].value == 3
    assert scores.link_icd is not None
    assert (scores.link_icd.matched, scores.link_icd.reference) == (1, 1)
    assert scores.link_fuzzy is not None
    assert scores.link_fuzzy.matched == 1


def test_what_has_no_report_is_not_scored_and_says_why(case: Case) -> None:
    failed = Outcome(diagnosis=None, stop_reason="error", turns=1, error="boom")
    scores = score_reports(
        [transcript(None, report_missing="no room"), transcript(outcome=failed), transcript(None)], {case.id: case}
    )
    assert [s.reason for s in scores] == ["no room", EXCLUDED, "there is no report"]
    assert all(not s.coverage and s.link_icd is None for s in scores)


def test_a_report_without_a_diagnosis_misses_the_reference(case: Case) -> None:
    (scores,) = score_reports([transcript(Report(symptoms="pain"))], {case.id: case})
    assert scores.link_icd is not None
    assert (scores.link_icd.matched, scores.link_icd.predicted, scores.link_icd.reference) == (0, 0, 1)
    assert scores.coverage["diagnosis"].mark is None


def test_a_case_without_a_reference_has_no_link_scores(case: Case) -> None:
    bare = case.model_copy(update={"diagnosis": None})
    (scores,) = score_reports([transcript()], {case.id: bare})
    assert (scores.link_fuzzy, scores.link_icd) == (None, None)


def test_the_codes_that_a_case_accepts_count() -> None:
    unknown = Pair("1", "zebrapox of the heart", "heart attack")
    assert link_icd([unknown])[0].f1 == 0.0
    assert link_icd([Pair("1", "zebrapox of the heart", "heart attack", ("I21",))])[0].f1 == 1.0


CONSULTATION = (
    Turn(index=0, speaker="patient", text="My belly hurts.", disclosed=(Disclosure(fact_id="f01", asked=False),)),
    Turn(index=1, speaker="doctor", text="Nausea? Order: ECG, lipids", heard_by=("patient", "examiner")),
    Turn(
        index=1,
        speaker="examiner",
        text="ECG: Sinus bradycardia 54 per minute; ST elevation 2-3 mm in II, III and aVF, greatest in III; "
        "ST depression in I and aVL; no heart block\nlipids: not recorded",
        asked=("ECG", "lipids"),
        disclosed=(Disclosure(fact_id="t01"),),
    ),
    Turn(index=1, speaker="patient", text="Yes, I feel sick.", asked=("f09",), disclosed=(Disclosure(fact_id="f09"),)),
    Turn(index=2, speaker="doctor", text="Fever?", heard_by=("patient",)),
    Turn(index=2, speaker="patient", text="Lovely weather.", asked=("f15",)),
    Turn(index=3, speaker="doctor", text="Alcohol?", heard_by=("patient",)),
    Turn(
        index=3,
        speaker="patient",
        text="No.",
        asked=("f20",),
        denials=(Denial(kind="justified", concept="alcohol", fact_id="f20"),),
    ),
)
REPORTED = Report(
    symptoms="I feel sick\nbroken leg",
    examinations="ECG: Sinus bradycardia 54 per minute\nMRI of the knee: torn meniscus",
    diagnosis="heart attack",
)


def test_behaviour_is_read_off_the_turns(case: Case) -> None:
    seen = observe([transcript(REPORTED, turns=CONSULTATION)], {case.id: case})
    assert seen.relevant_answers == Share(2, 3)
    assert seen.honest_answers == Share(2, 3)
    assert seen.orders_understood == Share(1, 1)
    assert seen.ordered_items_recorded == Share(1, 2)
    assert seen.results_verbatim == Share(1, 1)
    assert seen.symptoms_said.value == 0.5
    assert seen.examinations_seen.value is not None
    assert 0 < seen.examinations_seen.value < 1
    assert seen.diagnosis_kept == Share(1, 1)
    assert seen.regression.reason == "too few reports with all marks"


def test_a_claim_that_a_verifier_refused_is_not_honest(case: Case) -> None:
    draft = VerifiedDraft(text="x", claims=(ClaimVerdict(text="x", verdict="unsupported"),))
    lie = Turn(index=1, speaker="patient", text="x", verification=Verification(drafts=(draft,)))
    mended = Turn(index=2, speaker="patient", text="y", verification=Verification(drafts=(draft,), fallback=True))
    seen = observe([transcript(None, turns=(lie, mended))], {case.id: case})
    assert seen.honest_answers == Share(1, 2)


def test_nothing_to_count_is_undefined(case: Case) -> None:
    seen = observe([transcript(None)], {case.id: case})
    assert seen.relevant_answers.value is None
    assert seen.symptoms_said.value is None
    assert sum(seen.failures.values()) == 0


def test_the_command_prints_a_table_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_transcripts(tmp_path, [transcript(REPORTED, turns=CONSULTATION)])
    assert main(["mvme", "behaviour", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "relevant answers" in shown
    assert "2 of 3" in shown
    assert main(["mvme", "behaviour", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["mvme"]["relevant_answers"] == {"hits": 2, "of": 3}


def test_the_command_says_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mvme", "behaviour", str(tmp_path)]) == 2
    assert "no transcripts" in capsys.readouterr().err
    write_transcripts(tmp_path, [transcript(case_id="card-777")])
    assert main(["mvme", "behaviour", str(tmp_path)]) == 2
    assert "card-777" in capsys.readouterr().err


def test_who_had_the_whole_record_omitted_no_examination(case: Case) -> None:
    wrong = Report(diagnosis="psoriasis")
    record = Turn(index=0, speaker="examiner", text="the record", heard_by=("doctor",))
    handed_over = observe([transcript(wrong, turns=(record,))], {case.id: case})
    asked = observe([transcript(wrong)], {case.id: case})
    assert handed_over.failures["erroneous_judgement"] == 1
    assert asked.failures["examination_omitted"] == 1
    assert handed_over.orders_understood.value is None
