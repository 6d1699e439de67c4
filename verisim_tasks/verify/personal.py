"""Who the patient is: age, sex, work, home. A claim that makes the patient somebody else is contradicted."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping

from verisim_tasks.language.words import content_stems, fold
from verisim_tasks.verify.details import NEARLY
from verisim_tasks.verify.evidence import CaseRecord, Nearness
from verisim_tasks.verify.judgement import Judgement
from verisim_tasks.verify.quantities import NUMBER, value_of
from verisim_tasks.verify.vocabulary import tables

_OCCUPATION_ITEMS = ("occupation",)
_HOME_ITEMS = ("living_situation", "marital_status", "children")


def judge_personal(judged: Judgement, record: CaseRecord, nearness: Nearness) -> None:
    """Lay what a claim says of the person beside the case; says nothing where it says nothing of the person."""
    text = fold(judged.claim.text)
    if record.case.informant.role == "patient" or re.search(r"\b(?:he|she|patient)\b", text):
        _age(judged, text, record)
        _sex(judged, text, record)
        _occupation(judged, text, record, nearness)
    _home(judged, text, record)


def _age(judged: Judgement, text: str, record: CaseRecord) -> None:
    for found in _ages():
        match = found.search(text)
        age = value_of(match["age"]) if match else None
        if age is None:
            continue
        facts = [f for f in record.facts if f.fact.category == "age"]
        own = record.case.demographics.age
        slack = NEARLY if re.search(r"\b(?:nearly|almost|about|around|just over)\b", match[0]) else 1  # type: ignore[index]
        if abs(age - own) < slack or age == int(own):
            judged.add("supported", "", facts)
        else:
            judged.add("contradicted", f"the patient is {own:g} years old", facts)
        return


def _sex(judged: Judgement, text: str, record: CaseRecord) -> None:
    own = record.case.demographics.sex
    facts = [f for f in record.facts if f.fact.category == "gender"]
    for sex, patterns in _patterns("sex").items():
        if any(p.search(text) for p in patterns):
            judged.add(
                "supported" if sex == own else "contradicted", "" if sex == own else f"the patient is {own}", facts
            )
            return


def _occupation(judged: Judgement, text: str, record: CaseRecord, nearness: Nearness) -> None:
    match = next((m for p in _compiled("occupation") if (m := p.search(text))), None)
    facts = [f for f in record.facts if f.fact.category in _OCCUPATION_ITEMS]
    named = record.case.demographics.occupation
    if match is None or not (facts or named) or judged.claim.reading.negated:
        return
    job = match["job"]
    everything = [f for f in record.facts if f.stems & frozenset(content_stems(job))]
    own = frozenset(content_stems(named or "")) | frozenset(s for f in facts for s in f.stems)
    if set(content_stems(job)) & own or everything:
        judged.add("supported", "", facts)
        return
    near = max(nearness.of(job, facts).values(), default=0.0) if facts else 1.0
    if near < tables()["thresholds"]["occupation"]:
        judged.add("contradicted", f"the patient's occupation is {named or facts[0].fact.statement}", facts)


def _home(judged: Judgement, text: str, record: CaseRecord) -> None:
    facts = [f for f in record.facts if f.fact.category in _HOME_ITEMS]
    if not facts:
        return
    told = " . ".join(fold(t) for f in facts for t in f.texts)
    for section in ("marital", "living"):
        claimed = {k for k, ps in _patterns(section).items() if any(p.search(text) for p in ps)}
        known = {k for k, ps in _patterns(section).items() if any(p.search(_as_own(told)) for p in ps)}
        if not claimed:
            continue
        if claimed & known:
            judged.add("supported", "", facts)
        elif known and not judged.claim.reading.negated:
            judged.add("contradicted", f"the record has: {facts[0].fact.statement}", facts[:1])
    company = judged.claim.reading.kin - {"family"}
    if re.search(r"\b(?:live|lives|living) with\b", text) and company:
        kin = frozenset(k for f in facts for k in f.kin)
        if kin and not _wider(company) & _wider(kin):
            judged.add("contradicted", f"the record has: {facts[0].fact.statement}", facts[:1])


def _wider(kin: frozenset[str]) -> frozenset[str]:
    """Relatives and the general words for them."""
    kinds: Mapping[str, list[str]] = tables()["kin_kinds"]
    return kin | {general for general, names in kinds.items() if kin & set(names)} - {"family"}


def _as_own(told: str) -> str:
    """Statements about the patient in the first person ("lives with his wife" as "my wife")."""
    return re.sub(r"\b(?:his|her)\b", "my", told)


@functools.cache
def _ages() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(p.replace("{number}", NUMBER)) for p in tables()["personal"]["age"])


@functools.cache
def _compiled(section: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(p) for p in tables()["personal"][section])


@functools.cache
def _patterns(section: str) -> Mapping[str, tuple[re.Pattern[str], ...]]:
    return {k: tuple(re.compile(p) for p in ps) for k, ps in tables()["personal"][section].items()}
