"""Diagnostic accuracy: is the final diagnosis an accepted name of the reference, or one of its codes?"""

from __future__ import annotations

from typing import Any

import datasets
import evaluate

from verisim_metrics.aggregate import mean
from verisim_metrics.matching import match_diagnosis

_DESCRIPTION = """
Share of consultations whose final diagnosis is right: an accepted synonym of the reference diagnosis, or a name that
links to one of its accepted ICD-10-CM codes. Deterministic. An empty prediction is a wrong answer.
"""

_INPUTS = """
Args:
    predictions: Final diagnoses as the doctor wrote them; an empty string where there is none.
    references: One mapping for each: `name`, `synonyms` (list) and `accepted_codes` (list, ICD-10-CM).

Returns:
    diagnostic_accuracy: 0 to 1, higher is better; None without consultations.
    n: number of consultations.
    rules: for each consultation, the rule that decided.
"""

_CITATION = """
@misc{verisim2026, title = {VeriSim}, note = {arXiv:2604.10441}, year = {2026}}
"""


class DiagnosticAccuracy(evaluate.Metric):  # type: ignore[misc]
    """The metric as ``evaluate`` loads it."""

    def _info(self) -> Any:
        reference = {
            "name": datasets.Value("string"),
            "synonyms": [datasets.Value("string")],
            "accepted_codes": [datasets.Value("string")],
        }
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=datasets.Features({"predictions": datasets.Value("string"), "references": reference}),
        )

    def _compute(self, predictions: list[str], references: list[dict[str, Any]]) -> dict[str, Any]:
        matches = [
            match_diagnosis(p.strip() or None, r["name"], tuple(r["synonyms"]), tuple(r["accepted_codes"]))
            for p, r in zip(predictions, references, strict=True)
        ]
        value, n = mean(float(m.match) for m in matches)
        return {"diagnostic_accuracy": value, "n": n, "rules": [m.rule for m in matches]}
