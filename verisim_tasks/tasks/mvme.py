"""The lm-eval tasks of AI Hospital's MVME (arXiv 2402.09742): with an examiner, in one step, and among colleagues."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from verisim_metrics.consultation import score_consultation
from verisim_metrics.mvme.report import PARTS
from verisim_tasks.errors import UserError
from verisim_tasks.records.transcript import Collaboration, Transcript
from verisim_tasks.settings import Settings
from verisim_tasks.tasks.consultation import ConsultationTask, Doc
from verisim_tasks.tasks.report_scores import RECORD_PARTS, ReportMetrics
from verisim_tasks.tasks.scores import count_defined, mean_or_none, stderr_of_mean, total

MVME = "verisim_mvme"
ONESTEP = "verisim_mvme_onestep"
COLLABORATION = "verisim_mvme_collab"

DIAGNOSTIC = ("diagnostic_accuracy", "diagnostic_category")
ROUNDS = ("rounds", "consensus", "decided_by_central", "disputed_facts")


class MvmeTask(ConsultationTask):
    """Interview with patient and examiner, then the five-part report."""

    def own_settings(self, given: Settings) -> Settings:
        """Examiner and report are what the task is about."""
        if given.examiner is False and "examiner" in given.model_fields_set:
            raise UserError(f"{MVME} needs the examiner; leave the setting 'examiner' out, or run verisim_clean")
        if not given.report:
            raise UserError(f"{MVME} scores the report; leave the setting 'report' out, or run verisim_clean")
        return given if given.examiner else given.model_copy(update={"examiner": True})


class _ReportTask(MvmeTask):
    """A task whose consultations are not one doctor's: scored by its reports and their diagnosis."""

    PATIENT_SIDE = False

    def process_results(self, doc: Doc, results: Sequence[str]) -> dict[str, Any]:
        """The metrics of one case; its repeats are averaged."""
        transcripts = [Transcript.model_validate_json(result) for result in results]
        scored = [score_consultation(t, self._cases[doc["case_id"]]) for t in transcripts]
        found: dict[str, Any] = {}
        for name in DIAGNOSTIC:
            value = mean_or_none([s[name] for s in scored])
            found[name] = found[f"{name}_stderr"] = found[f"{name}_n"] = value
        reasons = [t.outcome.stop_reason for t in transcripts]
        found.update({f"{reason}s": reasons.count(reason) for reason in ("error", "context_limit")})
        return {**found, **self.report_side(doc)}

    def aggregation(self) -> dict[str, Callable[[Sequence[Any]], Any]]:
        """One aggregator for each metric."""
        found: dict[str, Callable[[Sequence[Any]], Any]] = {}
        for name in DIAGNOSTIC:
            found.update({name: mean_or_none, f"{name}_stderr": stderr_of_mean, f"{name}_n": count_defined})
        reports = self.report_metrics.aggregations() if self.report_metrics else {}
        return {**found, "errors": total, "context_limits": total, **reports}

    def higher_is_better(self) -> dict[str, bool]:
        """Direction of the metrics that have one."""
        reports = self.report_metrics.higher_is_better() if self.report_metrics else {}
        return {**dict.fromkeys(DIAGNOSTIC, True), "errors": False, **reports}


class OnestepTask(_ReportTask):
    """The upper bound: the whole record at once, one generation, three parts."""

    MODE = "onestep"

    @property
    def report_metrics(self) -> ReportMetrics | None:
        """The parts that follow from the record."""
        return ReportMetrics(RECORD_PARTS, self.settings.judge is not None)


class CollaborationTask(_ReportTask):
    """Two or three doctors and a Central Agent, with the setting ``collaboration``.

    Beside the scores of the final report: ``rounds`` of revision until consensus or the end, the share of cases that
    end in ``consensus``, the share ``decided_by_central``, and how many ``disputed_facts`` there were. They are None
    where fewer than two doctors could confer.
    """

    MODE = "collaboration"

    @property
    def report_metrics(self) -> ReportMetrics | None:
        """All five parts."""
        return ReportMetrics(PARTS, self.settings.judge is not None)

    def process_results(self, doc: Doc, results: Sequence[str]) -> dict[str, Any]:
        """The metrics of one case; its repeats are averaged."""
        met = [Transcript.model_validate_json(result).collaboration for result in results]
        figures = [_figures(c) for c in met]
        found = super().process_results(doc, results)
        for name in ROUNDS:
            value = mean_or_none([f[name] for f in figures])
            found[name] = found[f"{name}_n"] = value
        return found

    def aggregation(self) -> dict[str, Callable[[Sequence[Any]], Any]]:
        """One aggregator for each metric."""
        rounds = dict.fromkeys(ROUNDS, mean_or_none)
        return {**super().aggregation(), **rounds, **dict.fromkeys((f"{name}_n" for name in ROUNDS), count_defined)}

    def higher_is_better(self) -> dict[str, bool]:
        """Direction of the metrics that have one."""
        return {**super().higher_is_better(), "rounds": False, "consensus": True}


def _figures(met: Collaboration | None) -> dict[str, float | None]:
    if met is None or met.consensus is None:
        return dict.fromkeys(ROUNDS)
    return {
        "rounds": float(met.revisions),
        "consensus": float(met.consensus),
        "decided_by_central": float(met.settled_by == "central"),
        "disputed_facts": float(len(met.disputed)),
    }
