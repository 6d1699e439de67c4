"""``verisim score`` on transcripts that stand in a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from verisim_metrics.judging import Judge
from verisim_metrics.verisim_judge import CRITERIA, judge_transcripts, summarise
from verisim_tasks.cases.bank import find_case
from verisim_tasks.cli.main import main
from verisim_tasks.loop.engine import run_consultations
from verisim_tasks.loop.plan import Plan
from verisim_tasks.loop.store import write_transcripts
from verisim_tasks.patient.scripted import ScriptedPatient
from verisim_tasks.records.noise import NoiseProfile
from verisim_tasks.records.transcript import Transcript
from verisim_tasks.settings import Settings

QUESTIONS = ("When did it start?", "Do you have a fever?", "Do you take any medicines?", "Final Diagnosis: gout")


@pytest.fixture(scope="module")
def transcripts() -> list[Transcript]:
    plan = Plan(
        "verisim_memory_recall_l2", "memory_recall_l2", find_case("rheu-001"), NoiseProfile({"memory_recall": 2})
    )
    turns: dict[int, int] = {}

    def ask(prompts):
        turns[0] = turns.get(0, -1) + 1
        return [QUESTIONS[turns[0]]] * len(prompts)

    return run_consultations([plan], ask, ScriptedPatient(), Settings(max_turns=4))


@pytest.mark.slow
def test_scores_are_printed_and_written(transcripts, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_transcripts(tmp_path, transcripts)
    out = tmp_path / "scores.json"
    assert main(["score", str(tmp_path), "--out", str(out)]) == 0
    found = json.loads(out.read_text(encoding="utf-8"))
    assert set(found["scores"]) == {"memory_recall_l2", "clean", "all"}
    clean = found["scores"]["clean"]["text"]
    assert clean["entail"]["n"] >= 3
    assert clean["plausibility"] == {"value": None, "n": 0, "of": 0, "reason": "no judge"}
    assert found["judge"] is None
    assert "minilm" in json.dumps(found["nli"])
    assert "memory_recall_l2" in capsys.readouterr().out


def test_the_four_criteria_are_means_over_what_was_judged(transcripts) -> None:
    asked = []

    def generate(prompts):
        asked.extend(prompts)
        return ['{"justification": "fine", "score": 4}' if i % 4 else "no idea" for i, _ in enumerate(prompts)]

    judge = Judge(generate, identity={"model": "fake"})
    cases = {"rheu-001": find_case("rheu-001")}
    found = summarise(judge_transcripts(transcripts, cases, judge))
    assert set(found) == set(CRITERIA)
    assert found["realism"].value == 4.0
    assert found["realism"].of == len(transcripts)
    diagnosis = cases["rheu-001"].diagnosis
    assert diagnosis is not None
    assert asked
