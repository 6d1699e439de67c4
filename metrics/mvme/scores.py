"""All scores of written reports: coverage, links, and the Chief Physician's marks where there is a judge.

Undefined is ``None`` with a reason. A report that could not be had is not scored; a report that names no disease misses
every disease of the reference (as in ``linking``).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from verisim_metrics.consultation import is_excluded
from verisim_metrics.judging import Judge
from verisim_metrics.mvme.coverage import PartCoverage, coverage
from verisim_metrics.mvme.judge import Mark, chief_marks
from verisim_metrics.mvme.linking import FuzzyLinker, LinkCount, Pair, icd10_cm, link_fuzzy, link_icd
from verisim_tasks.language.vector_store import cache_folder
from verisim_tasks.records.case import Case
from verisim_tasks.records.transcript import Report, Transcript

EXCLUDED = "the consultation ended in an error"
NO_REPORT = "there is no report"


@dataclass(frozen=True)
class ReportScores:
    """The scores of one report."""

    coverage: Mapping[str, PartCoverage] = field(default_factory=dict)
    """By part; empty where there is no report."""
    chief: Mapping[str, Mark] = field(default_factory=dict)
    """By part; empty without a judge or a report."""
    link_fuzzy: LinkCount | None = None
    link_icd: LinkCount | None = None
    reason: str | None = None
    """Why there are no scores."""


@functools.cache
def default_linker() -> FuzzyLinker:
    """The published linker over the shipped ICD-10-CM."""
    return FuzzyLinker(icd10_cm(), folder=cache_folder())


def score_reports(
    transcripts: Sequence[Transcript], cases: Mapping[str, Case], judge: Judge | None = None
) -> list[ReportScores]:
    """The scores of each transcript's report, in order; all reports are judged and linked together."""
    reasons = [_why_not(t) for t in transcripts]
    places = [i for i, reason in enumerate(reasons) if reason is None]
    scored = [(cases[transcripts[i].case_id], transcripts[i].report) for i in places]
    chief = chief_marks(scored, judge) if judge is not None and scored else [{} for _ in scored]
    pairs = [_pair(place, case, report) for place, (case, report) in zip(places, scored, strict=True)]
    named = [p for p in pairs if p is not None]
    fuzzy = {count.id: count for count in link_fuzzy(named, default_linker())[1]} if named else {}
    icd = {count.id: count for count in link_icd(named)[1]} if named else {}
    found = {
        place: ReportScores(coverage(case, report), marks, fuzzy.get(str(place)), icd.get(str(place)))
        for place, (case, report), marks in zip(places, scored, chief, strict=True)
    }
    return [found[i] if i in found else ReportScores(reason=reasons[i]) for i in range(len(transcripts))]


def _why_not(transcript: Transcript) -> str | None:
    if is_excluded(transcript):
        return EXCLUDED
    return (transcript.report_missing or NO_REPORT) if transcript.report is None else None


def _pair(place: int, case: Case, report: Report | None) -> Pair | None:
    """The two diagnoses; ``None`` for a case without a reference."""
    if case.diagnosis is None:
        return None
    predicted = report.diagnosis if report else None
    return Pair(str(place), case.diagnosis.name, predicted, case.diagnosis.accepted_codes)
