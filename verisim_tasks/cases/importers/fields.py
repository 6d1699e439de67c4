"""Taking typed values out of a record; what is missing or of the wrong type is an error with file and line."""

from __future__ import annotations

import re
from typing import Any, Literal

from verisim_tasks.cases.importers.source import MAX_TEXT, Raw
from verisim_tasks.errors import did_you_mean

Sex = Literal["female", "male"]

_FEMALE = re.compile(r"\b(?:female|woman|women|girl|lady|mother|f)\b|女", re.IGNORECASE)
_MALE = re.compile(r"\b(?:male|man|men|boy|gentleman|father|m)\b|男", re.IGNORECASE)
_AGE = re.compile(r"(\d+(?:\.\d+)?)\s*-?\s*(year|yr|month|week|day|hour)s?\b", re.IGNORECASE)
_OLD = re.compile(
    r"(\d+(?:\.\d+)?)\s*-?\s*(year|yr|month|week|day|hour)s?\s*-?\s*(?:old\b|of age\b)|\baged? (\d{1,3})\b",
    re.IGNORECASE,
)
_WORD_AGE = re.compile(
    r"\b(two|three|four|five|six|nine|eighteen)\s*-?\s*(month|week|day)s?\s*-?\s*(?:old\b|of age\b)", re.IGNORECASE
)
MAX_DEMOGRAPHICS = 60
"""Characters of a text that tells age and sex and nothing else."""
_NEWBORN = re.compile(r"\b(?:newborn|neonate)\b", re.IGNORECASE)
_PER_YEAR = {"year": 1.0, "yr": 1.0, "month": 12.0, "week": 52.0, "day": 365.0, "hour": 8760.0}
_WORDS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "nine": 9, "eighteen": 18}


def need(record: Raw, data: Any, key: str, where: str = "") -> Any:
    """The value of a key that must be there."""
    label = f"{where}.{key}" if where else key
    if not isinstance(data, dict):
        raise record.place.bad(f"{where or 'the record'} is a {type(data).__name__}; an object with {key!r} is needed")
    if data.get(key) is None:
        hint = did_you_mean(key, sorted(str(k)[:60] for k in data)[:20]) if data else ""
        raise record.place.bad(f"{label} is missing{hint}")
    return data[key]


def need_dict(record: Raw, data: Any, key: str, where: str = "") -> dict[str, Any]:
    """The object of a key that must be there."""
    value = need(record, data, key, where)
    if not isinstance(value, dict):
        raise record.place.bad(f"{_label(where, key)} is a {type(value).__name__}; an object is needed")
    return value


def need_text(record: Raw, data: Any, key: str, where: str = "") -> str:
    """The text of a key that must be there and not be empty."""
    text = as_text(record, need(record, data, key, where), _label(where, key))
    if not text:
        raise record.place.bad(f"{_label(where, key)} is empty; a text is needed")
    return text


def text_of(record: Raw, data: dict[str, Any], key: str, where: str = "") -> str:
    """The text of a key, empty where there is none."""
    value = data.get(key)
    return "" if value is None else as_text(record, value, _label(where, key))


def texts_of(record: Raw, data: dict[str, Any], key: str, where: str = "") -> list[str]:
    """The texts of a key that holds a text, a list of texts, or an object of texts; empty where there is none."""
    return leaves(record, data.get(key), _label(where, key))


def leaves(record: Raw, value: Any, where: str) -> list[str]:
    """All texts in a value, however nested, in order."""
    if value is None or value == "":
        return []
    if isinstance(value, dict):
        return [t for k in value for t in leaves(record, value[k], f"{where}.{k}")]
    if isinstance(value, list | tuple):
        return [t for i, v in enumerate(value) for t in leaves(record, v, f"{where}.{i}")]
    text = as_text(record, value, where)
    return [text] if text else []


def as_text(record: Raw, value: Any, where: str) -> str:
    """A value as one line of text; a number is written out, anything else is an error."""
    if isinstance(value, bool):
        value = "yes" if value else "no"
    if isinstance(value, int | float):
        value = f"{value:g}" if abs(value) < 1e15 else str(value)
    if not isinstance(value, str):
        raise record.place.bad(f"{where} is a {type(value).__name__}; a text is needed")
    if len(value) > MAX_TEXT:
        raise record.place.bad(f"{where} has {len(value)} characters; at most {MAX_TEXT} are a clinical text")
    return re.sub(r"[\x00-\x1f\x7f\u2028\u2029\s]+", " ", value).strip()


def sex_in(text: str) -> Sex | None:
    """Female or male, by the first word that tells."""
    female, male = _FEMALE.search(text), _MALE.search(text)
    if female and male:
        return "female" if female.start() <= male.start() else "male"
    return "female" if female else "male" if male else None


def age_in(text: str) -> float | None:
    """Age in years, by the first phrase that tells; a newborn without a number of days is 0.

    In running text only "35-year-old", "aged 35" and the like tell: "a cough for 2 months" does not.
    """
    if stated := _OLD.search(text):
        return _years(float(stated[1] or stated[3]), (stated[2] or "year").lower())
    if word := _WORD_AGE.search(text):
        return _years(_WORDS[word[1].lower()], word[2].lower())
    if _NEWBORN.search(text):
        return 0.0
    if len(text) > MAX_DEMOGRAPHICS:
        return None
    if found := _AGE.search(text):
        return _years(float(found[1]), found[2].lower())
    bare = re.fullmatch(r"\s*(\d{1,3})(?:\.0)?\s*(?:岁|y|yo)?\s*", text, re.IGNORECASE)
    return float(bare[1]) if bare else None


def _years(number: float, unit: str) -> float:
    return round(number / _PER_YEAR[unit], 3)


def _label(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key
