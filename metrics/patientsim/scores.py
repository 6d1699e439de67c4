"""PatientSim scores of saved transcripts: truth, plausibility, coverage and consistency of the patient's words.

Transcripts stream through in chunks; only counts are kept. Every score is pooled at the end by the arithmetic of
``recipe``; undefined is ``None`` with a reason and a count.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from verisim_metrics.patientsim.derived import asked_by_tags, asked_by_text, told_by_tags, told_by_text
from verisim_metrics.patientsim.labelling import Labeller, Nli
from verisim_metrics.patientsim.profile import Item, items_of
from verisim_metrics.patientsim.recipe import Empty, Score, Tally, contradict, entail, mean, plausibility
from verisim_metrics.patientsim.relations import TextRelation, related_items, tagged_items
from verisim_metrics.patientsim.truth import Instruments, PlausibilityJudge, Side, SimilarityJudge, Truth, truths
from verisim_metrics.patientsim.types import TYPES
from verisim_metrics.patientsim.utterances import Utterance, utterances
from verisim_tasks.errors import UserError
from verisim_tasks.language.embedding import Encoder, default_encoder
from verisim_tasks.records.case import Case
from verisim_tasks.records.transcript import Transcript

CHUNK = 64
"""Transcripts that are scored in one batch; has no influence on a score."""
WITHHELD = "[restricted]"
NO_JUDGE = "no judge"
KINDS = ("text", "tagged")
"""How sentences are related to items: from text alone, or by the fact ids that the transcript records."""


@dataclass(frozen=True)
class TranscriptScores:
    """Counts and per-transcript values; ``reason`` says why ``text`` or ``tagged`` is missing."""

    case_id: str
    task: str
    variant: str
    seed: int
    repeat: int
    sentences: Mapping[str, int] = field(default_factory=dict)
    """Number of the patient's sentences by type."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Justified and unrecorded denials, left out of the truth scores."""
    untagged: int = 0
    """Information sentences for which the record gives no fact ids although the transcript has some."""
    text: Truth | None = None
    tagged: Truth | None = None
    reason: str | None = None


@dataclass(frozen=True)
class PatientReport:
    """The records in the order of the transcripts, and the pooled scores by kind of relation and name."""

    records: tuple[TranscriptScores, ...]
    pooled: Mapping[str, Mapping[str, Score]]
    nli: str


def score_patient(
    transcripts: Iterable[Transcript],
    cases: Mapping[str, Case] | Iterable[Case],
    nli: Nli,
    judge: PlausibilityJudge | None = None,
    *,
    icon_judge: SimilarityJudge | None = None,
    encoder: Encoder | None = None,
    empty: Empty = "none",
    chunk: int = CHUNK,
) -> PatientReport:
    """Score saved transcripts.

    Args:
        transcripts: Any iterable, read once.
        cases: The cases they are about, by id or in any order.
        nli: Predicts ``(n, 3)``: entailment, neutral, contradiction of (item, sentence).
        judge: Rates plausibility 1-4; without it plausibility is ``None`` ("no judge").
        icon_judge: Rates the similarity of original and derived items 1-4; without it ``icon`` is ``None``.
        encoder: Sentence embeddings; the suite's fixed model by default.
        empty: ``"zero"`` gives the 0 of the published recipe for empty sets.
        chunk: Transcripts in one batch.

    Returns:
        One record for each transcript, and the pooled scores with ``n``, coverage and reason.

    Raises:
        UserError: when a transcript's case is not among the cases.
    """
    tools = instruments(nli, judge, icon_judge, encoder=encoder, empty=empty)
    records = tuple(iter_scores(transcripts, cases, tools, chunk))
    return PatientReport(records, {kind: pool(records, kind, tools) for kind in KINDS}, nli.name)


def instruments(
    nli: Nli,
    judge: PlausibilityJudge | None = None,
    icon_judge: SimilarityJudge | None = None,
    *,
    encoder: Encoder | None = None,
    empty: Empty = "none",
) -> Instruments:
    """What understands and judges, for ``iter_scores`` and ``pool``; arguments as for ``score_patient``."""
    known = encoder or default_encoder()
    return Instruments(Labeller(nli), TextRelation(known), known, judge, icon_judge, empty)


def iter_scores(
    transcripts: Iterable[Transcript],
    cases: Mapping[str, Case] | Iterable[Case],
    tools: Instruments,
    chunk: int = CHUNK,
) -> Iterator[TranscriptScores]:
    """The records one by one, for a run too long to hold; pool them later with ``pool``."""
    by_id = dict(cases) if isinstance(cases, Mapping) else {case.id: case for case in cases}
    profiles: dict[str, tuple[Item, ...]] = {}
    for batch in _chunks(transcripts, chunk):
        for transcript in batch:
            if transcript.case_id not in by_id:
                raise UserError(f"no case {transcript.case_id!r} for a transcript; give the cases it was run on")
            profiles.setdefault(transcript.case_id, items_of(by_id[transcript.case_id]))
        yield from _score_batch(batch, profiles, tools)


def pool(records: Iterable[TranscriptScores], kind: str, tools: Instruments) -> dict[str, Score]:
    """Pooled scores of one kind of relation: sentences are pooled, profiles averaged."""
    every = [record.text if kind == "text" else record.tagged for record in records]
    found = [truth for truth in every if truth is not None]
    counts = sum((t.counts for t in found), Tally())
    coverages = [t.coverage.scores(tools.empty) for t in found]
    return {
        "entail": entail(counts, tools.empty),
        "contradict": contradict(counts, tools.empty),
        "plausibility": _judged(tools.judge, plausibility((r for t in found for r in t.ratings), tools.empty)),
        **{
            name: mean([c[name].value for c in coverages], tools.empty, "no profile")
            for name in ("icov", "icov_all", "icov_asked")
        },
        "icon": _judged(tools.icon_judge, mean((s for t in found for s in t.similarities), tools.empty)),
        "icon_embed": mean([t.icon_embed.value for t in found], tools.empty, "no overlapping item has words"),
    }


def _score_batch(
    batch: Sequence[Transcript], profiles: Mapping[str, tuple[Item, ...]], tools: Instruments
) -> list[TranscriptScores]:
    """Everything that costs (embeddings, NLI, judges) is asked once for the whole batch."""
    said = utterances(batch, tools.encoder)
    spoken = [u.hypothesis for sentences in said for u in sentences if _counts(u)]
    tools.encoder.encode(sorted(set(spoken)))
    drafts = [_draft(t, s, profiles[t.case_id], tools) for t, s in zip(batch, said, strict=True)]
    done = iter(truths([side for draft in drafts for side in draft.sides], tools))
    return [
        replace(
            draft.record,
            text=next(done) if draft.text is not None else None,
            tagged=next(done) if draft.tagged is not None else None,
        )
        for draft in drafts
    ]


@dataclass(frozen=True)
class _Draft:
    """A record without its truth, and what its truth is told from."""

    record: TranscriptScores
    text: Side | None = None
    tagged: Side | None = None

    @property
    def sides(self) -> list[Side]:
        return [side for side in (self.text, self.tagged) if side is not None]


def _counts(utterance: Utterance) -> bool:
    return utterance.kind == "information" and utterance.left_out is None


def _draft(transcript: Transcript, said: Sequence[Utterance], items: tuple[Item, ...], tools: Instruments) -> _Draft:
    record = TranscriptScores(
        transcript.case_id, transcript.task, transcript.variant, transcript.seed, transcript.repeat
    )
    if transcript.outcome.stop_reason == "error":
        return _Draft(replace(record, reason="the consultation ended in an error"))
    if any(turn.text == WITHHELD for turn in transcript.patient_turns()):
        return _Draft(
            replace(record, reason="the text is withheld: only recorded fact ids are scored"),
            tagged=_tagged_side(transcript, [], items),
        )
    kinds = Counter(u.kind for u in said)
    scored = [u for u in said if _counts(u)]
    related = list(zip(scored, related_items(scored, items, tools.relation), strict=True))
    tags = [(u, found) for u in scored if (found := tagged_items(u, items)) is not None]
    tagged = _tagged_side(transcript, tags, items)
    record = replace(
        record,
        sentences={name: kinds[name] for name in TYPES},
        left_out={name: sum(u.left_out == name for u in said) for name in ("justified", "unrecorded")},
        untagged=len(scored) - len(tags) if tagged is not None else 0,
        reason=None if tagged is not None else "the transcript records no fact ids: no tagged scores",
    )
    asked = asked_by_text(transcript, items, tools.relation)
    return _Draft(record, Side(items, related, told_by_text(related), asked), tagged)


def _tagged_side(
    transcript: Transcript, tags: Sequence[tuple[Utterance, tuple[Item, ...]]], items: tuple[Item, ...]
) -> Side | None:
    told = told_by_tags(transcript, tags, items)
    return None if told is None else Side(items, tags, told, asked_by_tags(transcript, items))


def _judged(judge: object | None, score: Score) -> Score:
    return Score(None, 0, score.of, NO_JUDGE) if judge is None else score


def _chunks(transcripts: Iterable[Transcript], size: int) -> Iterator[list[Transcript]]:
    source = iter(transcripts)
    while batch := list(itertools.islice(source, size)):
        yield batch
