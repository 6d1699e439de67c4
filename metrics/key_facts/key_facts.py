"""Key facts: which share of what matters for the diagnosis did the doctor's questions bring out?"""

from __future__ import annotations

from typing import Any

import datasets
import evaluate

from verisim_metrics.aggregate import mean

_DESCRIPTION = """
Share of a case's key facts that the patient told in answer to the doctor's questions, averaged over consultations.
"""

_INPUTS = """
Args:
    predictions: For each consultation, the ids of the facts that were told after a question.
    references: For each consultation, the ids of the case's key facts, without those of the opening line.

Returns:
    key_facts: 0 to 1, higher is better; None when no consultation has a key fact.
    n: number of consultations that have a key fact.
    per_consultation: the share of each consultation, None where there is no key fact.
"""

_CITATION = """
@misc{verisim2026, title = {VeriSim}, note = {arXiv:2604.10441}, year = {2026}}
"""


class KeyFacts(evaluate.Metric):  # type: ignore[misc]
    """The metric as ``evaluate`` loads it."""

    def _info(self) -> Any:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=datasets.Features(
                {"predictions": [datasets.Value("string")], "references": [datasets.Value("string")]}
            ),
        )

    def _compute(self, predictions: list[list[str]], references: list[list[str]]) -> dict[str, Any]:
        shares = [
            len(set(told) & set(key)) / len(set(key)) if key else None
            for told, key in zip(predictions, references, strict=True)
        ]
        value, n = mean(shares)
        return {"key_facts": value, "n": n, "per_consultation": shares}
