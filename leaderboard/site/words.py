"""Words for the pages: foreign text made showable, labels of variants, numbers as they are read."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any

from verisim_leaderboard.rating.sheets import difficulties
from verisim_leaderboard.record import Score
from verisim_leaderboard.score_names import ScoreInfo, Unit
from verisim_leaderboard.scores import LEVELS, variant_name
from verisim_leaderboard.tables import visible
from verisim_tasks._yaml import parse_yaml

MISSING = "–"
_SCALE: Mapping[Unit, float] = {"share": 100.0, "ratio": 100.0}
_SIGNS: Mapping[Unit, str] = {"share": "%", "ratio": "%", "points": "points"}


def shown(text: str) -> str:
    """Text of others as a page may show it: what is invisible or turns the writing round becomes a replacement sign."""
    return text if text.isprintable() else visible(text.replace("\r\n", "\n").replace("\t", " "))


def cleaned(value: Any) -> Any:
    """The same for every text within lists and mappings, keys included."""
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, Mapping):
        return {shown(str(key)): cleaned(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [cleaned(inner) for inner in value]
    return value


def file_names(texts: Iterable[str], longest: int = 80) -> list[str]:
    """A plain file name for each text, all different: lower-case letters, digits and hyphens."""
    used: set[str] = set()
    found = []
    for text in texts:
        plain = unicodedata.normalize("NFKD", text).lower()
        stem = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:longest].strip("-") or "unnamed"
        name, number = stem, 2
        while name in used:
            name, number = f"{stem}-{number}", number + 1
        used.add(name)
        found.append(name)
    return found


@functools.cache
def _words() -> Mapping[str, Mapping[str, str]]:
    text = (files("verisim_leaderboard") / "site" / "words.yaml").read_text(encoding="utf-8")
    found: Mapping[str, Mapping[str, str]] = parse_yaml(text)
    return found


def device_label(device: str) -> str:
    """What a device of the noise does, in words; its own name where it is not described."""
    return _words()["devices"].get(device, device.replace("_", " "))


def dimension_label(dimension: str) -> str:
    """A noise dimension in one word; its own name where it is not known."""
    return _words()["dimensions"].get(dimension, dimension.replace("_", " "))


def level_text(dimension: str, level: int) -> str:
    """What a level of a dimension is like, in a sentence; empty where it is not described."""
    known = difficulties().get(dimension)
    return str(known["levels"].get(level, "")) if known else ""


@functools.cache
def _variant_labels() -> Mapping[str, str]:
    return {variant_name(d, level): f"{dimension_label(d)} {level}" for d in difficulties() for level in LEVELS}


def variant_label(variant: str) -> str:
    """``Memory 3`` for ``memory_recall_l3``; clean, mixed and unknown variants by their name."""
    return _variant_labels().get(variant) or variant.replace("_", " ").capitalize()


def scaled(value: float | None, unit: Unit) -> float | None:
    """A value as it is shown: shares and ratios in percent; one decimal, two for grades and unknown units."""
    if value is None:
        return None
    return round(_SCALE.get(unit, 1.0) * value, 1 if unit in _SCALE or unit in ("points", "count") else 2)


def number(value: float | None, unit: Unit) -> str:
    """The scaled value as text; a dash where there is none."""
    found = scaled(value, unit)
    return MISSING if found is None else f"{found:.{1 if unit in _SCALE or unit in ('points', 'count') else 2}f}"


def interval(score: Score, unit: Unit) -> str:
    """``[3.1, 21.9]``; empty where there is none."""
    if score.low is None or score.high is None:
        return ""
    return f"[{number(score.low, unit)}, {number(score.high, unit)}]"


def titled(info: ScoreInfo) -> str:
    """A score's label with its unit."""
    sign = _SIGNS.get(info.unit)
    label = info.label[:1].upper() + info.label[1:]
    return f"{label}, {sign}" if sign else label
