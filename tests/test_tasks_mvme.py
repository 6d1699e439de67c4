"""The MVME tasks inside lm-eval itself, and the reports of the plain tasks."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fake_judges import FakeGenerate, fake_judge
from loop_helpers import ScriptLM, doctor_turns
from test_tasks_consultation import bank, evaluate, stored  # noqa: F401  (a fixture)

from verisim_metrics.mvme.chief import MARKS
from verisim_metrics.mvme.coverage import PartCoverage
from verisim_metrics.mvme.judge import Mark
from verisim_metrics.mvme.linking import LinkCount
from verisim_metrics.mvme.report import PARTS
from verisim_metrics.mvme.scores import ReportScores
from verisim_tasks.clinician.model import ClinicianLM
from verisim_tasks.errors import UserError
from verisim_tasks.loop import request
from verisim_tasks.tasks.report_scores import INTERVIEW_PARTS, RECORD_PARTS, ReportMetrics

REPORT = "Symptoms: chest pain\nExaminations: none\nDiagnosis: zebrapox of the heart\nRationale: pain\nTreatment: rest"


def speaks(prompt: str) -> str:
    if "rite your report now" in prompt or "Revise your report now" in prompt or "synthesis now" in prompt:
        return REPORT
    if "Merge now" in prompt:
        return "Symptoms: chest pain\nExaminations: none\nDisputed:\n- Do you smoke?"
    if doctor_turns(prompt) < 1:
        return "Do you smoke?\nOrder: ECG" if "examiner" in prompt else "Do you smoke?"
    return "Final Diagnosis: zebrapox of the heart"


def results(found: Any, task: str) -> dict[str, Any]:
    return {key.removesuffix(",none"): value for key, value in found["results"][task].items()}


def test_a_plain_task_scores_its_reports_without_examinations(bank: Any) -> None:  # noqa: F811
    found = results(evaluate(bank, "verisim_clean", lm=ScriptLM(speaks), limit=2), "verisim_clean")
    assert found["link_icd_n"] == 2
    assert found["link_fuzzy_n"] == 2
    assert found["coverage_diagnosis"] == 4
    assert found["coverage_diagnosis_n"] == 2
    assert found["reports_missing"] == 0
    assert found["mvme_diagnosis"] is None
    assert not any("examinations" in key for key in found)
    assert all(t["report"]["examinations"] is None for t in stored(bank))


def test_reports_can_be_switched_off(bank: Any) -> None:  # noqa: F811
    lm = ScriptLM(speaks)
    found = results(evaluate(bank, "verisim_clean", lm=lm, limit=1, settings={"report": False}), "verisim_clean")
    assert not any(key.startswith(("coverage_", "link_")) for key in found)
    assert not any("rite your report" in p for p in lm.prompts)
    assert stored(bank)[0]["report_missing"] == "no report was asked for"


def test_a_report_that_cannot_be_read_is_counted_and_costs_no_accuracy(bank: Any) -> None:  # noqa: F811
    lm = ScriptLM(lambda p: "" if "rite your report now" in p else speaks(p))
    found = results(evaluate(bank, "verisim_clean", lm=lm, limit=2), "verisim_clean")
    assert found["reports_missing"] == 2
    assert found["coverage_diagnosis"] is None
    assert found["coverage_diagnosis_n"] == 0
    assert found["link_icd_f1"] is None
    assert found["diagnostic_accuracy"] == 1.0


def test_mvme_has_an_examiner_and_all_five_parts(bank: Any) -> None:  # noqa: F811
    lm = ScriptLM(speaks)
    found = results(evaluate(bank, "verisim_mvme", lm=lm, limit=2), "verisim_mvme")
    assert {f"coverage_{part}" for part in PARTS} <= set(found)
    assert found["diagnostic_accuracy"] == 1.0
    (first, *_) = stored(bank)
    assert [t["speaker"] for t in first["turns"]][:4] == ["patient", "doctor", "examiner", "patient"]
    assert first["instrument"]["examiner"]["absent_tests"] == "not_recorded"
    assert "examiner" in first["roles"]


def test_absent_tests_may_be_normal_and_change_the_fingerprint(bank: Any) -> None:  # noqa: F811
    prints = set()
    for examiner in (True, {"absent_tests": "normal"}):
        evaluate(bank, "verisim_mvme", lm=ScriptLM(speaks), limit=1, settings={"examiner": examiner})
        prints.add(stored(bank)[0]["fingerprint"])
    assert len(prints) == 2
    assert stored(bank)[0]["turns"][2]["text"] == "ECG: no abnormality found"


@pytest.mark.parametrize(("settings", "words"), [({"examiner": False}, "examiner"), ({"report": False}, "report")])
def test_what_the_task_is_about_cannot_be_switched_off(bank: Any, settings: Any, words: str) -> None:  # noqa: F811
    with pytest.raises(UserError, match=words):
        evaluate(bank, "verisim_mvme", lm=ScriptLM(speaks), settings=settings)


def test_one_step_is_one_generation_a_case(bank: Any) -> None:  # noqa: F811
    lm = ScriptLM(speaks)
    found = results(evaluate(bank, "verisim_mvme_onestep", lm=lm), "verisim_mvme_onestep")
    assert [len(call) for call in lm.calls] == [1]  # the cases of this bank are alike, and asked once
    assert {f"coverage_{part}" for part in RECORD_PARTS} <= set(found)
    assert "coverage_symptoms" not in found
    assert found["diagnostic_accuracy"] == 1.0
    assert all("zebrapox" not in p for p in lm.prompts)


def test_a_collaboration_reports_rounds_and_consensus(bank: Any) -> None:  # noqa: F811
    found = results(
        evaluate(bank, "verisim_mvme_collab", lm=ScriptLM(speaks), limit=2, settings={"collaboration": {"doctors": 2}}),
        "verisim_mvme_collab",
    )
    assert (found["rounds"], found["consensus"], found["decided_by_central"]) == (0.0, 1.0, 0.0)
    assert found["disputed_facts"] == 1.0
    assert found["diagnostic_accuracy"] == 1.0
    assert {t["variant"] for t in stored(bank)} == {"mvme_collab", "mvme_collab_doctor1", "mvme_collab_doctor2"}


def test_the_clinician_takes_part_in_all_three(bank: Any) -> None:  # noqa: F811
    tasks = ("verisim_mvme", "verisim_mvme_onestep", "verisim_mvme_collab")
    found = evaluate(bank, *tasks, lm=ClinicianLM(), limit=1, settings={"max_turns": 6})
    assert all(results(found, task)["reports_missing"] == 0 for task in tasks)
    assert all(t["report"] is not None for t in stored(bank))


def test_a_judge_is_the_chief_physician(bank: Any, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    reply = json.dumps({"justification": "x", "choice": "B", "score": "B"})
    judge = fake_judge(FakeGenerate(lambda prompt: reply))
    monkeypatch.setattr(request, "make_judge", lambda settings, lm, keeping: judge)
    judged = {"judge": {"model": "verisim-clinician"}, "nli": None}
    found = results(evaluate(bank, "verisim_mvme", lm=ScriptLM(speaks), limit=1, settings=judged), "verisim_mvme")
    assert found["mvme_diagnosis"] == MARKS["B"]
    assert found["mvme_treatment_n"] == 1


def scores(mark: int | None, counts: tuple[int, int, int] | None, reason: str | None = None) -> ReportScores:
    link = LinkCount("1", *counts) if counts else None
    return ReportScores(
        {part: PartCoverage(mark) for part in PARTS} if reason is None else {},
        {part: Mark(mark) for part in PARTS} if reason is None else {},
        link,
        link,
        reason,
    )


@pytest.mark.parametrize("parts", [PARTS, INTERVIEW_PARTS, RECORD_PARTS])
@pytest.mark.parametrize("judged", [True, False])
def test_every_case_has_every_key(parts: tuple[str, ...], judged: bool) -> None:
    metrics = ReportMetrics(parts, judged)
    for given in ([], [scores(3, (1, 1, 1))], [scores(None, None, "no room")]):
        assert set(metrics.case_metrics(given)) == set(metrics.aggregations())
    assert set(metrics.higher_is_better()) <= set(metrics.aggregations())


def test_marks_are_averaged_and_links_pooled() -> None:
    metrics = ReportMetrics(PARTS)
    cases = [
        metrics.case_metrics([scores(4, (1, 1, 1)), scores(2, (0, 3, 1))]),
        metrics.case_metrics([scores(1, (0, 0, 2))]),
        metrics.case_metrics([scores(None, None, "no room")]),
    ]
    found = {name: how([case[name] for case in cases]) for name, how in metrics.aggregations().items()}
    assert found["coverage_symptoms"] == 2.0
    assert found["coverage_symptoms_n"] == 2
    assert found["link_icd_precision"] == pytest.approx(1 / 4)
    assert found["link_icd_recall"] == pytest.approx(1 / 4)
    assert found["link_icd_f1"] == pytest.approx(1 / 4)
    assert found["reports_missing"] == 1


def test_nothing_to_pool_is_undefined() -> None:
    metrics = ReportMetrics(PARTS)
    how = metrics.aggregations()
    assert how["link_fuzzy_f1"]([None, None]) is None
    assert how["link_fuzzy_precision"]([(0, 0, 2)]) is None
    assert how["link_fuzzy_recall"]([(0, 0, 2)]) == 0.0
