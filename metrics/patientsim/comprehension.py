"""Whether a speaker at a CEFR level understands a question, word by word.

Word levels come from ``cefrpy`` (MIT; built on the CEFR-J word list and Google Books frequencies), medical words from
the suite's own jargon list. Grammar and length are not looked at.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any

from cefrpy import CEFRAnalyzer

from verisim_metrics.patientsim.personas import AXES, Cefr
from verisim_tasks.errors import UserError, did_you_mean
from verisim_tasks.language.lexicon import load_yaml
from verisim_tasks.language.words import fold, singular, words

_ENDINGS = (
    ("ies", "y"),
    ("ing", ""),
    ("ing", "e"),
    ("ed", ""),
    ("ed", "e"),
    ("es", ""),
    ("s", ""),
    ("ly", ""),
    ("er", ""),
)
_DOUBLED = re.compile(r"([bdgklmnprt])\1$")


def understands(question: str, level: Cefr) -> bool:
    """Whether no word of the question is too hard for a speaker at this level (A, B or C).

    Raises:
        UserError: for a level that is none.
    """
    return not hard_words(question, level)


def hard_words(question: str, level: Cefr) -> tuple[str, ...]:
    """The words and terms that are too hard: medical terms first, then words as they stand in the question.

    Raises:
        UserError: for a level that is none.
    """
    if level not in AXES["language"]:
        raise UserError(f"no CEFR level {level!r}{did_you_mean(str(level), AXES['language'])}")
    limits: Mapping[str, Any] = load_yaml("patientsim", "personas.yaml")["comprehension"][level]
    said = f" {' '.join(words(question))} "
    terms = [term for term, grade in _jargon() if grade > limits["jargon"] and f" {term} " in said]
    terms = [t for t in terms if not any(t != other and f" {t} " in f" {other} " for other in terms)]
    rest = [w for w in dict.fromkeys(words(question)) if not any(w in t.split() for t in terms)]
    return (*terms, *(w for w in rest if word_level(w) > limits["word"]))


@functools.lru_cache(maxsize=20_000)
def word_level(word: str) -> float:
    """How hard a word is, 1 (CEFR A1) to 6 (C2): the easiest of its forms; 1 for numbers and contractions.

    A word that the list does not hold counts as 6.
    """
    bare = fold(word).split("'")[0]
    forms = _forms(bare)
    if not bare.isalpha() or len(bare) < 3 or "'" in word or forms & _known():
        return 1.0
    levels = [_analyzer().get_average_word_level_float(form) for form in sorted(forms)]
    return min((float(level) for level in levels if level is not None), default=6.0)


def _forms(word: str) -> frozenset[str]:
    """The word and what it may be an ending of: plural, participle, comparative."""
    stems = {word[: -len(end)] + new for end, new in _ENDINGS if word.endswith(end) and len(word) - len(end) > 2}
    return frozenset({word, singular(word), *stems, *(_DOUBLED.sub(r"\1", s) for s in stems)})


@functools.cache
def _analyzer() -> CEFRAnalyzer:
    return CEFRAnalyzer()


@functools.cache
def _known() -> frozenset[str]:
    return frozenset(load_yaml("patientsim", "personas.yaml")["comprehension"]["known"])


@functools.cache
def _jargon() -> tuple[tuple[str, int], ...]:
    rows = load_yaml("lexicon", "jargon.yaml")
    return tuple((" ".join(words(row["term"])), int(row["level"])) for row in rows)
