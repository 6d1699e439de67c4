"""Published AI Hospital files: evaluations by a Chief Physician, and final reports beside the reference.

Three shapes of JSON lines are read: the original's evaluation files (``doctor_name``, ``patient_id``, ``..._choice``),
rows with ``reference`` and ``reports`` of several doctors (and ``chief_physician_<judge>_on_<report>``), and plain
``{"id", "reference", "prediction"}``, optionally with ``doctor``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from verisim_metrics.mvme.chief import Choices, mark
from verisim_metrics.mvme.linking import Pair
from verisim_metrics.mvme.report import parse_report
from verisim_tasks.errors import UserError

_CHOICE_KEYS: Mapping[str, tuple[str, ...]] = {
    "symptoms": ("sympton_choice", "symptom_choice", "symptoms_choice"),
    "examinations": ("test_choice", "examinations_choice"),
    "diagnosis": ("diagnosis_choice",),
    "rationale": ("basis_choice", "rationale_choice"),
    "treatment": ("treatment_choice",),
}
"""The first spelling is the original's own."""
_PART_NAMES: Mapping[str, str] = {
    "symptom": "symptoms",
    "sympton": "symptoms",
    "test": "examinations",
    "basis": "rationale",
}
_CHIEF = re.compile(r"chief_physician_(?P<judge>[^_]+)_on_(?P<report>.+)")

Row = tuple[str, dict[str, Any]]
"""Where the row stands, for messages, and the row."""


def choices_in(rows: Iterable[Row]) -> list[Choices]:
    """The Chief Physician's choices of every row. Raises ``UserError`` on a row without any."""
    found: list[Choices] = []
    for place, row in rows:
        here = list(_choices(row))
        if not here:
            raise UserError(
                f"{place}: no choices of a Chief Physician; give an AI Hospital evaluation file "
                "(doctor_name, patient_id, diagnosis_choice, ...)"
            )
        found.extend(here)
    return found


def _choices(row: Mapping[str, Any]) -> Iterator[Choices]:
    patient = str(row.get("patient_id", row.get("id", "")))
    present = {part: key for part, keys in _CHOICE_KEYS.items() if (key := next((k for k in keys if k in row), None))}
    if present:
        yield Choices(
            str(row.get("doctor_name", "?")), patient, {part: mark(row[key]) for part, key in present.items()}
        )
    for key, value in row.items():
        match = _CHIEF.fullmatch(key)
        if match and isinstance(value, dict):
            marks = {_PART_NAMES.get(part, part): mark(letter) for part, letter in value.items()}
            yield Choices(_report_name(row, match), patient, marks)


def _report_name(row: Mapping[str, Any], match: re.Match[str]) -> str:
    """The judged report: ``onestep`` is ``gpt4_onestep`` where a report goes by that longer name."""
    name = match["report"]
    reports = row.get("reports")
    names = [n for n in reports if n == name or n.endswith(f"_{name}")] if isinstance(reports, dict) else []
    return names[0] if names else name


def pairs_in(rows: Iterable[Row]) -> dict[str, list[Pair]]:
    """Reference and prediction of every row, by doctor (``prediction`` where none is named).

    Raises ``UserError`` on a row without a reference or a prediction.
    """
    found: dict[str, list[Pair]] = {}
    for place, row in rows:
        for doctor, pair in _pairs(place, row):
            found.setdefault(doctor, []).append(pair)
    return found


def _pairs(place: str, row: Mapping[str, Any]) -> Iterator[tuple[str, Pair]]:
    case = str(row.get("id", row.get("patient_id", place)))
    reference = row.get("reference")
    if isinstance(reference, dict):
        reference = reference.get("diagnosis")
    if not isinstance(reference, str) or not reference.strip():
        raise UserError(f'{place}: "reference" must be a non-empty text')
    reports = row.get("reports")
    if isinstance(reports, dict):
        for doctor, text in reports.items():
            yield doctor, Pair(case, reference, parse_report(text if isinstance(text, str) else None).diagnosis)
        return
    if "prediction" not in row:
        raise UserError(f'{place}: "prediction" is missing; every line needs "id", "reference" and "prediction"')
    prediction = row["prediction"]
    if not (prediction is None or isinstance(prediction, str)):
        raise UserError(f'{place}: "prediction" must be a text or null')
    yield str(row.get("doctor", "prediction")), Pair(case, reference, prediction)
