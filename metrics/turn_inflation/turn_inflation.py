"""Turn inflation: how many more doctor messages noisy patients cost."""

from __future__ import annotations

from typing import Any

import datasets
import evaluate

from verisim_metrics.paired import inflation_estimate, paired_columns

_DESCRIPTION = """
Ratio of sums over pairs of consultations about the same case: turns with noise over turns without, minus one.
"""

_INPUTS = """
Args:
    predictions: Doctor messages of the noisy consultation; NaN leaves the pair out.
    references: Doctor messages of the clean consultation of the same case.
    case_ids: optional, the case of each pair; repeats of a case are averaged first.

Returns:
    turn_inflation: above -1; 0.4 is 40% more turns; lower is better; None without pairs.
    interval: 95% bootstrap interval over cases, or None.
    n: number of cases.
"""

_CITATION = """
@misc{verisim2026, title = {VeriSim}, note = {arXiv:2604.10441}, year = {2026}}
"""


class TurnInflation(evaluate.Metric):  # type: ignore[misc]
    """The metric as ``evaluate`` loads it."""

    def _info(self) -> Any:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=datasets.Features(
                {"predictions": datasets.Value("float64"), "references": datasets.Value("float64")}
            ),
        )

    def _compute(
        self, predictions: list[float], references: list[float], case_ids: list[str] | None = None
    ) -> dict[str, Any]:
        noisy, clean, cases = paired_columns(list(zip(predictions, references, strict=True)), case_ids)
        found = inflation_estimate([noisy], [clean], cases, "micro")
        return {
            "turn_inflation": found.value,
            "interval": None if found.low is None else [found.low, found.high],
            "n": found.n,
        }
