"""Servers that fail: what they cost, what is marked, and what another run completes."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from fault_server import FAULTS, FaultServer, often, serving
from lm_eval.api.instance import Instance
from loop_helpers import ScriptLM, make_case
from role_helpers import judging

from verisim_metrics.mvme.scores import ReportScores
from verisim_tasks.loop.replies import EMPTY, Failed, describe_error, mark_empty
from verisim_tasks.loop.request import REQUEST_TYPE, Circumstances, ConsultRequest, cases_by_id, consult, request_text
from verisim_tasks.records.transcript import Transcript
from verisim_tasks.settings import Settings

pytest.importorskip("tenacity", reason="lm-eval's API models need it (lm-eval[api])")

GOOD = ("card-901", "card-902")
HEALED = ("once",)
"""Faults that asking again mends."""


def answer(messages: list[dict[str, str]]) -> str:
    """Two questions that depend on the patient's words, a diagnosis, a report."""
    if "report" in messages[-1]["content"].lower():
        return "Diagnosis: Flu"
    turns = sum(m["role"] == "assistant" for m in messages)
    return f"Is it {len(messages[-1]['content'])} days?" if turns < 2 else "Final Diagnosis: Flu"


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    folder = tmp_path / "cases"
    folder.mkdir()
    for number, word in enumerate(["", "", *FAULTS], start=901):
        case = make_case(f"card-{number}")
        facts = [f.model_dump(mode="json") for f in case.facts]
        mark = f"FAULT-{word}. " if word else f"Patient {number}. "
        marked = make_case(f"card-{number}", facts=[{**f, "lay": f"{mark}{f['lay']}"} for f in facts])
        (folder / f"card-{number}.yaml").write_text(yaml.safe_dump(marked.model_dump(mode="json")))
    cases_by_id.cache_clear()
    return folder


def case_of(fault: str) -> str:
    return f"card-{903 + list(FAULTS).index(fault)}"


def model(server: FaultServer, concurrent: int = 4) -> Any:
    from lm_eval.models.openai_completions import LocalChatCompletion

    return LocalChatCompletion(base_url=server.url, model="tiny", num_concurrent=concurrent, max_retries=1, timeout=1)


def requests(bank: Path, folder: Path, cases: list[str]) -> list[Instance]:
    shared = Circumstances(
        settings=Settings(cases=str(bank), run_dir=str(folder), max_turns=5, report=False), chat=True
    )
    made = []
    for name in cases:
        request = ConsultRequest(
            task="verisim_test", variant="clean", case_id=name, noise={}, repeat=0, circumstances=shared
        )
        made.append(Instance(REQUEST_TYPE, {"case_id": name}, (request_text(request),), 0, ("verisim_test", 0, 1)))
    return made


def run(lm: Any, bank: Path, folder: Path, cases: list[str]) -> dict[str, Transcript]:
    answers = [Transcript.model_validate_json(a) for a in consult(lm, requests(bank, folder, cases))]
    return {t.case_id: t for t in answers}


@pytest.fixture
def healthy(bank: Path, tmp_path: Path) -> Iterator[dict[str, Transcript]]:
    with serving(answer) as server:
        yield run(model(server), bank, tmp_path / "healthy", list(GOOD))


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_costs_its_own_consultation_and_no_other(
    fault: str, bank: Path, tmp_path: Path, healthy: dict[str, Transcript]
) -> None:
    ill = case_of(fault)
    with serving(answer) as server:
        found = run(model(server), bank, tmp_path / "run", [GOOD[0], ill, GOOD[1]])
    assert {name: found[name] for name in GOOD} == healthy
    if fault in HEALED:
        assert found[ill].outcome.diagnosis == "Flu"
        return
    assert found[ill].outcome.stop_reason == "error"
    assert (found[ill].outcome.error or "").startswith("doctor: ")
    assert " at 0x" not in (found[ill].outcome.error or "")
    assert found[ill].turns[0].speaker == "patient"  # what was said before stays


def test_all_faults_at_once_and_one_by_one_too(bank: Path, tmp_path: Path, healthy: dict[str, Transcript]) -> None:
    cases = [GOOD[0], *(case_of(f) for f in FAULTS), GOOD[1]]
    with serving(answer) as server:
        found = run(model(server, concurrent=1), bank, tmp_path / "run", cases)
    assert len(found) == len(cases)
    assert {name: found[name] for name in GOOD} == healthy
    ended = {name for name, t in found.items() if t.outcome.stop_reason == "error"}
    assert ended == {case_of(f) for f in FAULTS if f not in HEALED}
    info = json.loads((tmp_path / "run" / "run.json").read_text())
    assert sum(info["errors"].values()) == len(ended) == info["stop_reasons"]["error"]


def test_an_empty_answer_is_asked_again_once_and_then_marked(bank: Path, tmp_path: Path) -> None:
    with serving(answer) as server:
        found = run(model(server, concurrent=1), bank, tmp_path / "run", [case_of("empty"), GOOD[0]])
        assert found[case_of("empty")].outcome.error == f"doctor: {EMPTY}"
        assert sum("FAULT-empty." in words for words in server.seen) == 2


def test_a_server_that_dies_costs_no_word_and_the_next_run_completes_it(
    bank: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    cases = [*GOOD]
    with serving(answer) as server:
        whole = run(model(server, concurrent=1), bank, tmp_path / "whole", cases)
        everything = set(server.seen)
    with serving(answer, dies_after=2) as dying, caplog.at_level(logging.WARNING, "lm_eval.verisim"):
        broken = run(model(dying, concurrent=1), bank, tmp_path / "run", cases)
        answered = set(dying.seen[:2])
    assert {t.outcome.stop_reason for t in broken.values()} == {"error"}
    assert "2 of 2 consultations ended in an error and are in no score" in caplog.text
    assert f"verisim run --resume {tmp_path / 'run'}" in caplog.text
    with serving(answer) as server:
        completed = run(model(server, concurrent=1), bank, tmp_path / "run", cases)
        assert set(server.seen) == everything - answered
    assert completed == whole
    same = [(tmp_path / name / "transcripts.jsonl").read_bytes() for name in ("whole", "run")]
    assert same[0] == same[1]


def test_a_server_that_is_not_there_when_a_run_goes_on_ends_it_and_loses_nothing(bank: Path, tmp_path: Path) -> None:
    with serving(answer, dies_after=2) as dying:
        run(model(dying, concurrent=1), bank, tmp_path / "run", [*GOOD])
    before = (tmp_path / "run" / "turns.jsonl").read_bytes()
    with pytest.raises(SystemExit) as caught:
        run(model(dying, concurrent=1), bank, tmp_path / "run", [*GOOD])
    assert caught.value.code == 2
    assert (tmp_path / "run" / "turns.jsonl").read_bytes() == before


def test_a_retried_error_is_named_by_its_cause() -> None:
    from tenacity import RetryError, retry, stop_after_attempt

    @retry(stop=stop_after_attempt(2))
    def fail() -> None:
        raise TimeoutError("no answer in 1 s")

    with pytest.raises(RetryError) as caught:
        fail()
    assert describe_error(caught.value) == "TimeoutError: no answer in 1 s"


def test_only_empty_answers_are_marked() -> None:
    assert mark_empty(["", " ", "Hm?", Failed("x")]) == [Failed(EMPTY), " ", "Hm?", Failed("x")]


MANY = 500


def many_cases(folder: Path) -> Path:
    folder.mkdir()
    for number in range(MANY):
        case = make_case(f"card-{number + 1000}", demographics={"age": 18 + number % 70, "sex": "female"})
        told = case.model_copy(update={"treatment": (f"Rest for {number} days.",)})
        (folder / f"{case.id}.yaml").write_text(told.model_dump_json())
    cases_by_id.cache_clear()
    return folder


def judged(bank: Path, folder: Path, judge: FaultServer) -> dict[str, tuple[str, ReportScores]]:
    """Transcript and marks of each of the many cases."""
    args = {"model": "tiny", "base_url": judge.url, "num_concurrent": 1, "max_retries": 1, "timeout": 5}
    given = {"judge": {"model": "local-chat-completions", "model_args": args}, "nli": None, "max_turns": 2}
    shared = Circumstances(
        settings=Settings(cases=str(bank), run_dir=str(folder), **given), chat=True, report_side=True
    )
    made = []
    for name in cases_by_id(str(bank)):
        request = ConsultRequest(
            task="verisim_test", variant="clean", case_id=name, noise={}, repeat=0, circumstances=shared
        )
        made.append(Instance(REQUEST_TYPE, {"case_id": name}, (request_text(request),), 0, ("verisim_test", 0, 1)))
    doctor = ScriptLM(lambda p: "Diagnosis: Flu" if "report" in p[-400:].lower() else "Final Diagnosis: Flu")
    answers = consult(doctor, made)
    return {i.doc["case_id"]: (a, i.verisim_ReportScores) for i, a in zip(made, answers, strict=True)}


@pytest.mark.slow
def test_a_judge_that_fails_on_a_third_of_500_consultations_costs_those_scores_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bank = many_cases(tmp_path / "cases")
    with serving(lambda messages: judging(messages[-1]["content"])) as judge:
        healthy = judged(bank, tmp_path / "healthy", judge)
        judge.fails = often(0.3)
        caplog.clear()
        found = judged(bank, tmp_path / "run", judge)
        judge.fails, before = (lambda words: None), len(judge.seen)
        completed = judged(bank, tmp_path / "run", judge)
        asked = len(judge.seen) - before
    assert len(found) == MANY
    assert {name: answer for name, (answer, _) in found.items()} == {name: a for name, (a, _) in healthy.items()}
    lost = {name for name, (_, scores) in found.items() if scores.chief["diagnosis"].value is None}
    assert 0.2 * MANY < len(lost) < 0.4 * MANY
    for name, (_, scores) in found.items():
        if name in lost:
            assert (scores.chief["diagnosis"].reason or "").startswith("the judge's backend failed: ")
            assert (scores.coverage, scores.link_icd) == (healthy[name][1].coverage, healthy[name][1].link_icd)
        else:
            assert scores == healthy[name][1]
    info = json.loads((tmp_path / "run" / "run.json").read_text())
    assert info["errors"] == {}
    assert info["scores_missing"] == {}  # completed meanwhile
    assert f"{len(lost)} questions of the scores were not answered" in caplog.text
    assert completed == healthy
    assert asked == len(lost)
