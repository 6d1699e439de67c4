"""VeriSim's judged criteria (arXiv 2604.10441): truth preservation, realism, clinical utility, noise fidelity.

Each is 1-5 by a judge with an anchored rubric. What the judge does not answer is ``None`` with its reason, and counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from verisim_metrics.judging import Judge, Judgement, Question
from verisim_metrics.patientsim.fidelity import described
from verisim_metrics.patientsim.judged import dialogue_of
from verisim_tasks.records.case import Case
from verisim_tasks.records.transcript import Transcript

CRITERIA: tuple[str, ...] = ("truth_preservation", "realism", "clinical_utility", "noise_fidelity")


@dataclass(frozen=True)
class Criterion:
    """One criterion over several transcripts."""

    value: float | None
    """Mean 1-5 of what was judged."""
    n: int
    of: int
    reasons: tuple[str, ...]
    """Why scores are missing, one for each that is."""


def judge_transcripts(
    transcripts: Sequence[Transcript], cases: Mapping[str, Case], judge: Judge
) -> list[dict[str, Judgement]]:
    """The criteria of each transcript, in order; all questions are asked in one call of the judge."""
    data = [_data(transcript, cases[transcript.case_id]) for transcript in transcripts]
    asked = [Question(c, {name: texts[name] for name in BLOCKS[c]}) for texts in data for c in CRITERIA]
    found = iter(judge(asked))
    return [{criterion: next(found) for criterion in CRITERIA} for _ in transcripts]


BLOCKS: Mapping[str, tuple[str, ...]] = {
    "truth_preservation": ("record", "dialogue"),
    "realism": ("difficulties", "dialogue"),
    "clinical_utility": ("record", "difficulties", "dialogue"),
    "noise_fidelity": ("difficulties", "dialogue"),
}
"""The blocks of data that each rubric names."""


def summarise(judged: Sequence[Mapping[str, Judgement]]) -> dict[str, Criterion]:
    """Means over transcripts; what was not judged is left out and counted."""
    return {criterion: _criterion([row[criterion] for row in judged]) for criterion in CRITERIA}


def _criterion(judgements: Sequence[Judgement]) -> Criterion:
    scores = [j.score for j in judgements if j.score is not None]
    reasons = tuple(j.reason for j in judgements if j.reason is not None)
    return Criterion(sum(scores) / len(scores) if scores else None, len(scores), len(judgements), reasons)


def _data(transcript: Transcript, case: Case) -> dict[str, str]:
    denied = [d.concept for t in transcript.turns for d in t.denials if d.kind == "justified"]
    record = [f"- {fact.statement}" for fact in case.facts]
    if denied:
        record.append(f"Permitted first denials, out of shame: {', '.join(dict.fromkeys(denied))}")
    difficulties = [f"{dimension.replace('_', ' ')}: {level} of 4" for dimension, level in transcript.noise.items()]
    if transcript.persona is not None:
        difficulties.append(f"persona: {described(transcript)}")
    return {
        "record": "\n".join(record),
        "difficulties": "\n".join(difficulties) or "none",
        "dialogue": dialogue_of(transcript),
    }
