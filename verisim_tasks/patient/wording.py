"""The words of a patient who knows the clinical ones: how facts sound where health literacy is not limited."""

from __future__ import annotations

import functools
import re

from verisim_tasks.language.lexicon import load_yaml
from verisim_tasks.language.words import fold
from verisim_tasks.records.case import Case


def informed(marked: str, case: Case) -> str:
    """A fact's lay words with clinical ones in their place ("high blood pressure": hypertension), markup kept.

    Words that would name the case's own diagnosis stay lay.
    """
    changed = marked
    for pattern, clinical in _pairs():
        said = pattern.sub(functools.partial(_replaced, clinical=clinical), changed)
        if said != changed and not _names_diagnosis(said, case):
            changed = said
    return changed


def _replaced(match: re.Match[str], clinical: str) -> str:
    words = match.expand(clinical)
    return words[:1].upper() + words[1:] if match.group()[0].isupper() else words


def _names_diagnosis(text: str, case: Case) -> bool:
    said = fold(text)
    return case.diagnosis is not None and any(fold(n) in said for n in (case.diagnosis.name, *case.diagnosis.synonyms))


@functools.cache
def _pairs() -> tuple[tuple[re.Pattern[str], str], ...]:
    rows = load_yaml("phrases", "clinical_words.yaml")
    return tuple((re.compile(pattern, re.IGNORECASE), clinical) for pattern, clinical in rows)
