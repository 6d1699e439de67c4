"""The Chief Physician's choices, published files and the analyses."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import pytest

from tests.metrics_helpers import make_case
from verisim_metrics.mvme.analysis import count_failures, failure_class, regress, spearman
from verisim_metrics.mvme.chief import Choices, aggregate, breaches, dependent, mark
from verisim_metrics.mvme.coverage import PartCoverage
from verisim_metrics.mvme.published import choices_in, pairs_in
from verisim_tasks.cli import mvme
from verisim_tasks.errors import UserError
from verisim_tasks.records.transcript import Report


@pytest.mark.parametrize(
    ("choice", "value"),
    [("A", 4), ("(B)", 3), ("C. 小部分一致", 2), ("选项D", 1), ("", None), (None, None), ("E", None), ("A or B", None)],
)
def test_letters_become_marks(choice: object, value: int | None) -> None:
    assert mark(choice) == value


def rows() -> list[Choices]:
    marks = [{"diagnosis": 4, "treatment": None}, {"diagnosis": 1, "treatment": 3}, {"diagnosis": 2, "treatment": 2}]
    return [Choices("x", str(i), m) for i, m in enumerate(marks)]


def test_means_leave_nulls_out_and_count_them() -> None:
    means = aggregate(rows())["x"]
    assert list(means) == ["diagnosis", "treatment"]
    assert (means["treatment"].mean, means["treatment"].n, means["treatment"].nulls) == (2.5, 2, 1)
    assert aggregate(rows(), "one")["x"]["treatment"].mean == 2.0


def test_rationale_and_treatment_depend_on_the_diagnosis() -> None:
    assert dependent({"diagnosis": 1, "rationale": 4, "treatment": 3, "symptoms": 4}) == {
        "diagnosis": 1,
        "rationale": 2,
        "treatment": 2,
        "symptoms": 4,
    }
    assert dependent({"diagnosis": 2, "rationale": 4})["rationale"] == 3
    assert dependent({"diagnosis": None, "rationale": 4})["rationale"] == 4
    assert breaches(rows()) == 1


def test_the_originals_own_keys_are_read() -> None:
    row = {"doctor_name": "GPT-4", "patient_id": 7, "sympton_choice": "A", "test_choice": None, "basis_choice": "B"}
    (found,) = choices_in([("here", row)])
    assert (found.doctor, found.patient_id) == ("GPT-4", "7")
    assert found.marks == {"symptoms": 4, "examinations": None, "rationale": 3}


def test_reports_of_several_doctors_become_pairs() -> None:
    row = {"patient_id": "1", "reference": {"diagnosis": "flu"}, "reports": {"a": "#Diagnosis#\nflu", "b": "?"}}
    pairs = pairs_in([("here", row)])
    assert pairs["a"][0].prediction == "flu"
    assert pairs["b"][0].prediction is None


def test_import_refuses_another_kind_of_file_and_prints_means(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "e.jsonl"
    parser = argparse.ArgumentParser()
    mvme.add_parser(parser.add_subparsers())
    args = parser.parse_args(["mvme", "import", str(path), "--json"])
    path.write_text('{"id": 1}', encoding="utf-8")
    with pytest.raises(UserError, match="line 1"):
        args.run(args)
    lines = [{"doctor_name": "x", "patient_id": i, "diagnosis_choice": c} for i, c in enumerate("AAD")]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert args.run(args) == 0
    assert json.loads(capsys.readouterr().out)["doctors"]["x"]["diagnosis"] == {"mean": 3.0, "n": 3, "nulls": 0}


def test_the_regression_finds_what_made_the_marks() -> None:
    draw = np.random.default_rng(3)
    table = [{"symptoms": int(a), "examinations": int(b)} for a, b in draw.integers(1, 5, size=(60, 2))]
    noisy = [{**r, "diagnosis": r["symptoms"] + 2 * r["examinations"] + int(draw.integers(-1, 2))} for r in table]
    fit = regress([*noisy, {"symptoms": 1, "examinations": None, "diagnosis": 1}])
    slopes = {c.name: c for c in fit.coefficients}
    assert slopes["symptoms"].value == pytest.approx(1, abs=0.3)
    assert slopes["examinations"].value == pytest.approx(2, abs=0.3)
    assert (slopes["examinations"].p or 1) < 1e-6
    assert (fit.n, fit.left_out) == (60, 1)


def test_a_regression_without_variation_is_undefined() -> None:
    assert regress([{"symptoms": 2, "examinations": 2, "diagnosis": d} for d in (1, 2, 3, 4, 1, 2)]).reason
    assert regress([]).reason
    assert spearman([1, 1, 1, 1, 1], [1, 2, 3, 4, 5]).spearman is None
    assert spearman([1, 2, 3, 4, None, 5], [2, 3, 4, 5, 9, 6]).spearman == pytest.approx(1)


def parts(recall: float, examinations: float | None) -> dict[str, PartCoverage]:
    return {"diagnosis": PartCoverage(1, recall), "examinations": PartCoverage(None, examinations)}


def test_failure_classes() -> None:
    case = make_case(
        diagnosis={"name": "Type 2 diabetes", "accepted_codes": ["E11"]},
        facts=[
            {"id": "o", "category": "chief_complaint", "concept": "thirst", "statement": "Thirst", "lay": "Thirsty."},
            {"id": "g", "category": "medical_history", "concept": "gout", "statement": "Gout", "lay": "I have gout."},
        ],
    )
    found = [
        failure_class(case, Report(diagnosis="Type 2 diabetes"), parts(1.0, 0.1)),
        failure_class(case, Report(diagnosis="gout"), parts(0.0, 0.1)),
        failure_class(case, Report(diagnosis="migraine"), parts(0.0, 0.1)),
        failure_class(case, Report(diagnosis="migraine"), parts(0.0, None)),
        failure_class(case, Report(diagnosis="migraine"), parts(0.0, 0.9)),
    ]
    assert found[0] is None
    assert count_failures(found) == {"examination_omitted": 2, "complication_only": 1, "erroneous_judgement": 1}
