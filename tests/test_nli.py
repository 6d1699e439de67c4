"""The NLI interface: label order, windows, guards, the built-in model, the command."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

from verisim_metrics.nli import LABELS, label_of, make_nli
from verisim_metrics.nli.builtin import BuiltinNli
from verisim_metrics.nli.cross_encoder import CrossEncoderNli
from verisim_metrics.nli.features import NAMES, features
from verisim_metrics.nli.fit import fit
from verisim_metrics.nli.guards import apply_guards, verdict
from verisim_metrics.nli.labels import label_order
from verisim_metrics.nli.model import Pair, Probabilities, finished
from verisim_metrics.nli.network import PairNetwork, load_base, packed, unpack_into
from verisim_metrics.nli.pairs import from_cases, handwritten
from verisim_metrics.nli.quantities import quantities
from verisim_metrics.nli.reading import read
from verisim_metrics.nli.running import CachedScores
from verisim_metrics.nli.windows import merged, windows
from verisim_tasks.cases.bank import load_cases
from verisim_tasks.cli.nli import run
from verisim_tasks.errors import UserError
from verisim_tasks.noise.markup import plain

WORDS = (
    "the",
    "patient",
    "has",
    "a",
    "fever",
    "cough",
    "pain",
    "no",
    "never",
    "for",
    "two",
    "weeks",
    "rash",
    "nausea",
    "i",
    "had",
    "filler",
)
ORDERS = (
    ("entailment", "neutral", "contradiction"),
    ("CONTRADICTION", "ENTAILMENT", "NEUTRAL"),
    ("Neutral", "Contradiction", "Entailment"),
)
PAIRS: list[Pair] = [
    ("the patient has a fever", "i had a fever"),
    ("no cough", "never a cough for two weeks"),
    ("rash for three days", "nausea"),
]

DEV_FLOOR = 0.85
CONTRADICTION_FLOOR = 0.82


@pytest.fixture(scope="session")
def builtin() -> BuiltinNli:
    return BuiltinNli()


def tiny_model(folder: Path, order: Sequence[str], positions: int = 64) -> str:
    """A random model; the row of each label is drawn for the label, so only the order of its outputs differs."""
    folder.mkdir(parents=True, exist_ok=True)
    vocab = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    (folder / "vocab.txt").write_text("\n".join(vocab), encoding="utf-8")
    tokenizer = BertTokenizerFast(vocab=str(folder / "vocab.txt"), model_max_length=positions)
    torch.manual_seed(3)
    model = BertForSequenceClassification(
        BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=positions,
            num_labels=3,
            id2label=dict(enumerate(order)),
            label2id={label: i for i, label in enumerate(order)},
            initializer_range=0.5,
        )
    )
    rows = torch.randn(3, 16)
    with torch.no_grad():
        for place, label in enumerate(order):
            model.classifier.weight[place] = rows[LABELS.index(label.lower())]
        model.classifier.bias.zero_()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def test_scores_do_not_depend_on_the_order_of_a_models_outputs(tmp_path: Path) -> None:
    found = [
        CrossEncoderNli(tiny_model(tmp_path / str(i), order), self_test=False, guarded=False).predict(PAIRS)
        for i, order in enumerate(ORDERS)
    ]
    assert np.ptp(found[0], axis=0).max() > 0.01, "the model must tell pairs apart for this test to mean anything"
    assert np.abs(found[0][:, 0] - found[0][:, 2]).max() > 0.01
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], atol=2e-4)


@pytest.mark.parametrize(
    "labels",
    [
        {0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"},
        {0: "entailment", 1: "not_entailment"},
        {0: "entailment", 1: "entailment", 2: "neutral"},
        {0: "entailment", 1: "neutral", 2: "contradiction", 3: "other"},
        {},
        None,
    ],
)
def test_labels_that_are_not_those_of_nli_are_refused(labels: dict[int, str] | None) -> None:
    with pytest.raises(UserError, match=r"some/model.*id2label"):
        label_order(labels, "some/model")


def test_label_order_reads_any_case() -> None:
    assert label_order({0: "Contradiction", 1: "ENTAILMENT", 2: "neutral"}, "m") == (1, 2, 0)


def test_a_model_that_knows_no_nli_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="plain pairs right"):
        make_nli(tiny_model(tmp_path, ORDERS[0]))


def test_a_model_that_is_not_there_is_a_user_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be loaded"):
        make_nli(str(tmp_path / "nothing"))


def test_batching_and_order_change_nothing(tmp_path: Path) -> None:
    name = tiny_model(tmp_path, ORDERS[0])
    many = [(p + " filler" * k, h) for k in range(20) for p, h in PAIRS]
    together = CrossEncoderNli(name, self_test=False).predict(many)
    alone = np.concatenate([CrossEncoderNli(name, self_test=False).predict([pair]) for pair in many[::-1]])[::-1]
    np.testing.assert_allclose(together, alone, atol=2e-4)
    np.testing.assert_allclose(together.sum(axis=1), 1.0, atol=1e-9)


@pytest.fixture(scope="session")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> BertTokenizerFast:
    return CrossEncoderNli(tiny_model(tmp_path_factory.mktemp("tok"), ORDERS[0]), self_test=False)._tokenizer


def keyword_score(pairs: Sequence[Pair]) -> Probabilities:
    """Entailment where the window holds "rash", contradiction where it holds "nausea", else neutral."""
    return np.array(
        [[0.9, 0.1, 0] if "rash" in p else [0, 0.2, 0.8] if "nausea" in p else [0.1, 0.8, 0.1] for p, _ in pairs]
    )


@pytest.mark.parametrize("place", [0, 40, 899, 1198])
@pytest.mark.parametrize(("word", "column"), [("rash", 0), ("nausea", 2)])
def test_support_anywhere_in_a_long_premise_is_found(
    tokenizer: BertTokenizerFast, place: int, word: str, column: int
) -> None:
    tokens = ["filler"] * 1200
    tokens[place] = word
    scores = CachedScores(tokenizer, 64, 8, keyword_score, guarded=False)
    row = scores.predict([(" ".join(tokens), "i had a fever")])[0]
    assert row.argmax() == column
    assert row[column] >= 0.79


def test_windows_cover_the_premise_overlap_and_fit(tokenizer: BertTokenizerFast) -> None:
    premise = " ".join(f"w{i}" for i in range(500))
    parts = windows(tokenizer, (premise, "i had a fever"), 64)
    assert len(parts) > 5
    assert all(len(tokenizer(p, h)["input_ids"]) <= 64 for p, h in parts)
    ends, start = 0, 0
    for part, _ in parts:
        start = premise.index(part, start)
        assert start <= ends or ends == 0, "a gap between two windows"
        ends = start + len(part)
        start += 1
    assert ends == len(premise)


def test_windows_that_disagree_share_what_one_row_can_hold() -> None:
    rows = merged(np.array([[0.9, 0.1, 0.0], [0.0, 0.1, 0.9], [0.2, 0.5, 0.3]]), [2, 1])
    np.testing.assert_allclose(rows, [[0.5, 0.0, 0.5], [0.2, 0.5, 0.3]])


def test_the_same_pair_is_scored_once(tokenizer: BertTokenizerFast) -> None:
    seen: list[Pair] = []

    def score(pairs: Sequence[Pair]) -> Probabilities:
        seen.extend(pairs)
        return keyword_score(pairs)

    scores = CachedScores(tokenizer, 64, 8, score, guarded=False)
    scores.predict(PAIRS * 5)
    scores.predict(PAIRS[::-1])
    assert sorted(seen) == sorted(set(PAIRS))
    assert scores.predict([]).shape == (0, 3)


def test_finished_rows_sum_to_one() -> None:
    rows = finished(np.array([[1 / 3, 1 / 3, 1 / 3], [0.99999, 0.00001, 0.0]]))
    np.testing.assert_allclose(rows.sum(axis=1), 1.0, atol=1e-12)
    assert label_of(np.array([0.4, 0.4, 0.2])) == "neutral"
    assert label_of(np.array([0.2, 0.3, 0.5])) == "contradiction"


SYMPTOMS = ("fever", "cough", "nausea", "headache", "chest pain", "diarrhoea", "palpitations", "shortness of breath")
DENIED = ("Denies {}", "No {}", "Denies {} and hiccups", "Negative for {}")
SAY = ("I've had {}.", "I've got {}.", "Yes, I've been having {}.")
SAY_NOT = ("I haven't had any {}.", "No, I don't have {}.", "No {}.", "I've never had {}.")


@pytest.mark.parametrize("symptom", SYMPTOMS)
def test_opposite_signs_contradict_and_same_signs_do_not(symptom: str) -> None:
    for frame in DENIED:
        premise = frame.format(symptom)
        for say in SAY:
            assert getattr(verdict(premise, say.format(symptom)), "label", None) == 2, (premise, say)
        for say in SAY_NOT:
            assert getattr(verdict(premise, say.format(symptom)), "label", 0) == 0, (premise, say)
    for say in SAY_NOT:
        assert getattr(verdict(f"Reports {symptom}", say.format(symptom)), "label", None) == 2, say
    for say in SAY:
        assert getattr(verdict(f"Reports {symptom}", say.format(symptom)), "label", 0) == 0, say


@pytest.mark.parametrize(
    ("premise", "same", "other"),
    [
        (
            "Metformin 500 mg twice daily",
            "I take five hundred milligrams of metformin.",
            "I take a thousand milligrams of metformin.",
        ),
        (
            "Headache for three weeks",
            "I've had the headache for about three weeks.",
            "I've had the headache for two years.",
        ),
        ("Headache for three weeks", "I've had a headache for a few weeks.", "I've had a headache for ten minutes."),
        ("Pain severity 6 of 10", "The pain is a six out of ten.", "The pain is a nine out of ten."),
        ("Cough, onset two days ago", "The cough started a couple of days ago.", "The cough started five months ago."),
        ("Aspirin 0.5 g once", "I took half a gram of aspirin.", "I took two grams of aspirin."),
        ("Diarrhoea five times a day", "I've got diarrhoea five times a day.", "I've got diarrhoea once a week."),
        ("Fever up to 38.5 C", "I had a fever of thirty-eight and a half.", "I had a fever of forty point two."),
    ],
)
def test_amounts_of_the_same_thing_that_differ_contradict(premise: str, same: str, other: str) -> None:
    assert getattr(verdict(premise, other), "label", None) == 2
    assert getattr(verdict(premise, same), "label", 0) != 2


@pytest.mark.parametrize(
    ("premise", "hypothesis", "rule", "label"),
    [
        ("Mother has asthma", "I have asthma.", "family", 1),
        ("Patient has asthma", "My sister has asthma.", "family", 1),
        ("Pain in the left knee", "My right knee hurts.", "side", 2),
        ("Pain in the left knee", "My left knee hurts.", None, None),
        ("Stopped warfarin last year", "I take warfarin.", "past", 2),
        ("Takes warfarin", "I used to take warfarin.", "past", 2),
        ("Ex-smoker, quit in 2010", "I smoke.", "past", 2),
        ("Chest pain", "The chest pain doesn't spread.", None, None),
        ("Chest pain does not radiate", "I've had chest pain.", None, None),
        ("Pain", "I haven't had any chest pain.", None, None),
        ("Fever", "FEVER.", "identical", 0),
        ("Married, no children", "I'm married, and we have no children.", None, None),
        ("Egg allergy; no other allergy", "I've never been allergic to anything.", "polarity", 2),
        ("Pain in the left knee", "It's right in the middle of the knee.", None, None),
        ("", "", None, None),
        ("🙂", "?!", None, None),
    ],
)
def test_guards_speak_where_they_are_certain_and_only_there(
    premise: str, hypothesis: str, rule: str | None, label: int | None
) -> None:
    found = verdict(premise, hypothesis)
    got = (found.rule, found.label) if found else (None, None)
    assert got == (rule, label) or (rule is None and found is not None and found.label == 0 and found.rule == "same")


def test_a_guard_overrules_and_stands_back() -> None:
    sure = np.array([[0.9, 0.05, 0.05]])
    assert apply_guards([("Denies fever", "I've had a fever.")], sure).argmax() == 2
    assert apply_guards([("Stopped warfarin", "I take warfarin.")], np.array([[0.1, 0.8, 0.1]])).argmax() == 1
    np.testing.assert_array_equal(apply_guards([("Fever", "I like tea.")], sure), sure)


def test_guards_are_right_on_handwritten_pairs() -> None:
    examples = [*handwritten("train"), *handwritten("dev")]
    fired = [(e, v) for e in examples if (v := verdict(e.premise, e.hypothesis))]
    wrong = [(e, v) for e, v in fired if e.label not in (v.label, *v.unless)]
    assert len(fired) >= 120
    assert len(wrong) <= 0.15 * len(fired), wrong  # 1 in 50 on the pairs they were written with, 1 in 7 on others'


@pytest.mark.parametrize(
    ("text", "kind", "low", "high"),
    [
        ("a hundred and fifty micrograms", "dose", 0.15, 0.15),
        ("1,000 mg", "dose", 1000, 1000),
        ("a month and a half", "duration", 1095, 1095),
        ("two or three times a week", "frequency", 8.6, 12.9),
        ("half an hour", "duration", 0.5, 0.5),
        ("thirty-eight point seven degrees", "temperature", 38.7, 38.7),
        ("a couple of hours", "duration", 2, 3),
        ("every single day", "frequency", 30, 30),
        ("eight out of ten", "score", 8, 8),
        ("in 2015", "year", 2015, 2015),
    ],
)
def test_amounts_are_read_on_one_scale(text: str, kind: str, low: float, high: float) -> None:
    (found,) = quantities(text)
    assert found.kind == kind
    assert math.isclose(found.low, low, rel_tol=1e-3)
    assert math.isclose(found.high, high, rel_tol=1e-3)


def test_reading_knows_denials_that_deny_nothing() -> None:
    assert not read("I've had no energy for weeks").only_denies
    assert not read("I can't sleep").only_denies
    assert read("No fever or chills").only_denies
    assert read("I haven't had a fever, but I've had a cough").asserted >= {"cough"}


def test_features_have_their_shape_for_any_text() -> None:
    odd = ["", " ", "¿?", "a" * 5000, "no no no", "1 2 3/4 mg of", "\ud800"]
    found = features([(p, h) for p in odd for h in odd])
    assert found.shape == (len(odd) ** 2, len(NAMES))
    assert np.isfinite(found).all()


def test_dev_pairs_were_never_trained_on() -> None:
    assert not {e.premise for e in handwritten("dev")} & {e.premise for e in handwritten("train")}
    assert len(handwritten("dev")) >= 150
    assert len(handwritten("train")) >= 400


def test_generated_pairs_are_the_same_every_time() -> None:
    cases = load_cases()[:2]
    assert from_cases(cases) == from_cases(cases)
    assert {e.label for e in from_cases(cases)} == {0, 1, 2}


def test_training_is_the_same_every_time() -> None:
    examples = handwritten("dev")[:64]
    threads = torch.get_num_threads()
    first, second = (packed(fit(examples, epochs=1, seed=5, report=lambda _: None)) for _ in range(2))
    assert sorted(first) == sorted(second)
    assert all((first[name] == second[name]).all() for name in first)
    assert torch.get_num_threads() == threads


def test_packed_weights_come_back_nearly_as_they_were() -> None:
    _, body = load_base()
    network = PairNetwork(body)
    arrays = packed(network)
    _, other = load_base()
    copy = PairNetwork(other)
    unpack_into(copy, arrays)
    for name, value in network.head.state_dict().items():
        np.testing.assert_allclose(copy.head.state_dict()[name], value, atol=2e-3)
    with pytest.raises(UserError, match="do not fit"):
        unpack_into(copy, {**arrays, "head.0.bias": arrays["head.3.bias"]})


def test_builtin_floor_on_the_dev_pairs(builtin: BuiltinNli) -> None:
    examples = handwritten("dev")
    labels = np.array([e.label for e in examples])
    guessed = builtin.predict([(e.premise, e.hypothesis) for e in examples]).argmax(axis=1)
    wrong = [(LABELS[g], e) for g, e in zip(guessed, examples, strict=True) if g != e.label]
    assert (guessed == labels).mean() >= DEV_FLOOR, wrong
    assert (guessed[labels == 2] == 2).mean() >= CONTRADICTION_FLOOR, wrong


def test_builtin_stands_by_what_unseen_patients_say(builtin: BuiltinNli) -> None:
    cases = [c for c in load_cases() if not c.id.endswith(("-001", "-002"))][::6]
    told = [(f.statement, plain(f.lay)) for c in cases for f in c.facts]
    guessed = builtin.predict(told).argmax(axis=1)
    assert (guessed == 0).mean() >= 0.92
    assert (guessed == 2).mean() <= 0.03


def test_builtin_is_the_same_in_any_order_and_company(builtin: BuiltinNli) -> None:
    pairs = [(e.premise, e.hypothesis) for e in handwritten("dev")][:40]
    first = builtin.predict(pairs)
    fresh = BuiltinNli().predict(pairs[::-1])[::-1]
    np.testing.assert_allclose(first, fresh, atol=2e-3)
    assert (first.argmax(axis=1) == fresh.argmax(axis=1)).all()
    np.testing.assert_allclose(first.sum(axis=1), 1.0, atol=1e-9)


def test_builtin_describes_itself(builtin: BuiltinNli) -> None:
    told = builtin.describe()
    assert told == json.loads(json.dumps(told)) == BuiltinNli().describe()
    assert {"nli", "weights", "base", "guards"} <= set(told)


def test_builtin_finds_support_in_a_long_record(builtin: BuiltinNli) -> None:
    filler = "Retired bus driver who lives in a small flat with a garden. " * 70
    row = builtin.predict([(f"{filler}Allergic to penicillin, which causes hives.", "I'm allergic to penicillin.")])[0]
    assert row[0] > row[1]


def test_weights_that_do_not_fit_are_refused() -> None:
    with pytest.raises(UserError, match="train_nli"):
        BuiltinNli(weights=b"not weights")


class Arguments:
    def __init__(self, file: Path) -> None:
        self.file, self.nli, self.judge = str(file), "builtin", None


def test_command_prints_label_and_probabilities(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text('{"premise": "Denies fever", "hypothesis": "I\'ve had a fever.", "id": 7}\n\n', encoding="utf-8")
    assert run(Arguments(file)) == 0  # type: ignore[arg-type]
    row = json.loads(capsys.readouterr().out)
    assert row["id"] == 7
    assert row["label"] == "contradiction"
    assert math.isclose(sum(row[label] for label in LABELS), 1.0, abs_tol=1e-9)


@pytest.mark.parametrize(
    "line", ["[]", "{", '{"premise": "x"}', '{"premise": "x", "hypothesis": 3}', '{"premise": " ", "hypothesis": "y"}']
)
def test_command_names_a_bad_line(tmp_path: Path, line: str) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text(f"\n{line}\n", encoding="utf-8")
    with pytest.raises(UserError, match="line 2"):
        run(Arguments(file))  # type: ignore[arg-type]
