"""From related sentences to labels, ratings and coverage, for many transcripts in one batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from verisim_metrics.patientsim.derived import Coverage, Told, coverage, icon_embed, overlapping
from verisim_metrics.patientsim.judged import Derive, JudgeSteps
from verisim_metrics.patientsim.labelling import Judged, Labeller, judge_sentences
from verisim_metrics.patientsim.profile import Item
from verisim_metrics.patientsim.recipe import Empty, Score, Tally, tally
from verisim_metrics.patientsim.relations import TextRelation
from verisim_metrics.patientsim.utterances import Utterance
from verisim_tasks.language.embedding import Encoder

PlausibilityJudge = Callable[[Sequence[tuple[str, str]]], Sequence[float | None]]
"""(case summary, sentence) pairs in, ratings 1-4 out; ``None`` where the judge gave none."""
SimilarityJudge = Callable[[Sequence[tuple[str, str]]], Sequence[float | None]]
"""(original item, derived item) pairs in, ratings 1-4 out; ``None`` where the judge gave none."""

LOWEST, HIGHEST = 1.0, 4.0
"""The scale of both judges."""


@dataclass(frozen=True)
class Instruments:
    """What understands and judges; one set for a whole call."""

    labeller: Labeller
    relation: TextRelation
    encoder: Encoder
    judge: PlausibilityJudge | None
    icon_judge: SimilarityJudge | None
    empty: Empty
    steps: JudgeSteps | None = None
    """Types and relates sentences in place of the rules."""
    derive: Derive | None = None
    """Derives profiles from dialogues; a third kind of coverage, beside those of text and tags."""


@dataclass(frozen=True)
class Side:
    """One way of relating the sentences of one transcript, before anything is judged."""

    items: tuple[Item, ...]
    related: Sequence[tuple[Utterance, tuple[Item, ...]]]
    """Sentences of type information that are scored, each with its items."""
    told: Told
    asked: tuple[str, ...]
    """Categories that the doctor asked about."""
    compared: bool = True
    """Whether a judge compares original and derived items; only one side of a transcript needs it."""


@dataclass(frozen=True)
class Truth:
    """What one way of relating sentences gives for one transcript."""

    counts: Tally
    coverage: Coverage
    icon_embed: Score
    ratings: tuple[float | None, ...] = ()
    """Plausibility of the sentences that need a rating; empty without a judge."""
    similarities: tuple[float | None, ...] = ()
    """The judge's similarity of the overlapping items; empty without a judge."""
    unlabelled: int = 0
    """Sentences left out because the NLI gave no answer."""


def truths(sides: Sequence[Side], tools: Instruments) -> list[Truth]:
    """The truth of each side, in order; NLI and judges are each asked once."""
    flat = iter(judge_sentences([pair for side in sides for pair in side.related], tools.labeller))
    judged = [[next(flat) for _ in side.related] for side in sides]
    ratings = _rated(tools.judge, [_open(side, found) for side, found in zip(sides, judged, strict=True)])
    likeness = _rated(tools.icon_judge, [_overlap(side) for side in sides])
    return [
        Truth(
            counts=tally([label for label in j.labels if label is not None] for j in found if j.answered),
            coverage=coverage(side.items, side.told, side.asked),
            icon_embed=icon_embed(side.items, side.told, tools.encoder, tools.empty),
            ratings=rated,
            similarities=similar,
            unlabelled=sum(not j.answered for j in found),
        )
        for side, found, rated, similar in zip(sides, judged, ratings, likeness, strict=True)
    ]


def summary_of(items: Sequence[Item]) -> str:
    """The profile as lines of text, for a judge; holds no diagnosis."""
    return "\n".join(item.text for item in items)


def _open(side: Side, judged: Sequence[Judged]) -> list[tuple[str, str]]:
    """(profile, sentence) of what no item supports or refutes."""
    summary = summary_of(side.items)
    return [(summary, j.utterance.text) for j in judged if j.needs_rating]


def _overlap(side: Side) -> list[tuple[str, str]]:
    if not side.compared:
        return []
    return [(". ".join(original), " ".join(derived)) for original, derived in overlapping(side.items, side.told)]


def _rated(
    judge: PlausibilityJudge | None, asked: Sequence[Sequence[tuple[str, str]]]
) -> list[tuple[float | None, ...]]:
    """One judge call over everything asked, its ratings dealt out again; empty without a judge.

    Raises:
        ValueError: when the judge answers with another number of ratings, or outside 1-4.
    """
    if judge is None:
        return [() for _ in asked]
    flat = [pair for pairs in asked for pair in pairs]
    ratings = list(judge(flat)) if flat else []
    if len(ratings) != len(flat) or any(r is not None and not LOWEST <= r <= HIGHEST for r in ratings):
        raise ValueError(f"the judge gave {len(ratings)} ratings for {len(flat)} pairs, or some outside 1-4")
    dealt: Iterator[float | None] = iter(ratings)
    return [tuple(next(dealt) for _ in pairs) for pairs in asked]
