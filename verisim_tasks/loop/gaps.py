"""What a run lacks because something failed: consultations, reports, scores. All of it can be asked for again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from verisim_tasks.loop.reports import NOT_HAD
from verisim_tasks.records.transcript import Transcript

SHOWN = 3
"""Reasons that are named; the others are counted."""
_WORDS: Mapping[str, str] = {
    "errors": "{n} of {of} consultations ended in an error and are in no score",
    "reports_missing": "{n} reports could not be had",
    "scores_missing": "{n} questions of the scores were not answered, and what rests on them is null",
}


@dataclass(frozen=True)
class Gaps:
    """How often what is missing, by reason."""

    of: int
    """Consultations in all."""
    errors: Mapping[str, int] = field(default_factory=dict)
    reports_missing: Mapping[str, int] = field(default_factory=dict)
    scores_missing: Mapping[str, int] = field(default_factory=dict)
    """Questions to the judge that its model failed on, and scorings that broke down."""

    @classmethod
    def among(cls, transcripts: Iterable[Transcript], lost: Mapping[str, int] | None = None) -> Gaps:
        """The gaps of a run; transcripts are read once.

        Args:
            transcripts: All of the run.
            lost: Scores that could not be had, by reason: no transcript tells of them.
        """
        errors: Counter[str] = Counter()
        reports: Counter[str] = Counter()
        of = 0
        for transcript in transcripts:
            of += 1
            if transcript.outcome.stop_reason == "error":
                errors[transcript.outcome.error or "unknown"] += 1
            elif (transcript.report_missing or "").startswith(NOT_HAD):
                reports[(transcript.report_missing or "").removeprefix(NOT_HAD)] += 1
        return cls(of, *(dict(sorted(c.items())) for c in (errors, reports, Counter(lost or {}))))

    @classmethod
    def read(cls, info: Mapping[str, Any]) -> Gaps:
        """From ``run.json``; raises ``KeyError`` for one that does not tell."""
        return cls(info["consultations"], *(dict(info.get(name, {})) for name in _WORDS))

    @property
    def count(self) -> int:
        """Everything that is missing."""
        return sum(sum(reasons.values()) for reasons in self.as_record().values())

    def as_record(self) -> dict[str, Mapping[str, int]]:
        """As it stands in ``run.json``."""
        return {name: dict(getattr(self, name)) for name in _WORDS}

    def __str__(self) -> str:
        found = self.as_record().items()
        return "; ".join(
            f"{_WORDS[name].format(n=sum(reasons.values()), of=self.of)} ({_named(reasons)})"
            for name, reasons in found
            if reasons
        )


def _named(reasons: Mapping[str, int]) -> str:
    often = sorted(reasons.items(), key=lambda reason: (-reason[1], reason[0]))
    named = ", ".join(f"{n} x {reason}" for reason, n in often[:SHOWN])
    return f"{named}, and {len(often) - SHOWN} other reasons" if len(often) > SHOWN else named
