"""Scoring the reports of a call: all together once the last one is written, judged where there is a judge.

Like the patient's side, the figures travel on lm-eval's instances, so that the response stays a transcript, and the
reports on cases under a data-use agreement are scored although their text is handed to nobody.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from verisim_metrics.mvme.scores import ReportScores

_CARRIER = "verisim_report"


def hand_over_report(instance: Any, scores: ReportScores) -> None:
    """Put the scores of a report on an lm-eval instance."""
    setattr(instance, _CARRIER, scores)


def handed_over_reports(instances: Sequence[Any], case_id: str) -> Iterator[ReportScores]:
    """The scores that ``hand_over_report`` left on a task's instances of a case, by repeat."""
    for instance in sorted((i for i in instances if i.doc["case_id"] == case_id), key=lambda i: int(i.idx)):
        scores = getattr(instance, _CARRIER, None)
        if isinstance(scores, ReportScores):
            yield scores
