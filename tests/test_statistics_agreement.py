"""Reference values are published or made by the reference implementations, cited at each; equal to 1e-6."""

import json

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from verisim_leaderboard.agreement import agreement, scale_of
from verisim_leaderboard.rating.tables import Ratings
from verisim_leaderboard.statistics.agreement import category_counts, cohen, fleiss, gwet_ac1, krippendorff
from verisim_tasks.cli.main import main
from verisim_tasks.errors import UserError

N = np.nan
GWET = np.array(
    [
        [1, 1, N, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4],
        [4, 4, 4, 4], [1, 1, 2, 1], [2, 2, 2, 2], [N, 5, 5, 5], [N, N, 1, 1], [N, N, 3, N],
    ]
)  # fmt: skip
"""Gwet, Handbook of Inter-Rater Reliability, 4th ed., table 2.10 (``cac.raw4raters`` of R's irrCAC): AC1 0.77544,
alpha 0.74342. Twelve digits from irrCAC 0.4.4 for Python."""
FIVE = [1, 2, 3, 4, 5]
KRIPPENDORFF = np.array(
    [
        [N, N, N, N, N, 3, 4, 1, 2, 1, 1, 3, 3, N, 3],
        [1, N, 2, 1, 3, 3, 4, 3, N, N, N, N, N, N, N],
        [N, N, 2, 1, 3, 4, 4, N, 2, 1, 1, 3, 3, N, 4],
    ]
).T  # fmt: skip
"""The worked example of Krippendorff (2011): nominal 0.691, interval 0.811. More digits from krippendorff 0.9.0."""


def close(value):
    return pytest.approx(value, abs=1e-6)


def test_gwets_ac1_gives_his_own_example():
    found = gwet_ac1(category_counts(GWET, FIVE))
    assert found.value == close(0.775444068127)
    assert found.items == 11
    assert found.low < 0.6 < found.value <= found.high


@pytest.mark.parametrize(
    ("level", "expected"),
    [("nominal", 0.743421052631579), ("ordinal", 0.8153875037548814), ("interval", 0.8491071428571428)],
)
def test_krippendorffs_alpha_on_gwets_example(level, expected):
    assert krippendorff(category_counts(GWET, FIVE), FIVE, level).value == close(expected)


@pytest.mark.parametrize(
    ("level", "expected"),
    [("nominal", 0.691358024691358), ("ordinal", 0.8067214199413153), ("interval", 0.8108448928121059)],
)
def test_krippendorffs_alpha_gives_his_own_example(level, expected):
    assert krippendorff(category_counts(KRIPPENDORFF, [1, 2, 3, 4]), [1, 2, 3, 4], level).value == close(expected)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [([[7, 1], [3, 5]], 0.161905), ([[6, 1, 0], [0, 7, 0]], 0.708333), ([[7, 0], [0, 7]], 1.0)],
)
def test_fleiss_gives_randolphs_examples(counts, expected):
    """Randolph's online kappa calculator, as quoted in statsmodels' ``test_inter_rater.py``."""
    assert fleiss(np.array(counts, dtype=float)).value == close(expected)


def test_fleiss_gives_the_textbook_example():
    """The worked example of Wikipedia's "Fleiss' kappa": 14 raters, 10 items, kappa 0.210; exact value by fractions."""
    rows = "0 0 0 0 14|0 2 6 4 2|0 0 3 5 6|0 3 9 2 0|2 2 8 1 1|7 7 0 0 0|3 2 6 3 0|2 5 3 2 2|6 5 2 1 0|0 2 2 3 7"
    counts = np.array([[float(n) for n in row.split()] for row in rows.split("|")])
    agreed = ((counts**2).sum(axis=1) - 14).mean() / (14 * 13)
    chance = ((counts.sum(axis=0) / 140) ** 2).sum()
    assert fleiss(counts).value == close((agreed - chance) / (1 - chance))
    assert fleiss(counts).value == pytest.approx(0.210, abs=5e-4)


SAS = [(0, 1)] * 4 + [(0, 2)] + [(1, 1)] * 8 + [(2, 1)] + [(2, 2)] * 5
"""SAS PROC FREQ's example (statsmodels ``test_inter_rater.py``): kappa 0.4842, linearly weighted 0.4701."""


def test_cohen_gives_sas_and_scikit_learn():
    first, second = zip(*SAS, strict=True)
    found = cohen(first, second, [0, 1, 2])
    assert found.value == pytest.approx(0.4842, abs=5e-5)
    assert found.value == close(cohen_kappa_score(first, second))
    weighted = cohen(first, second, [0, 1, 2], "ordinal")
    assert weighted.value == close(cohen_kappa_score(first, second, weights="quadratic"))


def test_a_missing_rating_is_left_out():
    found = cohen([1, N, 2, 1], [1, 1, 2, N], [1, 2])
    assert (found.items, found.value) == (2, 1.0)


def test_undefined_says_why():
    same = np.array([[3.0, 3.0], [3.0, 3.0]])
    counts = category_counts(same, [1, 2, 3])
    assert cohen([3, 3], [3, 3], [1, 2, 3]).note == "all ratings are the same"
    assert fleiss(counts).value is None
    assert krippendorff(counts, [1, 2, 3]).note == "all ratings are the same"
    assert gwet_ac1(counts).value == 1.0  # AC1 knows that the scale has three grades
    alone = category_counts(np.array([[1.0, N], [N, 2.0]]), [1, 2])
    for found in (fleiss(alone), gwet_ac1(alone), krippendorff(alone, [1, 2]), cohen([1, N], [N, 2], [1, 2])):
        assert (found.value, found.items, found.note) == (None, 0, "no item has two ratings")


def test_the_same_tables_give_the_same_interval():
    counts = category_counts(GWET, FIVE)
    assert gwet_ac1(counts) == gwet_ac1(counts)


def table(rater, **grades):
    return Ratings(rater, ("realism",), {item: {"realism": g} for item, g in grades.items() if g})


def test_people_together_and_each_two_and_the_judge_apart():
    a, b = table("a", R1="5", R2="4", R3="1"), table("b", R1="5", R2="3", R3="")
    judge = table("judge", R1="5", R2="4", R3="2")
    found = agreement([a, b], judge)
    together = [one for one in found if one.raters == ("a", "b") and not one.coefficient.name.startswith("Cohen")]
    assert [one.coefficient.items for one in together] == [2, 2, 2]
    pairs = {one.raters for one in found if one.coefficient.name.startswith("Cohen")}
    assert pairs == {("a", "b"), ("a", "judge"), ("b", "judge")}
    assert {one.criterion for one in found} == {"realism"}


def test_the_scale_of_a_known_criterion_is_its_rubrics():
    assert scale_of("realism", [3.0]) == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert scale_of("my_own", [3.0, 1.0]) == [1.0, 3.0]
    with pytest.raises(UserError, match="grade 6 is not on the scale 1 to 5"):
        scale_of("realism", [6.0])


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def cli(capsys, *args):
    code = main(["agreement", *map(str, args)])
    return code, capsys.readouterr()


def test_the_command_reads_files_as_spreadsheets_write_them(tmp_path, capsys):
    a = write(tmp_path / "a.csv", "\ufeffitem;realism;comment\nR1;5;good, fine\nR2; 4 ;\nR3;1;\n;;\n")
    b = write(tmp_path / "b.csv", 'item,realism,comment\nR1,5,"a, b"\nR2,4,\nR3,2,\n')
    code, said = cli(capsys, a, b)
    assert code == 0
    assert "Krippendorff's alpha, ordinal" in said.out
    code, said = cli(capsys, a, b, "--json", "--level", "nominal")
    found = json.loads(said.out)
    assert {one["coefficient"]["name"] for one in found} >= {"Cohen's kappa", "Fleiss' kappa", "Gwet's AC1"}
    kappa = next(o["coefficient"]["value"] for o in found if o["coefficient"]["name"] == "Cohen's kappa")
    assert kappa == close(cohen_kappa_score([5, 4, 1], [5, 4, 2]))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("item,realism\n", "holds no ratings"),
        ("item\nR1\n", "no column of ratings"),
        ("item,realism\nR1,5\nR1,4\n", "'R1' twice"),
        ("item,realism\nR1,5,4\n", "line 2: more cells"),
        ("item,realism\nR1,good\n", "'good' is no number"),
        ("item,realism\nR1,nan\n", "no grade"),
        ("item,realism\nR1,7\n", "grade 7 is not on the scale"),
        ("item,mood\nR1,5\n", "no rating column in common"),
    ],
)
def test_bad_tables_are_one_sentence_and_exit_2(tmp_path, capsys, text, reason):
    good = write(tmp_path / "good.csv", "item,realism\nR1,5\nR2,4\n")
    code, said = cli(capsys, good, write(tmp_path / "bad.csv", text))
    assert code == 2
    assert reason in said.err
    assert said.err.count("\n") == 1


def test_raters_need_two_names(tmp_path, capsys):
    (tmp_path / "x").mkdir()
    a = write(tmp_path / "a.csv", "item,realism\nR1,5\n")
    b = write(tmp_path / "x" / "a.csv", "item,realism\nR1,5\n")
    assert "two raters" in cli(capsys, a)[1].err
    assert "'a'" in cli(capsys, a, b)[1].err
    assert (
        "did you mean 'realism'"
        in cli(capsys, a, write(tmp_path / "b.csv", "item,realism\nR1,5\n"), "--column", "realsm")[1].err
    )
    assert "missing.csv" in cli(capsys, a, tmp_path / "missing.csv")[1].err
