"""The Chief Physician's choices: letters to marks, and their means.

As published (AI Hospital, arXiv 2402.09742, ``src/evaluate/eval_show.py``): A, B, C, D are 4, 3, 2, 1 and a doctor's
score on a part is the mean over patients. The original counts a choice that could not be read as 1; *our choice*: it is
``None`` and counted as a null, unless ``empty="one"`` asks for the original.

The three diagnosis parts depend on each other: the original tells the judge so in its prompt (with a wrong diagnosis,
agreement of the rationale and the treatment is necessarily low) and leaves the choices as they come. ``breaches``
counts choices that go against it, ``dependent`` applies it; plain means apply nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from verisim_metrics.aggregate import mean
from verisim_metrics.mvme.report import PARTS

MARKS: Mapping[str, int] = {"A": 4, "B": 3, "C": 2, "D": 1}
DEPENDENT = ("rationale", "treatment")
CEILING: Mapping[int, int] = {1: 2, 2: 3}
"""Highest mark of a dependent part by the mark of the diagnosis: D allows C at best, C allows B (our rubrics)."""

Marks = Mapping[str, int | None]
_LETTER = re.compile(r"(?<![A-Za-z])([A-D])(?![A-Za-z])")


@dataclass(frozen=True)
class Choices:
    """One report as the Chief Physician judged it; a part that was not judged is absent, an unreadable one ``None``."""

    doctor: str
    patient_id: str
    marks: Marks


@dataclass(frozen=True)
class PartMean:
    """The mean mark of one part, 1-4; ``None`` when nothing was judged."""

    mean: float | None
    n: int
    """Reports with a mark."""
    nulls: int
    """Reports whose choice could not be read."""


def mark(choice: object) -> int | None:
    """A choice as a mark 1-4: a letter, ``(B)`` or ``B. ...``; ``None`` when no letter or more than one is there."""
    letters = set(_LETTER.findall(choice)) if isinstance(choice, str) else set()
    return MARKS[letters.pop()] if len(letters) == 1 else None


def aggregate(rows: Iterable[Choices], empty: Literal["null", "one"] = "null") -> dict[str, dict[str, PartMean]]:
    """For each doctor, in order of appearance, the mean of each part that was judged, in the order of the report."""
    doctors: dict[str, list[Choices]] = {}
    for row in rows:
        doctors.setdefault(row.doctor, []).append(row)
    return {doctor: _means(group, empty) for doctor, group in doctors.items()}


def _means(group: Sequence[Choices], empty: Literal["null", "one"]) -> dict[str, PartMean]:
    found: dict[str, PartMean] = {}
    for part in PARTS:
        marks = [row.marks[part] for row in group if part in row.marks]
        if marks:
            value, n = mean([1 if m is None and empty == "one" else m for m in marks])
            found[part] = PartMean(value, n, sum(m is None for m in marks))
    return found


def dependent(marks: Marks) -> dict[str, int | None]:
    """The marks with rationale and treatment no higher than the diagnosis allows."""
    diagnosis = marks.get("diagnosis")
    ceiling = CEILING.get(diagnosis, max(MARKS.values())) if diagnosis is not None else max(MARKS.values())
    return {part: min(m, ceiling) if m is not None and part in DEPENDENT else m for part, m in marks.items()}


def breaches(rows: Iterable[Choices]) -> int:
    """How many reports have a rationale or a treatment marked higher than their diagnosis allows."""
    return sum(dependent(row.marks) != dict(row.marks) for row in rows)
