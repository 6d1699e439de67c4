"""Numbers that patients give: age, duration, temperature; and their sex."""

from __future__ import annotations

import functools
import re
from typing import Literal

from verisim_tasks.clinician.tokens import expand

Sex = Literal["female", "male"]

MAX_AGE = 115

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_STEMS_OF_TENS = "twent thirt fort fift sixt sevent eight ninet"
_WORD_NUMBERS = {w: n for n, w in enumerate(_UNITS.split())} | {
    f"{w}y": 10 * n for n, w in enumerate(_STEMS_OF_TENS.split(), start=2)
}
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_WORDS = "|".join(_WORD_NUMBERS)
_NUM = rf"(\d{{1,3}}|(?:{_TENS})[ -](?:one|two|three|four|five|six|seven|eight|nine)|{_WORDS})"

_AGES = tuple(
    re.compile(p)
    for p in (
        rf"\b{_NUM}[ -]?(?:years?|yrs?|y)[ -]?(?:old|of age|/o)\b",
        rf"\b{_NUM}[ -]?y/?o\b",
        rf"\b(?:aged?|age is|age of|age:)\s*{_NUM}\b",
        rf"\b(?:i am|i'm|im|he is|he's|she is|she's|turned|just turned)\s+(?:only |now |about |almost |nearly )?{_NUM}"
        r"(?=\s*(?:[.,;!]|$|now\b|and\b|next\b|this\b|last\b|in\b))",
    )
)
_MONTHS_OLD = re.compile(rf"\b{_NUM}[ -]?(?:months?|weeks?|days?)[ -]?old\b")
_DECADE = re.compile(
    r"\b(?:in (?:my|his|her|their) )?(early |mid |mid-|late )?(twent|thirt|fort|fift|sixt|sevent|eight|ninet)ies\b"
)
_DECADES = {d: 10 * n for n, d in enumerate(_STEMS_OF_TENS.split(), start=2)}
_ANSWERING = r"(?:^|[.,;!]\s*|\b(?:about|almost|nearly|only|just|am|i'm|is|turned) )"
_AND_NO_MORE = r"(?=\s*(?:[.,;!]|$|now\b|years?\b|yrs?\b))"
_BARE = re.compile(_ANSWERING + rf"\b{_NUM}" + _AND_NO_MORE)
"""A number that stands as an answer, not one of "one minute" or "for three weeks"."""

_FEMALE = re.compile(r"\b(?:woman|female|lady|girl|my periods?|my pregnancy|(?:i am|i'm) pregnant)\b")
_MALE = re.compile(r"\b(?:man|male|gentleman|guy|boy|my prostate|my penis|my testicles?)\b")
_FEMALE_KIN = ("daughter", "girl", "mother", "mum", "mom", "wife", "granddaughter", "grandmother", "sister")
_KIN = re.compile(
    r"\bmy (?:\w+ )?(son|boy|father|dad|husband|grandson|grandfather|brother|"
    + "|".join(_FEMALE_KIN)
    + r")(?:,? \w+,?)?? (?:she |he )?"
    r"(?:is|has|had|was|keeps?|cannot|does|did|started|gets?|got|woke|will|looks?|seems?|feels?|complain\w*|collapsed)\b"
)
_I_MYSELF = re.compile(
    r"\bi (?:have|am(?! (?:worried|here|call|ring|concern|bring|ask|speak|phon))|feel|get|keep|can|cannot|had|started"
    r"|noticed|woke|do|was)\b"
)
_SELF_SEX = re.compile(r"\b(?:i am|i'm|im)\s+(?:a |an )?(?:[\w-]+ ){0,3}(woman|female|lady|girl|man|male|guy|boy)\b")
_SHE = re.compile(r"\b(?:she|she's|her|hers)\b")
_HE = re.compile(r"\b(?:he|he's|his|him)\b")

_UNIT = r"(minute|min|hour|hr|day|night|week|fortnight|month|year|decade)s?"
_DURATION = re.compile(rf"\b{_UNIT}\b")
_UNIT_ORDER = {
    "minute": 0, "min": 0, "hour": 0, "hr": 0, "day": 1, "night": 1, "week": 2, "fortnight": 2, "month": 3, "year": 4,
    "decade": 4,
}  # fmt: skip
_SCALE = ("hours", "days", "weeks", "months", "years")
_AMOUNT = re.compile(rf"(\d+|{_WORDS}|a|an|one|few|couple|several|half)(?:\s+(?:of|or|to|more|so|and|a))*\s*$")
_TODAY = re.compile(
    r"\b(?:today|this (?:morning|afternoon|evening)|last night|overnight|tonight|just now|earlier on)\b"
)
_DAYS = re.compile(r"\b(?:yesterday|the other day|since (?:mon|tues|wednes|thurs|fri|satur|sun)day|weekend)\b")
_WEEK = re.compile(r"\b(?:last|past|this|about a|a|one) week\b")
_YEARS = re.compile(
    r"\b(?:since (?:childhood|i was (?:a |young|little|\d)|school|my teens)|all my life|as long as i can)\b"
)
_TEMPERATURE = re.compile(
    r"\b(3[4-9]|4[0-2]|9[5-9]|10[0-7])(?:[.,](\d))?\b(?!\s*(?:years?|yo\b|y/o|mg|ml|kg|%|weeks?|days?))"
)
_TEMPERATURE_WORD = re.compile(r"\b(?:temp|temperature|fever|feverish|thermometer|degrees)\b")


def _number(text: str) -> int:
    parts = re.split(r"[ -]", text)
    return sum(int(p) if p.isdigit() else _WORD_NUMBERS[p] for p in parts)


@functools.lru_cache(maxsize=20_000)
def age_in(text: str, asked: bool = False) -> float | None:
    """Age in years that the text states; with ``asked`` a bare number counts too. None when there is none."""
    text = expand(text)
    young = _MONTHS_OLD.search(text)
    if young:
        per_year = 12 if "month" in young.group() else 52 if "week" in young.group() else 365
        return round(_number(young.group(1)) / per_year, 2)
    for pattern in _AGES + ((_BARE,) if asked else ()):
        found = pattern.search(text)
        if found and _number(found.group(1)) <= MAX_AGE:
            return float(_number(found.group(1)))
    decade = _DECADE.search(text)
    if decade:
        part = (decade.group(1) or "mid").strip(" -")
        return float(_DECADES[decade.group(2)] + {"early": 2, "mid": 5, "late": 8}[part])
    return None


@functools.lru_cache(maxsize=20_000)
def sex_in(text: str, asked: bool = False) -> Sex | None:
    """Sex of the patient that the text states; with ``asked`` any such word counts."""
    text = expand(text)
    own = _SELF_SEX.search(text)
    if own:
        return "female" if own.group(1) in ("woman", "female", "lady", "girl") else "male"
    return _sex_word(text) if asked or age_in(text) is not None else None


@functools.lru_cache(maxsize=20_000)
def sex_of_relative(text: str) -> Sex | None:
    """Sex of the one a caregiver speaks about ("my son has...", "she is...")."""
    text = expand(text)
    kin = _KIN.search(text)
    if kin and not _I_MYSELF.search(text[: kin.start()]):
        return "female" if kin.group(1) in _FEMALE_KIN else "male"
    if kin or re.search(r"\b(?:i|me|my)\b", text):
        return None
    she, he = bool(_SHE.search(text)), bool(_HE.search(text))
    return None if she == he else "female" if she else "male"


def _sex_word(text: str) -> Sex | None:
    female, male = _FEMALE.search(text), _MALE.search(text)
    if female and male:
        return "female" if female.start() < male.start() else "male"
    return "female" if female else "male" if male else None


def duration_in(text: str) -> str | None:
    """How long, as ``hours``, ``days``, ``weeks``, ``months`` or ``years``; the longest span that is stated.

    Numbers move a unit up: 10 days are weeks, 8 weeks are months, 18 months are years.
    """
    text = expand(text)
    best = -1
    for found in _DURATION.finditer(text):
        amount = _AMOUNT.search(text[: found.start()])
        count = 1
        if amount:
            word = amount.group(1)
            count = int(word) if word.isdigit() else _WORD_NUMBERS.get(word, 3 if word in ("few", "several") else 1)
        elif text[found.end() :].startswith((" or two", " or three")):
            count = 2
        elif not found.group().endswith("s"):
            continue
        best = max(best, _promote(_UNIT_ORDER[found.group(1)], count, found.group(1)))
    for pattern, rank in ((_YEARS, 4), (_WEEK, 1), (_DAYS, 1), (_TODAY, 0)):
        if best < rank and pattern.search(text):
            best = rank
    return _SCALE[best] if best >= 0 else None


def _promote(rank: int, count: int, unit: str) -> int:
    if unit in ("hour", "hr"):
        return 1 if count > 30 else 0
    if unit == "week" and count == 1:
        return 1
    limits = {1: 9, 2: 8, 3: 18}
    return rank + 1 if rank in limits and count > limits[rank] else rank


def temperature_in(text: str) -> float | None:
    """Body temperature in degrees Celsius that the text states (Fahrenheit converted), or None."""
    text = expand(text)
    if not _TEMPERATURE_WORD.search(text):
        return None
    found = _TEMPERATURE.search(text)
    if not found:
        return None
    value = float(f"{found.group(1)}.{found.group(2) or 0}")
    return round((value - 32) / 1.8, 1) if value > 50 else value
