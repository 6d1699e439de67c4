"""AgentClinic cases (arXiv 2405.07960): OSCE objects from MedQA, question objects from NEJM image challenges."""

# ruff: noqa: E501 - a pattern stays on one line
from __future__ import annotations

import re
from typing import Any

from verisim_tasks.cases.importers.draft import Draft, Pairs, slug
from verisim_tasks.cases.importers.fields import Sex, age_in, leaves, need, need_dict, need_text, sex_in, text_of
from verisim_tasks.cases.importers.findings import flat, vitals_from
from verisim_tasks.cases.importers.report import Imported
from verisim_tasks.cases.importers.source import Raw
from verisim_tasks.cases.importers.topics import Section

LICENCE = "MIT"
_SECTIONS: tuple[tuple[str, Section], ...] = (
    ("Past_Medical_History", "past"),
    ("Current_Medications", "medication"),
    ("Medications", "medication"),
    ("Drug_History", "past"),
    ("Family_History", "family"),
    ("Allergies", "allergy"),
    ("Social_History", "social"),
    ("Review_of_Systems", "review"),
)
_KNOWN = {"Demographics", "History", "Symptoms", *(key for key, _ in _SECTIONS)}


def convert(record: Raw, case_id: str) -> Imported:
    """One record of either style. Raises ``BadRecordError`` with its place when a part is missing or malformed."""
    if "OSCE_Examination" in record.data:
        return _osce(record, case_id)
    if "patient_info" in record.data:
        return _question(record, case_id)
    raise record.place.bad(
        "is no AgentClinic case; it needs the key 'OSCE_Examination' (MedQA) or 'patient_info' (NEJM)"
    )


def _osce(record: Raw, case_id: str) -> Imported:
    osce = need_dict(record, record.data, "OSCE_Examination")
    actor = need_dict(record, osce, "Patient_Actor", "OSCE_Examination")
    who = need_text(record, actor, "Demographics", "Patient_Actor")
    history = text_of(record, actor, "History", "Patient_Actor")
    every = " ".join([who, *leaves(record, actor, "Patient_Actor")])
    draft = start(
        record,
        case_id,
        who,
        every,
        need_text(record, osce, "Correct_Diagnosis", "OSCE_Examination"),
        "AgentClinic, MedQA",
    )
    symptoms = need(record, actor, "Symptoms", "Patient_Actor")
    entries = leaves(record, symptoms, "Symptoms")
    draft.phrases(entries[:1], "symptom")
    draft.narrative(history, "history")
    draft.phrases(entries[1:], "symptom")
    _sections(record, draft, actor)
    _objective(record, draft, osce)
    if not history and not entries:
        raise record.place.bad("Patient_Actor has neither History nor Symptoms; there is nothing a patient could tell")
    return draft.finish(entries[0] if entries else None)


def start(record: Raw, case_id: str, who: str, every: str, diagnosis: str | None, source: str) -> Draft:
    """A draft with age and sex from the demographics; what the source leaves open is assumed and noted."""
    age = age_in(who)
    if age is None:
        raise record.place.bad(f"Demographics {who[:80]!r} gives no age; write one, as in '35-year-old woman'")
    sex = sex_in(who) or _sex_by_pronouns(every)
    draft = Draft(record, case_id, age, sex or "female", source, LICENCE, diagnosis, caregiver=_caregiver(every))
    if sex is None:
        draft.note("sex not in the source, taken as female: " + who[:60])
    if who.lower().startswith(("newborn", "neonate")) and age == 0:
        draft.note("age in days not in the source, taken as one day: " + who[:60])
    return draft


def _sections(record: Raw, draft: Draft, actor: dict[str, Any]) -> None:
    for key, section in _SECTIONS:
        for text in leaves(record, actor.get(key), f"Patient_Actor.{key}"):
            if isinstance(actor[key], list):
                draft.phrases([text], section)
            else:
                draft.narrative(text, section)
    for key in sorted(set(actor) - _KNOWN):
        draft.note(f"unknown part of the history read as present illness: {str(key)[:60]}")
        for text in leaves(record, actor[key], f"Patient_Actor.{key}"):
            draft.narrative(text, "history")


def _objective(record: Raw, draft: Draft, osce: dict[str, Any]) -> None:
    """Examination, vital signs and tests."""
    found: Pairs = []
    vital: Pairs = []
    for path, text in flat(record, osce.get("Physical_Examination_Findings"), "Physical_Examination_Findings"):
        (vital if path and path[0].startswith("vital") else found).append((path or ("examination",), text))
    draft.extra["vitals"], rest = vitals_from(vital)
    draft.findings[:0] = [*rest, *found]
    draft.tests += [(path or ("test",), text) for path, text in flat(record, osce.get("Test_Results"), "Test_Results")]


def _question(record: Raw, case_id: str) -> Imported:
    """NEJM style: the history and the examination are running text, the diagnosis is the correct answer."""
    info = need_text(record, record.data, "patient_info")
    answers = need(record, record.data, "answers")
    if not isinstance(answers, list) or not all(isinstance(a, dict) for a in answers):
        raise record.place.bad("answers is not a list of objects; each needs 'text' and 'correct'")
    right = [text_of(record, a, "text", "answers") for a in answers if a.get("correct") is True]
    if len(right) != 1 or not right[0]:
        raise record.place.bad(f"answers marks {len(right)} as correct; exactly one is needed")
    is_diagnosis = re.search(
        r"diagnos|condition|disease|disorder|cause|syndrome", text_of(record, record.data, "question"), re.I
    )
    draft = start(record, case_id, info, info, right[0] if is_diagnosis else None, "AgentClinic, NEJM")
    draft.narrative(without_identity(info), "history")
    exam = text_of(record, record.data, "physical_exams")
    if exam:
        draft.findings.insert(0, (("physical examination",), exam))
    if record.data.get("image_url"):
        draft.note("the image of the question is not imported: " + str(record.data["image_url"])[:120])
    return draft.finish()


def without_identity(text: str) -> str:
    """The sentence without "A 35-year-old woman": the age is a fact of its own."""
    return re.sub(
        r"^(?:an?|this|the)?\s*(?:[\w-]+ ){0,3}?\d+[- ](?:year|month|week|day)s?[- ]old (?:[\w-]+ ){0,3}?(?:man|woman|boy|girl|male|female|patient|infant|child)\b",
        "The patient",
        text,
        flags=re.I,
    )


def _sex_by_pronouns(text: str) -> Sex | None:
    female, male = len(re.findall(r"\b(?:she|her)\b", text, re.I)), len(re.findall(r"\b(?:he|his|him)\b", text, re.I))
    return None if female == male else "female" if female > male else "male"


def _caregiver(text: str) -> str:
    """The relative who brings the child, by how the text names them."""
    found = re.search(r"\b(mother|father|grandmother|grandfather|parents?)\b", text, re.I)
    word = found[1].lower() if found else "mother"
    return "mother" if word.startswith("parent") else word


def default_id(record: Raw, stem: str) -> str:
    """``agentclinic-medqa-0001``: the file and the line."""
    return f"{slug(stem)}-{record.place.line:04d}"
