"""Types of patient sentences, against a labelled set."""

import json
from collections import Counter
from pathlib import Path

import pytest

from verisim_metrics.patientsim.types import TYPES, by_rules, is_short_answer, rules, sentence_types

ROWS = [json.loads(line) for line in (Path(__file__).parent / "data" / "sentence_types.jsonl").read_text().splitlines()]


def test_the_set_is_what_it_says():
    assert len(ROWS) == 250
    assert len({row["text"] for row in ROWS}) == 250
    assert min(Counter(row["type"] for row in ROWS)[kind] for kind in TYPES) >= 40
    assert not {row["text"] for row in ROWS} & {text for text, _ in rules().examples}


def test_types_are_right_nine_times_in_ten():
    found = sentence_types([row["text"] for row in ROWS])
    wrong = [(row["type"], kind, row["text"]) for row, kind in zip(ROWS, found, strict=True) if kind != row["type"]]
    assert len(wrong) <= 25, wrong
    for kind in TYPES:
        total = sum(row["type"] == kind for row in ROWS)
        assert sum(w[0] == kind for w in wrong) <= 0.15 * total, kind


def test_order_and_company_change_nothing():
    texts = [row["text"] for row in ROWS[::5]]
    alone = [sentence_types([text])[0] for text in texts]
    assert list(sentence_types(texts)) == alone
    assert list(reversed(sentence_types(texts[::-1]))) == alone


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("I'm scared because the chest pain keeps coming back.", "information"),
        ("Thanks, the cough is still there.", "information"),
        ("Thank you, I was so worried.", "emotion"),
        ("Sorry, I can't remember.", "meta_information"),
        ("*sighs* I'm terrified.", "emotion"),
        ("Could this be my heart?", "inquiry"),
        ("...", "meta_information"),
        ("No.", "information"),
    ],
)
def test_what_tells_something_outweighs_how_it_is_wrapped(text, kind):
    assert sentence_types([text]) == (kind,)


def test_no_sentence_is_an_error():
    assert sentence_types([]) == ()
    for odd in ("", " ", "\u200b", "?", "***", "é" * 500, "a" * 5000):
        assert by_rules(odd) in (*TYPES, None)


@pytest.mark.parametrize(
    ("text", "short"), [("No.", True), ("Not that I've noticed.", True), ("No, no fever.", False), ("It hurts.", False)]
)
def test_short_answers_say_nothing_alone(text, short):
    assert is_short_answer(text) is short
