"""Checks over a whole draft: form, machine talk, the doctor's part, the diagnosis, history, omission."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from spellchecker import SpellChecker

from verisim_tasks.language.sentences import split_sentences
from verisim_tasks.language.words import STOPWORDS, fold, singular, words
from verisim_tasks.patient.base import PatientSetting
from verisim_tasks.records.case import Case, Fact
from verisim_tasks.verify.claims import Claim
from verisim_tasks.verify.quantities import Quantity, agrees
from verisim_tasks.verify.vocabulary import pattern, tables

ProblemKind = Literal[
    "empty",
    "too_long",
    "other_language",
    "markup",
    "machine_talk",
    "speaks_as_doctor",
    "names_diagnosis",
    "contradicts_history",
    "unjustified_omission",
]
MAX_WORD_LENGTH = 15
"""Characters a word on average at which a text is too long whatever its count of words."""
MIN_FOREIGN = 5
"""Words from which on a text is told to be in another language."""
ENGLISH_SHARE = 0.18
"""Least share of English function words in a text of that length."""
ENGLISH_WORDS = 0.7
"""Least share of words of an English dictionary in a text with few function words."""
FOREIGN_LETTERS = 0.2
"""Share of letters outside the Latin script at which a text is in another language."""


@dataclass(frozen=True)
class Problem:
    """Something that is wrong with a draft as a whole."""

    kind: ProblemKind
    sentence: str
    """The offending sentence, or as much of the text as shows it."""
    detail: str
    """What is wrong, in words that may be shown to the patient model: never the diagnosis."""


def form_problems(text: str, setting: PatientSetting, *, limit: int | None = None) -> list[Problem]:
    """What is wrong with the form of a draft, whatever it claims. ``limit``: words allowed (default from the noise)."""
    if not words(text) and not any(c.isalnum() for c in text):
        return [Problem("empty", text[:80], "the answer is empty")]
    found = [*_language(text), *_patterns(text), *_length(text, setting, limit), *_diagnosis(text, setting.case)]
    return found


def _length(text: str, setting: PatientSetting, limit: int | None) -> Iterator[Problem]:
    allowed = limit or tables()["max_words"]["clean" if setting.noise.is_clean else "noisy"]
    count = len(text.split())
    if count > allowed or len(text) > allowed * MAX_WORD_LENGTH:
        yield Problem("too_long", f"{text[:80]}...", f"{count} words; at most {allowed} are allowed")


def _language(text: str) -> Iterator[Problem]:
    letters = [c for c in text if c.isalpha()]
    foreign = sum("LATIN" not in unicodedata.name(c, "") for c in letters)
    said = words(text)
    english = sum(w in STOPWORDS or w.split("'")[0] in STOPWORDS for w in said)
    strange = len(said) >= MIN_FOREIGN and english < ENGLISH_SHARE * len(said) and _mostly_unknown(said)
    if (letters and foreign > FOREIGN_LETTERS * len(letters)) or strange:
        yield Problem("other_language", text[:80], "the answer is not in English")


def _mostly_unknown(said: Sequence[str]) -> bool:
    """Too few of the words are English ones."""
    known = _english().word_frequency
    return sum(w.split("'")[0] in known for w in said) < ENGLISH_WORDS * len(said)


@functools.cache
def _english() -> SpellChecker:
    return SpellChecker(language="en")


_CHECKED: tuple[tuple[ProblemKind, str, str], ...] = (
    ("markup", "markup", "the answer holds markup, code or JSON; only spoken words are allowed"),
    ("machine_talk", "machine", "a patient does not speak of models, prompts, profiles or roles"),
    ("speaks_as_doctor", "as_doctor", "only the patient speaks: no questions, advice or findings of a doctor"),
)


def _patterns(text: str) -> Iterator[Problem]:
    for kind, name, detail in _CHECKED:
        for sentence in (text,) if kind == "markup" else (split_sentences(text[:6000]) or (text,)):
            if pattern(name).search(sentence if kind == "markup" else fold(sentence)):
                yield Problem(kind, sentence[:200], detail)
                break


def _diagnosis(text: str, case: Case) -> Iterator[Problem]:
    names = _secret_names(case)
    for sentence in split_sentences(text[:6000]):
        said = f" {_key(sentence)} "
        if any(f" {name} " in said for name in names):
            yield Problem(
                "names_diagnosis", sentence[:200], "the answer names an illness that the patient does not know of"
            )


@functools.lru_cache(maxsize=512)
def _names_of(diagnosis: tuple[str, ...], told: str) -> tuple[str, ...]:
    keys = (_key(name) for name in diagnosis)
    return tuple(dict.fromkeys(k for k in keys if k and f" {k} " not in told))


def _secret_names(case: Case) -> tuple[str, ...]:
    """The diagnosis and its synonyms, but for names that the patient's own words hold."""
    if case.diagnosis is None:
        return ()
    told = " ".join(f" {_key(f.lay)} {_key(f.colloquial or '')} " for f in case.facts)
    return _names_of((case.diagnosis.name, *case.diagnosis.synonyms), told)


def _key(text: str) -> str:
    return " ".join(singular(w) for w in words(text))


# --- what was said before


@dataclass(frozen=True)
class Said:
    """One claim of an earlier turn that stands, with the facts it rests on."""

    claim: Claim
    facts: tuple[str, ...]
    denied: frozenset[str]
    """Concepts that it denies."""
    supported: bool
    """The record bears it out; two such claims cannot contradict each other."""


def history_problems(now: Sequence[Said], before: Sequence[Said], retracted: frozenset[str]) -> list[Problem]:
    """Claims that do not agree with what this patient said earlier; facts whose denial was taken back are left out."""
    found: list[Problem] = []
    for one in now:
        for earlier in before:
            detail = _clash(one, earlier, retracted)
            if detail:
                found.append(Problem("contradicts_history", one.claim.sentence, detail))
                break
    return found


def _clash(one: Said, earlier: Said, retracted: frozenset[str]) -> str | None:
    if (one.supported and earlier.supported) or (set(one.facts) | set(earlier.facts)) & retracted:
        return None
    if set(one.facts) & set(earlier.facts) or _topic(one) & _topic(earlier):
        for quantity in one.claim.reading.quantities:
            rivals = [
                q for q in earlier.claim.reading.quantities if q.kind == quantity.kind and q.noun == quantity.noun
            ]
            if rivals and not any(_compatible(quantity, q) for q in rivals):
                return f"said {rivals[0].text} before and {quantity.text} now"
        sides, others = one.claim.reading.sides, earlier.claim.reading.sides
        if sides and others and not sides & others:
            return f"said {' and '.join(sorted(others))} before and {' and '.join(sorted(sides))} now"
    if _stated(one) & earlier.denied or one.denied & _stated(earlier):
        return "denied before what is told now, or the other way round"
    return None


def _topic(said: Said) -> frozenset[str]:
    """What a claim is about: what it names, or else what it goes on about."""
    reading = said.claim.reading if said.claim.reading.of("concept", "drug") else said.claim.context
    atoms = reading.of("concept", "drug") if reading else ()
    return frozenset(v for a in atoms for v in a.values)


def _stated(said: Said) -> frozenset[str]:
    turned = said.claim.negative
    return (
        frozenset(v for a in said.claim.reading.of("concept", "drug") if a.negated == turned for v in a.values)
        - said.denied
    )


def _compatible(one: Quantity, other: Quantity) -> bool:
    """The two may be the same number: one blurs the other, or both are blurs that meet."""
    met = one.low <= other.high * 1.13 and other.low <= one.high * 1.13
    return agrees(one, other) or agrees(other, one) or ((one.vague or other.vague) and met)


# --- what was asked and not told


def omission(asked: Sequence[Fact], setting: PatientSetting, deflected: Sequence[Claim]) -> list[Problem]:
    """A patient who claims not to know a fact that was asked for, without noise that would keep it back."""
    if not deflected:
        return []
    kept = [f for f in asked if f.polarity == "present" and not may_withhold(f, setting)]
    return (
        [Problem("unjustified_omission", deflected[0].sentence, f"the patient knows: {kept[0].statement}")]
        if kept
        else []
    )


def may_withhold(fact: Fact, setting: PatientSetting) -> bool:
    """Whether the noise profile may keep this fact back (design section 5)."""
    only_sensitive = tables()["withholding_sensitive_only"]
    levels: dict[str, int] = tables()["withholding"]
    return any(
        setting.noise.level(dimension) >= level and (fact.sensitive or dimension not in only_sensitive)
        for dimension, level in levels.items()
    )


def may_deny(fact: Fact, setting: PatientSetting) -> bool:
    """Whether a first denial of this fact is the one that social and cultural noise allows; never by a caregiver."""
    from_level = 3
    own = setting.case.informant.role == "patient"
    return fact.sensitive and own and setting.noise.level("social_cultural") >= from_level


def without_name(text: str, case: Case) -> str:
    """The text with every name of the diagnosis taken out, for feedback."""
    if case.diagnosis is None:
        return text
    for name in sorted({case.diagnosis.name, *case.diagnosis.synonyms}, key=lambda n: (-len(n), n)):
        text = re.sub(rf"\b{re.escape(name)}\b", "an illness", text, flags=re.IGNORECASE)
    return text
