"""PatientSim scores of saved transcripts: truth, plausibility, coverage and consistency of the patient's words.

Transcripts stream through in chunks; only counts are kept. Every score is pooled at the end by the arithmetic of
``recipe``; undefined is ``None`` with a reason and a count.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from verisim_metrics.patientsim.derived import Told, asked_by_tags, asked_by_text, told_by_tags, told_by_text
from verisim_metrics.patientsim.judged import Derive, JudgeSteps
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
    judged: Truth | None = None
    """The same sentences as ``text``, coverage by the profile that a judge derived."""
    unjudged: int = 0
    """What a judge was asked and did not say: types and items of sentences, which are left out, and the profile."""
    reason: str | None = None

    def of(self, kind: str) -> Truth | None:
        """``text``, ``tagged`` or ``judged``."""
        return {"text": self.text, "tagged": self.tagged, "judged": self.judged}[kind]


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
    steps: JudgeSteps | None = None,
    derive: Derive | None = None,
) -> Instruments:
    """What understands and judges, for ``iter_scores`` and ``pool``; arguments as for ``score_patient``.

    ``steps`` types and relates sentences in place of the rules, ``derive`` derives profiles from dialogues.
    """
    known = encoder or default_encoder()
    return Instruments(Labeller(nli), TextRelation(known), known, judge, icon_judge, empty, steps, derive)


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
    found = [truth for record in records if (truth := record.of(kind)) is not None]
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
    scored = [t for t in batch if _why_not(t) is None]
    said = utterances(scored, tools.encoder, tools.steps.types if tools.steps is not None else None)
    related = iter(_related(scored, said, profiles, tools))
    derived = iter(tools.derive(scored)) if tools.derive is not None else itertools.repeat(None, len(scored))
    sentences = iter(said)
    drafts = [
        _draft(t, next(sentences), next(related), next(derived), profiles[t.case_id], tools)
        if _why_not(t) is None
        else _unscored(t, profiles[t.case_id])
        for t in batch
    ]
    done = iter(truths([side for draft in drafts for side in draft.sides.values()], tools))
    made = [{kind: next(done) for kind in draft.sides} for draft in drafts]
    return [
        replace(draft.record, text=truth.get("text"), tagged=truth.get("tagged"), judged=truth.get("judged"))
        for draft, truth in zip(drafts, made, strict=True)
    ]


@dataclass(frozen=True)
class _Draft:
    """A record without its truth, and what its truth is told from, by kind."""

    record: TranscriptScores
    sides: Mapping[str, Side]


Related = list[tuple[Utterance, tuple[Item, ...]]]
"""Sentences that are scored, each with its items."""


def _related(
    transcripts: Sequence[Transcript],
    said: Sequence[Sequence[Utterance]],
    profiles: Mapping[str, tuple[Item, ...]],
    tools: Instruments,
) -> list[Related]:
    """The scored sentences of each transcript with their items; one that a judge did not relate is left out."""
    scored = [[u for u in sentences if _counts(u)] for sentences in said]
    items = [profiles[t.case_id] for t in transcripts]
    if tools.steps is not None:
        flat = iter(tools.steps.relations([(u, own) for us, own in zip(scored, items, strict=True) for u in us]))
        found = [[(u, next(flat)) for u in us] for us in scored]
        return [[(u, about) for u, about in pairs if about is not None] for pairs in found]
    tools.encoder.encode(sorted({u.hypothesis for us in scored for u in us}))
    return [
        list(zip(us, related_items(us, own, tools.relation), strict=True))
        for us, own in zip(scored, items, strict=True)
    ]


def _counts(utterance: Utterance) -> bool:
    return utterance.kind == "information" and utterance.left_out is None


def _why_not(transcript: Transcript) -> str | None:
    """Why the words of a transcript are not scored, if they are not."""
    if transcript.outcome.stop_reason == "error":
        return "the consultation ended in an error"
    if any(turn.text == WITHHELD for turn in transcript.patient_turns()):
        return "the text is withheld: only recorded fact ids are scored"
    return None


def _unscored(transcript: Transcript, items: tuple[Item, ...]) -> _Draft:
    """Without words, tags may still be there; after an error nothing counts."""
    record = replace(_record(transcript), reason=_why_not(transcript))
    tagged = None if transcript.outcome.stop_reason == "error" else _tagged_side(transcript, [], items)
    return _Draft(record, {} if tagged is None else {"tagged": tagged})


def _draft(
    transcript: Transcript,
    said: Sequence[Utterance],
    related: Related,
    derived: Told | None,
    items: tuple[Item, ...],
    tools: Instruments,
) -> _Draft:
    kinds = Counter(u.kind for u in said)
    scored = [u for u in said if _counts(u)]
    tags = [(u, found) for u in scored if (found := tagged_items(u, items)) is not None]
    tagged = _tagged_side(transcript, tags, items)
    asked = asked_by_text(transcript, items, tools.relation)
    by_judge = tools.derive is not None
    record = replace(
        _record(transcript),
        sentences={name: kinds[name] for name in TYPES},
        left_out={name: sum(u.left_out == name for u in said) for name in ("justified", "unrecorded")},
        untagged=len(scored) - len(tags) if tagged is not None else 0,
        unjudged=kinds[None] + len(scored) - len(related) + (by_judge and derived is None),
        reason=None if tagged is not None else "the transcript records no fact ids: no tagged scores",
    )
    sides = {"text": Side(items, related, told_by_text(related), asked, compared=not by_judge)}
    if tagged is not None:
        sides["tagged"] = replace(tagged, compared=not by_judge)
    if derived is not None:
        sides["judged"] = Side(items, related, derived, asked)
    return _Draft(record, sides)


def _record(transcript: Transcript) -> TranscriptScores:
    return TranscriptScores(transcript.case_id, transcript.task, transcript.variant, transcript.seed, transcript.repeat)


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
