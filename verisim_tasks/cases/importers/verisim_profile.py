"""Patient profiles in the published VeriSim schema (arXiv 2604.10441), with the noise their authors gave them."""

from __future__ import annotations

import re
from typing import Any, get_args

from verisim_tasks.cases.importers.draft import Draft, said, slug
from verisim_tasks.cases.importers.fields import age_in, need, need_dict, need_text, sex_in, text_of
from verisim_tasks.cases.importers.grammar import AM, said_plain
from verisim_tasks.cases.importers.phrases import said_item
from verisim_tasks.cases.importers.report import Imported
from verisim_tasks.cases.importers.source import Raw
from verisim_tasks.cases.importers.wording import in_plain_words, marked
from verisim_tasks.records.case import Codes, NoiseDimension

MAX_LEVEL = 4
_FREQUENCY = {
    "bid": "twice a day",
    "tid": "three times a day",
    "qid": "four times a day",
    "daily": "once a day",
    "prn": "when needed",
    "qhs": "at night",
    "qd": "once a day",
    "weekly": "once a week",
    "as needed": "when needed",
}


def convert(record: Raw, case_id: str) -> Imported:
    """One profile. It names no diagnosis; its own noise becomes ``suggested_noise``."""
    data = record.data
    who = need_dict(record, data, "demographics")
    age = age_in(str(need(record, who, "age", "demographics")))
    sex = sex_in(need_text(record, who, "sex", "demographics"))
    if age is None or sex is None:
        raise record.place.bad(f"demographics.{'age' if age is None else 'sex'} cannot be read")
    diagnosis = text_of(record, data, "diagnosis") or None
    draft = Draft(record, case_id, age, sex, "VeriSim, published profiles", "MIT", diagnosis)
    complaint = need_text(record, data, "chief_complaint")
    draft.statement(
        complaint,
        said(complaint, marked(in_plain_words(said_item(complaint, draft.speaker))), "chief_complaint", complaint),
    )
    for entry in _entries(record, "symptoms"):
        _symptom(record, draft, entry)
    for entry in _entries(record, "medications"):
        _medication(record, draft, entry)
    for kind in ("conditions", "procedures"):
        for entry in _entries(record, kind):
            _history(record, draft, entry, kind)
    _allergies(record, draft)
    draft.extra["suggested_noise"] = _noise(record)
    for key in sorted(set(data) - _KNOWN):
        draft.note(f"unknown part of the profile, not imported: {str(key)[:60]}")
    return draft.finish(complaint)


_KNOWN = {
    "patient_id",
    "demographics",
    "chief_complaint",
    "symptoms",
    "medications",
    "conditions",
    "procedures",
    "allergies",
    "noise_profile",
    "diagnosis",
}


def default_id(record: Raw, stem: str) -> str:
    """By ``patient_id``."""
    return f"verisim-{slug(need_text(record, record.data, 'patient_id'))}"


def _entries(record: Raw, key: str) -> list[dict[str, Any]]:
    value = record.data.get(key)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
        raise record.place.bad(f"{key} is not a list of objects; each needs a 'text'")
    return value


def _codes(record: Raw, entry: dict[str, Any]) -> Codes:
    return Codes(umls=text_of(record, entry, "cui") or None)


def _symptom(record: Raw, draft: Draft, entry: dict[str, Any]) -> None:
    name = need_text(record, entry, "text", "symptoms")
    more = {key: text_of(record, entry, key) or None for key in ("severity", "onset", "duration", "frequency")}
    denied = entry.get("present") is False or str(entry.get("polarity", "")).lower() in ("denied", "absent")
    if denied:
        draft.narrative(f"Denies {name}", "review")
        return
    lay = said_item(name, draft.speaker).rstrip(".")
    if more["severity"] in ("mild", "moderate", "severe"):
        lay = re.sub(
            r"(had|feel) (an? )?",
            lambda m: f"{m[1]} {m[2] and 'a '}{more['severity']} " if m[2] else f"{m[1]} {more['severity']} ",
            lay,
            count=1,
        )
    category = "pain" if re.search(r"pain|ache|discomfort", name, re.I) else "present_illness_positive"
    draft.statement(
        _source(entry),
        said(_with(name, more), marked(in_plain_words(f"{lay}.")), category, name),
        codes=_codes(record, entry),
        **more,
    )
    if more["onset"]:
        when = more["onset"]
        lay = marked(f"The {in_plain_words(name)} started {when}.")
        draft.statement(
            f"{name} onset {when}", said(f"{name}, onset {when}", lay, category, name), aspect="onset", onset=when
        )
    if more["duration"] and more["duration"] not in ("ongoing", "constant"):
        lay = marked(f"The {in_plain_words(name)} has lasted {more['duration']}.")
        draft.statement(
            f"{name} duration {more['duration']}",
            said(f"{name}, duration {more['duration']}", lay, category, name),
            aspect="duration",
        )
    elif more["duration"]:
        draft.statement(
            f"{name} {more['duration']}",
            said(f"{name}, {more['duration']}", f"The {in_plain_words(name)} hasn't gone away.", category, name),
            aspect="course",
        )


def _medication(record: Raw, draft: Draft, entry: dict[str, Any]) -> None:
    name = need_text(record, entry, "text", "medications")
    dose, often = text_of(record, entry, "dose"), text_of(record, entry, "frequency")
    spoken = _FREQUENCY.get(often.lower(), often)
    amount = re.sub(r"(\d)\s*mg\b", r"\1 milligrams", dose)
    parts = ", ".join(p for p in (f"[{amount}|dose]" if amount else "", f"[{spoken}|dose]" if spoken else "") if p)
    who = draft.speaker.say("take")
    lay = ", ".join(p for p in (f"{who[:1].upper()}{who[1:]} [{name}|drug|a medicine]", parts) if p) + "."
    draft.statement(
        _source(entry),
        said(" ".join(p for p in (name, dose, often) if p), lay, "medication", name, terms=(name,)),
        codes=_codes(record, entry),
    )


def _history(record: Raw, draft: Draft, entry: dict[str, Any], kind: str) -> None:
    name = need_text(record, entry, "text", kind)
    year = text_of(record, entry, "diagnosed_year") or text_of(record, entry, "year")
    why = text_of(record, entry, "indication")
    when = f" [in {year}|time|some years ago]" if year else ""
    if kind == "procedures":
        lay = f"I had {_article(in_plain_words(name))}{when}{f' because of {in_plain_words(why)}' if why else ''}."
    elif year:
        lay = f"I was found to have {in_plain_words(name)}{when}."
    else:
        lay = f"I have {in_plain_words(name)}."
    if draft.speaker.about:
        lay = said_plain(lay.replace("I ", "The patient ", 1).replace(" have ", " has ", 1), draft.speaker)
    draft.statement(
        _source(entry),
        said(f"{name}{f' ({year})' if year else ''}", lay, "medical_history", name, terms=(name,)),
        codes=_codes(record, entry),
    )


def _article(name: str) -> str:
    return (
        name
        if re.match(r"(?:an?|the)\b", name) or name.endswith("s")
        else f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
    )


def _allergies(record: Raw, draft: Draft) -> None:
    entries = _entries(record, "allergies")
    for entry in entries:
        name, reaction = need_text(record, entry, "text", "allergies"), text_of(record, entry, "reaction")
        after = f"; it gave {draft.speaker.object} {_article(reaction)}" if reaction else ""
        lay = f"{draft.speaker.say(AM)} allergic to [{name}|drug|a certain medicine]{after}."
        draft.statement(
            _source(entry),
            said(
                f"Allergy: {name}{f', {reaction}' if reaction else ''}",
                lay[:1].upper() + lay[1:],
                "allergies",
                f"{name} allergy",
                terms=(name, "allergies"),
            ),
            codes=_codes(record, entry),
        )
    if not entries and "allergies" in record.data:
        draft.narrative("No known allergies", "allergy")


def _noise(record: Raw) -> dict[str, int]:
    """The profile's own dimensions and levels."""
    known = get_args(NoiseDimension)
    levels: dict[str, int] = {}
    for entry in _entries(record, "noise_profile"):
        name, level = need_text(record, entry, "type", "noise_profile"), need(record, entry, "level", "noise_profile")
        if name not in known:
            raise record.place.bad(f"noise_profile names {name!r}; known: {', '.join(sorted(known))}")
        if isinstance(level, bool) or not isinstance(level, int) or not 0 <= level <= MAX_LEVEL:
            raise record.place.bad(
                f"noise_profile level {level!r} of {name} is not a whole number from 0 to {MAX_LEVEL}"
            )
        levels[name] = level
    return levels


def _with(name: str, more: dict[str, str | None]) -> str:
    detail = ", ".join(f"{k} {v}" for k, v in more.items() if v)
    return f"{name} ({detail})" if detail else name


def _source(entry: dict[str, Any]) -> str:
    return "; ".join(f"{k}: {v}" for k, v in entry.items() if isinstance(v, str | int))
