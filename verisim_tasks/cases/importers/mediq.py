"""MediQ (arXiv 2406.00922) and CRAFT-MD records: sentences or atomic facts of a patient, and a question about it."""

# ruff: noqa: E501 - a pattern stays on one line
from __future__ import annotations

import re

from verisim_tasks.cases.importers.agentclinic import without_identity
from verisim_tasks.cases.importers.draft import Draft, slug
from verisim_tasks.cases.importers.facts_from_text import is_objective
from verisim_tasks.cases.importers.fields import age_in, leaves, need_text, sex_in, text_of
from verisim_tasks.cases.importers.report import Imported, Trace
from verisim_tasks.cases.importers.source import Raw
from verisim_tasks.language.words import sentences

_ASKS_DIAGNOSIS = re.compile(
    r"diagnos|most likely (?:cause|explanation|etiology|condition)|condition|disease|disorder|explains", re.I
)
_IDENTITY = re.compile(
    r"(?:the patient|he|she|it)?\s*(?:is|was)?\s*(?:an?\s+)?(?:[\w-]+ ){0,2}?\d+[ -](?:year|month|week|day)s?[ -]old\.?(?:\s+(?:[\w-]+\s+)?(?:man|woman|boy|girl|male|female|infant|child|patient))?\.?"
    r"|(?:the patient|he|she)\s+is\s+(?:an?\s+)?(?:man|woman|boy|girl|male|female)\.?",
    re.I,
)
_NUMBER = re.compile(r"^\s*\d+[.)]\s*")
_TEST = re.compile(
    r"\b(?:laborator\w+|serum|x-?ray|ct\b|mri\b|ultraso\w+|biops\w+|cultur\w+|electrocardio\w+|ecg|ekg|urinalysis|hemoglobin|leukocyte|platelet|mg/dL|mEq|mm3)",
    re.I,
)


def convert(record: Raw, case_id: str) -> Imported:
    """One MediQ record."""
    return _convert(record, case_id, "MediQ")


def convert_craftmd(record: Raw, case_id: str) -> Imported:
    """One CRAFT-MD record in MediQ's form; the answer is always the diagnosis."""
    return _convert(record, case_id, "CRAFT-MD")


def default_id(record: Raw, stem: str) -> str:
    """By the record's own ``id`` where it has one, else by its line."""
    own = record.data.get("id")
    if own is None:
        return f"{slug(stem)}-{record.place.line:04d}"
    if isinstance(own, bool) or not isinstance(own, str | int):
        raise record.place.bad(f"id is a {type(own).__name__}; a text or a number is needed")
    return f"mediq-{slug(str(own))}"


def _convert(record: Raw, case_id: str, source: str) -> Imported:
    told = _sentences(record)
    every = " ".join(told)
    patient = record.data.get("patient")
    described = " ".join(leaves(record, patient, "patient")) if patient is not None else ""
    age = age_in(text_of(record, patient, "age", "patient")) if isinstance(patient, dict) else None
    age = age if age is not None else age_in(described) if described else None
    age = age if age is not None else age_in(every)
    sex = sex_in(described) or sex_in(every)
    if age is None or sex is None:
        raise record.place.bad(f"gives no {'age' if age is None else 'sex'}; add it under 'patient'")
    question, answer = text_of(record, record.data, "question"), need_text(record, record.data, "answer")
    asked = source == "CRAFT-MD" or not question or _ASKS_DIAGNOSIS.search(question)
    draft = Draft(record, case_id, age, sex, source, "see the source", answer if asked else None)
    if not asked:
        draft.note(f"the question asks for something else than a diagnosis: {question[-120:]}")
    for sentence in told:
        _place(sentence, draft)
    return draft.finish()


def _sentences(record: Raw) -> list[str]:
    """The atomic facts, else the context, sentence by sentence."""
    for key in ("facts", "atomic_facts", "context"):
        texts = [_NUMBER.sub("", t) for t in leaves(record, record.data.get(key), key)]
        if texts:
            return [s for t in texts for s in sentences(t)]
    raise record.place.bad("has neither facts nor context; there is nothing a patient could tell")


def _place(sentence: str, draft: Draft) -> None:
    body = without_identity(sentence)
    if _IDENTITY.fullmatch(sentence.strip()):
        draft.account.traces.append(Trace(sentence, "fact", None, ("age", "gender")))
    elif _TEST.search(body):
        draft.tests.append((("test results",), sentence))
        draft.account.traces.append(Trace(sentence, "finding"))
    elif is_objective(body):
        draft.findings.append((("examination",), sentence))
        draft.account.traces.append(Trace(sentence, "finding"))
    else:
        draft.narrative(body, "history")
