"""The coverage stand-in of the Chief Physician."""

from __future__ import annotations

import pytest

from verisim_metrics.mvme.coverage import PartCoverage, coverage, coverage_scores, mark_of
from verisim_metrics.mvme.report import PARTS
from verisim_tasks.cases.bank import find_case
from verisim_tasks.records.case import Case
from verisim_tasks.records.transcript import Report


@pytest.fixture(scope="module")
def case() -> Case:
    return find_case("card-001")


@pytest.fixture(scope="module")
def whole(case: Case) -> Report:
    """A report that says all the case holds."""
    assert case.diagnosis is not None
    return Report(
        symptoms="\n".join(f.statement for f in case.facts),
        examinations="\n".join(f"{r.name}: {r.result}" for r in (*case.examination, *case.tests)),
        diagnosis=case.diagnosis.name,
        rationale="\n".join(case.rationale),
        treatment="\n".join(case.treatment),
    )


def marks(found: dict[str, PartCoverage]) -> dict[str, int | None]:
    return {part: value.mark for part, value in found.items()}


def test_saying_everything_earns_full_marks(case: Case, whole: Report) -> None:
    assert marks(coverage(case, whole)) == dict.fromkeys(PARTS, 4)


def test_the_report_on_another_disease_earns_little(whole: Report) -> None:
    other = coverage(find_case("derm-001"), whole)
    assert all((value.mark or 1) <= 2 for value in other.values())
    assert other["diagnosis"].mark == 1


def test_saying_less_never_earns_more(case: Case, whole: Report) -> None:
    lines = (whole.symptoms or "").splitlines()
    recalls = [coverage(case, Report(symptoms="\n".join(lines[:n])))["symptoms"].recall for n in (1, 5, 15, len(lines))]
    assert recalls == sorted(recalls, key=float)  # type: ignore[arg-type]


def test_key_facts_weigh_more(case: Case) -> None:
    key = coverage(case, Report(symptoms=case.fact("f08").statement))["symptoms"].recall or 0
    plain = coverage(case, Report(symptoms=case.fact("f07").statement))["symptoms"].recall or 0
    assert key > plain > 0


def test_a_denial_is_not_the_symptom(case: Case) -> None:
    found = coverage(case, Report(symptoms="She has chest pain. She has a fever and chills."))["symptoms"]
    assert not {"f14", "f15"} & set(found.hits)
    found = coverage(case, Report(symptoms="No chest pain. No fever or chills."))["symptoms"]
    assert {"f14", "f15"} <= set(found.hits)


def test_examinations_that_were_not_done_do_not_count(case: Case) -> None:
    assert coverage(case, Report(examinations="ECG not done; troponin pending"))["examinations"].recall == 0
    assert coverage(case, Report(examinations="ECG: normal"))["examinations"].recall == 0
    assert "t01" in coverage(case, Report(examinations="EKG: ST elevation in II, III and aVF"))["examinations"].hits


def test_the_rank_of_the_diagnosis_decides(case: Case) -> None:
    texts = ("heart attack", "gastritis; heart attack", "gastritis")
    assert [coverage(case, Report(diagnosis=t))["diagnosis"].mark for t in texts] == [4, 3, 1]


def test_a_wrong_diagnosis_caps_rationale_and_treatment(case: Case, whole: Report) -> None:
    found = coverage(case, whole.model_copy(update={"diagnosis": "gastritis"}))
    assert (found["rationale"].mark, found["treatment"].mark) == (2, 2)
    assert found["rationale"].recall == 1.0


def test_what_is_missing_or_not_english_has_no_mark_and_a_reason(case: Case) -> None:
    for report in (None, Report(), Report(**dict.fromkeys(PARTS, "肺炎"))):
        for value in coverage(case, report).values():
            assert value.mark is None
            assert value.reason
    bare = case.model_copy(update={"rationale": (), "diagnosis": None})
    found = coverage(bare, Report(diagnosis="gout", rationale="pain in the toe"))
    assert found["diagnosis"].mark is None
    assert found["rationale"].mark is None
    assert coverage_scores(case, None) == {f"coverage_{p}": None for p in PARTS}


@pytest.mark.parametrize("text", ["?", "\u0000" * 10, "a" * 50_000, "no " * 20_000, "- \n" * 5000])
def test_no_text_breaks_it(case: Case, text: str) -> None:
    assert set(coverage(case, Report(**dict.fromkeys(PARTS, text)))) == set(PARTS)


def test_marks_follow_the_documented_limits() -> None:
    assert [mark_of(1, 1), mark_of(0.5, 1), mark_of(0.25, 1), mark_of(0.05, 1), mark_of(1, None)] == [4, 3, 2, 1, 1]
