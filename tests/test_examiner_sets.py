"""The examiner on messages written by others, who did not see its code, and on a set of our own.

First sight, before anything a set showed was mended, as exact results:

==========================  =============  ===========
set                         orders         attacks
==========================  =============  ===========
first                       54 of 75, 72%  70 of 70
second                      51 of 70, 73%  (none)
third                       46 of 70, 66%  60 of 60
fourth                      61 of 75, 81%  59 of 60
fifth                       69 of 75, 92%  59 of 60
sixth                       73 of 80, 91%  60 of 60
seventh                     72 of 80, 90%  59 of 60
eighth                      74 of 80, 92%  59 of 60
ninth                       73 of 80, 91%  59 of 60
tenth                       76 of 80, 95%  59 of 60
train, first writer         148 of 160     155 of 160
train, second writer        148 of 160     160 of 160
train, third writer         144 of 160     119 of 120
train, fourth writer        139 of 160     116 of 120
==========================  =============  ===========

The attacks beside the fourth to tenth orders are ``examiner_attacks_third.jsonl`` to ``_ninth``. The third figure
was taken after the lay rows (``lay.yaml``) were in. What a set shows is mended in kind, so the thresholds below are no
estimate for unseen wording: the first-sight figures are.
``written`` is ours: orders and near-orders made up to find faults, mended where the kind was general.

``written2`` is ours too, in four rounds, each written before the messages were run, in six voices (emergency trainee,
family physician, hospitalist, paediatrician, psychiatrist, a chatty small model). First sight by round: 60 of 137,
32 of 56, 23 of 46 and 25 of 30 (44%, 57%, 50%, 83%); the first round was run on the code as it stood before any of it
was mended.

What the sixth and seventh set showed was mended by one who had the sets in hand.
``train`` is by four writers who saw no code, 160 orders and 120 or 160 attacks each, for the mending of kinds.

``written4`` is ours, in four rounds over other cases than those in hand, each labelled before it was run and mended in
kind before the next was written. First sight by round: orders 77 of 100, 48 of 60, 48 of 58 and 55 of 64; attacks 98
of 102, 73 of 73, 64 of 65 and 63 of 65. Two labels were mended after the run: a basic metabolic panel holds the
glucose, and "Can you touch your chin to your chest?" asks the patient. What is still wrong stays in the set.

``written5`` is ours, in two rounds after the third and fourth writer's sets were mended, each labelled before it was
run. First sight: orders 114 of 126 and 35 of 41; attacks 80 of 80 and 40 of 40. Six labels were mended after the run,
and are counted as right: the second round was labelled from the names of findings without their text, where a finding
of another name tells of the part ("shoulders" in "other joints and spine").

``exam`` is by three writers who saw no code: three messages for every examination finding of 48 cases. 51 labels that
are bare questions without an act ("Scalp tenderness, rash?", "Murphy sign?") were dropped. The first and second
writer's lines were read while mending, the third's only measured until two rounds were done. First sight, on the
labels kept: 144 of 293, 124 of 285 and 123 of 336 (49%, 44%, 37%); today 220, 200 and 206. The third writer's file as
it came stood at 190 and 193 of 373 after the two rounds. What is still wrong stays in the set.

``written3`` is ours, written after the fourth set was mended and labelled by its writer with the replies in sight: 39
of 40 were right at once, which says less than the blind figures.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from verisim_tasks.cases.bank import find_case
from verisim_tasks.examiner import Examiner
from verisim_tasks.examiner.vocabulary import default_vocabulary

DATA = Path(__file__).parent / "data"
EXAMINER = Examiner()
MENDED_TO = {
    "": 75,
    "_second": 70,
    "_third": 70,
    "_fourth": 75,
    "_fifth": 75,
    "_sixth": 78,
    "_seventh": 77,
    "_eighth": 75,
    "_ninth": 73,
    "_tenth": 77,
    "_train": 639,
    "_exam": 626,
}
"""Orders that are exactly right today, by set: fewer is a step back."""
WRITTEN_RIGHT = {"_written": 0.89, "_written2": 0.85, "_written3": 1.0, "_written4": 0.97, "_written5": 0.98}


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines() if line.strip()]


def entry_name(name: str) -> str:
    """The examiner's name of a vital sign that a label names by its field."""
    for item in default_vocabulary().items.values():
        if item.kind == "vital" and name in (item.name, *item.fields, *item.names):
            return item.name
    return name


def count_right(orders: list[dict[str, Any]]) -> int:
    """How many orders bring exactly the labelled results."""
    right = 0
    for order in orders:
        reply = EXAMINER.examine(find_case(order["case"]), order["message"])
        right += {r.name for r in reply.results} == {entry_name(n) for n in order["expect"]}
    return right


@pytest.mark.parametrize(
    ("name", "least", "answered"),
    [
        ("examiner_attacks", 60, 0),
        ("examiner_attacks_second", 60, 0),
        ("examiner_attacks_third", 60, 0),
        ("examiner_attacks_fourth", 60, 0),
        ("examiner_attacks_fifth", 60, 0),
        ("examiner_attacks_sixth", 60, 0),
        ("examiner_attacks_seventh", 60, 0),
        ("examiner_attacks_eighth", 60, 0),
        ("examiner_attacks_ninth", 60, 0),
        ("examiner_attacks_train", 560, 0),
        ("examiner_attacks_written2", 30, 0),
        ("examiner_attacks_written4", 300, 0),
        ("examiner_attacks_written5", 120, 0),
    ],
)
def test_attacks_return_nothing(name: str, least: int, answered: int) -> None:
    attacks = lines(f"{name}.jsonl")
    failed = [a for a in attacks if EXAMINER.examine(find_case(a["case"]), a["message"]).text]
    assert len(attacks) >= least
    assert len(failed) <= answered, failed


@pytest.mark.parametrize("case_id", ["card-001", "neur-003", "pulm-006", "neur-002"])
def test_near_orders_return_nothing(case_id: str) -> None:
    case = find_case(case_id)
    assert not [a for a in lines("examiner_attacks_written.jsonl") if EXAMINER.examine(case, a["message"]).text]


@pytest.mark.parametrize("name", sorted(MENDED_TO))
def test_orders_return_exactly_the_right_results(name: str) -> None:
    orders = lines(f"examiner_orders{name}.jsonl")
    right = count_right(orders)
    assert len(orders) >= 60
    assert right >= MENDED_TO[name]


@pytest.mark.parametrize("name", sorted(WRITTEN_RIGHT))
def test_our_own_orders_return_the_right_results(name: str) -> None:
    orders = lines(f"examiner_orders{name}.jsonl")
    assert len(orders) >= 40
    assert count_right(orders) / len(orders) >= WRITTEN_RIGHT[name]


@pytest.mark.parametrize("order", lines("examiner_orders.jsonl"), ids=lambda o: o["message"][:40])
def test_what_the_case_does_not_hold_is_said(order: dict[str, Any]) -> None:
    reply = EXAMINER.examine(find_case(order["case"]), order["message"])
    assert len(reply.not_recorded) == len(order["not_recorded"])
    assert all(f"{name}: not recorded" in reply.text for name in reply.not_recorded)
