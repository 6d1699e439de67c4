"""PatientSim's own prompting: a judge types, relates and labels sentences, rates them, and derives profiles.

What the judge does not answer is ``None`` and left out by those who count; it is never taken for a label or a rating.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from verisim_metrics.judging import Judge, Question, load_rubric
from verisim_metrics.patientsim.profile import Item, label_of
from verisim_metrics.patientsim.recipe import LABELS
from verisim_metrics.patientsim.types import TYPES, SentenceType
from verisim_metrics.patientsim.utterances import Utterance
from verisim_tasks.records.transcript import Transcript

NOT_GIVEN = "(not given)"
NAME = "judge"

STEPS: tuple[str, ...] = ("sentence_type", "profile_relation", "nli_label")
"""The rubrics of the three steps."""
RATINGS: tuple[str, ...] = ("plausibility", "icon_similarity", "profile_derivation")
"""The rubrics of the scores that only a judge gives."""

Rate = Callable[[Sequence[tuple[str, str]]], list[float | None]]
Derive = Callable[[Sequence[Transcript]], "list[dict[str, tuple[str, ...]] | None]"]
"""Transcripts in, derived profiles out: category to what was told; ``None`` where the judge gave none."""


class JudgeNli:
    """The third step as an NLI model: certain of what the judge said. A pair without an answer is a row of NaN."""

    name = NAME

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    def predict(self, pairs: Sequence[tuple[str, str]]) -> npt.NDArray[Any]:
        """Rows of shape ``(len(pairs), 3)``: entailment, neutral, contradiction; NaN without an answer."""
        asked = [
            Question("nli_label", {"item": premise, "conversation": NOT_GIVEN, "sentence": hypothesis})
            for premise, hypothesis in pairs
        ]
        rows = [_one_hot(j.answer) for j in self._judge(asked)] if asked else []
        return np.asarray(rows, dtype=np.float64).reshape(-1, len(LABELS))

    def describe(self) -> dict[str, Any]:
        """The judge and the rubrics of the three steps."""
        return {"nli": NAME, "judge": self._judge.describe(), "rubrics": rubric_digests(STEPS)}


class JudgeSteps:
    """The first two steps: what kind of sentence it is, and which profile items it is about."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    def types(self, sentences: Sequence[Utterance]) -> list[SentenceType | None]:
        """The type of each sentence; ``None`` where the judge gave none."""
        asked = [Question("sentence_type", {"conversation": _before(u), "sentence": u.text}) for u in sentences]
        answers = [j.answer for j in self._judge(asked)] if asked else []
        return [next((kind for kind in TYPES if kind == answer), None) for answer in answers]

    def relations(self, asked: Sequence[tuple[Utterance, tuple[Item, ...]]]) -> list[tuple[Item, ...] | None]:
        """For each sentence and profile the items it is about; ``None`` where the judge gave no list."""
        questions = [
            Question(
                "profile_relation",
                {"profile": _by_category(items), "conversation": _before(u), "sentence": u.text},
            )
            for u, items in asked
        ]
        found = self._judge(questions) if questions else []
        return [_chosen(j.answer, items) for j, (_, items) in zip(found, asked, strict=True)]


def plausibility_rater(judge: Judge) -> Rate:
    """Rates (profile, sentence) pairs 1-4."""
    return _rater(judge, "plausibility", ("profile", "sentence"), {"conversation": NOT_GIVEN})


def similarity_rater(judge: Judge) -> Rate:
    """Rates (original, derived) pairs 1-4."""
    return _rater(judge, "icon_similarity", ("original", "derived"), {"item": "profile item"})


def deriver(judge: Judge) -> Derive:
    """Derives profiles from dialogues."""

    def derive(transcripts: Sequence[Transcript]) -> list[dict[str, tuple[str, ...]] | None]:
        asked = [Question("profile_derivation", {"dialogue": dialogue_of(t)}) for t in transcripts]
        return [_told(j.answer) for j in judge(asked)] if asked else []

    return derive


def dialogue_of(transcript: Transcript) -> str:
    """What doctor and patient said, one line each."""
    return "\n".join(f"{turn.speaker}: {turn.text}" for turn in transcript.turns if turn.speaker != "examiner")


def rubric_digests(names: Sequence[str]) -> dict[str, str]:
    """The fingerprint of each rubric."""
    return {name: load_rubric(name).fingerprint for name in names}


def _rater(judge: Judge, rubric: str, blocks: tuple[str, str], rest: Mapping[str, str]) -> Rate:
    def rate(pairs: Sequence[tuple[str, str]]) -> list[float | None]:
        asked = [Question(rubric, {blocks[0]: first, blocks[1]: second, **rest}) for first, second in pairs]
        return [j.score for j in judge(asked)] if asked else []

    return rate


def _one_hot(answer: object) -> list[float]:
    if answer not in LABELS:
        return [float("nan")] * len(LABELS)
    return [float(label == answer) for label in LABELS]


def _before(utterance: Utterance) -> str:
    return f"doctor: {utterance.question}" if utterance.question else NOT_GIVEN


def _by_category(items: Sequence[Item]) -> str:
    return "\n".join(f"{item.category} ({label_of(item.category)}): {item.premise}" for item in items)


def _chosen(answer: object, items: Sequence[Item]) -> tuple[Item, ...] | None:
    return tuple(item for item in items if item.category in answer) if isinstance(answer, tuple) else None


def _told(answer: object) -> dict[str, tuple[str, ...]] | None:
    if not isinstance(answer, dict):
        return None
    return {category: (text,) for category, text in answer.items() if text is not None and text.strip()}
