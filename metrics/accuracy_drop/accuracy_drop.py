"""Accuracy drop: what noise costs, paired over the same cases."""

from __future__ import annotations

from typing import Any

import datasets
import evaluate

from verisim_metrics.paired import drop_estimate, paired_columns, relative_drop_estimate

_DESCRIPTION = """
Accuracy lost between the clean and the noisy consultation of the same case: clean minus noisy, in points, and as a
share of the clean accuracy. Hidden (None) where the clean accuracy is below 20%.
"""

_INPUTS = """
Args:
    predictions: 1 where the noisy consultation ended with the right diagnosis, else 0; NaN leaves the pair out.
    references: The same for the clean consultation of the same case.
    case_ids: optional, the case of each pair; repeats of a case are averaged first.

Returns:
    accuracy_drop: points, -100 to 100, lower is better; None when hidden or without pairs.
    accuracy_drop_relative: share of the clean accuracy that is lost, at most 1; lower is better.
    clean_accuracy: 0 to 1.
    interval: 95% bootstrap interval of the drop over cases, or None.
    n: number of cases.
"""

_CITATION = """
@misc{verisim2026, title = {VeriSim}, note = {arXiv:2604.10441}, year = {2026}}
"""


class AccuracyDrop(evaluate.Metric):  # type: ignore[misc]
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
        drop = drop_estimate([noisy], [clean], cases, "micro")
        relative = relative_drop_estimate([noisy], [clean], cases, "micro")
        defined = [value for value in clean.values() if value is not None]
        return {
            "accuracy_drop": drop.value,
            "accuracy_drop_relative": relative.value,
            "clean_accuracy": sum(defined) / len(defined) if defined else None,
            "interval": None if drop.low is None else [drop.low, drop.high],
            "n": drop.n,
        }
