"""A stopped run goes on where it stopped: nothing is asked twice, and the end is the same to the byte."""

from __future__ import annotations

import itertools
import json
import logging
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from loop_helpers import ScriptLM, make_case
from resume_helpers import CASES, Killed, MortalLM, asked_twice, make_bank, requests, run, talk
from role_helpers import judging, named, put_in_place

from verisim_tasks.errors import UserError
from verisim_tasks.loop.request import consult
from verisim_tasks.loop.resuming import StoppedByUser
from verisim_tasks.loop.run_log import RunLog, is_finished, load_log, reopen


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    return make_bank(tmp_path / "cases")


def log_lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "turns.jsonl").read_text().splitlines()]


def stop(bank: Path, folder: Path, dies_at: int, **more: Any) -> MortalLM:
    """A run that is killed at a call of the model."""
    lm = MortalLM(dies_at=dies_at)
    with pytest.raises(Killed):
        consult(lm, requests(bank, folder, **more))
    return lm


def test_a_run_killed_at_any_call_ends_the_same_and_asks_nothing_twice(bank: Path, tmp_path: Path) -> None:
    whole = MortalLM()
    expected = run(whole, requests(bank, tmp_path / "whole"), tmp_path / "whole")
    assert len(whole.calls) == 4  # two questions, the diagnosis, the report
    for dies_at in range(1, len(whole.calls)):
        folder = tmp_path / f"killed{dies_at}"
        first = stop(bank, folder, dies_at)
        second = MortalLM()
        assert run(second, requests(bank, folder), folder) == expected
        assert second.calls
        assert not asked_twice(first, second)
        assert sorted(first.prompts + second.prompts) == sorted(whole.prompts)


def test_a_run_killed_at_every_call_one_after_the_other(bank: Path, tmp_path: Path) -> None:
    expected = run(MortalLM(), requests(bank, tmp_path / "whole"), tmp_path / "whole")
    models = []
    for _ in range(3):
        models.append(stop(bank, tmp_path / "run", dies_at=1))
    models.append(MortalLM())
    assert run(models[-1], requests(bank, tmp_path / "run"), tmp_path / "run") == expected
    assert not asked_twice(*models)


def test_a_log_cut_at_any_byte_is_gone_on_with(bank: Path, tmp_path: Path) -> None:
    expected = run(MortalLM(), requests(bank, tmp_path / "whole"), tmp_path / "whole")
    whole = (tmp_path / "whole" / "turns.jsonl").read_bytes()
    places = random.Random(8).sample(range(len(whole)), 12)
    for place in [0, 1, len(whole) - 1, *places]:
        folder = tmp_path / f"cut{place}"
        folder.mkdir()
        (folder / "turns.jsonl").write_bytes(whole[:place])
        assert run(MortalLM(), requests(bank, folder), folder) == expected
        assert all(log_lines(folder))  # no line is torn any more


def test_a_damaged_line_in_the_middle_is_asked_again(
    bank: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    expected = run(MortalLM(), requests(bank, tmp_path / "whole"), tmp_path / "whole")
    stop(bank, tmp_path / "run", dies_at=3)
    lines = (tmp_path / "run" / "turns.jsonl").read_text().splitlines()
    damaged = [*lines[:2], lines[2][: len(lines[2]) // 2], "[]", "\x00\x00", '{"section": "x"}', *lines[3:]]
    (tmp_path / "run" / "turns.jsonl").write_text("\n".join(damaged) + "\n")
    with caplog.at_level(logging.WARNING, "lm_eval.verisim"):
        assert run(MortalLM(), requests(bank, tmp_path / "run"), tmp_path / "run") == expected
    assert "4 torn lines are left out" in caplog.text


def test_a_line_is_kept_for_every_message_with_consultation_and_turn(bank: Path, tmp_path: Path) -> None:
    consult(MortalLM(), requests(bank, tmp_path / "run", cases=CASES[:1]))
    header, *rows, end = log_lines(tmp_path / "run")
    assert header["header"]["settings"]["max_turns"] == 4
    assert header["header"]["doctor"]["model"] == "script"
    assert end == {"section": header["section"], "finished": True}
    said = sorted((r["who"], bool(r["label"]["noise"] not in ("", "clean")), str(r["label"]["turn"])) for r in rows)
    turns = {"doctor": ("1", "2", "3", "report"), "patient": ("1", "2")}
    assert said == sorted((who, noisy, turn) for who, own in turns.items() for turn in own for noisy in (False, True))
    assert {r["label"]["case"] for r in rows} == {CASES[0]}


def test_sampled_answers_are_replayed_each_to_its_own_consultation(bank: Path, tmp_path: Path) -> None:
    """Repeats of a case open with the same prompt and get answers of their own, before a stop and after it."""

    def sampling(start: int) -> MortalLM:
        numbers = itertools.count(start)
        return MortalLM(lambda p: f"Is it {next(numbers)}?", dies_at=2 if start == 0 else None)

    sampled = {"circumstances": {"gen_kwargs": {"temperature": 1.0}}, "repeats": 3}
    with pytest.raises(Killed):
        consult(sampling(0), requests(bank, tmp_path / "run", **sampled))
    kept = {
        (r["label"]["case"], r["label"]["noise"], r["label"]["repeat"], r["label"]["turn"]): r["said"]
        for r in log_lines(tmp_path / "run")
        if r.get("who") == "doctor"
    }
    assert len(kept) == len(set(kept.values())) == 2 * 18
    again = requests(bank, tmp_path / "run", **sampled)
    run(sampling(1000), [*again[5:], *again[:5]], tmp_path / "run")  # another order, as with more processes
    for line in (tmp_path / "run" / "transcripts.jsonl").read_text().splitlines():
        t = json.loads(line)
        words = [turn["text"] for turn in t["turns"] if turn["speaker"] == "doctor"]
        mine = [
            v
            for k, v in kept.items()
            if (k[0], k[2]) == (t["case_id"], t["repeat"]) and ("2" in k[1]) == bool(t["noise"])
        ]
        assert words[:2] == mine
        assert all(int(w.split()[-1][:-1]) >= 1000 for w in words[2:])


CHANGES: list[tuple[dict[str, Any], str]] = [
    ({"max_turns": 5}, "settings.max_turns was 4 and is 5"),
    ({"seed": 7}, "settings.seed was 1234 and is 7"),
    ({"report": False}, "settings.report was True and is False"),
    ({"circumstances": {"chat": False}}, "chat_template was True and is False"),
    ({"circumstances": {"preface": "Be kind."}}, "system_instruction was not set and is 'Be kind.'"),
    ({"circumstances": {"gen_kwargs": {"temperature": 0.5}}}, "gen_kwargs.temperature was not set and is 0.5"),
]


@pytest.mark.parametrize(("change", "words"), CHANGES)
def test_a_changed_setting_is_refused_in_one_sentence(
    bank: Path, tmp_path: Path, change: dict[str, Any], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    stop(bank, tmp_path / "run", dies_at=2)
    before = (tmp_path / "run" / "turns.jsonl").read_bytes()
    lm = MortalLM()
    with pytest.raises(UserError) as caught:
        consult(lm, requests(bank, tmp_path / "run", **change))
    assert isinstance(caught.value, SystemExit)
    assert caught.value.code == 2
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert capsys.readouterr().err.count("was begun with other settings") == 1
    assert lm.calls == []
    assert (tmp_path / "run" / "turns.jsonl").read_bytes() == before


def test_another_model_and_other_cases_are_refused(bank: Path, tmp_path: Path) -> None:
    stop(bank, tmp_path / "run", dies_at=2)
    other = ScriptLM(talk)
    other.model = "other"
    with pytest.raises(UserError, match=r"doctor\.model was 'script' and is 'other'"):
        consult(other, requests(bank, tmp_path / "run"))
    make_bank(bank, card_902={"demographics": {"age": 71, "sex": "female"}})
    with pytest.raises(UserError, match=r"instrument\.cases\.digest was"):
        consult(MortalLM(), requests(bank, tmp_path / "run"))


def test_more_cases_and_another_place_are_no_change(bank: Path, tmp_path: Path) -> None:
    expected = run(MortalLM(), requests(bank, tmp_path / "whole"), tmp_path / "whole")
    first = stop(bank, tmp_path / "run", dies_at=2, cases=CASES[:2])
    (tmp_path / "run").rename(tmp_path / "moved")
    second = MortalLM()
    assert run(second, requests(bank, tmp_path / "moved"), tmp_path / "moved") == expected
    assert not asked_twice(first, second)


def test_runs_of_other_settings_stand_side_by_side_and_go_on_together(bank: Path, tmp_path: Path) -> None:
    def both(folder: Path) -> list[Any]:
        return [*requests(bank, folder, cases=CASES[:1]), *requests(bank, folder, cases=CASES[1:], max_turns=3)]

    expected = run(MortalLM(), both(tmp_path / "whole"), tmp_path / "whole")
    for dies_at in (2, 5):  # in the first of the two, and in the second
        first, second = MortalLM(dies_at=dies_at), MortalLM()
        with pytest.raises(Killed):
            consult(first, both(tmp_path / f"run{dies_at}"))
        assert run(second, both(tmp_path / f"run{dies_at}"), tmp_path / f"run{dies_at}") == expected
        assert not asked_twice(first, second)


def test_a_finished_run_starts_anew_and_its_transcripts_are_kept(bank: Path, tmp_path: Path) -> None:
    first = run(MortalLM(), requests(bank, tmp_path / "run"), tmp_path / "run")
    assert is_finished(load_log(tmp_path / "run"))
    lm = MortalLM()
    second = run(lm, requests(bank, tmp_path / "run", max_turns=2), tmp_path / "run")
    assert lm.calls
    assert second != first
    assert first in [p.read_bytes() for p in (tmp_path / "run").glob("transcripts.*.jsonl")]
    assert {r["header"]["settings"]["max_turns"] for r in log_lines(tmp_path / "run") if "header" in r} == {2}


def test_a_reopened_run_is_replayed_without_a_call(bank: Path, tmp_path: Path) -> None:
    first = run(MortalLM(), requests(bank, tmp_path / "run"), tmp_path / "run")
    reopen(tmp_path / "run")
    lm = MortalLM()
    assert run(lm, requests(bank, tmp_path / "run"), tmp_path / "run") == first
    assert lm.calls == []


def test_what_failed_is_asked_again_and_nothing_else(bank: Path, tmp_path: Path) -> None:
    facts = [{**f.model_dump(mode="json"), "lay": f"second {f.lay}"} for f in make_case(CASES[1]).facts]
    make_bank(bank, card_902={"facts": facts})
    expected = run(MortalLM(), requests(bank, tmp_path / "whole"), tmp_path / "whole")

    def sulk(prompt: str) -> str:
        if "second" in prompt and "<assistant>Do you smoke?" in prompt:
            raise RuntimeError("out of order")
        return talk(prompt)

    first, second = MortalLM(sulk), MortalLM()
    broken = run(first, requests(bank, tmp_path / "run"), tmp_path / "run")
    assert broken.count(b'"stop_reason": "error"') >= 2
    assert not is_finished(load_log(tmp_path / "run"))
    errors = json.loads((tmp_path / "run" / "run.json").read_text())["errors"]
    assert errors == {"doctor: RuntimeError: out of order": 2}
    assert run(second, requests(bank, tmp_path / "run"), tmp_path / "run") == expected
    assert all("second" in p for p in second.prompts)
    assert is_finished(load_log(tmp_path / "run"))


def test_two_runs_do_not_write_into_one_folder(bank: Path, tmp_path: Path) -> None:
    stop(bank, tmp_path / "run", dies_at=2)
    headers = [k.header for k in load_log(tmp_path / "run").values()]
    held = RunLog.open(tmp_path / "run", headers)
    with pytest.raises(UserError, match="another run is writing into"):
        consult(MortalLM(), requests(bank, tmp_path / "run"))
    held.close()
    consult(MortalLM(), requests(bank, tmp_path / "run"))


def test_a_restricted_case_is_never_logged(bank: Path, tmp_path: Path) -> None:
    make_bank(bank, card_902={"provenance": {"source": "x", "licence": "DUA", "restricted": True}})
    consult(MortalLM(), requests(bank, tmp_path / "run"))
    assert not (tmp_path / "run" / "turns.jsonl").exists()
    consult(MortalLM(), requests(bank, tmp_path / "kept", keep_restricted_text=True))
    assert (tmp_path / "kept" / "turns.jsonl").is_file()


def test_a_log_that_cannot_be_written_does_not_stop_the_run(
    bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(self: RunLog) -> None:
        raise OSError(28, "No space left on device")

    expected = run(MortalLM(), requests(bank, tmp_path / "whole"), tmp_path / "whole")
    monkeypatch.setattr(RunLog, "_ready", refuse)
    with caplog.at_level(logging.ERROR, "lm_eval.verisim"):
        assert run(MortalLM(), requests(bank, tmp_path / "run"), tmp_path / "run") == expected
    assert caplog.text.count("could not be resumed") == 1


def test_a_log_of_another_format_is_refused(bank: Path, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "turns.jsonl").write_text('{"section": "x", "log": 99, "header": {}}\n')
    with pytest.raises(UserError, match="another version of the suite"):
        consult(MortalLM(), requests(bank, tmp_path / "run"))


def test_ctrl_c_says_how_to_go_on(bank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(StoppedByUser):
        consult(MortalLM(dies_at=2, death=KeyboardInterrupt), requests(bank, tmp_path / "run"))
    said = capsys.readouterr().err
    assert f"verisim run --resume {tmp_path / 'run'}" in said
    assert "Traceback" not in said
    assert len(load_log(tmp_path / "run")) == 1


def test_a_played_patient_is_not_asked_again(bank: Path, tmp_path: Path) -> None:
    def both(prompt: str) -> str:
        return "I have smoked for years." if "You are" in prompt and "patient" in prompt[:300].lower() else talk(prompt)

    def played(folder: Path) -> list[Any]:
        return requests(bank, folder, cases=CASES[:2], patient="same", report=False)

    whole = MortalLM(both)
    expected = run(whole, played(tmp_path / "whole"), tmp_path / "whole")
    for dies_at in range(1, len(whole.calls)):
        folder = tmp_path / f"run{dies_at}"
        first, second = MortalLM(both, dies_at=dies_at), MortalLM(both)
        with pytest.raises(Killed):
            consult(first, played(folder))
        assert run(second, played(folder), folder) == expected
        assert len(first.calls) + len(second.calls) <= len(whole.calls) + 2  # drafts of a turn that was cut short


PROGRAM = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from resume_helpers import MortalLM, requests
from verisim_tasks.loop.request import consult

class Death(BaseException):
    def __init__(self):
        os.kill(os.getpid(), signal.SIGKILL)

consult(MortalLM(dies_at=2, death=Death), requests(Path(sys.argv[1]), Path(sys.argv[2])))
"""


def test_a_real_kill_leaves_all_that_was_said(bank: Path, tmp_path: Path) -> None:
    expected = run(MortalLM(), requests(bank, tmp_path / "whole"), tmp_path / "whole")
    argv = [sys.executable, "-c", PROGRAM, str(bank), str(tmp_path / "run"), str(Path(__file__).parent)]
    assert subprocess.run(argv, check=False, timeout=300, capture_output=True).returncode == -9
    assert sum(r.get("who") == "doctor" for r in log_lines(tmp_path / "run")) == 12
    lm = MortalLM()
    assert run(lm, requests(bank, tmp_path / "run"), tmp_path / "run") == expected
    assert len(lm.calls) == 2


def models_of(monkeypatch: pytest.MonkeyPatch, name: str, speaks: Any, dies_at: int | None = None) -> MortalLM:
    lm = MortalLM(speaks, dies_at=dies_at)
    put_in_place(monkeypatch, **{name: lm})
    return lm


def test_a_judge_is_not_asked_again(bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def judged(folder: Path) -> list[Any]:
        sides = {"patient_side": True, "report_side": True}
        return requests(bank, folder, circumstances=sides, judge=named("judge-lm"), nli=None)

    whole, wanted = models_of(monkeypatch, "judge-lm", judging), judged(tmp_path / "whole")
    expected = run(MortalLM(), wanted, tmp_path / "whole")
    calls = len(whole.calls)
    assert calls > 2
    for dies_at in (1, calls - 1):
        folder = tmp_path / f"run{dies_at}"
        first = models_of(monkeypatch, "judge-lm", judging, dies_at)
        with pytest.raises(Killed):
            consult(MortalLM(), judged(folder))
        second, doctor, again = models_of(monkeypatch, "judge-lm", judging), MortalLM(), judged(folder)
        assert run(doctor, again, folder) == expected
        assert doctor.calls == []
        assert second.calls
        assert not asked_twice(first, second)
        assert sorted(first.prompts + second.prompts) == sorted(whole.prompts)
        for a, b in zip(again, wanted, strict=True):
            assert a.verisim_PatientSide.scores.figures() == b.verisim_PatientSide.scores.figures()
            assert a.verisim_ReportScores == b.verisim_ReportScores


def asking(prompt: str) -> str:
    return ["Do you smoke?", "Does it hurt?", "Final Diagnosis: Flu"][min(prompt.count("<assistant>") - 1, 2)]


def test_an_interviewer_is_not_asked_again(bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interviews(folder: Path) -> list[Any]:
        return requests(bank, folder, circumstances={"mode": "patientsim"}, interviewer=named("asks"), nli=None)

    whole = models_of(monkeypatch, "asks", asking)
    consult(MortalLM(lambda p: "I smoke."), interviews(tmp_path / "whole"))
    expected = (tmp_path / "whole" / "patientsim" / "transcripts.jsonl").read_bytes()
    for dies_at in range(1, len(whole.calls)):
        folder = tmp_path / f"run{dies_at}"
        first = models_of(monkeypatch, "asks", asking, dies_at)
        with pytest.raises(Killed):
            consult(MortalLM(lambda p: "I smoke."), interviews(folder))
        second = models_of(monkeypatch, "asks", asking)
        consult(MortalLM(lambda p: "I smoke."), interviews(folder))
        assert (folder / "patientsim" / "transcripts.jsonl").read_bytes() == expected
        assert not asked_twice(first, second)
        assert sorted(first.prompts + second.prompts) == sorted(whole.prompts)


def arguing(prompt: str) -> str:
    """A colleague who never agrees with the model under test."""
    return talk(prompt).replace("Flu", "Asthma")


def test_colleagues_are_not_asked_again(bank: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def collaborations(folder: Path) -> list[Any]:
        together = {"doctors": ["same", named("colleague")], "central": named("colleague"), "rounds": 2}
        return requests(bank, folder, cases=CASES[:2], circumstances={"mode": "collaboration"}, collaboration=together)[
            :2
        ]

    whole, under_test = models_of(monkeypatch, "colleague", arguing), MortalLM()
    expected = run(under_test, collaborations(tmp_path / "whole"), tmp_path / "whole")
    assert b'"consensus": false' in expected
    asked = sorted(whole.prompts + under_test.prompts)
    for dies_at in range(1, len(whole.calls), 2):
        folder = tmp_path / f"run{dies_at}"
        models = [MortalLM(), models_of(monkeypatch, "colleague", arguing, dies_at)]
        with pytest.raises(Killed):
            consult(models[0], collaborations(folder))
        models += [MortalLM(), models_of(monkeypatch, "colleague", arguing)]
        assert run(models[2], collaborations(folder), folder) == expected
        assert not asked_twice(models[0], models[2])
        assert not asked_twice(models[1], models[3])
        assert sorted(p for lm in models for p in lm.prompts) == asked
