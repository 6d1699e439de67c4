"""Filled-in sheets back in: checked against the key, one table a rater, and all joined with what each item is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from verisim_leaderboard.agreement import scale_of
from verisim_leaderboard.rating.sample import Key
from verisim_leaderboard.rating.tables import ITEM, Ratings, as_csv
from verisim_metrics.judging import Judge
from verisim_metrics.verisim_judge import CRITERIA, judge_transcripts
from verisim_tasks.errors import UserError, did_you_mean
from verisim_tasks.records.case import Case
from verisim_tasks.records.noise import NoiseProfile
from verisim_tasks.records.transcript import Transcript

JUDGE = "judge"


def check_returned(ratings: Ratings, key: Key) -> None:
    """Raise ``UserError`` for an item that is not in the key, a missing criterion, or a grade off its scale."""
    known = [one.item for one in key.items]
    for item in ratings.values:
        if item not in known:
            raise UserError(
                f"{ratings.rater} rates {item!r}, which the key does not hold{did_you_mean(item, known[:20])}"
            )
    missing = [c for c in CRITERIA if c not in ratings.columns]
    if missing:
        raise UserError(f"{ratings.rater} has no column {missing[0]!r}; give back the table that 'rate export' made")
    for criterion in CRITERIA:
        scale_of(criterion, list(ratings.numbers(criterion).values()))


def rater_csv(ratings: Ratings, key: Key) -> str:
    """One rater's grades in the order of the key, as ``verisim agreement`` reads them."""
    numbers = {c: ratings.numbers(c) for c in CRITERIA}
    return as_csv([ITEM, *CRITERIA], [[i.item, *(_grade(numbers[c].get(i.item)) for c in CRITERIA)] for i in key.items])


def joined_csv(tables: Sequence[Ratings], key: Key) -> str:
    """Every grade of every rater with what was rated: one row an item, criterion and rater."""
    heads = [ITEM, "case_id", "variant", "noise", "seed", "repeat", "criterion", "rater", "grade"]
    numbers = {(t.rater, c): t.numbers(c) for t in tables for c in CRITERIA}
    rows = [
        [
            i.item,
            i.case_id,
            i.variant,
            str(NoiseProfile(i.noise)),
            str(i.seed),
            str(i.repeat),
            c,
            t.rater,
            _grade(grade),
        ]
        for i in key.items
        for c in CRITERIA
        for t in tables
        if (grade := numbers[t.rater, c].get(i.item)) is not None
    ]
    return as_csv(heads, rows)


def coverage(ratings: Ratings, key: Key) -> dict[str, int]:
    """How many items have a grade, by criterion."""
    items = {one.item for one in key.items}
    return {c: len(items & ratings.numbers(c).keys()) for c in CRITERIA}


def judged(key: Key, transcripts: Iterable[Transcript], cases: Mapping[str, Case], judge: Judge) -> Ratings:
    """The judge's grades of the same items, as one more rater. What it did not answer is left out.

    Raises:
        UserError: when a transcript or a case of the key is not there.
    """
    held = list(transcripts)
    rated: list[Transcript] = []
    for one in key.items:
        found = next((t for t in held if one.is_of(t)), None)
        if found is None:
            raise UserError(
                f"{one.item} ({one.variant}, {one.case_id}) is not among the transcripts; name the same file"
            )
        if found.case_id not in cases:
            raise UserError(f"case {found.case_id!r} is not among the cases; name those of the run with --cases")
        rated.append(found)
    answers = judge_transcripts(rated, cases, judge)
    values = {
        one.item: {c: _grade(row[c].score) for c in CRITERIA if row[c].score is not None}
        for one, row in zip(key.items, answers, strict=True)
    }
    return Ratings(JUDGE, CRITERIA, values)


def _grade(value: float | None) -> str:
    return "" if value is None else f"{value:g}"
