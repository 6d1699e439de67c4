"""The content cache: what its keys hold, who shares it, what it spares, and how it is shown and cleared."""

from __future__ import annotations

import json
import logging
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loop_helpers import ScriptLM
from resume_helpers import CASES, make_bank, requests, run, talk
from role_helpers import judging, named, put_in_place

from verisim_tasks.cli.main import main
from verisim_tasks.errors import UserError
from verisim_tasks.loop.content_cache import FILE, ContentCache
from verisim_tasks.loop.keeping import ContentSlots, open_cache
from verisim_tasks.loop.kept_nli import KeptNli
from verisim_tasks.loop.labels import Label
from verisim_tasks.loop.model_identity import describe_weights
from verisim_tasks.settings import Settings

LABEL = Label("card-901", "clean", 1234, 0, None, 1)
GREEDY = {"until": ["\n"], "max_gen_toks": 8, "do_sample": False}
SAMPLED = {**GREEDY, "do_sample": True, "temperature": 0.7}


def test_what_is_kept_is_found_and_the_first_stays(tmp_path: Path) -> None:
    shelf = ContentCache(tmp_path / "new").shelf("judge")
    assert shelf.get("a") is None
    shelf.update({"a": "one", "b": [0.1, 0.2, 0.7]})
    shelf.update({"a": "two"})
    shelf.update({})
    assert ContentCache(tmp_path / "new").shelf("judge").many(["a", "b", "c"]) == {"a": "one", "b": [0.1, 0.2, 0.7]}
    assert ContentCache(tmp_path / "new").shelf("patient").get("a") is None
    many = {str(n): n for n in range(1200)}
    shelf.update(many)
    assert shelf.many(list(many)) == many


def test_a_damaged_value_is_asked_for_again(tmp_path: Path) -> None:
    cache = ContentCache(tmp_path)
    cache.shelf("judge").update({"a": "one"})
    with sqlite3.connect(cache.path) as store:
        store.execute("UPDATE replies SET value = '\"on'")
    assert cache.shelf("judge").get("a") is None
    cache.shelf("judge").update({"a": "two"})
    assert cache.shelf("judge").get("a") == "two"


def test_a_file_that_is_no_cache_costs_nothing_but_time(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / FILE).write_text("not a database at all, and long enough to be looked at" * 20)
    shelf = ContentCache(tmp_path).shelf("judge")
    with caplog.at_level(logging.WARNING, "lm_eval.verisim"):
        shelf.update({"a": "one"})
        assert shelf.get("a") is None
    assert caplog.text.count("the run goes on without it") == 1


WRITER = """
import sys
from pathlib import Path
from verisim_tasks.loop.content_cache import ContentCache
shelf, who = ContentCache(Path(sys.argv[1])).shelf("judge"), int(sys.argv[2])
for n in range(100):
    shelf.update({f"{who}-{n}": who, f"shared-{n}": who})
    assert shelf.get(f"{who}-{n}") == who
    assert shelf.get(f"shared-{n}") in (0, 1, 2)
"""


def test_several_processes_write_at_once_and_nothing_is_lost(tmp_path: Path) -> None:
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), str(n)]) for n in range(3)]
    assert [w.wait(timeout=300) for w in writers] == [0, 0, 0]
    cache = ContentCache(tmp_path)
    assert [(u.kind, u.entries) for u in cache.usage()] == [("judge", 400)]
    assert cache.shelf("judge").many([f"2-{n}" for n in range(100)]) == {f"2-{n}": 2 for n in range(100)}


OTHERS: list[tuple[str, Any, dict[str, Any], Label | None]] = [
    ("other model", "Hello.", GREEDY, LABEL),
    ("model", "Hello!", GREEDY, LABEL),
    ("model", [{"role": "user", "content": "Hello."}], GREEDY, LABEL),
    ("model", "Hello.", {**GREEDY, "max_gen_toks": 9}, LABEL),
    ("model", "Hello.", {**GREEDY, "until": []}, LABEL),
    ("model", "Hello.", SAMPLED, LABEL),
    ("model", "Hello.", GREEDY, LABEL._replace(repeat=1)),
]


@pytest.mark.parametrize("other", OTHERS)
def test_whatever_can_change_a_reply_changes_its_key(other: tuple[str, Any, dict[str, Any], Label | None]) -> None:
    model, *rest = other
    key = ContentSlots("model")("Hello.", GREEDY, LABEL)
    assert key == ContentSlots("model")("Hello.", dict(reversed(GREEDY.items())), LABEL)
    assert ContentSlots(model)(*rest) != key


@pytest.mark.parametrize("change", [{"seed": 7}, {"repeat": 1}, {"case": "x"}, {"turn": 2}, {"noise": "y"}])
def test_sampled_replies_belong_to_one_message_and_greedy_ones_to_the_words(change: dict[str, Any]) -> None:
    slots = ContentSlots("model")
    other = LABEL._replace(**change)
    assert slots("Hello.", SAMPLED, LABEL) != slots("Hello.", SAMPLED, other)
    assert (slots("Hello.", GREEDY, LABEL) == slots("Hello.", GREEDY, other)) == ("repeat" not in change)
    assert slots("Hello.", SAMPLED, None) is None


def test_weights_are_known_by_content_and_the_hub_by_commit(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "weights.bin").write_bytes(b"one")
    lm = ScriptLM()
    lm.pretrained = str(folder)
    before = describe_weights(lm)
    assert json.loads(json.dumps(before)) == before == describe_weights(lm)
    (folder / "weights.bin").write_bytes(b"two, and longer")
    assert describe_weights(lm) != before
    assert describe_weights(ScriptLM(), {"peft": str(folder)}) != describe_weights(ScriptLM())
    hub = ScriptLM()
    hub.config = type("Config", (), {"_commit_hash": "abc"})()
    assert describe_weights(hub)["commits"] == ["abc"]
    server = ScriptLM()
    server.base_url = "http://127.0.0.1:1"
    assert describe_weights(server)["server"] == "http://127.0.0.1:1"


def test_where_the_cache_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERISIM_CACHE", "")
    assert open_cache(Settings().cache) is None
    with pytest.raises(UserError, match="VERISIM_CACHE is empty"):
        open_cache(True)
    monkeypatch.delenv("VERISIM_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    default, own = open_cache(True), open_cache(str(tmp_path / "own"))
    assert default is not None
    assert own is not None
    assert (default.path.parent, own.path.parent) == (tmp_path / "verisim", tmp_path / "own")
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="is a file"):
        open_cache(str(tmp_path / "file"))


class CountingNli:
    """Says how long the texts are."""

    name = "counting"

    def __init__(self, version: int = 1) -> None:
        self.version = version
        self.asked: list[tuple[str, str]] = []

    def predict(self, pairs: Sequence[tuple[str, str]]) -> Any:
        self.asked += pairs
        return np.round([[len(p) / 100, 1 - (len(p) + len(h)) / 100, len(h) / 100] for p, h in pairs], 4)

    def describe(self) -> dict[str, Any]:
        return {"nli": self.name, "version": self.version}


def test_an_nli_is_asked_once_for_a_pair_and_gives_the_same_rows(tmp_path: Path) -> None:
    shelf = ContentCache(tmp_path).shelf("nli")
    pairs = [("a cough", "I cough."), ("fever", "No."), ("a cough", "I cough.")]
    first, second, other = CountingNli(), CountingNli(), CountingNli(version=2)
    rows = KeptNli(first, shelf).predict(pairs)
    assert first.asked == [pairs[0], pairs[1]]
    again = KeptNli(second, shelf).predict([*pairs, ("x", "y")])
    assert second.asked == [("x", "y")]
    assert (again[:3] == rows).all()
    assert (rows == CountingNli().predict(pairs)).all()
    assert KeptNli(first, shelf).predict([]).shape == (0, 3)
    KeptNli(other, shelf).predict(pairs)
    assert len(other.asked) == 2
    assert KeptNli(first, shelf).describe() == first.describe()


def patient(prompt: str) -> str:
    return "I have smoked for years."


ROLES = {"judge": named("judge-lm"), "patient": named("patient-lm"), "nli": None}
SCORED = {"circumstances": {"patient_side": True, "report_side": True}}


def played(monkeypatch: pytest.MonkeyPatch, bank: Path, folder: Path, **more: Any) -> tuple[Any, list[Any], Any, Any]:
    """A run with a model as the patient and one as the judge: transcripts, scores, and the two models."""
    models = {"judge-lm": ScriptLM(judging), "patient-lm": ScriptLM(patient)}
    put_in_place(monkeypatch, **models)
    wanted = requests(bank, folder, cases=CASES[:2], **{**ROLES, **SCORED, **more})
    transcripts = run(ScriptLM(talk), wanted, folder)
    found = [(i.verisim_PatientSide.scores.figures(), i.verisim_ReportScores) for i in wanted]
    return transcripts, found, models["judge-lm"], models["patient-lm"]


def test_a_warm_cache_gives_the_same_run_without_a_call(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bank, cache = make_bank(tmp_path / "cases"), str(tmp_path / "cache")
    bare = played(monkeypatch, bank, tmp_path / "bare")
    cold = played(monkeypatch, bank, tmp_path / "cold", cache=cache, repeats=2)
    warm = played(monkeypatch, bank, tmp_path / "warm", cache=cache, repeats=2)
    assert warm[:2] == cold[:2]
    assert cold[2].calls
    assert cold[3].calls
    assert (warm[2].calls, warm[3].calls) == ([], [])
    assert any(count for figures, _ in warm[1] for _, count in figures.values())
    assert all(report.chief["diagnosis"].value for _, report in warm[1])
    assert played(monkeypatch, bank, tmp_path / "again")[:2] == bare[:2]  # no cache, no change
    kinds = {u.kind: u.entries for u in ContentCache(tmp_path / "cache").usage()}
    assert set(kinds) == {"judge", "patient"}
    ContentCache(tmp_path / "cache").clear("patient")
    mixed = played(monkeypatch, bank, tmp_path / "mixed", cache=cache, repeats=2)
    assert mixed[:2] == cold[:2]
    assert (mixed[2].calls, len(mixed[3].calls)) == ([], len(cold[3].calls))


def test_repeats_share_no_slot(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bank, cache = make_bank(tmp_path / "cases"), str(tmp_path / "cache")
    kept = []
    for repeats in (1, 2):
        played(monkeypatch, bank, tmp_path / f"run{repeats}", cache=cache, repeats=repeats, seed=5)
        kept.append(next(u.entries for u in ContentCache(tmp_path / "cache").usage() if u.kind == "patient"))
    assert kept[1] == 2 * kept[0]


def test_nothing_of_a_restricted_case_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bank = make_bank(tmp_path / "cases", card_902={"provenance": {"source": "x", "licence": "DUA", "restricted": True}})
    played(monkeypatch, bank, tmp_path / "run", cache=str(tmp_path / "cache"))
    assert not (tmp_path / "cache").exists()


def test_the_command_shows_and_clears(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VERISIM_CACHE", str(tmp_path))
    assert main(["cache"]) == 0
    assert "nothing is kept" in capsys.readouterr().out
    cache = ContentCache(tmp_path)
    cache.shelf("judge").update({str(n): "x" * 1000 for n in range(3)})
    cache.shelf("nli").update({"a": [0.1, 0.2, 0.7]})
    with sqlite3.connect(tmp_path / "vectors-0.sqlite") as store:
        store.execute("CREATE TABLE vectors (key TEXT PRIMARY KEY, vector BLOB NOT NULL)")
        store.execute("INSERT INTO vectors VALUES ('a', 'b')")
    (tmp_path / "umls").mkdir()
    (tmp_path / "umls" / "a.json").write_text("{}")
    (tmp_path / "mine.txt").write_text("stays")
    assert main(["cache"]) == 0
    said = capsys.readouterr().out
    assert said.splitlines()[0] == str(tmp_path)
    rows = {line.split()[0]: int(line.split()[1]) for line in said.splitlines()[1:]}
    assert rows == {"judge": 3, "nli": 1, "vectors": 1, "umls": 1, "all": 6}
    assert "3.0 kB" in said
    assert main(["cache", "clear", "--kind", "judge"]) == 0
    assert "3 entries cleared" in capsys.readouterr().out
    assert [u.kind for u in cache.usage()] == ["nli"]
    assert main(["cache", "clear"]) == 0
    assert main(["cache", "show", "--dir", str(tmp_path)]) == 0
    assert "nothing is kept" in capsys.readouterr().out
    assert (tmp_path / "mine.txt").read_text() == "stays"


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["cache", "clear", "--kind", "juge"], "unknown kind 'juge'; did you mean 'judge'?"),
        (["cache"], "VERISIM_CACHE is empty"),
    ],
)
def test_mistakes_are_one_sentence(
    argv: list[str], words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VERISIM_CACHE", "" if len(argv) == 1 else "somewhere")
    assert main(argv) == 2
    assert words in capsys.readouterr().err


def test_a_damaged_cache_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / FILE).write_text("not a database at all, and long enough to be looked at" * 20)
    assert main(["cache", "--dir", str(tmp_path)]) == 2
    assert "cannot be used" in capsys.readouterr().err
