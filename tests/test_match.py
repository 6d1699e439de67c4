from __future__ import annotations

import io
import json
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verisim_metrics.matching import match_diagnosis
from verisim_metrics.matching_text import MAX_LENGTH, read_prediction
from verisim_tasks.cli.main import main
from verisim_tasks.language.icd_words import terminology

DATA = Path(__file__).parent / "data"
READ_OTHERWISE = re.compile(r"\b(?:no|not|can't|cannot|fear|old|versus|apparent|requiring|a fib|IT band)\b")
"""Names that hold a word of hedging or negation of their own."""
NAMES = sorted(
    {
        name
        for names in terminology()["names"].values()
        for name in names
        if name.isascii() and not READ_OTHERWISE.search(name) and len(name) > 3
    }
)
QUALIFIERS = ("likely", "suspected", "probable", "most likely", "Final Diagnosis:", "I think this is", "possible", "**")


def rows(name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


def judged(row: dict[str, object]) -> bool:
    return match_diagnosis(
        row["prediction"],  # type: ignore[arg-type]
        str(row["reference"]),
        row.get("synonyms") or (),  # type: ignore[arg-type]
        row.get("accepted_codes") or (),  # type: ignore[arg-type]
    ).match


def test_blind_pairs_are_judged_right() -> None:
    pairs = rows("match_pairs.jsonl")
    wrong = [r for r in pairs if judged(r) != r["match"]]
    accuracy = 1 - len(wrong) / len(pairs)
    print(f"right: {accuracy:.3f} of {len(pairs)}; wrong by kind {dict(Counter(str(r['kind']) for r in wrong))}")
    assert len(pairs) >= 200
    assert accuracy >= 0.95, wrong


def test_kinds_of_predictions() -> None:
    wrong = [r for r in rows("match_kinds.jsonl") if judged(r) != r["match"]]
    assert wrong == []


@pytest.mark.parametrize(
    ("prediction", "rule"),
    [
        (None, "empty"),
        ("  \n ", "empty"),
        ("???", "empty"),
        ("unknown", "no diagnosis"),
        ("Not gout", "negated"),
        ("rule out gout", "rule out"),
        ("family history of gout", "history"),
        ("gout", "same name"),
        ("podagra", "code"),
        ("pseudogout", "other diagnosis"),
        ("wibble wobble", "unrecognised"),
    ],
)
def test_rules(prediction: str | None, rule: str) -> None:
    assert match_diagnosis(prediction, "gout", (), ("M10",)).rule == rule


def test_less_specific_and_more_specific() -> None:
    assert match_diagnosis("anaemia", "iron deficiency anaemia").rule == "less specific"
    assert match_diagnosis("tophaceous gout", "gout").rule == "more specific"
    assert match_diagnosis("diabetes", "type 2 diabetes mellitus", (), ("E11",)).rule == "less specific"


def test_candidate_and_category() -> None:
    verdict = match_diagnosis(
        "Final Diagnosis: **chronic pancreatitis** (K86.1)", "alcoholic chronic pancreatitis", (), ("K86.0",)
    )
    assert (verdict.match, verdict.same_category, verdict.candidate) == (False, True, "chronic pancreatitis")
    assert match_diagnosis("gout", "acute appendicitis", (), ("K35",)).same_category is False
    assert match_diagnosis("wibble", "acute appendicitis", (), ("K35",)).same_category is None


def test_bare_category_stands_for_its_unspecified_code() -> None:
    assert match_diagnosis("acute pancreatitis", "pancreatitis of unknown cause", (), ("K85.90",)).match
    assert match_diagnosis("depression", "low mood disorder", (), ("F32.A",)).match
    assert not match_diagnosis("acute pancreatitis", "gallstone pancreatitis", (), ("K85.10",)).match


def test_accepted_codes_decide_between_siblings() -> None:
    assert match_diagnosis("viral pneumonia", "pneumonia", (), ("J18", "J12")).match
    assert not match_diagnosis("viral pneumonia", "bacterial pneumonia", (), ("J15",)).match


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.text(max_size=300))
def test_never_crashes_on_any_text(text: str) -> None:
    verdict = match_diagnosis(text, "acute appendicitis", ("appendicitis",), ("K35",))
    assert isinstance(verdict.match, bool)
    assert verdict.rule


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.text(max_size=60), st.lists(st.text(max_size=20), max_size=3), st.lists(st.text(max_size=6), max_size=3))
def test_never_crashes_on_any_reference(reference: str, synonyms: list[str], codes: list[str]) -> None:
    match_diagnosis("Final Diagnosis: gout, likely", reference, synonyms, codes)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.sampled_from(NAMES))
def test_a_name_matches_itself_and_its_negation_does_not(name: str) -> None:
    assert match_diagnosis(name, name).match
    for negated in (f"no evidence of {name}", f"{name} has been ruled out", f"This is not {name}."):
        assert not match_diagnosis(negated, name).match, negated


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    st.sampled_from(NAMES), st.sampled_from(QUALIFIERS), st.sampled_from(["", ".", "**", " because of the history."])
)
def test_qualifiers_change_nothing(name: str, before: str, after: str) -> None:
    assert match_diagnosis(f"{before} {name}{after}", name).match


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.sampled_from(NAMES), st.sampled_from(NAMES))
def test_verdict_does_not_depend_on_what_was_judged_before(left: str, right: str) -> None:
    first = match_diagnosis(left, right)
    match_diagnosis(right, left)
    assert match_diagnosis(left, right) == first


def test_long_and_hostile_text_is_quick_and_safe() -> None:
    for text in (
        "not " * 5_000,
        "(" * 5_000,
        "a, " * 5_000,
        "either gout or " * 2_000,
        "is " * 3_000,
        "-" * 9_000 + "gout",
    ):
        match_diagnosis(text, "gout")
    assert len(read_prediction("gout " * MAX_LENGTH)[0].phrase or "") <= MAX_LENGTH


def test_command_keeps_keys_and_adds_the_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text(
        '{"reference": "gout", "prediction": "podagra", "note": "é"}\n\n{"reference": "gout", "prediction": null}\n',
        encoding="utf-8",
    )
    assert main(["match", str(path)]) == 0
    first, second = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert first == {"reference": "gout", "prediction": "podagra", "note": "é", "match": True, "rule": "code"}
    assert (second["match"], second["rule"]) == (False, "empty")


def test_command_reads_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    data = b'{"reference": "gout", "prediction": "not gout", "accepted_codes": ["M10"], "synonyms": null}\n'
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert main(["match", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["match"] is False


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'{"reference": "gout"}', '"prediction" is missing'),
        (b'{"prediction": "gout"}', '"reference" is missing'),
        (b'{"reference": "", "prediction": "gout"}', "non-empty"),
        (b'{"reference": "gout", "prediction": 3}', '"prediction" must be'),
        (b'{"reference": "gout", "prediction": "a", "synonyms": "b"}', '"synonyms" must be'),
        (b"[1]", "not a JSON object"),
        (b'{"reference": "gou', "not a JSON object"),
        (b"[" * 100_000, "not a JSON object"),
        (b'{"reference": "\xff", "prediction": "a"}', "UTF-8"),
    ],
)
def test_bad_lines_name_file_and_line(
    content: bytes, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_bytes(b'{"reference": "gout", "prediction": "gout"}\n' + content + b"\n")
    assert main(["match", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert f"{path}, line 2" in err
    assert reason in err


def test_missing_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", str(tmp_path / "none.jsonl")]) == 2
    assert "none.jsonl" in capsys.readouterr().err
