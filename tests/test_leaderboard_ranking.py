import gzip
import json

import pytest
from leaderboard_helpers import KNOWN, bank, consultations, results_data, small_run

from verisim_leaderboard.difference import compare_models, settings_that_differ
from verisim_leaderboard.entries import read_entry
from verisim_leaderboard.flatten import ABSENT, changes
from verisim_leaderboard.ranking import boards, contamination_of, size_effect
from verisim_leaderboard.record import Contamination
from verisim_leaderboard.tables import size_sentences
from verisim_tasks.cli.main import main


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return read_entry(small_run(tmp_path_factory.mktemp("base")).add())


def entry(base, name, value, low=None, high=None, *, fingerprint=None, declared="unknown", parents=(), **more):
    score = base.headline.mixed_accuracy.model_copy(
        update={"value": value, "low": value if low is None else low, "high": value if high is None else high}
    )
    return base.model_copy(
        update={
            "model": base.model.model_copy(update={"canonical_name": name}),
            "headline": base.headline.model_copy(update={"mixed_accuracy": score}),
            "instrument": base.instrument.model_copy(update={"fingerprint": fingerprint or "f" * 64}),
            "contamination": Contamination(declared=declared, parents=tuple(parents)),
            **more,
        }
    )


def places(board):
    return [(p.entry.model.canonical_name, p.rank) for p in board.placings]


def test_overlapping_intervals_are_ties(base):
    found = [
        entry(base, "weak", 0.3, 0.2, 0.4),
        entry(base, "good", 0.7, 0.6, 0.8),
        entry(base, "best", 0.75, 0.65, 0.85),
        entry(base, "middle", 0.55, 0.45, 0.62),  # overlaps good, lies wholly below best
    ]
    (board,) = boards(found)
    assert places(board) == [("best", 1), ("good", 1), ("middle", 2), ("weak", 4)]
    assert boards(reversed(found)) == (board,)


def test_only_entries_of_one_fingerprint_are_ranked_together(base):
    found = [entry(base, "a", 0.9), entry(base, "b", 0.1, fingerprint="e" * 64), entry(base, "c", 0.5)]
    first, second = boards(found)
    assert (first.fingerprint, places(first)) == ("f" * 64, [("a", 1), ("c", 2)])
    assert places(second) == [("b", 1)]


def test_custom_undefined_and_contaminated_entries_are_shown_without_a_rank(base):
    custom = [{"setting": "limit", "standard": None, "found": 4.0}]
    found = [
        entry(base, "a", 0.9, kind="custom", differences=tuple(type(base).model_validate(
            {**base.model_dump(), "kind": "custom", "differences": custom}).differences)),
        entry(base, "b", 0.5),
        entry(base, "c", 0.8, declared="contaminated"),
        entry(base, "d", None),
    ]  # fmt: skip
    (board,) = boards(found)
    assert places(board) == [("b", 1), ("a", None), ("c", None), ("d", None)]
    reasons = {p.entry.model.canonical_name: p.unranked for p in board.placings}
    assert reasons == {
        "b": None,
        "a": "custom run: limit",
        "c": "the cases were in the training data",
        "d": "no mixed accuracy",
    }


def test_contamination_is_inherited(base):
    found = [
        entry(base, "root", 0.5, declared="contaminated"),
        entry(base, "child", 0.5, declared="clean", parents=["root"]),
        entry(base, "grandchild", 0.5, declared="clean", parents=["child"]),
        entry(base, "free", 0.5, declared="clean"),
        entry(base, "orphan", 0.5, declared="clean", parents=["nobody"]),
        entry(base, "twice", 0.5, declared="clean"),
        entry(base, "twice", 0.5, declared="unknown"),
        entry(base, "ring1", 0.5, declared="clean", parents=["ring2"]),
        entry(base, "ring2", 0.5, declared="clean", parents=["ring1"]),
    ]
    status = {name: (s.status, s.inherited_from) for name, s in contamination_of(found).items()}
    assert status == {
        "root": ("contaminated", None),
        "child": ("contaminated", "root"),
        "grandchild": ("contaminated", "root"),
        "free": ("clean", None),
        "orphan": ("unknown", "nobody"),
        "twice": ("unknown", None),
        "ring1": ("clean", None),
        "ring2": ("clean", None),
    }
    (board,) = boards(found[:2])
    assert board.placings[1].unranked == "the cases were in the training data"
    assert [p.rank for p in board.placings] == [None, None]
    assert any(p.unranked.endswith("of root") for p in board.placings)


def sized(base, name, parameters, drop):
    found = entry(base, name, 0.5)
    score = base.headline.accuracy_drop.model_copy(update={"value": drop})
    return found.model_copy(
        update={
            "model": found.model.model_copy(update={"parameters": parameters}),
            "headline": found.headline.model_copy(update={"accuracy_drop": score}),
        }
    )


def test_degradation_by_size_is_over_ranked_entries_of_known_size(base):
    found = [
        sized(base, "a", 7 * 10**9, 21.0),
        sized(base, "b", 70 * 10**9, 15.0),
        sized(base, "c", 32 * 10**9, 16.0),
        sized(base, "d", None, 90.0),
        sized(base, "e", 7 * 10**9, None),
    ]
    (board,) = boards(found)
    effect = size_effect(board)
    assert (effect.n_small, effect.n_large, effect.regression.n) == (1, 1, 3)
    assert "40% more (published: 40%)" in size_sentences(effect)
    assert "for ten times the size" in size_sentences(effect)
    (board,) = boards(found[:1])
    assert "no model of 70B or more" in size_sentences(size_effect(board))


def test_changes_name_the_leaf():
    first = {"a": 1, "list": [{"variant": "clean", "n": 3}], "gone": True, "flag": True}
    second = {"a": 1.0, "list": [{"variant": "clean", "n": 4}], "new": [], "flag": 1}
    found = [(c.path, c.first, c.second) for c in changes(first, second)]
    assert found == [("list.clean.n", 3, 4), ("gone", True, ABSENT), ("flag", True, 1), ("new", ABSENT, [])]
    assert changes({"x": 1.0}, {"x": 1.0 + 1e-12}, 1e-9) == []


@pytest.fixture
def two(tmp_path):
    """One model wrong twice under mixed noise, the other always right; twelve cases."""
    held = bank(12)
    weak = small_run(tmp_path / "weak", consultations(held, wrong=9), cases=held)
    data = results_data(suite={"max_reply_tokens": 128})
    data["model_name"] = "org/other"
    strong = small_run(tmp_path / "strong", consultations(held, wrong=0), cases=held, data=data)
    return weak, strong


def test_settings_that_differ(two):
    weak, strong = two
    first = read_entry(weak.add())
    second = read_entry(strong.add(KNOWN.model_copy(update={"licence": "Apache-2.0"})))
    found = {c.path: (c.first, c.second) for c in settings_that_differ(first, second)}
    assert found == {
        "model.name": ("org/tiny-1B", "org/other"),
        "model.licence": ("MIT", "Apache-2.0"),
        "settings.suite.max_reply_tokens": (64, 128),
    }


def test_models_are_compared_on_the_cases_they_share(two):
    weak, strong = two
    clean, mixed = compare_models(weak.folder / "transcripts.jsonl", strong.folder / "transcripts.jsonl", weak.cases)
    assert (clean.variant, clean.test.changed, clean.test.p) == ("clean", 0, 1.0)
    assert (mixed.variant, mixed.test.n, mixed.test.changed) == ("mixed", 12, 9)
    assert mixed.test.difference == pytest.approx(-0.75)
    assert mixed.test.p == pytest.approx(2 * 0.5**9)
    assert mixed.p_holm == pytest.approx(2 * mixed.test.p)
    assert mixed.test.low < -0.75 < mixed.test.high < 0
    assert mixed.test.rank_biserial == -1.0
    assert 0 < mixed.detectable < 1


def test_the_diff_command(two, capsys):
    weak, strong = two
    second = strong.add().parent
    assert main(["leaderboard", "diff", str(weak.folder), str(second), "--cases", weak.cases]) == 0
    said = capsys.readouterr().out
    for part in ("settings.suite.max_reply_tokens", "mixed", "-75.0 [", "0.004", "Holm"):
        assert part in said
    (second / "transcripts.jsonl.gz").unlink()
    assert main(["leaderboard", "diff", str(weak.folder), str(second), "--cases", weak.cases]) == 0
    assert "needs the transcripts of both" in capsys.readouterr().out


def test_scores_of_two_instruments_are_not_tested(two, capsys):
    weak, strong = two
    path = strong.folder / "transcripts.jsonl"
    moved = []
    for line in path.read_text(encoding="utf-8").splitlines():
        moved.append(json.dumps({**json.loads(line), "fingerprint": "e" * 64}))
    path.write_text("\n".join(moved) + "\n", encoding="utf-8")
    assert main(["leaderboard", "diff", str(weak.folder), str(strong.folder), "--cases", weak.cases]) == 0
    assert "the instruments differ" in capsys.readouterr().out


def test_transcripts_may_be_compressed(two):
    weak, _ = two
    plain = weak.folder / "transcripts.jsonl"
    packed = weak.folder / "packed.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert all(row.test.changed == 0 for row in compare_models(plain, packed, weak.cases))
