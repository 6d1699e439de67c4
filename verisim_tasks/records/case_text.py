"""A whole case as one text for the one-step report: without diagnosis, differential, rationale and treatment.

Earlier illnesses are history and stand in it. The text follows the case word for word.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from verisim_tasks.records.case import Case, Finding, TestResult, Vitals

SECTIONS: Mapping[str, tuple[str, ...]] = {
    "Present illness": ("chief_complaint", "pain", "present_illness_positive", "present_illness_negative"),
    "Past history": ("medical_history", "medical_device", "medication", "allergies", "family_medical_history"),
    "Life": (
        "occupation",
        "living_situation",
        "children",
        "marital_status",
        "insurance",
        "exercise",
        "tobacco",
        "alcohol",
        "illicit_drug",
        "sexual_history",
        "arrival_transport",
        "other",
    ),
}
"""Headings of the history and the profile items below each. Age, sex and race stand in the first line."""

_VITALS: Mapping[str, tuple[str, str]] = {
    "temperature_c": ("temperature", "°C"),
    "heart_rate_bpm": ("heart rate", "per minute"),
    "respiratory_rate_pm": ("respiratory rate", "per minute"),
    "spo2_percent": ("oxygen saturation", "%"),
    "weight_kg": ("weight", "kg"),
    "height_cm": ("height", "cm"),
}


def record_text(case: Case) -> str:
    """The record as a doctor finds it before any conclusion was drawn."""
    blocks = [f"Age and sex: {_age(case.demographics.age)} old, {case.demographics.sex}"]
    blocks.append(f"Complaint: {case.chief_complaint}")
    for heading, items in SECTIONS.items():
        told = [f.statement for item in items for f in case.facts if f.category == item]
        blocks += _block(heading, told)
    blocks += _block("Vital signs", list(_vital_signs(case.vitals)))
    blocks += _block("Physical examination", [f"{f.name}: {f.result}" for f in case.examination])
    blocks += _block("Tests", [result_line(t) for t in case.tests])
    return "\n\n".join(blocks)


def _age(years: float) -> str:
    return f"{years:g} years" if years >= 2 else f"{max(round(years * 12), 1)} months"


def result_line(result: Finding | TestResult) -> str:
    """One result with its unit and reference range, verbatim."""
    text = f"{result.name}: {result.result}"
    if isinstance(result, TestResult):
        text += f" {result.unit}" if result.unit else ""
        text += f" (reference {result.reference})" if result.reference else ""
    return text


def _block(heading: str, lines: list[str]) -> list[str]:
    return ["\n".join([f"{heading}:", *(f"- {line}" for line in lines)])] if lines else []


def _vital_signs(vitals: Vitals) -> Iterator[str]:
    if vitals.systolic_mmhg is not None and vitals.diastolic_mmhg is not None:
        yield f"blood pressure: {vitals.systolic_mmhg}/{vitals.diastolic_mmhg} mmHg"
    for name, (label, unit) in _VITALS.items():
        value = getattr(vitals, name)
        if value is not None:
            yield f"{label}: {value:g} {unit}"
