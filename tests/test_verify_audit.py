"""``verisim verify``: transcripts of both formats, claims, and bad input."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from verisim_tasks.cli import verify
from verisim_tasks.errors import UserError


def run(*words: str) -> int:
    parser = argparse.ArgumentParser()
    verify.add_parser(parser.add_subparsers())
    args = parser.parse_args(["verify", *words])
    return int(args.run(args))


def published(key: str, role: str, text: str) -> dict[str, object]:
    turns = [
        {role: "Doctor", text: "What brings you in?"},
        {role: "Patient", text: "I get out of breath. I also have palpitations."},
        {role: "Doctor", text: "Any allergies?"},
        {role: "Patient", text: "Penicillin gave me a rash."},
    ]
    return {"patient_id": "card-003", key: turns}


@pytest.mark.parametrize(
    ("key", "role", "text"),
    [("turns", "speaker", "text"), ("conversation", "role", "content"), ("messages", "role", "content")],
)
def test_published_shapes(tmp_path: Path, capsys: pytest.CaptureFixture[str], key: str, role: str, text: str) -> None:
    file = tmp_path / "t.json"
    file.write_text(json.dumps([published(key, role, text)]), "utf-8")
    assert run(str(file), "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["patient_turns"] == 2
    assert found["hallucination_rate"] == 0.5
    assert "palpitations" in found["offences"][0]["sentence"]


def test_no_patient_turn_has_no_rate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "t.jsonl"
    file.write_text(json.dumps({"patient_id": "card-003", "turns": []}) + "\n", "utf-8")
    assert run(str(file)) == 0
    assert "not defined" in capsys.readouterr().out


def test_claims(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [("patient takes ramipril", "supported"), ("patient has a pacemaker", "contradicted"),
            ("patient has no headache", "unsupported"), ("patient likes the weather", "not_clinical")]  # fmt: skip
    file = tmp_path / "c.jsonl"
    file.write_text("\n".join(json.dumps({"patient_id": "card-003", "claim": c}) for c, _ in rows), "utf-8")
    assert run("--claims", str(file)) == 0
    judged = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [j["verdict"] for j in judged] == [v for _, v in rows]
    assert judged[0]["evidence"] == ["f21"]


@pytest.mark.parametrize(
    "text",
    ["", "no json", "[1]", '{"patient_id": "nobody", "turns": []}', '{"turns": []}',
     '{"patient_id": "card-003", "turns": ["x"]}', '{"patient_id": "card-003", "turns": [{"role": "doctor"}]}',
     '{"case_id": "card-003", "outcome": {}}', '{"patient_id": "card-003", "noise": {"bogus": 2}, "turns": []}'],
)  # fmt: skip
def test_bad_transcripts(tmp_path: Path, text: str) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text(text, "utf-8")
    with pytest.raises(UserError):
        run(str(file))


@pytest.mark.parametrize("text", ["{", "[]", '{"patient_id": "card-003"}', '{"patient_id": "none", "claim": "x"}'])
def test_bad_claims(tmp_path: Path, text: str) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text(text, "utf-8")
    with pytest.raises(UserError):
        run("--claims", str(file))


def test_one_of_both_is_needed(tmp_path: Path) -> None:
    for words in ((), ("a.jsonl", "--claims", "b.jsonl"), (str(tmp_path / "missing"),)):
        with pytest.raises(UserError):
            run(*words)
