"""Everything that is scored of a patient's side: truth, coverage, persona, VeriSim's judge.

A ``Simulator`` is made once with its instruments. Its figures are sums and numbers, so that they can be pooled over any
set of transcripts: a score is the sum of its sums over the sum of its numbers, undefined where nothing was counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from verisim_metrics.judging import Judge, Judgement
from verisim_metrics.nli.model import Nli
from verisim_metrics.patientsim.fidelity import FIDELITY, judge_personas
from verisim_metrics.patientsim.judged import (
    NAME,
    RATINGS,
    STEPS,
    JudgeNli,
    JudgeSteps,
    deriver,
    plausibility_rater,
    rubric_digests,
    similarity_rater,
)
from verisim_metrics.patientsim.relations import Weights
from verisim_metrics.patientsim.scores import TranscriptScores, instruments, iter_scores
from verisim_metrics.patientsim.truth import Instruments, Truth
from verisim_metrics.verisim_judge import CRITERIA, judge_transcripts
from verisim_tasks._stable import digest
from verisim_tasks.language.embedding import MODEL_NAME, MODEL_REVISION
from verisim_tasks.language.lexicon import load_yaml
from verisim_tasks.records.case import Case
from verisim_tasks.records.transcript import Transcript

CHUNK = 64
"""Transcripts that are scored in one batch; has no influence on a score."""

Figure = tuple[float, int]
"""A sum and the number it is over."""

COVERAGE: tuple[str, ...] = ("icov", "icov_all", "icov_asked")
FIGURES: tuple[str, ...] = (
    "entail",
    "contradict",
    "plausibility",
    *COVERAGE,
    *(f"{name}_judge" for name in COVERAGE),
    "icon",
    "icon_embed",
    *(f"persona_{name}" for name in FIDELITY),
    *CRITERIA,
)
"""Every score of the patient's side. ``*_judge``: of the profile that a judge derived."""
OF_PERSONA: tuple[str, ...] = tuple(f"persona_{name}" for name in FIDELITY)
"""Those that only a patient with a persona has."""
OF_JUDGE_ALONE: tuple[str, ...] = (*OF_PERSONA, *CRITERIA)
"""Those for which a judge reads the dialogue; no NLI takes part."""
BY_JUDGE: tuple[str, ...] = ("plausibility", "icon", *(f"{name}_judge" for name in COVERAGE), *OF_JUDGE_ALONE)
"""Those that need a judge."""
COUNTS: tuple[str, ...] = (
    "patient_sentences",
    "supported_sentences",
    "justified_denials",
    "unrecorded_denials",
    "unjudged",
)
"""Sentences of type information that are scored, those of them that relate to an item, denials left out of the truth
scores, and what a judge was asked and did not answer."""


@dataclass(frozen=True)
class PatientScores:
    """The patient's side of one transcript; empty where it was not scored."""

    truth: TranscriptScores | None = None
    criteria: Mapping[str, Judgement] = field(default_factory=dict)
    persona: Mapping[str, Judgement] = field(default_factory=dict)

    def figures(self) -> dict[str, Figure]:
        """Sum and number of each score that was looked at; a number of 0 is a score that could not be told."""
        found: dict[str, Figure] = {}
        if self.truth is not None and self.truth.text is not None:
            found.update(_truth_figures(self.truth.text))
            if self.truth.judged is not None:
                found.update(_coverage_figures(self.truth.judged, "_judge"))
                found["icon"] = _summed(self.truth.judged.similarities)
        found.update({f"persona_{name}": _summed([j.score]) for name, j in self.persona.items()})
        found.update({name: _summed([j.score]) for name, j in self.criteria.items()})
        return found

    def counts(self) -> dict[str, int]:
        """How much the figures rest on, and what is missing (see ``COUNTS``)."""
        judged = [*self.criteria.values(), *self.persona.values()]
        missing = sum(j.score is None for j in judged)
        record = self.truth
        if record is None or record.text is None:
            return {**dict.fromkeys(COUNTS, 0), "unjudged": missing}
        truth = record.text
        rated = [*truth.ratings, *(record.judged or truth).similarities]
        return {
            "patient_sentences": truth.counts.information,
            "supported_sentences": truth.counts.supported,
            "justified_denials": record.left_out.get("justified", 0),
            "unrecorded_denials": record.left_out.get("unrecorded", 0),
            "unjudged": missing + record.unjudged + truth.unlabelled + sum(r is None for r in rated),
        }


class Simulator:
    """Scores patients' sides in batches.

    Args:
        nli: A model of ``make_nli``, a ``JudgeNli``, or ``None`` for no truth scores.
        judge: Gives the judged scores; without it they are missing.
    """

    def __init__(self, nli: Nli | JudgeNli | None, judge: Judge | None = None) -> None:
        self.judge = judge
        self._nli = nli
        self._tools = None if nli is None else _instruments(nli, judge)

    @property
    def tools(self) -> Instruments | None:
        """The instruments of the truth scores; ``None`` without an NLI."""
        return self._tools

    @property
    def scores_anything(self) -> bool:
        """Whether there is an NLI or a judge at all."""
        return self._tools is not None or self.judge is not None

    def score(self, transcripts: Iterable[Transcript], cases: Mapping[str, Case]) -> Iterator[PatientScores]:
        """The patient's side of each transcript, in order; transcripts are read once, in chunks.

        Raises:
            UserError: when the case of a transcript is not among the cases.
        """
        batch: list[Transcript] = []
        for transcript in transcripts:
            batch.append(transcript)
            if len(batch) == CHUNK:
                yield from self._score(batch, cases)
                batch = []
        yield from self._score(batch, cases)

    def describe(self) -> dict[str, Any]:
        """Which NLI, judge and rubrics scored, with one fingerprint for each family of scores; ``None``: not scored."""
        truth = None if self._nli is None else {"nli": self._nli.describe(), **_understanding(self._nli.name)}
        judged = None
        if self.judge is not None:
            names = (*(RATINGS if self._nli else ()), *CRITERIA, *(f"persona_{n}" for n in FIDELITY))
            described = self.judge.describe()
            judged = {
                "judge": {k: described[k] for k in ("model", "settings", "prompts")},
                "rubrics": rubric_digests(names),
            }
        return {
            family: None if parts is None else {**parts, "fingerprint": digest(parts)}
            for family, parts in (("truth", truth), ("judged", judged))
        }

    def _score(self, batch: Sequence[Transcript], cases: Mapping[str, Case]) -> list[PatientScores]:
        if not batch:
            return []
        truth = list(iter_scores(batch, cases, self._tools, CHUNK)) if self._tools else [None] * len(batch)
        fair = [t for t in batch if t.outcome.stop_reason != "error"]
        criteria = iter(judge_transcripts(fair, cases, self.judge) if self.judge else [{}] * len(fair))
        personas = iter(judge_personas(fair, self.judge) if self.judge else [{}] * len(fair))
        return [
            PatientScores(record, next(criteria), next(personas))
            if t.outcome.stop_reason != "error"
            else PatientScores(record)
            for t, record in zip(batch, truth, strict=True)
        ]


def _instruments(nli: Nli | JudgeNli, judge: Judge | None) -> Instruments:
    if judge is None:
        return instruments(nli)
    return instruments(
        nli,
        plausibility_rater(judge),
        similarity_rater(judge),
        steps=JudgeSteps(judge) if nli.name == NAME else None,
        derive=deriver(judge),
    )


def _understanding(nli: str) -> dict[str, Any]:
    """What types sentences and relates them to items."""
    return {
        "embedding": [MODEL_NAME, MODEL_REVISION],
        "items": digest([load_yaml("patientsim", "profile_items.yaml"), vars(Weights())]),
        "types": rubric_digests(STEPS) if nli == NAME else digest(load_yaml("patientsim", "sentence_types.yaml")),
    }


def _truth_figures(truth: Truth) -> dict[str, Figure]:
    counts = truth.counts
    return {
        "entail": (float(counts.entailed), counts.supported),
        "contradict": (float(counts.contradicted), counts.supported),
        "plausibility": _summed(truth.ratings),
        **_coverage_figures(truth, ""),
        "icon": _summed(truth.similarities),
        "icon_embed": _summed([truth.icon_embed.value]),
    }


def _coverage_figures(truth: Truth, suffix: str) -> dict[str, Figure]:
    return {f"{name}{suffix}": _summed([score.value]) for name, score in truth.coverage.scores().items()}


def _summed(values: Iterable[float | None]) -> Figure:
    known = [float(v) for v in values if v is not None]
    return sum(known), len(known)
