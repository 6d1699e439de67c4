"""Numbers with their units, as records and patients write and say them, on one scale."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import NamedTuple

from verisim_tasks.language.lexicon import load_yaml
from verisim_tasks.language.words import fold, singular

TOLERANCE = 0.2
"""Two amounts of one kind agree when their ranges, widened by this share, touch: "six weeks", "a month and a half"."""
EXACT = frozenset(["dose", "units", "puffs", "volume", "temperature", "score", "children", "age", "year"])
"""Kinds in which a patient who gives a number means that number."""
_EXACT_TOLERANCE = 0.01

_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[a-z]+|/")
_OUT_OF_TEN = re.compile(r"^(?:out of|of|/) ?(?:10|ten)\b")
_RATE = re.compile(
    r"^(?:[a-z]+ )?(?:a|an|per|every|each|/) ?(day|night|week|month|year)\b"
    r"|^(?:[a-z]+ )?(daily|weekly|monthly|nightly|yearly)\b"
)
_PER = {"day": 30.0, "night": 30.0, "week": 4.3, "month": 1.0, "year": 1 / 12}
_COUNTED = {"once": 1, "twice": 2, "thrice": 3}
_EVERY = re.compile(
    r"\b(?:every|each) (?:single )?(day|night|week|month|year|morning|evening)s?\b"
    r"|\b(daily|nightly|weekly|monthly|yearly)\b"
)
_PERIODS = {
    "daily": "day",
    "nightly": "night",
    "weekly": "week",
    "monthly": "month",
    "yearly": "year",
    "morning": "day",
    "evening": "day",
}


class Quantity(NamedTuple):
    """An amount of one kind, as a range on the kind's own scale (hours, milligrams, times a month, ...)."""

    kind: str
    low: float
    high: float


class _Number(NamedTuple):
    low: float
    high: float
    rest: str
    """The text behind the number."""
    before: str = ""
    """The word in front of it."""
    article: bool = False
    """Only "a" or "an"."""


@functools.lru_cache(maxsize=50_000)
def quantities(text: str) -> tuple[Quantity, ...]:
    """Every amount that the text names with a unit, in order of appearance."""
    plain = _plain(text)
    found = [q for number in _numbers(plain) if (q := _with_unit(number)) is not None]
    for match in _EVERY.finditer(plain):
        period = _PERIODS.get(match.group(1) or match.group(2)) or (match.group(1) or match.group(2))
        if not any(q.kind == "frequency" for q in found):
            found.append(Quantity("frequency", _PER[period], _PER[period]))
    return tuple(found)


@functools.lru_cache(maxsize=50_000)
def figures(text: str) -> tuple[tuple[float, float], ...]:
    """Every number of the text as a range, whatever it counts; articles are no numbers."""
    return tuple((n.low, n.high) for n in _numbers(_plain(text)) if not n.article)


def _plain(text: str) -> str:
    return " ".join(fold(text).replace("-", " ").split())


def agree(left: Quantity, right: Quantity) -> bool:
    """Whether two amounts of one kind may be the same."""
    slack = _EXACT_TOLERANCE if left.kind in EXACT else TOLERANCE
    return left.low * (1 - slack) <= right.high * (1 + slack) and right.low * (1 - slack) <= left.high * (1 + slack)


def agreeing(left: str, right: str) -> tuple[int, int]:
    """How many kinds of quantity both texts name that agree, and that cannot be one amount."""
    mine, theirs = quantities(left), quantities(right)
    same = differing = 0
    for kind in sorted({q.kind for q in mine} & {q.kind for q in theirs}):
        any_agrees = any(agree(a, b) for a in mine if a.kind == kind for b in theirs if b.kind == kind)
        same, differing = same + any_agrees, differing + (not any_agrees)
    return same, differing


def _numbers(text: str) -> Iterator[_Number]:
    """Numbers in figures and words, longest reading first; "two or three" and "thirty eight point five" are one."""
    data = load_yaml("nli", "words.yaml")
    tokens = [(m.group(), m.start(), m.end()) for m in _TOKEN.finditer(text)]
    at = 0
    while at < len(tokens):
        word, start, end = tokens[at]
        before = tokens[at - 1][0] if at else ""
        span = next((s for s in sorted(data["ranges"], key=len, reverse=True) if text.startswith(s + " ", start)), None)
        if span is not None:
            low, high = data["ranges"][span]
            at += len(span.split())
            yield _Number(low, high, text[start + len(span) :].strip(), before)
        elif word in _COUNTED:
            at += 1
            yield _Number(_COUNTED[word], _COUNTED[word], f"time {text[end:].strip()}", before)
        elif word[0].isdigit() or word in data["numbers"]:
            low, used = _value([t[0] for t in tokens[at : at + 7]], data["numbers"])
            article = word in ("a", "an") and used == 1
            at += used
            high, used = _upper(low, [t[0] for t in tokens[at : at + 8]], data["numbers"])
            at += used
            yield _Number(low, high, text[tokens[at - 1][2] :].strip(), before, article)
        else:
            at += 1


def _upper(low: float, tokens: list[str], words: dict[str, float]) -> tuple[float, int]:
    """The upper end of a range such as "two or three", and how many tokens it takes; else the number itself."""
    if len(tokens) > 1 and tokens[0] in ("to", "or", "and") and (tokens[1][0].isdigit() or words.get(tokens[1], 0) > 1):
        upper, used = _value(tokens[1:], words)
        if low < upper <= 5 * low:
            return upper, used + 1
    return low, 0


def _value(tokens: list[str], words: dict[str, float]) -> tuple[float, int]:
    """The value of the number at the head of the tokens, and how many it takes."""
    if tokens[0][0].isdigit():
        return float(re.sub(r"[,.](?=\d{3}(?:\D|$))", "", tokens[0]).replace(",", ".").rstrip(".")), 1
    total, used, scale = words[tokens[0]], 1, words[tokens[0]]
    if tokens[:2] in (["half", "a"], ["half", "an"]):
        return total, 2
    for place, token in enumerate(tokens[1:], start=1):
        following = tokens[place + 1] if place + 1 < len(tokens) else ""
        value = words.get(token, -1.0)
        if token == "and" and following != "a" and scale >= 100 and words.get(following, 0) >= 1:
            continue
        if token == "point" and following in words:
            return total + words[following] / 10, place + 2
        if tokens[place : place + 3] == ["and", "a", "half"]:
            return total + 0.5, place + 3
        if token in ("hundred", "thousand", "dozen"):
            total, scale, used = max(total, 1) * value, value, place + 1
        elif (
            value >= 1
            and token not in ("a", "an", "single")
            and value < scale
            and (scale >= 100 or value < 10 <= scale)
        ):
            total, scale, used = total + value, value, place + 1
        else:
            break
    return total, used


def _with_unit(number: _Number) -> Quantity | None:
    """The number as an amount of the kind its unit belongs to; None when no unit follows."""
    low, high, rest = number.low, number.high, number.rest
    if number.article and _is_rate(number.before):
        return None
    if _OUT_OF_TEN.match(rest):
        return Quantity("score", low, high)
    if re.match(r"(?:years?|yrs?|months?|weeks?)[ -]?old\b", rest):
        return Quantity("age", low, high)
    if low == high and 1940 <= low <= 2040 and low == int(low):
        return Quantity("year", low, high)
    if 34 <= low <= 42.5 and low != int(low):
        return Quantity("temperature", low, high)
    unit, *_ = [*rest.split(" ", 1), ""]
    found = _measured(low, high, re.sub(r"[^a-z]", "", unit), rest)
    return None if number.article and found is not None and found.kind == "times" else found


def _is_rate(before: str) -> bool:
    """Whether "a day" behind this word says how often, not how long."""
    data = load_yaml("nli", "words.yaml")
    return before in _COUNTED or before[:1].isdigit() or before in data["numbers"] or singular(before) in data["units"]


def _measured(low: float, high: float, unit: str, rest: str) -> Quantity | None:
    units = load_yaml("nli", "words.yaml")["units"]
    kind, size = units.get(unit) or units.get(singular(unit)) or (None, 0.0)
    if kind is None:
        return None
    if kind == "times" and (rate := _RATE.match(rest)):
        period = _PER[rate.group(1) or _PERIODS[rate.group(2)]]
        return Quantity("frequency", low * period, high * period)
    if kind == "duration" and re.match(r"[a-z]+ and a half\b", rest):
        low, high = low + 0.5, high + 0.5
    return Quantity(kind, low * size, high * size)
