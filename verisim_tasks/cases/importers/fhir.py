"""FHIR R4 bundles as Synthea writes them: one bundle, one patient, seen at the latest dated resource."""

# ruff: noqa: E501 - a pattern stays on one line
from __future__ import annotations

import re
from typing import Any

from verisim_tasks.cases.importers.draft import Draft, said, slug
from verisim_tasks.cases.importers.fhir_read import (
    USED,
    VITAL_CODES,
    age_of,
    all_resources,
    checked,
    date_of,
    label_of,
    latest,
    loinc,
    main_condition,
    snomed,
    status_of,
    tag_of,
    used_resources,
    vitals,
    when,
)
from verisim_tasks.cases.importers.grammar import AM, HAVE
from verisim_tasks.cases.importers.phrases import said_item
from verisim_tasks.cases.importers.report import Imported, Trace
from verisim_tasks.cases.importers.source import Raw
from verisim_tasks.cases.importers.topics import subject_of
from verisim_tasks.cases.importers.wording import in_plain_words, marked

_SOCIAL = (
    ("occupation", re.compile(r"employ|labor force|education", re.I), "About work: {}."),
    (
        "living_situation",
        re.compile(r"homeless|housing|lives|limited social contact|isolation", re.I),
        "About how I live: {}.",
    ),
    ("tobacco", re.compile(r"smok|tobacco", re.I), "About smoking: {}."),
    ("alcohol", re.compile(r"alcohol|drinking", re.I), "About alcohol: {}."),
    ("illicit_drug", re.compile(r"drug|substance", re.I), "About drugs: {}."),
)


_WORKING = re.compile(r"^(?:medication review due|.*screening.*|.*stress.*)$", re.I)


MAX_TESTS = 60


def convert(record: Raw, case_id: str) -> Imported:
    """One bundle of resourceType Bundle. Raises ``UserError`` when ``fhir.resources`` is not installed."""
    found = [checked(record, r) for r in used_resources(record)]
    patient = _patient(record, found)
    birth, now = date_of(patient.get("birthDate")), latest(found)
    if birth is None or patient.get("gender") not in ("female", "male"):
        raise record.place.bad("Patient needs birthDate and gender (female or male)")
    if now is None or now < birth:
        raise record.place.bad("no dated resource after the birth of the patient; the age at the visit is unknown")
    main = main_condition(found)
    name = label_of(main) if main else None
    draft = Draft(record, case_id, age_of(birth, now), patient["gender"], "FHIR R4 bundle", "see the source", name)
    for resource in sorted(found, key=when):
        _place(draft, resource, main)
    _allergies(draft, found)
    draft.extra["vitals"] = vitals(found)
    unused = sorted({str(r.get("resourceType", "?")) for r in all_resources(record)} - set(USED))
    if unused:
        draft.note(f"resource types not imported: {', '.join(unused)[:200]}")
    return draft.finish()


def _patient(record: Raw, found: list[dict[str, Any]]) -> dict[str, Any]:
    patients = [r for r in found if r["resourceType"] == "Patient"]
    if len(patients) != 1:
        raise record.place.bad(f"the bundle holds {len(patients)} Patient resources; exactly one is needed")
    return patients[0]


def default_id(record: Raw, stem: str) -> str:
    """By the file: a bundle has one patient."""
    return (
        f"fhir-{slug(stem)}"
        if record.place.unit == "record" and record.place.line == 1
        else f"fhir-{slug(stem)}-{record.place.line:04d}"
    )


def _place(draft: Draft, resource: dict[str, Any], diagnosis: dict[str, Any] | None) -> None:
    kind, label = resource["resourceType"], label_of(resource)
    if kind == "Condition":
        if resource is not diagnosis:
            _condition(draft, resource, label)
        else:
            draft.account.traces.append(Trace(f"Condition: {label}", "dropped", "is the diagnosis"))
    elif kind == "MedicationRequest" and resource.get("status") == "active":
        name = label_of(resource, "medicationCodeableConcept") or "a medicine"
        drug = re.split(r"\s+\d", name)[0].strip() or name
        draft.statement(
            f"MedicationRequest: {name}",
            said(
                name,
                f"{_cap(draft.speaker.say('take'))} [{_plain(drug)}|drug|a medicine].",
                "medication",
                drug.lower(),
                terms=(drug.lower(),),
            ),
            key=False,
        )
    elif kind == "MedicationRequest":
        name = label_of(resource, "medicationCodeableConcept")
        draft.account.traces.append(Trace(f"MedicationRequest: {name}", "dropped", "is not current"))
    elif kind == "Procedure" and label:
        year = when(resource)[:4]
        lay = f"{_cap(draft.speaker.say(HAVE))} had this done: {in_plain_words(label).lower()}{f' [in {year}|time|some time ago]' if year.isdigit() else ''}."
        draft.statement(
            f"Procedure: {label}",
            said(f"{label} {year}".strip(), lay, "medical_history", label.lower()),
            key=False,
            codes=snomed(resource),
        )
    elif kind == "Observation":
        _observation(draft, resource, label)


def _condition(draft: Draft, resource: dict[str, Any], label: str) -> None:
    """A finding of daily life, a symptom, or an illness."""
    source = f"Condition: {label}"
    if not label:
        draft.account.traces.append(Trace(source, "dropped", "has no name"))
        return
    low = in_plain_words(label.lower())
    for item, pattern, frame in _SOCIAL:
        if pattern.search(label):
            made = said(label, marked(frame.format(low)), item, item.replace("_", " "))
            draft.statement(source, made, key=False, codes=snomed(resource))
            return
    active = status_of(resource) == "active"
    symptom = subject_of(label)
    if tag_of(resource) == "finding" and active and symptom is not None and symptom.kind == "symptom":
        lay = marked(in_plain_words(said_item(label.lower(), draft.speaker)))
        category = "pain" if "pain" in label.lower() else "present_illness_positive"
        draft.statement(
            source, said(label, lay, category, symptom.name, terms=symptom.terms[:5]), codes=snomed(resource)
        )
    elif _WORKING.match(label):
        lay = f"On {draft.speaker.possessive} notes it says: {low}."
        draft.statement(source, said(label, lay, "other", label.lower()), key=False)
    else:
        _illness(draft, resource, label, active)


def _illness(draft: Draft, resource: dict[str, Any], label: str, active: bool) -> None:
    year = when(resource)[:4]
    since = f" [{'since' if active else 'in'} {year}|time|{'for some time' if active else 'some time ago'}]"
    lay = _cap(f"{draft.speaker.say(HAVE)} had {in_plain_words(label.lower())}{since if year.isdigit() else ''}.")
    made = said(f"{label}{'' if active else ', resolved'}", lay, "medical_history", label.lower())
    draft.statement(f"Condition: {label}", made, key=False, codes=snomed(resource))


def _observation(draft: Draft, resource: dict[str, Any], label: str) -> None:
    """The latest value of each measurement is a test; vital signs stand on their own."""
    if loinc(resource) in VITAL_CODES or not label or label.lower().startswith("blood pressure"):
        draft.account.traces.append(Trace(f"Observation: {label}", "finding"))
        return
    quantity = resource.get("valueQuantity") or {}
    value = (
        f"{quantity['value']:g} {quantity.get('unit', '')}".strip()
        if isinstance(quantity.get("value"), int | float)
        else label_of(resource, "valueCodeableConcept") or str(resource.get("valueString") or "")
    )
    if re.search(r"tobacco smoking status", label, re.I) and value:
        never = "never" in value.lower()
        lay = (
            f"No, {draft.speaker.say(chr(39) + 've never')} smoked."
            if never
            else marked(f"About smoking: {value.lower()}.")
        )
        draft.statement(
            f"{label}: {value}",
            said(f"{label}: {value}", lay, "tobacco", "smoking", polarity="denied" if never else "present"),
            key=False,
        )
    elif value:
        if any(t[0] == (label,) for t in draft.tests):
            draft.account.traces.append(Trace(f"Observation: {label}", "dropped", "is an older value of a later one"))
        draft.tests[:] = [*[t for t in draft.tests if t[0] != (label,)][-(MAX_TESTS - 1) :], ((label,), value)]
        draft.account.traces.append(Trace(f"Observation: {label}", "finding"))
    else:
        draft.account.traces.append(Trace(f"Observation: {label}", "dropped", "has no value that can be read"))


def _allergies(draft: Draft, resources: list[dict[str, Any]]) -> None:
    found = [r for r in resources if r["resourceType"] == "AllergyIntolerance"]
    for resource in sorted(found, key=when):
        name = (
            _plain(re.sub(r"^allergy to\s+|\s+\(substance\)$|\s+allergy$", "", label_of(resource), flags=re.I)).lower()
            or "something"
        )
        lay = f"{draft.speaker.say(AM)} allergic to {name}."
        draft.statement(
            f"AllergyIntolerance: {name}",
            said(f"Allergy to {name}", _cap(lay), "allergies", f"{name} allergy", terms=(name,)),
            key=False,
            codes=snomed(resource),
        )
    if not found:
        draft.note("no AllergyIntolerance in the bundle: nothing is said on allergies")


def _plain(text: str) -> str:
    return re.sub(r"[\[\]|]", "", text)


def _cap(text: str) -> str:
    return text[:1].upper() + text[1:]
