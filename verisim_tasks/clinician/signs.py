"""What examination results tell: signs for and against diseases (``fixtures/mvme/signs.yaml``)."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from verisim_tasks.clinician.assessment import Assessment
from verisim_tasks.clinician.beliefs import DECIMALS
from verisim_tasks.clinician.consult import RANKED
from verisim_tasks.clinician.knowledge import Array, Knowledge
from verisim_tasks.language.lexicon import load_yaml

Level = Literal["high", "low", "normal"]

_REFERENCE = re.compile(r"\((?:reference|ref|normal)\w*:?\s*(?P<range>[^()]*)\)", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_RANGE = re.compile(rf"({_NUMBER.pattern})\s*[-–]\s*({_NUMBER.pattern})")
_WORDS: tuple[tuple[Level, re.Pattern[str]], ...] = (
    ("normal", re.compile(r"\b(?:normal|within range)\b", re.IGNORECASE)),
    ("high", re.compile(r"\b(?:raised|elevated|high|increased)\b", re.IGNORECASE)),
    ("low", re.compile(r"\b(?:low|reduced|decreased)\b", re.IGNORECASE)),
)
_DENIED = re.compile(r"\b(?:no|without|nor)\b[^;,.]*", re.IGNORECASE)


@dataclass(frozen=True)
class Sign:
    """One thing that a result can show."""

    test: re.Pattern[str]
    says: Level | re.Pattern[str]
    weights: Mapping[str, float]
    """On the natural-log scale by disease; below zero speaks against it."""


@functools.cache
def signs() -> tuple[Sign, ...]:
    """All signs that ship with the suite."""
    return tuple(
        Sign(
            re.compile(row["test"], re.IGNORECASE),
            row["says"] if row["says"] in ("high", "low", "normal") else re.compile(row["says"], re.IGNORECASE),
            {**row.get("for", {}), **{name: -weight for name, weight in row.get("against", {}).items()}},
        )
        for row in load_yaml("mvme", "signs.yaml")
    )


@functools.lru_cache(maxsize=20_000)
def weights_of(line: str) -> Mapping[str, float]:
    """What one result line (``name: result unit (reference range)``) says of diseases."""
    name, _, result = line.partition(":")
    found: dict[str, float] = {}
    for sign in signs():
        if sign.test.search(name) and _shows(result.strip(), sign.says):
            for disease, weight in sign.weights.items():
                found[disease] = found.get(disease, 0.0) + weight
    return found


def _shows(result: str, says: Level | re.Pattern[str]) -> bool:
    if isinstance(says, str):
        return level(result) == says
    whole = "no " in says.pattern or "negative" in says.pattern
    result = _REFERENCE.sub("", result)
    return bool(says.search(result if whole else _DENIED.sub("", result)))


def level(result: str) -> Level | None:
    """Where a result stands against its reference range, or what it says of itself; ``None`` when neither is there."""
    reference = _REFERENCE.search(result)
    value = _NUMBER.search(result)
    if reference is None or value is None or value.start() > reference.start():
        return next((name for name, words in _WORDS if words.search(result)), None)
    low, high = _limits(reference["range"])
    number = _value(value.group())
    if low is None and high is None:
        return None
    return "low" if low is not None and number < low else "high" if high is not None and number > high else "normal"


def _limits(text: str) -> tuple[float | None, float | None]:
    between = _RANGE.search(text)
    if between:
        return _value(between.group(1)), _value(between.group(2))
    number = _NUMBER.search(text)
    if number is None:
        return None, None
    bound = _value(number.group())
    return (bound, None) if re.search(r"[>≥]", text) else (None, bound)


def _value(text: str) -> float:
    return float(text.replace(",", ""))


def weigh(knowledge: Knowledge, state: Assessment, results: Sequence[str]) -> Assessment:
    """The assessment after the results; each line counts once."""
    if not results:
        return state
    score = np.log(np.clip(state.posterior, 1e-12, None))
    rows = {d.name: i for i, d in enumerate(knowledge.diseases)}
    for line in dict.fromkeys(results):
        for disease, weight in weights_of(line).items():
            score[rows[disease]] += weight
    odds = np.exp(score - score.max())
    weighed = state.copy()
    weighed.posterior = odds / odds.sum()
    weighed.ranking = ranked(knowledge, weighed.posterior)
    return weighed


def ranked(knowledge: Knowledge, posterior: Array) -> tuple[tuple[str, float], ...]:
    """The likeliest diseases, most likely first; equals in the order of the knowledge."""
    order = np.argsort(-np.round(posterior, DECIMALS), kind="stable")[:RANKED]
    return tuple((knowledge.diseases[i].name, float(posterior[i])) for i in order)


def telling(results: Sequence[str], disease: str) -> list[str]:
    """The results that speak for a disease, in their order."""
    return [line for line in dict.fromkeys(results) if weights_of(line).get(disease, 0.0) > 0]
