"""The five-part report reader."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verisim_metrics.mvme.report import PARTS, missing_parts, parse_report

BODY = {
    "symptoms": "fever for three days",
    "examinations": "chest X-ray: consolidation",
    "diagnosis": "pneumonia",
    "rationale": "fever and crackles",
    "treatment": "amoxicillin",
}
ENGLISH = ("Symptoms", "Examinations", "Diagnostic Results", "Rationales", "Treatment Plan")
CHINESE = ("症状", "辅助检查", "诊断结果", "诊断依据", "治疗方案")
DRESS = (
    "#{}#\n{}",
    "## {}\n{}",
    "**{}**\n{}",
    "**{}:** {}",
    "{}: {}",
    "【{}】\n{}",
    "### 1. {}:\n- {}",
    "- **{}**: {}",
)


@pytest.mark.parametrize("dress", DRESS)
@pytest.mark.parametrize("names", [ENGLISH, CHINESE])
def test_five_parts_are_found_in_every_dress_and_any_order(dress: str, names: tuple[str, ...]) -> None:
    rows = list(zip(names, BODY.items(), strict=True))
    for order in (rows, rows[::-1]):
        report = parse_report("Here is my report.\n" + "\n\n".join(dress.format(n, text) for n, (_, text) in order))
        for part, text in BODY.items():
            assert text in (getattr(report, part) or ""), part


def test_numbered_headings_hold_numbered_lists() -> None:
    report = parse_report("1. Symptoms:\n1) fever\n2) cough\n2. Diagnosis: pneumonia\n3. Treatment plan:\n1) rest")
    assert report.symptoms == "1) fever\n2) cough"
    assert report.diagnosis == "pneumonia"
    assert missing_parts(report) == ("examinations", "rationale")


def test_json_is_read_in_a_fence_nested_and_with_lists() -> None:
    data = {"report": {"Symptoms": ["fever", "cough"], "diagnosis": {"primary": "pneumonia"}, "treatment": None}}
    report = parse_report(f"Sure:\n```json\n{json.dumps(data)}\n```")
    assert (report.symptoms, report.diagnosis, report.treatment) == ("fever\ncough", "primary: pneumonia", None)


def test_a_heading_without_text_is_missing() -> None:
    report = parse_report("#Symptoms#\ncough\n#Examinations#\n\n#Diagnosis#\n、\n#Treatment#\nrest")
    assert missing_parts(report) == ("examinations", "diagnosis", "rationale")


def test_items_named_like_parts_inside_the_rationale_are_no_headings() -> None:
    report = parse_report("#诊断结果#\n肺炎\n#诊断依据#\n* 症状：发热\n* 辅助检查：血常规\n#治疗方案#\n休息")
    assert report.symptoms is None
    assert report.examinations is None
    assert "血常规" in (report.rationale or "")


def test_the_differential_is_not_part_of_the_diagnosis() -> None:
    report = parse_report("## Diagnosis\nPneumonia\n## Differential diagnosis\nPulmonary embolism\n## Treatment\nRest")
    assert report.diagnosis == "Pneumonia"


def test_a_report_in_one_line_is_read() -> None:
    report = parse_report("Symptoms: fever. Examinations: none. Diagnosis: flu. Rationale: season. Treatment: rest.")
    assert report.diagnosis == "flu."
    assert report.treatment == "rest."


@pytest.mark.parametrize("text", [None, "", "   ", "I cannot help with that.", "The diagnosis is unclear to me."])
def test_without_headings_every_part_is_missing(text: str | None) -> None:
    assert missing_parts(parse_report(text)) == PARTS


PIECES = st.sampled_from(
    ["#", "*", "**", "{", "[", '"', ":", "：", "\n", "Diagnosis", "诊断结果", "症状", "(", "1.", " ", "-"]
)


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.text(max_size=300), st.lists(PIECES, max_size=60).map("".join)))
def test_it_never_raises_and_never_gives_an_empty_part(text: str) -> None:
    report = parse_report(text)
    for part in PARTS:
        value = getattr(report, part)
        assert value is None or any(c.isalnum() for c in value)


@pytest.mark.parametrize("unit", ["{", "[", '{"a":', "#", "*", "Diagnosis:", "症状：\n", "(" * 10, "\u0000"])
def test_huge_text_is_no_trouble(unit: str) -> None:
    assert parse_report(unit * 100_000).raw
