"""The profile that a dialogue lets one write down, and how much of the original it holds.

PatientSim lets a language model fill a profile from the dialogue. This is a deterministic stand-in, in two kinds that
are reported apart: *tagged* reads the fact ids that our patients record, *text* relates the patient's sentences to
profile items.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from verisim_metrics.patientsim.profile import Item, categories_of
from verisim_metrics.patientsim.recipe import K_ITEMS, Empty, Score, icov, mean
from verisim_metrics.patientsim.relations import TextRelation
from verisim_metrics.patientsim.utterances import Utterance, questions_of
from verisim_tasks.language.embedding import SIMILARITY_DECIMALS, Encoder, Vectors
from verisim_tasks.records.case import SPOKEN_ITEMS
from verisim_tasks.records.transcript import Transcript


@dataclass(frozen=True)
class Coverage:
    """Which spoken profile items are in the original, came up in the dialogue, and were asked about."""

    original: tuple[str, ...]
    derived: tuple[str, ...]
    asked: tuple[str, ...]

    def scores(self, empty: Empty = "none") -> dict[str, Score]:
        """``icov`` over the items present, ``icov_all`` over all 23, ``icov_asked`` over those asked about; 0-1."""
        return {
            "icov": icov(self.original, self.derived, empty=empty),
            "icov_all": icov(self.original, self.derived, items=K_ITEMS, empty=empty),
            "icov_asked": icov(self.original, self.derived, asked=self.asked, empty=empty),
        }


Told = Mapping[str, Sequence[str]]
"""What was said on each category, sentence by sentence: the derived profile."""


def told_by_text(sentences: Iterable[tuple[Utterance, Sequence[Item]]]) -> Told:
    """The derived profile from sentences of type information and their related items."""
    found: dict[str, list[str]] = {}
    for utterance, items in sentences:
        for category in dict.fromkeys(item.category for item in items):
            _add(found, category, utterance.hypothesis)
    return found


def told_by_tags(
    transcript: Transcript, tagged: Iterable[tuple[Utterance, Sequence[Item]]], items: tuple[Item, ...]
) -> Told | None:
    """The derived profile from disclosed and truly denied fact ids; ``None`` where the transcript records none.

    The words are the tagged sentences of those facts; a restricted transcript has none, and then they are empty.
    """
    by_id = {item.id: item.category for item in items}
    if not any(turn.segments or turn.disclosed for turn in transcript.patient_turns()):
        return None
    found: dict[str, list[str]] = {}
    for turn in transcript.patient_turns():
        denied = [d.fact_id for d in turn.denials if d.kind == "recorded" and d.fact_id is not None]
        for fact_id in (*(d.fact_id for d in turn.disclosed), *denied):
            if fact_id in by_id:
                found.setdefault(by_id[fact_id], [])
    for category, words in told_by_text(tagged).items():
        found[category] = list(words)
    return found


def coverage(items: tuple[Item, ...], told: Told, asked: Iterable[str]) -> Coverage:
    """The spoken categories in their fixed order; what is no spoken item (``other``) does not count."""
    original, wanted = categories_of(items), set(asked)
    return Coverage(original, _in_order(told), tuple(c for c in original if c in wanted))


def asked_by_tags(transcript: Transcript, items: tuple[Item, ...]) -> tuple[str, ...]:
    """Categories that the record says the doctor asked about."""
    by_id = {item.id: item.category for item in items}
    keys = [key for turn in transcript.patient_turns() for key in turn.asked]
    return _in_order({by_id.get(key, key.removeprefix("item:")) for key in keys})


def asked_by_text(transcript: Transcript, items: tuple[Item, ...], relation: TextRelation) -> tuple[str, ...]:
    """Categories of the items that the doctor's questions relate to, by text alone."""
    messages = [turn.text for turn in transcript.turns if turn.speaker == "doctor"]
    questions = [question for text in messages for question in questions_of(text)]
    return _in_order({item.category for found in relation.related(questions, items) for item in found})


def icon_embed(items: tuple[Item, ...], told: Told, encoder: Encoder, empty: Empty = "none") -> Score:
    """Mean cosine, 0-1, of original and derived over the overlapping items: a stand-in for ICon's judge.

    Each side of an item is the mean vector of its statements or sentences.
    """
    pairs = overlapping(items, told)
    cosines = [_cosine(_centre(original, encoder), _centre(derived, encoder)) for original, derived in pairs]
    return mean(cosines, empty, "no overlapping item has words")


def overlapping(items: tuple[Item, ...], told: Told) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Statements and sentences on each spoken item that stands in both profiles, in the fixed order of the items."""
    both = [c for c in categories_of(items) if told.get(c)]
    return [(tuple(i.text for i in items if i.category == c), tuple(told[c])) for c in both]


def _centre(texts: Sequence[str], encoder: Encoder) -> Vectors:
    centre: Vectors = encoder.encode(texts).mean(axis=0)
    return centre


def _cosine(left: Vectors, right: Vectors) -> float:
    """Rounded and clipped to 0-1; 0 where a side has no direction."""
    norm = float(np.linalg.norm(left) * np.linalg.norm(right))
    return min(1.0, max(0.0, round(float(left @ right) / norm, SIMILARITY_DECIMALS))) if norm else 0.0


def _in_order(categories: Iterable[str]) -> tuple[str, ...]:
    have = set(categories)
    return tuple(name for name in SPOKEN_ITEMS if name in have)


def _add(found: dict[str, list[str]], category: str, text: str) -> None:
    said = found.setdefault(category, [])
    if text not in said:
        said.append(text)
