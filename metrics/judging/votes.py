"""Several votes on one question become one verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from verisim_metrics.judging.records import Vote
from verisim_metrics.judging.rubric import Rubric

_TURNED = {"first": "second", "second": "first"}


def turned_back(vote: Vote, rubric: Rubric) -> Vote:
    """A vote on swapped sides in terms of the sides as they were given."""
    if not isinstance(vote.answer, str):
        return replace(vote, swapped=True)
    answer = _TURNED.get(vote.answer, vote.answer)
    return replace(vote, answer=answer, score=rubric.scale.values()[answer], swapped=True)


def joined(straight: Vote, swapped: Vote, rubric: Rubric) -> Vote:
    """One vote of the two orders of a comparison: their answer if it is the same, else a tie; null if either is."""
    attempts = straight.attempts + swapped.attempts
    for vote in (straight, swapped):
        if vote.answer is None:
            return replace(vote, attempts=attempts)
    answer = straight.answer if straight.answer == swapped.answer else "tie"
    return replace(straight, answer=answer, score=rubric.scale.values()[str(answer)], attempts=attempts)


def verdict(votes: Sequence[Vote], rubric: Rubric) -> Vote:
    """The verdict as one vote: median for numbers and letters, most votes for words.

    More than half of the votes must have an answer. Where an even number of them is left, the median may lie between
    two symbols: then the score stands and the answer is null. Words with equally many votes have no verdict.
    """
    usable = [vote for vote in votes if vote.answer is not None]
    if len(usable) * 2 <= len(votes):
        reason = next(vote.reason for vote in votes if vote.answer is None)
        more = f"only {len(usable)} of {len(votes)} votes can be used: " if len(votes) > 1 else ""
        return Vote(None, None, f"{more}{reason}")
    if rubric.kind in ("list", "fields"):
        return usable[0]
    if rubric.kind == "labels":
        return _most(usable)
    middle = float(median(vote.score for vote in usable if vote.score is not None))
    same = next((vote for vote in usable if vote.score == middle), None)
    return same or replace(usable[0], answer=None, score=middle)


def _most(usable: Sequence[Vote]) -> Vote:
    ranked = Counter(str(vote.answer) for vote in usable).most_common()
    if len(ranked) > 1 and ranked[0][1] == ranked[1][1]:
        return Vote(None, None, "the votes are tied")
    return next(vote for vote in usable if vote.answer == ranked[0][0])
