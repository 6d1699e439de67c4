import csv
import json
import re

import pytest
from fake_judges import constant_judge
from leaderboard_helpers import bank, consultations
from metrics_helpers import answer, make_transcript, told, write_cases, write_transcripts

from verisim_leaderboard.rating.returned import judged
from verisim_leaderboard.rating.sample import choose, make_key, read_key
from verisim_leaderboard.rating.sheets import difficulties, difficulties_html, sheet_html
from verisim_metrics.verisim_judge import CRITERIA
from verisim_tasks.cli.main import main
from verisim_tasks.errors import UserError
from verisim_tasks.loop.restricted import without_text
from verisim_tasks.records.noise import DIMENSIONS, MAX_LEVEL

HOSTILE = '<script>alert(1)</script> & "x" {{ 7 * 7 }}'


@pytest.fixture
def cases():
    return {case.id: case for case in bank(6)}


@pytest.fixture
def run(tmp_path, cases):
    found = consultations(list(cases.values()))
    write_cases(tmp_path / "cases", cases.values())
    return write_transcripts(tmp_path / "transcripts.jsonl", found)


def cli(capsys, *args):
    code = main(["rate", *map(str, args)])
    return code, capsys.readouterr()


def export(capsys, run, out, *more):
    return cli(capsys, "export", run, "--out", out, "--cases", run.parent / "cases", *more)


def fill(path, target, grade):
    """The table filled in: a grade for each item and criterion; a missing one stays empty."""
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for place, row in enumerate(rows):
        row.update({c: grade(place, c) for c in CRITERIA})
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return target


def test_variants_are_balanced_cases_spread_and_the_seed_decides(cases):
    found = consultations(list(cases.values()))
    chosen = choose(found, 6, 1)
    assert [one.item for one in chosen] == [f"R{i}" for i in range(1, 7)]
    assert sorted(one.transcript.variant for one in chosen) == ["clean"] * 3 + ["mixed"] * 3
    assert len({one.transcript.case_id for one in chosen}) == 6  # no case twice while others are left
    assert choose(found, 6, 1) == chosen
    assert choose(found, 6, 2) != chosen
    assert len(choose(found, None, 1)) == 12


def test_errors_and_withheld_words_are_not_rated(cases):
    found = consultations(list(cases.values()))
    failed = make_transcript(case_id="c0", reason="error")
    assert {one.transcript.variant for one in choose([failed, without_text(found[0]), found[1]], None, 1)} == {"mixed"}
    with pytest.raises(UserError, match="no transcript to rate"):
        choose([failed, without_text(found[0])], None, 1)


def test_the_sheet_shows_words_record_and_anchors_and_hides_the_noise(cases):
    found = consultations(list(cases.values()))
    items = choose(found, None, 1)
    page = sheet_html(items, cases)
    text = re.sub(r"<style>.*?</style>", "", page, flags=re.S)
    for hidden in ("mixed", "clean", "memory", "recall", "level", "variant", "appendicitis"):
        assert hidden not in text.lower()
    for shown in ("Truth preservation", "Realism", "Clinical utility", "k1", "drinks", "R01", "Could be a transcript"):
        assert shown in text
    assert "Noise fidelity" not in text
    assert "default-src 'none'" in page


def test_noise_or_not_the_sheet_of_a_case_is_the_same(cases):
    """Everything beside the dialogue is written from the case alone."""
    dialogue = answer(1, told("k1"))
    noisy = make_transcript(dialogue, case_id="c0", noise={"social_cultural": 4})
    clean = make_transcript(dialogue, case_id="c0")
    assert sheet_html(choose([noisy], None, 1), cases) == sheet_html(choose([clean], None, 1), cases)


def test_part_two_tells_the_difficulties(cases):
    found = consultations(list(cases.values()))
    page = difficulties_html(choose(found, None, 1))
    assert page.count("Memory, 2:") == page.count("Emotion, 1:") == page.count("None: the patient answers plainly") == 6
    assert "Every stated difficulty shows at its strength" in page


def test_every_dimension_and_level_is_explained():
    assert {d: sorted(found["levels"]) for d, found in difficulties().items()} == {
        d: list(range(1, MAX_LEVEL + 1)) for d in DIMENSIONS
    }


def test_words_of_models_are_shown_as_text(cases):
    turn = answer(1).model_copy(update={"text": HOSTILE})
    page = sheet_html(choose([make_transcript(turn, case_id="c0")], None, 1), cases)
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "{{ 7 * 7 }}" in page


def test_there_and_back(run, tmp_path, capsys):
    out = tmp_path / "rating"
    code, said = export(capsys, run, out)
    assert code == 0
    assert "12 transcripts to rate" in said.out
    assert sorted(p.name for p in out.iterdir()) == ["for_raters", "key.json"]
    assert sorted(p.name for p in (out / "for_raters").iterdir()) == ["difficulties.html", "ratings.csv", "sheet.html"]
    table = out / "for_raters" / "ratings.csv"
    a = fill(table, tmp_path / "ab.csv", lambda i, c: str(1 + i % 5))
    b = fill(table, tmp_path / "cd.csv", lambda i, c: "" if c == "realism" and i else str(1 + (i + (i == 3)) % 5))
    code, said = cli(capsys, "import", out, a, b, "--out", tmp_path / "back")
    assert code == 0
    assert "cd: of 12 items: truth_preservation 12, realism 1" in said.out
    with (tmp_path / "back" / "joined.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 12 * 4 * 2 - 11
    key = {i["item"]: i for i in json.loads((out / "key.json").read_text(encoding="utf-8"))["items"]}
    assert all(key[r["item"]]["variant"] == r["variant"] and key[r["item"]]["case_id"] == r["case_id"] for r in rows)
    assert {r["noise"] for r in rows} == {"clean", "memory_recall=2,emotional_state=1"}
    assert main(["agreement", str(tmp_path / "back" / "ab.csv"), str(tmp_path / "back" / "cd.csv")]) == 0
    assert "Gwet's AC1" in capsys.readouterr().out


def test_the_same_export_is_the_same_files(run, tmp_path, capsys):
    for name in ("one", "two"):
        export(capsys, run, tmp_path / name, "--number", "5", "--variant", "mixed")
    first, second = (
        {p.relative_to(tmp_path / n): p.read_bytes() for p in (tmp_path / n).rglob("*") if p.is_file()}
        for n in ("one", "two")
    )
    assert first == second
    assert {i.variant for i in read_key(tmp_path / "one").items} == {"mixed"}


def test_the_judge_is_one_more_rater(run, cases):
    found = consultations(list(cases.values()))
    key = make_key(choose(found, 4, 1), 1, "0" * 64)
    table = judged(key, found, cases, constant_judge(4))
    assert (table.rater, list(table.values)) == ("judge", [i.item for i in key.items])
    assert {grade for row in table.values.values() for grade in row.values()} == {"4"}
    with pytest.raises(UserError, match="not among the transcripts"):
        judged(key, found[:1], cases, constant_judge(4))


def _strange_item(text):
    return text.replace("R01,", "R99,", 1)


def _no_criterion(text):
    return text.replace("realism", "mood", 1)


def _off_the_scale(text):
    return text.replace("R01,,", "R01,6,", 1)


def _a_word(text):
    return text.replace("R01,,", "R01,good,", 1)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (_strange_item, "'R99', which the key does not hold"),
        (_no_criterion, "no column 'realism'"),
        (_off_the_scale, "grade 6 is not on the scale"),
        (_a_word, "'good' is no number"),
    ],
)
def test_bad_tables_are_refused(run, tmp_path, capsys, spoil, reason):
    export(capsys, run, tmp_path / "r")
    text = (tmp_path / "r" / "for_raters" / "ratings.csv").read_text(encoding="utf-8")
    (tmp_path / "ab.csv").write_text(spoil(text), encoding="utf-8")
    code, said = cli(capsys, "import", tmp_path / "r", tmp_path / "ab.csv", "--out", tmp_path / "back")
    assert code == 2
    assert reason in said.err
    assert said.err.count("\n") == 1
    assert not (tmp_path / "back").exists()


def test_other_mistakes_are_one_sentence(run, tmp_path, capsys):
    export(capsys, run, tmp_path / "r")
    table = tmp_path / "r" / "for_raters" / "ratings.csv"
    judge = tmp_path / "judge.csv"
    judge.write_text(table.read_text(encoding="utf-8"), encoding="utf-8")
    back = ["--out", tmp_path / "back"]
    for args, reason in (
        (["export", tmp_path / "none", "--out", tmp_path / "x"], "no transcripts at"),
        (["export", run, "--out", tmp_path / "x", "--number", "0"], "--number is 0"),
        (["export", run, "--out", tmp_path / "x", "--variant", "odd"], "no transcript of odd"),
        (["import", tmp_path / "none", table, *back], "cannot be read"),
        (["import", table, table, *back], "is not a key"),
        (["import", tmp_path / "r", judge, *back], "none the name 'judge'"),
        (["import", tmp_path / "r", table, *back, "--judge", "{}"], "needs the transcripts"),
        (["import", tmp_path / "r", table, *back, "--judge", "{", "--transcripts", run], "--judge is not JSON"),
    ):
        code, said = cli(capsys, *args)
        assert code == 2
        assert reason in said.err
        assert said.err.count("\n") == 1
