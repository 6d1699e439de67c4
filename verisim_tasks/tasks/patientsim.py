"""The lm-eval task ``verisim_patientsim``: the model under test plays the patient (PatientSim, arXiv 2505.17818)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from verisim_metrics.patientsim.personas import Persona
from verisim_tasks.records.case import Case
from verisim_tasks.records.transcript import Transcript
from verisim_tasks.tasks import patient_scores
from verisim_tasks.tasks.consultation import ConsultationTask, Doc
from verisim_tasks.tasks.persona_table import assign_persona
from verisim_tasks.tasks.scores import count_defined, mean_or_none, stderr_of_mean, total

NAME = "verisim_patientsim"


class PatientSimTask(ConsultationTask):
    """One interview for each case: the built-in clinician, or the model of ``interviewer``, asks; the model answers.

    Who the patient is comes from the stored balanced table, unless the setting ``persona`` says otherwise. Nothing
    that the model says is verified or mended. Scores are those of the patient's side alone; ``turns`` counts the
    interviewer's messages.
    """

    MODE = "patientsim"

    @property
    def _has_persona(self) -> bool:
        return True

    def _persona(self, case: Case, repeat: int) -> Persona:
        return super()._persona(case, repeat) or assign_persona(case, repeat)

    def process_results(self, doc: Doc, results: Sequence[str]) -> dict[str, Any]:
        """The metrics of one case; its repeats are added up."""
        transcripts = [Transcript.model_validate_json(result) for result in results]
        reasons = [t.outcome.stop_reason for t in transcripts]
        turns = mean_or_none([None if t.outcome.stop_reason == "error" else t.outcome.turns for t in transcripts])
        return {
            **self.patient_side(doc),
            "turns": turns,
            "turns_stderr": turns,
            "turns_n": turns,
            **{f"{reason}s": reasons.count(reason) for reason in ("error", "context_limit")},
        }

    def aggregation(self) -> dict[str, Callable[[Sequence[Any]], Any]]:
        """One aggregator for each metric."""
        return {
            **self._patient_aggregations(),
            "turns": mean_or_none,
            "turns_stderr": stderr_of_mean,
            "turns_n": count_defined,
            "errors": total,
            "context_limits": total,
        }

    def higher_is_better(self) -> dict[str, bool]:
        """Direction of the metrics that have one."""
        return {**patient_scores.higher_is_better(persona=True), "errors": False}
