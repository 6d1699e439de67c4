"""Words that carry a fact, words that say the same, sides of the body."""

from __future__ import annotations

import pytest

from verisim_tasks.verify.sides import agrees, sided, wrong_side
from verisim_tasks.verify.synonyms import listed, meanings, restated
from verisim_tasks.verify.wording import carries, spoken


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("it just keeps getting worse all the time", []),
        ("my two daughters visit me", ["daughters", "visit"]),
        ("I eat a lot of liquorice", ["eat", "liquorice"]),
    ],
)
def test_words_that_carry_a_fact(text: str, left: list[str]) -> None:
    assert [w.text for w in spoken(text) if carries(w)] == left


def test_like_words_share_a_meaning_and_named_medicines_do_not() -> None:
    assert meanings("mum") & meanings("mother")
    assert meanings("painkil") & meanings("ibuprofen")
    assert not meanings("paracetamol") & meanings("ibuprofen")


def test_lists_do_not_overlap_where_it_matters() -> None:
    assert not {"cat", "dog", "child", "beer"} & (listed("harmless") | listed("talk"))


def test_negated_and_spared_words_are_marked() -> None:
    turned = {w.text for w in spoken("itch on the hands; face spared") if w.negated}
    assert turned == {"face"}
    assert {w.text for w in spoken("not on my face") if w.negated} >= {"face"}


@pytest.mark.parametrize(
    ("claim", "record", "wrong"),
    [
        ("my left knee hurts", "thick patches on both elbows and the right knee", True),
        ("my right knee hurts", "thick patches on both elbows and the right knee", False),
        ("both my ankles", "right knee and both ankles", False),
        ("only my left ankle", "both ankles swollen", True),
        ("it hurts on the left side of my chest", "right side of the chest", True),
    ],
)
def test_sides_are_compared_part_by_part(claim: str, record: str, wrong: bool) -> None:
    assert (wrong_side(sided(claim), sided(record)) is not None) is wrong
    assert not (wrong and agrees(sided(claim), sided(record)))


def test_ways_of_speaking_are_put_as_the_record_would() -> None:
    assert restated("I haven't smoked for ten years") == "I stopped smoking ten years ago"
