"""Vital signs, examination findings and test results from nested objects of text."""

# ruff: noqa: E501 - a pattern stays on one line
from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from verisim_tasks.cases.importers.fields import as_text
from verisim_tasks.cases.importers.source import Raw
from verisim_tasks.records.case import Finding, TestResult, Vitals

_NORMAL = re.compile(
    r"\b(?:normal|negative|unremarkable|no (?:\w+ ){0,3}(?:found|detected|noted|observed|abnormalit\w+|tenderness|masses|murmurs?|rash|evidence)|within normal|clear|none|"
    r"not (?:elevated|detected)|intact|absent|soft|non-?tender|regular rate)\b",
    re.I,
)
_ABNORMAL = re.compile(
    r"\b(?:abnormal|elevated|increased|decreased|low|high|positive|reduced|diminished|reveal\w*|enlarged|swelling|tender(?:ness)?(?! not)|present|absent reflexes|mass|lesion|rash|"
    r"consistent with|suggest\w*|impaired|weak\w*|loss|irregular)\b",
    re.I,
)
_UNKNOWN = re.compile(
    r"^(?:pending|n/?a|unknown|none (?:provided|performed)|(?:was |were )?not (?:provided|mentioned|available|performed|specified|applicable|done|tested|reported)[^,;]*)\.?$",
    re.I,
)
_VITALS: tuple[tuple[str, str, str], ...] = (
    ("temperature_c", r"temp", r"(\d{2,3}(?:\.\d+)?)\s*°?\s*(c|f)?"),
    ("heart_rate_bpm", r"heart_?\s?rate|pulse|^hr$|^p$", r"(\d{2,3})"),
    ("respiratory_rate_pm", r"resp|^rr$", r"(\d{1,3})"),
    ("spo2_percent", r"oxygen|sat|spo2|so2", r"(\d{2,3})\s*%?"),
    ("weight_kg", r"weight", r"(\d{1,3}(?:\.\d+)?)\s*kg"),
    ("height_cm", r"height", r"(\d{2,3}(?:\.\d+)?)\s*cm"),
)
_LIMITS = {
    "temperature_c": (25, 45),
    "heart_rate_bpm": (0, 300),
    "respiratory_rate_pm": (0, 120),
    "systolic_mmhg": (0, 320),
    "diastolic_mmhg": (0, 220),
    "spo2_percent": (0, 100),
    "weight_kg": (0.2, 400),
    "height_cm": (10, 250),
}


def flat(record: Raw, value: Any, where: str, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """(path of names, text) for every text in a nested object."""
    if value is None or value == "" or value == [] or value == {}:
        return
    if isinstance(value, dict):
        for key in value:
            yield from flat(record, value[key], where, (*path, readable(str(key))))
    elif isinstance(value, list | tuple):
        texts = [as_text(record, v, where) for v in value if not isinstance(v, dict | list)]
        if texts:
            yield path, "; ".join(texts)
        for item in value:
            if isinstance(item, dict | list):
                yield from flat(record, item, where, path)
    else:
        yield path, as_text(record, value, where)


def readable(key: str) -> str:
    """``Motor_Strength`` becomes ``motor strength``; abbreviations stay."""
    words = re.sub(r"[_\s]+", " ", key).strip()[:80].split()
    return " ".join(w if w.isupper() and len(w) > 1 else w.lower() for w in words) or "unnamed"


def examination(pairs: list[tuple[tuple[str, ...], str]]) -> tuple[Finding, ...]:
    """Findings in order; every path one."""
    made = []
    for number, (path, text) in enumerate(pairs, start=1):
        name = _name(path, "examination")
        made.append(
            Finding(id=f"e{number:02d}", name=name, result=text, abnormal=is_abnormal(text), terms=_terms(path))
        )
    return tuple(made)


def results(pairs: list[tuple[tuple[str, ...], str]]) -> tuple[TestResult, ...]:
    """Test results in order; the outer names are the panel."""
    made = []
    for number, (path, text) in enumerate(pairs, start=1):
        name = _name(path, "test")
        panel = path[0] if len(path) > 1 and path[-1] not in ("findings", "result", "results", "finding") else None
        made.append(
            TestResult(
                id=f"t{number:02d}", name=name, result=text, abnormal=is_abnormal(text), panel=panel, terms=_terms(path)
            )
        )
    return tuple(made)


def is_abnormal(text: str) -> bool:
    """Something is found; a bare number without a word beside it is not called abnormal."""
    rest = re.sub(r"\b(?:no|not|without|negative for)\b[^.;,]*", "", text, flags=re.I)
    if _ABNORMAL.search(rest):
        return True
    return not _NORMAL.search(text) and len(re.findall(r"[A-Za-z]{3,}", rest)) > 2


def is_unknown(text: str) -> bool:
    """The source gives no result."""
    return bool(_UNKNOWN.match(text))


def vitals_from(pairs: list[tuple[tuple[str, ...], str]]) -> tuple[Vitals, list[tuple[tuple[str, ...], str]]]:
    """The vital signs that can be read as numbers, and the pairs that cannot."""
    values: dict[str, float] = {}
    rest = []
    for path, text in pairs:
        read = _pressure(text) if re.search(r"pressure|^bp$", path[-1] if path else "", re.I) else _single(path, text)
        fitting = {k: v for k, v in read.items() if _LIMITS[k][0] <= v <= _LIMITS[k][1] and k not in values}
        if "systolic_mmhg" in fitting and fitting["systolic_mmhg"] <= fitting.get("diastolic_mmhg", 0):
            fitting = {}
        values |= fitting
        if not fitting:
            rest.append((path, text))
    return Vitals.model_validate(values), rest


def _single(path: tuple[str, ...], text: str) -> dict[str, float]:
    name = path[-1] if path else ""
    for field, key, value in _VITALS:
        if re.search(key, name, re.I) and (found := re.search(value, text, re.I)):
            number = float(found[1])
            if field == "temperature_c":
                number = round((number - 32) / 1.8, 1) if (found[2] or "").lower() == "f" or number > 60 else number
            return {field: number if field in ("temperature_c", "weight_kg", "height_cm") else int(number)}
    return {}


def _pressure(text: str) -> dict[str, float]:
    found = re.search(r"(\d{2,3})\s*/\s*(\d{2,3})", text)
    return {"systolic_mmhg": int(found[1]), "diastolic_mmhg": int(found[2])} if found else {}


def _name(path: tuple[str, ...], fallback: str) -> str:
    parts = [p for p in path if p not in ("findings", "result", "results", "finding", "value")]
    return ": ".join(parts[-3:]) or fallback


def _terms(path: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(p for p in path if p not in ("findings", "finding", "result", "results")))[:6]
