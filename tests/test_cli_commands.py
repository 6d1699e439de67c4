"""The small commands as a person and a pipe use them."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from verisim_tasks.cli.main import main


def test_ask_answers_one_question(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", "endo-002", "Do you have any allergies?"]) == 0
    assert "allergic" in capsys.readouterr().out


def test_ask_as_json_names_what_was_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", "endo-002", "Are you very thirsty?", "--json", "--noise", "memory_recall=1"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["told"] == ["f08"]
    assert answer["withheld"] == []
    assert {e["dimension"] for e in answer["noise_events"]} <= {"memory_recall"}


@pytest.mark.slow
def test_ask_reads_questions_from_a_pipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    questions = "When did it start?\nWhen did it start?\n"
    argv = ["ask", "endo-002", "-", "--json"]
    command = [sys.executable, "-m", "verisim_tasks.cli.main", *argv]
    told = subprocess.run(command, input=questions, capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    first, second = (json.loads(line) for line in told.splitlines())
    assert first["told"] == second["told"]
    assert first["text"] != second["text"]
    monkeypatch.setattr("sys.stdin", io.StringIO(questions))
    assert main([*argv, "--fresh"]) == 0
    one, two = capsys.readouterr().out.splitlines()
    assert one == two


@pytest.mark.parametrize("command", [["match"], ["nli"], ["verify", "--claims"], ["mvme", "link"]])
def test_an_empty_file_is_said(command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text("\n", encoding="utf-8")
    assert main([*command, str(empty)]) == 2
    assert "holds no line" in capsys.readouterr().err


def test_nonsense_has_no_code_and_guesses_are_marked_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["icd", "xqzzt blorf"]) == 1
    assert capsys.readouterr().out == "no code found\n"
    assert main(["icd", "xqzzt blorf", "--all"]) == 0
    assert main(["icd", "heart attack"]) == 0


def test_bad_yaml_is_named_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = tmp_path / "case.yaml"
    case.write_text("id: x\nfacts: [a, b\nother: 1\n", encoding="utf-8")
    assert main(["ask", str(case), "hi"]) == 2
    assert "line 3" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["ask", "card-01", "hi"], "did you mean"),
        (["ask", "card-001", "hi", "--noise", "memory=3"], "unknown noise dimension"),
        (["ask", "card-001", "hi", "--noise", "memory_recall=5"], "levels are whole numbers from 0 to 4"),
        (["ask", "/nowhere/case.yaml", "hi"], "cannot be read"),
        (["cases", "validate", "/nowhere"], "does not exist"),
        (["match", "/nowhere.jsonl"], "nowhere.jsonl"),
        (["entry", "/nowhere"], "nowhere"),
        (["score", "/nowhere"], "no transcripts at /nowhere"),
        (["verify", "/nowhere.jsonl"], "nowhere"),
        (["verify"], "give either a file"),
        (["nli", "/nowhere.jsonl"], "nowhere"),
        (["mvme", "link", "/nowhere.jsonl"], "nowhere"),
        (["compare-patients", "--patient", "{"], "not JSON"),
        (["compare-patients", "--patient", '{"model": "hff"}'], "unknown patient model"),
        (["compare-patients", "--patient", '"scripted"', "--limit", "0"], "at least 1"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_code_2(
    arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert named in error
    assert len(error.strip().splitlines()) == 1


def test_the_bank_is_valid(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cases", "validate"]) == 0
    assert " 0 errors" in capsys.readouterr().out


def test_bad_case_files_are_named_with_field_and_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty.yaml").write_text("")
    (tmp_path / "broken.yaml").write_text("a: [1\n")
    (tmp_path / "odd.yaml").write_text("id: x\nflavour: sweet\n")
    assert main(["cases", "validate", str(tmp_path)]) == 2
    out = capsys.readouterr().out
    assert "empty.yaml: file: holds no case" in out
    assert "broken.yaml" in out
    assert "odd.yaml" in out
    assert "3 cases, 3 errors" in out


def test_the_list_does_not_name_the_diagnosis(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cases", "list"]) == 0
    out = capsys.readouterr().out
    assert "rheu-001" in out
    assert "gout" not in out


def test_chat_holds_a_conversation(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    said = iter(["When did it start?", "/facts", "Final Diagnosis: gout"])
    monkeypatch.setattr("builtins.input", lambda *_: next(said))
    assert main(["chat", "rheu-001", "--show-facts", "--noise", "memory_recall=1"]) == 0
    out = capsys.readouterr().out
    assert "told f02" in out
    assert "Right: the case is acute gout" in out


def test_text_that_is_no_unicode_is_heard_as_noise(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", "card-001", "When \udcff did it \ud800 start?"]) == 0
    assert capsys.readouterr().out.strip()


def test_a_lone_surrogate_does_not_stop_match(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.jsonl").write_text('{"reference": "asthma", "prediction": "\\ud800"}\n')
    assert main(["match", str(tmp_path / "m.jsonl")]) == 0
    assert json.loads(capsys.readouterr().out)["match"] is False


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (
            ["--model", "verisim-clinician", "--tasks", "verisim_core", "--output_path", "/proc/x"],
            "cannot be written to",
        ),
        (["--model", "verisim-clinician", "--tasks", "verisim_core", "--metadata", '{"verisim": '], "cannot read"),
        (["--tasks", "verisim_core"], "no model given"),
    ],
)
def test_run_refuses_before_anything_happens(
    arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", *arguments]) == 2
    assert named in capsys.readouterr().err
