"""The reference diagnosis of an imported case: its names, its codes, and whether a text gives it away."""

from __future__ import annotations

import functools
import re

from verisim_tasks.language.icd import link
from verisim_tasks.language.icd_names import hand_index
from verisim_tasks.language.words import fold, words
from verisim_tasks.records.case import Diagnosis

SURE = 0.9
"""A link with at least this score is an exact or nearly exact name."""
POSSIBLE = 0.6
"""Below this no code is accepted at all: a wrong code would mark right answers wrong."""

_SPECIALTY = {
    "I": "cardiology",
    "J": "pulmonology",
    "K": "gastroenterology",
    "G": "neurology",
    "E": "endocrinology",
    "N": "nephrology_urology",
    "A": "infectious_disease",
    "B": "infectious_disease",
    "M": "rheumatology_orthopaedics",
    "S": "rheumatology_orthopaedics",
    "F": "psychiatry",
    "O": "gynaecology_obstetrics",
    "L": "dermatology",
    "P": "paediatrics",
}
CHILD = 16
_SITES = frozenset(
    (
        "eyelid",
        "cervical",
        "thoracic",
        "lumbar",
        "jaw",
        "mandible",
        "central",
        "knee",
        "shoulder",
        "hip",
        "hand",
        "foot",
        "skin",
        "bone",
    )
)
"""A linked title that names one of these, which the diagnosis does not, is about something else."""


def reference(name: str | None) -> tuple[Diagnosis | None, list[str]]:
    """The diagnosis with synonyms and ICD-10-CM codes, and notes on what is unsure."""
    if not name:
        return None, ["no diagnosis in the source: accuracy is undefined for this case"]
    full = re.sub(r"\s+", " ", name.replace("’", "'")).strip(" .")
    bare = re.sub(r"\s*\([^()]*\)", "", full).strip() or full
    inside = [m.strip() for m in re.findall(r"\(([^()]*)\)", full) if m.strip()]
    if re.search(r"[^\x00-\u024f\u2000-\u206f]", full):
        return Diagnosis(name=full), ["diagnosis not in English: no ICD-10-CM code linked"]
    links = link(bare, 1) or link(full, 1)
    by_spelling = [x for x in links if x.rule == "misspelling"]
    codes, notes = _codes(full, [(x.code, x.title, x.score) for x in links if x not in by_spelling])
    if by_spelling:
        notes = [
            f"no ICD-10-CM code found: {full} (only its spelling is near {by_spelling[0].title}, {by_spelling[0].code})"
        ]
    elif codes and not notes and links[0].score < 1:
        notes = [f"ICD-10-CM code by a nearly exact name: {full} -> {codes[0]} ({links[0].title})"]
    sure = codes[0] if codes and not any("checked" in n for n in notes) else None
    synonyms = dict.fromkeys([bare, *inside, re.sub(r"'s\b", "", bare), *_hand_names(sure)])
    return Diagnosis(name=full, synonyms=tuple(s for s in synonyms if s != full), accepted_codes=tuple(codes)), notes


def _codes(name: str, links: list[tuple[str, str, float]]) -> tuple[list[str], list[str]]:
    if not links or links[0][2] < POSSIBLE:
        return [], [f"no ICD-10-CM code found: {name}"]
    code, title, score = links[0]
    if score >= SURE:
        return [code], []
    if elsewhere := sorted((set(words(title)) - set(words(name))) & _SITES):
        return [], [f"no ICD-10-CM code found: {name} (nearest {code}, {title}, is about the {elsewhere[0]})"]
    category = code.split(".")[0]
    return [category], [f"ICD-10-CM category to be checked: {name} -> {category} ({title}, score {score:g})"]


@functools.cache
def _hand_names(code: str | None) -> tuple[str, ...]:
    """Synonyms of a code in the project's own table: long ones only, a short word may mean much else."""
    if code is None:
        return ()
    names = [n.text for n in hand_index().names if n.code == code and not n.broad]
    return tuple(n for n in names if len(n) > 4 or n.isupper())[:12]


def is_named(text: str, diagnosis: Diagnosis) -> bool:
    """The text contains the diagnosis or a synonym of it, as the validator of cases looks for it."""
    said = f" {' '.join(words(text))} "
    for name in (diagnosis.name, *diagnosis.synonyms):
        spoken = " ".join(words(name))
        if spoken and f" {spoken} " in said:
            return True
        if not spoken and len(name) > 1 and fold(name) in fold(text):
            return True
    return False


def specialty_of(diagnosis: Diagnosis | None, age: float) -> str:
    """The specialty by the chapter of the code; children go to paediatrics."""
    if age < CHILD:
        return "paediatrics"
    code = diagnosis.accepted_codes[0] if diagnosis and diagnosis.accepted_codes else "?"
    if re.match(r"N(?:7|8|9[0-8])", code):
        return "gynaecology_obstetrics"
    return _SPECIALTY.get(code[0], "other")
