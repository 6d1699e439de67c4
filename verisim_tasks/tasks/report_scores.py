"""The doctor's written report as lm-eval's per-case metrics and their aggregates.

``coverage_<part>`` (1-4, without a judge) and ``mvme_<part>`` (1-4, by the Chief Physician, None without a judge) are
means over the cases in which they are defined. ``link_fuzzy_*`` and ``link_icd_*`` (0-1) pool the counts of all cases
(micro). What is undefined is None, and ``_n`` counts the cases in which it is defined; ``reports_missing`` counts the
reports that could not be had.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from verisim_metrics.mvme.linking import LinkCount, micro
from verisim_metrics.mvme.report import PARTS
from verisim_metrics.mvme.scores import EXCLUDED, ReportScores
from verisim_tasks.tasks.scores import count_defined, mean_or_none, stderr_of_mean, total

INTERVIEW_PARTS = tuple(p for p in PARTS if p != "examinations")
"""Where nothing could be examined."""
RECORD_PARTS = ("diagnosis", "rationale", "treatment")
"""Where the whole record was handed over."""
LINKERS = ("link_fuzzy", "link_icd")
LINK_SCORES = ("precision", "recall", "f1")

Counts = tuple[int, int, int]
"""Matched, predicted, in the reference."""


@dataclass(frozen=True)
class ReportMetrics:
    """The metrics of one task's reports."""

    parts: tuple[str, ...]
    """The parts that its reports have."""
    judged: bool = False
    """Whether there is a Chief Physician."""

    def case_metrics(self, scores: Iterable[ReportScores]) -> dict[str, Any]:
        """The metrics of one case, its repeats averaged, link counts added up."""
        every = list(scores)
        found: dict[str, Any] = {}
        for name, value in self._marks(every).items():
            found[name] = value
            if self._can_be_told(name):
                found[f"{name}_stderr"] = found[f"{name}_n"] = value
        for linker in LINKERS:
            counts = _added([getattr(s, linker) for s in every])
            found.update({f"{linker}_{score}": counts for score in LINK_SCORES})
            found[f"{linker}_n"] = counts
        missing = sum(s.reason is not None and s.reason != EXCLUDED for s in every)
        return {**found, "reports_missing": missing}

    def _marks(self, every: Sequence[ReportScores]) -> dict[str, float | None]:
        covered = {f"coverage_{p}": _mean([s.coverage[p].mark for s in every if s.coverage]) for p in self.parts}
        chief = {f"mvme_{p}": _mean([s.chief[p].value for s in every if s.chief]) for p in self.parts}
        return {**covered, **chief}

    def _can_be_told(self, name: str) -> bool:
        return self.judged or not name.startswith("mvme_")

    def _names(self) -> list[str]:
        return [f"{family}_{part}" for family in ("coverage", "mvme") for part in self.parts]

    def aggregations(self) -> dict[str, Callable[[Sequence[Any]], Any]]:
        """One aggregator for every key of ``case_metrics``."""
        found: dict[str, Callable[[Sequence[Any]], Any]] = {}
        for name in self._names():
            found[name] = mean_or_none
            if self._can_be_told(name):
                found.update({f"{name}_stderr": stderr_of_mean, f"{name}_n": count_defined})
        for linker in LINKERS:
            found.update({f"{linker}_precision": micro_precision, f"{linker}_recall": micro_recall})
            found.update({f"{linker}_f1": micro_f1, f"{linker}_n": count_defined})
        return {**found, "reports_missing": total}

    def higher_is_better(self) -> dict[str, bool]:
        """Direction of the metrics that have one."""
        links = {f"{linker}_{score}": True for linker in LINKERS for score in LINK_SCORES}
        return {**dict.fromkeys(self._names(), True), **links, "reports_missing": False}


def micro_precision(counts: Sequence[Counts | None]) -> float | None:
    """Share of the predicted diseases that are in the reference, over all cases."""
    return micro(_counts(counts)).precision


def micro_recall(counts: Sequence[Counts | None]) -> float | None:
    """Share of the reference's diseases that were predicted, over all cases."""
    return micro(_counts(counts)).recall


def micro_f1(counts: Sequence[Counts | None]) -> float | None:
    """Harmonic mean of the two."""
    return micro(_counts(counts)).f1


def _counts(counts: Sequence[Counts | None]) -> list[LinkCount]:
    return [LinkCount("", *c) for c in counts if c is not None]


def _added(counts: Sequence[LinkCount | None]) -> Counts | None:
    defined = [c for c in counts if c is not None]
    if not defined:
        return None
    return sum(c.matched for c in defined), sum(c.predicted for c in defined), sum(c.reference for c in defined)


def _mean(values: Sequence[int | None]) -> float | None:
    return mean_or_none([None if v is None else float(v) for v in values])
