"""Reading FHIR R4 resources: validation, labels, codes, dates and vital signs."""

from __future__ import annotations

import datetime as dt
import importlib.util
import re
from collections.abc import Iterator
from typing import Any

from verisim_tasks.cases.importers.source import Raw
from verisim_tasks.errors import UserError
from verisim_tasks.records.case import Codes, Vitals

TAG = re.compile(
    r"\s*\((?:disorder|finding|situation|procedure|morphologic abnormality|regime/therapy|event|observable entity)\)$"
)


VITAL_CODES = {
    "8310-5": "temperature_c",
    "8867-4": "heart_rate_bpm",
    "9279-1": "respiratory_rate_pm",
    "8480-6": "systolic_mmhg",
    "8462-4": "diastolic_mmhg",
    "2708-6": "spo2_percent",
    "59408-5": "spo2_percent",
    "29463-7": "weight_kg",
    "8302-2": "height_cm",
}


USED = (
    "Patient",
    "Condition",
    "Observation",
    "MedicationRequest",
    "AllergyIntolerance",
    "Procedure",
    "Encounter",
    "Medication",
)


def all_resources(record: Raw) -> list[dict[str, Any]]:
    """Every resource of the bundle."""
    entries = record.data.get("entry")
    if record.data.get("resourceType") != "Bundle" or not isinstance(entries, list):
        raise record.place.bad("is no FHIR bundle; resourceType 'Bundle' with a list 'entry' is needed")
    found = [e.get("resource") if isinstance(e, dict) else None for e in entries]
    if not all(isinstance(r, dict) for r in found):
        raise record.place.bad("an entry of the bundle has no resource object")
    return [r for r in found if isinstance(r, dict)]


def used_resources(record: Raw) -> Iterator[dict[str, Any]]:
    """The resources that an import uses."""
    yield from (r for r in all_resources(record) if r.get("resourceType") in USED)


def checked(record: Raw, resource: dict[str, Any]) -> dict[str, Any]:
    """The resource after validation against R4 (the R4B models, which are the same for these types)."""
    if importlib.util.find_spec("fhir") is None or importlib.util.find_spec("fhir.resources") is None:
        raise UserError("reading FHIR needs the package fhir.resources; run 'pip install verisim-tasks[fhir]'")
    from fhir.resources.R4B import get_fhir_model_class

    kind = str(resource["resourceType"])
    try:
        checked = get_fhir_model_class(kind).model_validate(resource)
    except ValueError as error:
        reason = str(error).splitlines()
        raise record.place.bad(
            f"{kind} {str(resource.get('id', ''))[:40]} is not valid FHIR R4 "
            f"({' '.join(reason[1:3])[:160] or reason[0][:160]})"
        ) from error
    plain: dict[str, Any] = resource if checked is not None else {}
    return plain


def label_of(resource: dict[str, Any], key: str = "code") -> str:
    """The name of what a resource is about, without the SNOMED CT tag."""
    concept = resource.get(key) or {}
    coding = (concept.get("coding") or [{}])[0]
    return TAG.sub("", str(concept.get("text") or coding.get("display") or coding.get("code") or "").strip())


def snomed(resource: dict[str, Any]) -> Codes:
    """Its SNOMED CT code, where it has one."""
    for coding in (resource.get("code") or {}).get("coding") or ():
        if "snomed" in str(coding.get("system")):
            return Codes(snomed=str(coding.get("code")))
    return Codes()


def tag_of(resource: dict[str, Any]) -> str:
    """The SNOMED CT tag of its name, such as ``disorder``; empty where there is none."""
    concept = resource.get("code") or {}
    texts = [str(c.get("display", "")) for c in concept.get("coding") or ()] + [str(concept.get("text", ""))]
    found = next((m[0] for t in texts if (m := TAG.search(t))), "")
    return found.strip(" ()")


def status_of(resource: dict[str, Any]) -> str:
    """Its clinical status; ``active`` where none is given."""
    coding = ((resource.get("clinicalStatus") or {}).get("coding") or [{}])[0]
    return str(coding.get("code") or "active")


def when(resource: dict[str, Any]) -> str:
    """Its date and time as text; empty where it has none."""
    period = resource.get("performedPeriod") or resource.get("period") or {}
    keys = ("onsetDateTime", "recordedDate", "effectiveDateTime", "authoredOn", "performedDateTime")
    return str(next((resource[k] for k in keys if resource.get(k)), period.get("start") or ""))


def date_of(text: Any) -> dt.date | None:
    """The date of a FHIR date or dateTime; None where it is none."""
    try:
        return dt.date.fromisoformat(str(text)[:10])
    except ValueError:
        return None


def latest(resources: list[dict[str, Any]]) -> dt.date | None:
    """The date of the latest resource."""
    return max((d for r in resources if r["resourceType"] != "Patient" and (d := date_of(when(r)))), default=None)


def age_of(birth: dt.date, now: dt.date) -> float:
    """Age in years, in fractions below two."""
    days = (now - birth).days
    return float(int(days / 365.25)) if days >= 730 else round(days / 365.25, 2)


def main_condition(resources: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The latest active condition that is a disorder; there is no other word on why the patient came."""
    disorders = [
        r
        for r in resources
        if r["resourceType"] == "Condition"
        and status_of(r) == "active"
        and tag_of(r) in ("disorder", "")
        and label_of(r)
    ]
    return max(disorders, key=lambda r: (when(r), str(r.get("id"))), default=None)


def vitals(resources: list[dict[str, Any]]) -> Vitals:
    """The latest vital signs; none where one of them is out of range."""
    values: dict[str, float] = {}
    for resource in sorted((r for r in resources if r["resourceType"] == "Observation"), key=when):
        for part in (resource, *(resource.get("component") or ())):
            name = VITAL_CODES.get(loinc(part))
            value = (part.get("valueQuantity") or {}).get("value")
            if name and isinstance(value, int | float):
                values[name] = round(value, 1) if name in ("temperature_c", "weight_kg", "height_cm") else round(value)
    try:
        return Vitals.model_validate(values)
    except ValueError:
        return Vitals()


def loinc(resource: dict[str, Any]) -> str:
    """Its first code."""
    return str(((resource.get("code") or {}).get("coding") or [{}])[0].get("code") or "")
