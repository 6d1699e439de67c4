"""A transcript as the patient's sentences, each with its type, its question, and where the record says it is from."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from verisim_metrics.patientsim.types import SentenceType, is_short_answer, sentence_types
from verisim_tasks.language.embedding import Encoder
from verisim_tasks.language.sentences import Span, sentence_spans, split_sentences
from verisim_tasks.language.words import fold
from verisim_tasks.records.transcript import Denial, Segment, Transcript, Turn

LeftOut = Literal["justified", "unrecorded"]

_FROM_DEVICE: dict[str | None, LeftOut] = {"deny_first": "justified", "unrecorded": "unrecorded"}
_FROM_CLAIM: dict[str, LeftOut] = {"justified_denial": "justified", "unrecorded_denial": "unrecorded"}


SEEN = 20_000
"""Messages remembered with their sentences."""


@dataclass(frozen=True)
class Utterance:
    """One sentence of the patient."""

    turn: int
    text: str
    question: str
    """What the doctor asked just before; empty for the opening."""
    kind: SentenceType | None
    """``None`` where a judge was asked and did not say."""
    elliptical: bool = False
    """Says nothing without its question ("No.", "Not that I've noticed.")."""
    left_out: LeftOut | None = None
    """A denial that truth scores leave out, as the transcript records it."""
    tagged: bool = False
    """The turn carries segments, and the sentence was found in them."""
    fact_ids: tuple[str, ...] = ()
    """Facts that the record says the sentence tells or denies."""

    @property
    def hypothesis(self) -> str:
        """What NLI reads: the sentence, with its question where it says nothing alone."""
        return f"{self.question} {self.text}" if self.elliptical and self.question else self.text


Typing = Callable[[Sequence["Utterance"]], "Sequence[SentenceType | None]"]
"""Tells the types of sentences."""


def utterances(
    transcripts: Sequence[Transcript], encoder: Encoder | None = None, types: Typing | None = None
) -> list[list[Utterance]]:
    """The patient's sentences of each transcript, in order; types are told for all transcripts in one batch.

    ``types`` tells them in place of the rules.
    """
    bare = [list(_sentences(transcript)) for transcript in transcripts]
    flat = [u for sentences in bare for u in sentences]
    kinds = iter(types(flat) if types is not None else sentence_types([u.text for u in flat], encoder))
    return [[replace(u, kind=next(kinds)) for u in sentences] for sentences in bare]


def _sentences(transcript: Transcript) -> Iterator[Utterance]:
    question = ""
    for turn in transcript.turns:
        if turn.speaker == "doctor":
            question = _asked(turn.text)
        elif turn.speaker == "patient":
            yield from _of_turn(turn, question)


def _asked(message: str) -> str:
    """The last question of a doctor's message, or its last sentence."""
    return (questions_of(message) or split_sentences(message) or ("",))[-1]


@functools.lru_cache(maxsize=SEEN)
def questions_of(message: str) -> tuple[str, ...]:
    """The sentences of a message that end in a question mark."""
    return tuple(s for s in split_sentences(message) if s.endswith("?"))


_spans = functools.lru_cache(maxsize=SEEN)(sentence_spans)
"""Patients say the same in many transcripts."""


def _of_turn(turn: Turn, question: str) -> Iterator[Utterance]:
    places = _segment_spans(turn)
    for span in _spans(turn.text):
        text = turn.text[span.start : span.end]
        over = [s for s, place in zip(turn.segments, places, strict=False) if _overlap(place, span)]
        yield Utterance(
            turn=turn.index,
            text=text,
            question=question,
            kind="information",
            elliptical=is_short_answer(text),
            left_out=_left_out_by_segment(over) if over else _left_out_by_claim(text, turn),
            tagged=bool(over),
            fact_ids=tuple(dict.fromkeys(i for s in over for i in s.fact_ids)),
        )


def _segment_spans(turn: Turn) -> list[Span]:
    """Where each segment stands in the turn's text; empty where the segments are not the text."""
    found: list[Span] = []
    cursor = 0
    for segment in turn.segments:
        start = turn.text.find(segment.text, cursor)
        if start < 0:
            return []
        cursor = start + len(segment.text)
        found.append(Span(start, cursor))
    return found


def _overlap(left: Span, right: Span) -> bool:
    return max(left.start, right.start) < min(left.end, right.end)


def _left_out_by_segment(segments: Sequence[Segment]) -> LeftOut | None:
    """A sentence is left out when a denial that is left out makes up part of it and no fact does."""
    if any(s.fact_ids for s in segments):
        return None
    return next((_FROM_DEVICE[s.device] for s in segments if s.kind == "denial" and s.device in _FROM_DEVICE), None)


def _left_out_by_claim(text: str, turn: Turn) -> LeftOut | None:
    """Without segments: the verifier's verdict on this sentence, or the only denial of a short answer."""
    said = fold(text)
    for claim in turn.verification.claims if turn.verification else ():
        kind = _FROM_CLAIM.get(claim.verdict)
        if kind is not None and (fold(claim.text) in said or said.rstrip(".!") in fold(claim.text)):
            return kind
    return _only_denial(turn.denials) if is_short_answer(text) else None


def _only_denial(denials: Sequence[Denial]) -> LeftOut | None:
    kinds = {d.kind for d in denials if not d.retracted}
    if kinds == {"justified"}:
        return "justified"
    return "unrecorded" if kinds == {"unrecorded"} else None
