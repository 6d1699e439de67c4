"""MVME on published AI Hospital data, where it is at hand."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from verisim_metrics.mvme.analysis import spearman
from verisim_metrics.mvme.chief import aggregate
from verisim_metrics.mvme.coverage import coverage_scores
from verisim_metrics.mvme.linking import FuzzyLinker, link_fuzzy, read_code_list
from verisim_metrics.mvme.published import Row, choices_in, pairs_in
from verisim_metrics.mvme.report import PARTS, missing_parts, parse_report
from verisim_tasks._jsonl import read_objects
from verisim_tasks.cases.bank import find_case

FOLDER = os.environ.get("VERISIM_EXTERNAL_DATA")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FOLDER, reason="VERISIM_EXTERNAL_DATA IS NOT SET: MVME was NOT tried on AI Hospital data"),
]


def external(name: str) -> Path:
    path = Path(FOLDER or ".") / "ai_hospital" / name
    if not path.exists():
        pytest.fail(f"{path} is missing from VERISIM_EXTERNAL_DATA")
    return path


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return list(read_objects(str(external("reports_sample.jsonl"))))


def test_all_parts_are_found_in_98_percent_of_the_published_reports(rows: list[Row]) -> None:
    whole = [
        not missing_parts(parse_report(text), PARTS[2:] if name.endswith("onestep") else PARTS)
        for _, row in rows
        for name, text in row["reports"].items()
    ]
    assert len(whole) == 200
    assert sum(whole) / len(whole) >= 0.98


def test_the_mean_choices_are_those_counted_by_hand(rows: list[Row]) -> None:
    """Counted with pencil: diagnosis 2 A, 24 B, 14 C; basis 3 A, 32 B, 5 C; treatment 1 A, 29 B, 8 C, 2 D."""
    means = aggregate(choices_in(rows))
    by_hand = {
        "diagnosis": (2 * 4 + 24 * 3 + 14 * 2) / 40,
        "rationale": (3 * 4 + 32 * 3 + 5 * 2) / 40,
        "treatment": (1 * 4 + 29 * 3 + 8 * 2 + 2 * 1) / 40,
    }
    assert {part: value.mean for part, value in means["gpt4_onestep"].items()} == by_hand
    assert all((value.n, value.nulls) == (40, 0) for value in means["gpt4_onestep"].values())


def test_the_coverage_stand_in_says_nothing_of_chinese_reports(rows: list[Row]) -> None:
    """So there is no correlation with GPT-4's choices to report: no pair has both values."""
    found = [coverage_scores(find_case("card-001"), parse_report(row["reports"]["gpt4_onestep"])) for _, row in rows]
    marks = [c.marks for c in choices_in(rows)]
    for part in PARTS[2:]:
        agreement = spearman([f[f"coverage_{part}"] for f in found], [m[part] for m in marks])
        assert (agreement.spearman, agreement.n) == (None, 0)


def test_link_scores_order_the_doctors_as_the_paper_does(
    rows: list[Row], record_property: pytest.RecordProperty
) -> None:
    begun = time.process_time()
    linker = FuzzyLinker(read_code_list(external("icd10_zh.csv")))
    found = {doctor: link_fuzzy(pairs, linker) for doctor, pairs in pairs_in(rows).items()}
    seconds = time.process_time() - begun
    f1 = {doctor: score.f1 or 0.0 for doctor, (score, _) in found.items()}
    record_property("f1", str(f1))
    assert all(f1["gpt4_onestep"] > value for doctor, value in f1.items() if doctor != "gpt4_onestep")
    assert f1["gpt4"] > f1["gpt3"]
    assert seconds < 60
    per_case = [2 * c.matched / (c.predicted + c.reference) for c in found["gpt4_onestep"][1]]
    marks = [c.marks["diagnosis"] for c in choices_in(rows)]
    agreement = spearman(per_case, marks)
    record_property("spearman_diagnosis", str(agreement))
    assert agreement.n == 40
    assert agreement.spearman is not None
