from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM, CachingLM
from loop_helpers import ScriptLM, doctor_turns, make_case

from verisim_tasks.errors import UserError
from verisim_tasks.loop.request import (
    REQUEST_TYPE,
    Circumstances,
    ConsultRequest,
    attach,
    consult,
    model_name,
    request_text,
)
from verisim_tasks.records.transcript import Transcript
from verisim_tasks.settings import Settings


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    folder = tmp_path / "cases"
    folder.mkdir()
    for name in ("card-901", "card-902"):
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(make_case(name).model_dump(mode="json")))
    secret = make_case("card-903", provenance={"source": "x", "licence": "DUA", "restricted": True})
    (folder / "card-903.yaml").write_text(yaml.safe_dump(secret.model_dump(mode="json")))
    return folder


def instance(bank: Path, case_id: str = "card-901", noise: dict[str, int] | None = None, **settings: Any) -> Instance:
    given = {"cases": str(bank), "run_dir": str(bank.parent / "run"), "max_turns": 4, **settings}
    request = ConsultRequest(
        task="verisim_test",
        variant="memory_recall_l2" if noise else "clean",
        case_id=case_id,
        noise=noise or {},
        repeat=0,
        circumstances=Circumstances(settings=Settings(**given), chat=True),
    )
    return Instance(REQUEST_TYPE, {"case_id": case_id}, (request_text(request),), 0, ("verisim_test", 0, 1))


def answer(prompt: str) -> str:
    return "Do you smoke?" if doctor_turns(prompt) < 2 else "Final Diagnosis: Flu"


def stored(bank: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (bank.parent / "run" / "transcripts.jsonl").read_text().splitlines()]


def test_every_request_gets_its_transcript_in_order(bank: Path) -> None:
    attach()
    requests = [instance(bank, "card-902"), instance(bank, "card-901"), instance(bank, "card-902")]
    answers = [Transcript.model_validate_json(a) for a in ScriptLM(answer).consult(requests)]
    assert [t.case_id for t in answers] == ["card-902", "card-901", "card-902"]
    assert answers[0] == answers[2]
    assert [t["case_id"] for t in stored(bank)] == ["card-901", "card-902"]


def test_clean_twins_are_stored_though_nobody_asked_for_them(bank: Path) -> None:
    consult(ScriptLM(answer), [instance(bank, noise={"memory_recall": 2})])
    assert [(t["variant"], t["task"]) for t in stored(bank)] == [
        ("clean", "verisim_clean"),
        ("memory_recall_l2", "verisim_test"),
    ]
    assert json.loads((bank.parent / "run" / "run.json").read_text())["settings"]["max_turns"] == 4


def test_a_request_carries_no_text_of_a_case(bank: Path) -> None:
    text = instance(bank).args[0]
    assert "chest" not in text
    assert "zebrapox" not in text


def test_a_restricted_case_answers_without_text_and_is_stored_so(bank: Path) -> None:
    (response,) = consult(ScriptLM(answer), [instance(bank, "card-903")])
    assert "My chest" not in response
    assert Transcript.model_validate_json(response).outcome.diagnosis == "Flu"
    assert "My chest" not in (bank.parent / "run" / "transcripts.jsonl").read_text()


def test_a_restricted_case_is_stored_whole_when_that_is_asked_for(bank: Path) -> None:
    (response,) = consult(ScriptLM(answer), [instance(bank, "card-903", keep_restricted_text=True)])
    assert "My chest" not in response
    assert "My chest" in (bank.parent / "run" / "transcripts.jsonl").read_text()


def test_the_response_cache_is_used_through_the_bare_model(bank: Path, tmp_path: Path) -> None:
    attach()
    first, second = ScriptLM(answer), ScriptLM(answer)
    cold = getattr(CachingLM(first, str(tmp_path / "c.db")), REQUEST_TYPE)([instance(bank)])
    warm = getattr(CachingLM(second, str(tmp_path / "c.db")), REQUEST_TYPE)([instance(bank)])
    assert first.calls
    assert second.calls == []
    assert warm == cold


def test_requests_of_different_settings_run_side_by_side(bank: Path) -> None:
    answers = consult(ScriptLM(lambda p: "Hm?"), [instance(bank), instance(bank, "card-902", max_turns=2)])
    assert [Transcript.model_validate_json(a).outcome.turns for a in answers] == [4, 2]
    assert len(stored(bank)) == 2


def test_batch_size_auto_is_detected_once(bank: Path) -> None:
    class Auto(ScriptLM):
        batch_size_per_gpu: Any = "auto"
        detected = 0

        def _detect_batch_size(self) -> int:
            self.detected += 1
            return 16

        def generate_until(self, requests: Any, disable_tqdm: bool = False) -> list[str]:
            assert self.batch_size_per_gpu == 16
            return super().generate_until(requests, disable_tqdm)

    lm = Auto(answer)
    consult(lm, [instance(bank)])
    assert lm.detected == 1
    assert lm.batch_size_per_gpu == "auto"


def test_a_users_mistake_ends_the_run_with_exit_code_2(bank: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UserError) as caught:
        consult(ScriptLM(answer), [instance(bank, "card-999")])
    assert isinstance(caught.value, SystemExit)
    assert caught.value.code == 2
    assert capsys.readouterr().err.count("'card-999' is not in the cases") == 1
    assert not (bank.parent / "run").exists()


def test_a_strangers_method_is_not_overwritten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LM, REQUEST_TYPE, lambda self, requests: [], raising=False)
    with pytest.raises(UserError, match="already gave"):
        attach()


def test_a_model_is_named_without_its_arguments() -> None:
    lm: Any = ScriptLM()
    lm.pretrained = "org/model"
    assert model_name(lm) == "org/model"
    lm.pretrained = object()
    assert model_name(lm) == "script"
    lm.model = None
    assert model_name(lm) == "ScriptLM"


def test_a_run_is_not_lost_to_a_folder_that_became_unwritable(
    bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (bank.parent / "run").write_text("in the way")
    assert len(consult(ScriptLM(answer), [instance(bank)])) == 1
    assert len(list(tmp_path.glob("verisim_*/transcripts.jsonl"))) == 1


def test_without_a_run_dir_one_is_chosen_and_stable(bank: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(bank.parent)
    for _ in range(2):
        consult(ScriptLM(answer), [instance(bank, run_dir=None)])
    (folder,) = (bank.parent / "verisim_runs").iterdir()
    assert (folder / "transcripts.jsonl").is_file()
