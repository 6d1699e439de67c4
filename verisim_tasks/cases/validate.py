"""Every rule of a case file that a program can check."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import simple_icd_10_cm as icd10cm

from verisim_tasks.cases.bank import read_case
from verisim_tasks.errors import UserError
from verisim_tasks.language.words import fold, words
from verisim_tasks.noise.markup import is_balanced, plain, spans
from verisim_tasks.patient.questions import jargon_in
from verisim_tasks.records.case import SPOKEN_ITEMS, Case, Fact

MAX_LAY_WORDS = 30
TECHNICAL = 2
MIN_FACTS, MIN_ITEMS, MIN_KEY, MIN_DENIED, MIN_SENSITIVE = 18, 10, 5, 4, 2
MIN_TESTS, MIN_DIFFERENTIAL, MIN_FINDINGS = 6, 4, 3
CAREGIVER_UNDER = 12
"""Years of age under which somebody else speaks for the patient."""
VAGUE_ITEMS = ("present_illness_positive", "pain", "chief_complaint")

_FIRST_PERSON = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|me|my|mine|myself|we|our|us)\b")
_THIRD_PERSON = re.compile(r"\b(?:he|she|his|her|him|hers|he's|she's|it's|they|we|i|i've|i'm|nobody|no one|there)\b")
_DENIAL = re.compile(r"\b(?:no|not|never|none|nothing|nobody|neither|\w+n't)\b")
_BARE_NUMBER = re.compile(r"\d")

Severity = Literal["error", "warning"]


@dataclass(frozen=True)
class Problem:
    """One broken rule: where, and why."""

    file: str
    field: str
    reason: str
    severity: Severity = "error"

    def __str__(self) -> str:
        mark = "" if self.severity == "error" else "warning: "
        return f"{self.file}: {self.field}: {mark}{self.reason}"


def validate_file(path: Path, *, bank: bool) -> list[Problem]:
    """All problems of one case file. ``bank``: the counts that the published bank promises are errors too."""
    try:
        case = read_case(path)
    except UserError as error:
        name, _, rest = str(error).removeprefix(f"{path}: ").partition(": ")
        return [Problem(str(path), name if rest else "file", rest or name)]
    found = [Problem(str(path), field, reason) for field, reason in _always(case)]
    severity: Severity = "error" if bank else "warning"
    found += [Problem(str(path), field, reason, severity) for field, reason in _promised(case)]
    if bank and path.stem != case.id:
        found.append(Problem(str(path), "id", f"is {case.id}; the file is named {path.stem}"))
    return found


def _always(case: Case) -> Iterator[tuple[str, str]]:
    """What would break a consultation or mislead about medicine."""
    yield from _codes(case)
    yield from _informant(case)
    for fact in case.facts:
        yield from _spoken_text(fact, case)
    yield from _leaks(case)
    vitals = case.vitals
    if vitals.systolic_mmhg and vitals.diastolic_mmhg and vitals.systolic_mmhg <= vitals.diastolic_mmhg:
        yield "vitals", "systolic pressure is not above diastolic pressure"
    if not case.key_facts:
        yield "facts", "no fact is marked key; the diagnosis cannot be reached"


def _codes(case: Case) -> Iterator[tuple[str, str]]:
    if case.diagnosis is None:
        return
    for code in case.diagnosis.accepted_codes:
        if not icd10cm.is_valid_item(code):
            yield "diagnosis.accepted_codes", f"{code} is not an ICD-10-CM code"
    for i, other in enumerate(case.differential):
        if other.code is not None and not icd10cm.is_valid_item(other.code):
            yield f"differential.{i}.code", f"{other.code} is not an ICD-10-CM code"
        elif other.code is not None and any(_is_under(other.code, a) for a in case.diagnosis.accepted_codes):
            yield f"differential.{i}.code", f"{other.code} would be accepted as the diagnosis"


def _is_under(code: str, accepted: str) -> bool:
    return code == accepted or code.startswith(accepted if "." in accepted else f"{accepted}.")


def _informant(case: Case) -> Iterator[tuple[str, str]]:
    if case.demographics.age < CAREGIVER_UNDER and case.informant.role != "caregiver":
        yield "informant.role", f"a child of {case.demographics.age:g} needs a caregiver as informant"


def _spoken_text(fact: Fact, case: Case) -> Iterator[tuple[str, str]]:
    field = f"facts.{fact.id}"
    for name, text in (("lay", fact.lay), ("colloquial", fact.colloquial), ("vague", fact.vague)):
        if text is None:
            continue
        if not is_balanced(text):
            yield f"{field}.{name}", "brackets are not well-formed [text|kind|vaguer] spans"
        if len(plain(text).split()) > MAX_LAY_WORDS:
            yield f"{field}.{name}", f"has more than {MAX_LAY_WORDS} words; split the fact"
        for span in spans(text):
            if span.kind in ("time", "drug") and span.vaguer is None:
                yield f"{field}.{name}", f"[{span.text}|{span.kind}] needs a vaguer wording"
    said = fold(plain(fact.lay))
    if fact.polarity == "denied" and case.language == "en" and not _DENIAL.search(said):
        yield f"{field}.lay", "is a denied fact but denies nothing"
    if case.informant.role == "patient" and case.language == "en" and re.search(r"\bthe patient\b", said):
        yield f"{field}.lay", "speaks of 'the patient'; the patient speaks in the first person"


def _leaks(case: Case) -> Iterator[tuple[str, str]]:
    """The diagnosis or a synonym of it, in words that somebody will speak."""
    if case.diagnosis is None:
        return
    names = [" ".join(words(n)) for n in (case.diagnosis.name, *case.diagnosis.synonyms)]
    for fact in case.facts:
        for field in ("lay", "colloquial", "vague", "statement"):
            text = getattr(fact, field)
            said = f" {' '.join(words(plain(text)))} " if text else ""
            for name in names:
                if name and f" {name} " in said:
                    yield f"facts.{fact.id}.{field}", f"contains the diagnosis ({name!r})"


def _promised(case: Case) -> Iterator[tuple[str, str]]:
    """What the published bank promises of every case."""
    facts = case.facts
    items = {f.category for f in facts} & set(SPOKEN_ITEMS)
    denied = sum(f.polarity == "denied" for f in facts)
    sensitive = sum(f.sensitive for f in facts)
    yield from _at_least(
        ("facts", len(facts), MIN_FACTS, "facts"),
        ("facts", len(items), MIN_ITEMS, "profile items"),
        ("facts", len(case.key_facts), MIN_KEY, "key facts"),
        ("facts", denied, MIN_DENIED, "denied facts"),
        ("facts", sensitive, MIN_SENSITIVE, "sensitive facts"),
        ("tests", len(case.tests), MIN_TESTS, "test results"),
        ("examination", len(case.examination), MIN_FINDINGS, "examination findings"),
        ("differential", len(case.differential), MIN_DIFFERENTIAL, "differential diagnoses"),
        ("rationale", len(case.rationale), 1, "lines of basis"),
        ("treatment", len(case.treatment), 1, "lines of treatment"),
    )
    if case.diagnosis is None or not case.diagnosis.accepted_codes:
        yield "diagnosis", "needs a name and accepted ICD-10-CM codes"
    if all(f.category == "chief_complaint" for f in case.key_facts):
        yield "facts", "every key fact stands in the opening line"
    for fact in facts:
        yield from _voice(fact, case)
        for term, level in jargon_in(plain(fact.lay)):
            if level == TECHNICAL:
                yield f"facts.{fact.id}.lay", f"uses a clinician's word ({term!r})"
        if fact.polarity == "present" and fact.category in VAGUE_ITEMS and fact.vague is None:
            yield f"facts.{fact.id}.vague", "is missing; a present symptom needs a vague wording"
    for kind, count in Counter((f.concept, f.aspect, f.lay) for f in facts).items():
        if count > 1:
            yield "facts", f"two facts say the same ({kind[2]!r})"


def _voice(fact: Fact, case: Case) -> Iterator[tuple[str, str]]:
    """First person for a patient; a caregiver speaks about the patient."""
    said = fold(plain(fact.lay))
    if case.informant.role == "patient":
        others = fact.category == "family_medical_history" or fact.polarity == "denied"
        if not others and not _FIRST_PERSON.search(said) and re.match(r"(?:he|she|his|her)\b", said):
            yield f"facts.{fact.id}.lay", "is not in the first person"
    elif case.informant.patient_name:
        name = fold(case.informant.patient_name)
        if (
            re.match(r"i(?:'m| have| had| feel|'ve had)\b", said)
            and name not in said
            and not _THIRD_PERSON.search(said)
        ):
            yield f"facts.{fact.id}.lay", "speaks about the caregiver, not about the patient"
    if _BARE_NUMBER.search(re.sub(r"\[[^\]]*\]", "", fact.lay)) and not fact.id.startswith("implied-"):
        yield f"facts.{fact.id}.lay", "has a number outside a marked span"


def _at_least(*rules: tuple[str, int, int, str]) -> Iterator[tuple[str, str]]:
    for field, have, need, what in rules:
        if have < need:
            yield field, f"has {have} {what}; at least {need} are needed"
