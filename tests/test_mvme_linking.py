"""Link-based scores: the published matching, our linker, code lists, the command."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import pytest
from rapidfuzz import fuzz, process, utils

from verisim_metrics.mvme.linking import (
    CodeList,
    FuzzyLinker,
    LinkCount,
    Pair,
    link_fuzzy,
    link_icd,
    micro,
    read_code_list,
)
from verisim_metrics.mvme.wratio import WRatioScorer
from verisim_tasks.cli import mvme
from verisim_tasks.errors import UserError

NAMES = (
    "胃癌",
    "慢性胃炎",
    "胃溃疡",
    "胃恶性肿瘤, 未特指",
    "肺炎",
    "支气管肺炎",
    "高血压病",
    "2型糖尿病",
    "膀胱炎",
    "胆囊结石伴慢性胆囊炎",
)
CODES = CodeList(NAMES, {n: f"X{i:02}" for i, n in enumerate(NAMES)}, "test")


def linker() -> FuzzyLinker:
    return FuzzyLinker(CODES, top_n=2)


def test_scores_are_those_of_wratio_for_the_best_names() -> None:
    queries = ["胃癌", "慢性胃炎 伴糜烂", "肺", "2型糖尿病伴酮症", "胆囊结石", "pneumonia", "!!"]
    rows = dict(WRatioScorer(NAMES).best_scores(queries, 3, 50))
    prepared = [utils.default_process(n) for n in NAMES]
    for query in queries:
        full = np.rint(process.cdist([utils.default_process(query)], prepared, scorer=fuzz.WRatio)[0])
        best = [i for i in np.argsort(-full, kind="stable")[:3].tolist() if full[i] >= 50]
        ours = [i for i in np.argsort(-rows[query], kind="stable")[:3].tolist() if rows[query][i] >= 50]
        assert ours == best, query


def test_candidates_are_kept_on_disk_for_the_same_list_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["胃癌", "2型糖尿病伴酮症", "nothing like it"]
    found = {n: linker().candidates(n) for n in names}
    assert {n: FuzzyLinker(CODES, top_n=2, folder=tmp_path).candidates(n) for n in names} == found

    def fails(*_: object) -> None:
        raise AssertionError("searched again")

    monkeypatch.setattr(WRatioScorer, "best_scores", fails)
    assert {n: FuzzyLinker(CODES, top_n=2, folder=tmp_path).candidates(n) for n in names} == found
    with pytest.raises(AssertionError):
        FuzzyLinker(CodeList(NAMES[1:], CODES.codes, "shorter"), top_n=2, folder=tmp_path).candidates("胃癌")


def test_a_reference_is_matched_once() -> None:
    score, counts = link_fuzzy([Pair("1", "胃癌", "胃癌；胃癌晚期")], linker())
    assert counts == [LinkCount("1", 1, 2, 1)]
    assert (score.recall, score.precision, score.f1) == (1.0, 0.5, pytest.approx(2 / 3))


def test_below_the_threshold_nothing_links() -> None:
    _, counts = link_fuzzy([Pair("1", "肺炎", "xyzq")], linker())
    assert counts == [LinkCount("1", 0, 1, 1)]


def test_scores_are_micro_and_silence_is_a_miss() -> None:
    pairs = [Pair("1", "1. 胃癌\n2. 高血压病\n3. 2型糖尿病", "胃癌"), Pair("2", "膀胱炎", None)]
    score, _ = link_fuzzy(pairs, linker())
    assert (score.recall, score.precision, score.f1) == (0.25, 1.0, pytest.approx(0.4))
    assert (score.cases, score.unanswered) == (2, 1)


def test_nothing_to_count_is_undefined_not_zero() -> None:
    score = micro([LinkCount("1", 0, 2, 0)])
    assert (score.recall, score.precision, score.f1, score.cases, score.left_out) == (None, None, None, 0, 1)
    assert score.reason
    assert micro([LinkCount("1", 0, 0, 2)]).precision is None


def test_our_linker_reads_other_words_for_the_same_code_and_leaves_chinese_out() -> None:
    score, counts = link_icd([Pair("1", "Myocardial infarction; gout", "heart attack"), Pair("2", "肺炎", "肺炎")])
    assert counts == [LinkCount("1", 1, 1, 2)]
    assert (score.left_out, score.reason) == (1, "not in English")


@pytest.mark.parametrize(
    ("text", "says"),
    [("a,b\n1,2\n", "columns 'code' and 'name'"), ("code,name\n", "no code with a name"), (None, "cannot be read")],
)
def test_a_bad_code_list_is_one_clear_error(tmp_path: Path, text: str | None, says: str) -> None:
    path = tmp_path / "codes.csv"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=says):
        read_code_list(path)


def command(*words: str) -> int:
    parser = argparse.ArgumentParser()
    mvme.add_parser(parser.add_subparsers())
    args = parser.parse_args(["mvme", *words])
    return int(args.run(args))


def test_the_command_prints_a_table_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    codes, rows = tmp_path / "codes.csv", tmp_path / "rows.jsonl"
    codes.write_text("code,name\n" + "\n".join(f'X{i},"{n}"' for i, n in enumerate(NAMES)), encoding="utf-8")
    row = {"id": "1", "reference": "胃癌，高血压病", "prediction": "胃癌", "doctor": "甲"}
    rows.write_text(json.dumps(row, ensure_ascii=False), encoding="utf-8")
    assert command("link", str(rows), "--codes", str(codes)) == 0
    assert "link_fuzzy  0.500   1.000      0.667" in capsys.readouterr().out
    assert command("link", str(rows), "--codes", str(codes), "--json") == 0
    assert json.loads(capsys.readouterr().out)["scores"]["甲"]["link_fuzzy"]["recall"] == 0.5


@pytest.mark.parametrize(
    "line", ["[]", "{", '{"prediction": "x"}', '{"reference": "x"}', '{"reference": "x", "prediction": 1}']
)
def test_a_bad_line_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(line, encoding="utf-8")
    with pytest.raises(UserError, match="line 1"):
        command("link", str(path))
