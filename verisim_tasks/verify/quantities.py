"""Numbers and times in what a patient says, as intervals that can be compared."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from verisim_tasks.language.lexicon import load_yaml
from verisim_tasks.language.numbers import ONES, TENS
from verisim_tasks.language.words import STOPWORDS, fold, stem
from verisim_tasks.verify.synonyms import meanings

Kind = Literal["time", "year", "age", "frequency", "dose", "temperature", "scale", "weight", "length", "count"]

_VALUES: dict[str, float] = {w: float(i) for i, w in enumerate(ONES)} | {w: 10 * (i + 2) for i, w in enumerate(TENS)}
_VALUES |= {"a": 1, "an": 1, "dozen": 12, "half": 0.5, "hundred": 100, "thousand": 1000}
_DIGITS = "|".join(ONES[1:10])
_NUMBER_WORD = (
    rf"(?:(?:{'|'.join(TENS)})(?:[- ](?:{_DIGITS}))?|{'|'.join(sorted(ONES, key=len, reverse=True))})"
    r"(?:[- ](?:hundred|thousand)(?: and)?)?(?: point (?:" + _DIGITS + r"))?|(?:a )?hundred|(?:a )?thousand"
)
NUMBER = rf"(?:\d+(?:[.,]\d+)*|{_NUMBER_WORD})"
"""One number in digits or words (re)."""
_VAGUE = {
    "a couple of": (2, 3), "a couple": (2, 3), "couple of": (2, 3), "couple": (2, 3), "a few": (2, 7), "few": (2, 7),
    "several": (3, 12), "some": (1, 60), "many": (4, 200), "a good few": (3, 20), "a number of": (3, 30),
    "dozens of": (20, 100), "half a dozen": (5, 7), "countless": (5, 200), "a handful of": (3, 8),
    "a lot of": (3, 200), "": (2, 60),
}  # fmt: skip
_DAYS: dict[str, float] = {
    "second": 1 / 86400,
    "sec": 1 / 86400,
    "minute": 1 / 1440,
    "min": 1 / 1440,
    "hour": 1 / 24,
    "hr": 1 / 24,
}
_DAYS |= {"day": 1, "night": 1, "week": 7, "wk": 7, "fortnight": 14, "month": 30.44, "year": 365.25, "yr": 365.25}
_DAYS |= {"decade": 3652.5, "morning": 1, "evening": 1, "weekend": 7, "semester": 120, "season": 90}
_RELATIVE: tuple[tuple[str, float, float], ...] = (
    (r"\bday before yesterday\b", 1.5, 3), (r"\b(?:last|yesterday) (?:night|evening)\b", 0.2, 1.5),
    (r"\byesterday\b", 0.4, 2),
    (r"\b(?:this|early this|earlier this) (?:morning|afternoon|evening)\b", 0, 1), (r"\bthis week\b", 0, 7),
    (r"\b(?:earlier )?today\b|\btonight\b|\bjust now\b", 0, 1), (r"\blast weekend\b|\bover the weekend\b", 1, 10),
    (r"\blast month\b", 14, 62), (r"\blast week\b", 4, 14), (r"\blast year\b", 150, 730),
    (r"\b(?:this|the|these) (?:past|last) fortnight\b", 7, 20), (r"\b(?:this|the) (?:past|last) week\b", 0, 8),
    (r"\b(?:since|last) (?:mon|tues|wednes|thurs|fri|satur|sun)day\b(?! (?:night|evening|morning)s)",
     0, 8),
    (r"\b(?:last|this|past) (?:spring|summer|autumn|fall|winter|christmas|easter)\b", 10, 500),
)  # fmt: skip
_NO_NUMBER = re.compile(
    r"\b(?:\w+|\d+) times (?=worse|better|more|as |bigger|stronger|over)"
    r"|\b(?:the|both|all) (?:two|three|four) of (?=us|them|you|those|these)"
    r"|\ball (?:two|three|four|five|six)(?=\s*(?:[,.;!]|$))"
)
"""Numbers that count nothing: "ten times worse", "the two of us"."""
_OR_TWO = re.compile(r"\ban? (second|minute|hour|day|night|week|month|year) or (two|three)\b")
_UNIT_AND_HALF = re.compile(r"\b(an?|one) (hour|day|week|month|year|decade) and a half\b")
_MOST_OF = re.compile(
    r"\b(?:most|the best part|the better part|the greater part|much) of (?:an? |the )?(day|week|month|year)\b"
)
_MOST = {"day": "ten to twenty hours", "week": "four to seven days", "month": "two to five weeks",
         "year": "six to twelve months"}  # fmt: skip
_HEDGE = r"(?P<hedge>about|around|roughly|approximately|nearly|almost|maybe|perhaps|some|like|or so)?\s*"
_LIMIT = r"(?P<limit>(?:more|less|fewer) than|over|under|at least|at most|up to|within|nearly|almost|only|just)?\s*"
_VAGUE_WORDS = "|".join(sorted((v for v in _VAGUE if v), key=len, reverse=True))
_AMOUNT = (
    rf"(?P<low>{_VAGUE_WORDS}|{NUMBER}|half an?|an?)(?P<half> and a half)?"
    rf"(?:\s*(?:-|–|to|or|/|and)\s*(?P<high>{NUMBER}))?"
)
_TIME_UNIT = (
    r"(?P<unit>seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|nights?|weeks?|wks?|fortnights?|months?|years?|yrs?"
    r"|decades?|evenings?|mornings?)"
)
_TIME = re.compile(rf"\b{_HEDGE}{_LIMIT}{_AMOUNT}[\s-]+(?:(?:or so|full|whole|long|good|of)\s+)*{_TIME_UNIT}\b")
_BARE_TIME = re.compile(
    r"\b(?P<lead>for|over|in|within|these|past|last|some|since)?\s*(?:the |many )?(?:last |past |some )?"
    r"(?P<unit>minutes|hours|days|weeks|months|years|decades)\b(?P<ago> (?:ago|back|now|before))?"
)
_YEAR = re.compile(r"(?<![\d.,-])(19[2-9]\d|20[0-4]\d)(?!\d|[.,-]\d|\s*(?:mg|mcg|ml|calories|steps))")
_PER = r"(?:an?|per|each|every)"
_FREQUENCY = re.compile(
    rf"\b{_HEDGE}{_LIMIT}(?P<low>once|twice|{_VAGUE_WORDS}|{NUMBER})"
    rf"(?:\s*(?:-|–|to|or)\s*(?P<high>twice|{NUMBER}))?"
    rf"(?:\s+(?P<noun>(?!once|twice)[a-z-]+(?:\s(?!{NUMBER}\b)[a-z-]+)?))??\s*(?:times?)?\s*(?:{_PER}|(?P<ly>daily|weekly|nightly|monthly)|a)\s*"
    r"(?P<unit>hour|day|night|morning|evening|week|month|year|weekend)?\b"
)
_EVERY = re.compile(
    rf"\b(?:every|each)\s+(?:(?P<other>other|second)\s+)?(?:(?P<n>{NUMBER}|few|couple of)\s+)?"
    r"(?P<unit>hours?|days?|nights?|mornings?|evenings?|weeks?|months?|weekends?)\b|\b(?P<ly>daily|nightly|weekly)\b"
)
_LATIN = {"bid": 2, "b.i.d": 2, "tid": 3, "t.i.d": 3, "qid": 4, "qd": 1, "od": 1, "qhs": 1}
_MEASURES: tuple[tuple[Kind, str, float], ...] = (
    ("dose", r"(?:mg|milligrams?|milligrammes?)", 1), ("dose", r"(?:mcg|micrograms?|µg|ug)", 0.001),
    ("dose", r"(?:g|grams?)", 1000), ("dose", r"(?:units?|iu)", 1), ("dose", r"(?:ml|millilitres?|milliliters?)", 1),
    ("weight", r"(?:kg|kilos?|kilograms?)", 1), ("weight", r"(?:pounds?|lbs?)", 0.4536),
    ("weight", r"(?:stones?)", 6.35),
    ("length", r"(?:cm|centimet(?:re|er)s?)", 1), ("length", r"(?:inch|inches)", 2.54),
    ("temperature", r"(?:degrees?(?: celsius| c| fahrenheit| f)?|°\s*[cf]?|celsius|fahrenheit)", 1),
    ("scale", r"(?:(?:out )?of (?:10|ten)|/\s*10|on (?:a|the) scale)", 1),
)  # fmt: skip
_AGE = re.compile(rf"\b(?:at|aged|at age|age|at the age of|when (?:i|he|she|they) (?:was|were)|since i was"
                  rf"|turned)\s+"
                  rf"(?:about |only )?(?P<n>{NUMBER})(?!\s*(?:mg|o'clock|am|pm|hours|days|times|%))\b")  # fmt: skip
_BEFORE_AGE = re.compile(
    r"\b(?:before|by the time) (?:(?:i|he|she|they) (?:was|were|turned|reached|got to)|(?:the )?age(?: of)?|turning)\s+"
    rf"(?:even )?(?P<n>{NUMBER})\b"
)
BEFORE = 15.0
"""Years before an age that "before he was sixty" may mean."""
_PLURAL = re.compile(r"\b(?P<ten>dozens|hundreds|thousands)\b(?: (?:of|and (?:hundreds|thousands)(?: of)?))?")
_PLURALS = {"dozens": (20, 100), "hundreds": (200, 999), "thousands": (2000, 99_000)}
"""What "thousands" may stand for."""
_ADJECTIVES = (
    r"(?:(?:early|new|small|large|big|young|grown-up|teenage|different|other|more|strong|white|red|brief|short|male"
    r"|female|further)[\s-]+)*"
)
_COUNT = re.compile(
    rf"\b(?P<hedge>about |around |roughly |nearly |almost |close to )?(?P<low>once|twice|{NUMBER})"
    rf"(?:\s*(?:-|–|to|or)\s*(?P<high>{NUMBER}|twice))?(?:[\s-]+{_ADJECTIVES}(?P<noun>[a-z]+))?"
)
_SOME = re.compile(r"\bsome (?:nights|days|mornings|evenings|weeks)\b(?! ago| back| now)")
_PAIR = re.compile(rf"\b({_NUMBER_WORD}|\d+), ({_NUMBER_WORD}|\d+) (times|days|weeks|months|years|hours|minutes)\b")
"""Two neighbouring numbers as people say a range: "six, seven times"."""
_ODD = re.compile(rf"\b({_NUMBER_WORD}|\d+)[- ]odd\b")
_DECADE = re.compile(r"\bin (?:my|his|her) (?:(?P<part>early|mid|middle|late) )?(?P<ten>\w+ties|teens|\d0s)\b")
_DECADE_PARTS = {"early": (0, 4), "mid": (3, 7), "middle": (3, 7), "late": (6, 9), "": (0, 9)}
_ONCE = re.compile(r"once(?! (?:i|it|he|she|the|we|they|you|my|a|an|per|every|again|that|in)\b)")
_NO_NOUN = STOPWORDS | {"", "times"}
_NOT_COUNTED = frozenset(["thing", "one", "day", "bit", "s", "minute", "moment", "second", "other", "type"])


HEDGE_LOW, HEDGE_HIGH = 0.8, 1.25
"""How far "about" reaches, as factors."""


@dataclass(frozen=True)
class Quantity:
    """A number or time as an interval: times in days, ages in years, frequencies per day, doses in mg, weight in kg."""

    kind: Kind
    low: float
    high: float
    text: str
    vague: bool = False
    """Said as a range or blur, so that it is no sharper than it sounds."""
    noun: str = ""
    """Stem of what is counted."""
    blurred: bool = False
    """Stands only in a blurred wording of a fact that has a sharper one: bears out nothing sharper than itself."""


def value_of(text: str) -> float | None:
    """The number that digits or number words name; None when they name none."""
    words = text.replace(",", "").replace("-", " ").split()
    if len(words) == 1 and re.fullmatch(r"\d+(?:\.\d+)?", words[0]):
        return float(words[0])
    total, current, fraction, point = 0.0, 0.0, 0.0, False
    for word in words:
        if word == "point":
            point = True
        elif word == "and":
            continue
        elif word in ("hundred", "thousand"):
            current = (current or 1) * _VALUES[word]
        elif word in _VALUES:
            if point:
                fraction = _VALUES[word] / 10
            else:
                current += _VALUES[word]
        else:
            return None
    total = current + fraction
    return total if words else None


@functools.lru_cache(maxsize=50_000)
def quantities(text: str) -> tuple[Quantity, ...]:
    """All numbers and times of a text, each once, by the most telling reading."""
    plain = _NO_NUMBER.sub(" ", _ODD.sub(r"about \1", fold(text).replace("–", "-")))
    plain = _UNIT_AND_HALF.sub(r"\1 and a half \2s", plain)
    plain = _OR_TWO.sub(r"one to \2 \1s", _MOST_OF.sub(lambda m: _MOST[m[1]], plain))
    said = _Said(_PAIR.sub(r"\1 or \2 \3", plain))
    _decades(said)
    _years(said)
    _scales_and_measures(said)
    _frequencies(said)
    _times(said)
    _ages(said)
    _counts(said)
    return tuple(said.found)


class _Said:
    """The text, with what was read already blanked out."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.found: list[Quantity] = []

    def take(self, match: re.Match[str], quantity: Quantity | None) -> None:
        if quantity is not None:
            self.found.append(quantity)
        self.text = self.text[: match.start()] + "_" * (match.end() - match.start()) + self.text[match.end() :]


def _decades(said: _Said) -> None:
    """An age in tens: "in my late seventies"."""
    for match in list(_DECADE.finditer(said.text)):
        name = match["ten"]
        bottom = 13.0 if name == "teens" else value_of(name[:-3] + "y" if name.endswith("ties") else name[:-1])
        first, last = (0, 6) if name == "teens" else _DECADE_PARTS[match["part"] or ""]
        if bottom is not None:
            said.take(match, Quantity("age", bottom + first, bottom + last, match[0], vague=True))


def _years(said: _Said) -> None:
    for match in list(_YEAR.finditer(said.text)):
        year = float(match[1])
        said.take(match, Quantity("year", year, year, match[0]))


def _scales_and_measures(said: _Said) -> None:
    for kind, unit, factor in _MEASURES:
        pattern = re.compile(
            rf"\b{_HEDGE}{_LIMIT}(?P<low>{_VAGUE_WORDS}|{NUMBER})(?:\s*(?:-|to"
            rf"|or)\s*(?P<high>{NUMBER}))?\s*-?\s*{unit}(?![a-z])"
        )
        for match in list(pattern.finditer(said.text)):
            interval = _interval(match["low"], match["high"], match["hedge"], match["limit"])
            if interval is not None:
                low, high, vague = interval
                if kind == "temperature" and low > 60:
                    low, high = (low - 32) / 1.8, (high - 32) / 1.8
                said.take(match, Quantity(kind, low * factor, high * factor, match[0].strip(), vague))


def _frequencies(said: _Said) -> None:
    for match in list(_FREQUENCY.finditer(said.text)):
        unit = {"daily": "day", "nightly": "day", "weekly": "week", "monthly": "month"}.get(match["ly"] or "")
        unit = unit or match["unit"]
        low = {"once": "one", "twice": "two"}.get(match["low"], match["low"])
        if unit is None or low in ("a", "an"):
            continue
        interval = _interval(
            low, {"twice": "two"}.get(match["high"] or "", match["high"]), match["hedge"], match["limit"]
        )
        if interval is not None:
            days = _DAYS[unit]
            noun = stem(match["noun"].split()[-1]) if match["noun"] else ""
            said.take(
                match,
                Quantity("frequency", interval[0] / days, interval[1] / days, match[0].strip(), interval[2], noun),
            )
    for match in list(_EVERY.finditer(said.text)):
        unit = (match["unit"] or {"daily": "day", "nightly": "day", "weekly": "week"}[match["ly"] or "daily"]).rstrip(
            "s"
        )
        every = {"few": 3.0, "couple of": 2.0}.get(match["n"] or "") or value_of(match["n"] or "one") or 1
        days = _DAYS[unit] * every * (2 if match["other"] else 1)
        plainly_daily = days == 1 and not match["n"]
        vague = plainly_daily or match["n"] in ("few", "couple of")
        said.take(match, Quantity("frequency", 1 / days, (4 if plainly_daily else 1) / days, match[0], vague))
    for word, times in _LATIN.items():
        for match in list(re.finditer(rf"\b{re.escape(word)}\b", said.text)):
            said.take(match, Quantity("frequency", times, times, match[0]))


def _times(said: _Said) -> None:
    for match in list(_TIME.finditer(said.text)):
        if re.match(r"[\s-]*old\b", said.text[match.end() :]) or _is_rate(said.text, match):
            continue
        unit = _DAYS[match["unit"].rstrip("s")]
        low = {"half an": "half", "half a": "half"}.get(match["low"], match["low"])
        limit = match["limit"] or _limit_after(said.text[match.end() :])
        interval = _interval(low, match["high"], match["hedge"], limit)
        if interval is not None:
            extra = 0.5 if match["half"] else 0.0
            low_days, high_days = (interval[0] + extra) * unit, (interval[1] + extra) * unit
            said.take(match, Quantity("time", low_days, high_days, match[0].strip(), interval[2]))
    for match in list(_SOME.finditer(said.text)):
        said.take(match, Quantity("frequency", 0.05, 0.95, match[0], vague=True))
    for pattern, low_days, high_days in _RELATIVE:
        for match in list(re.finditer(pattern, said.text)):
            said.take(match, Quantity("time", low_days, high_days, match[0], vague=True))
    for match in list(_BARE_TIME.finditer(said.text)):
        if match[0].strip() != "these days" and (match["lead"] or match["ago"]):
            unit = _DAYS[match["unit"].rstrip("s")]
            said.take(match, Quantity("time", unit, unit * 100, match[0].strip(), vague=True))


_EACH = re.compile(r"an? (?:day|night|week|month|evening|morning)")


def _limit_after(text: str) -> str | None:
    """A limit said behind its number: "half an hour or less"."""
    match = re.match(
        r",? (?:(?P<most>or less|at (?:the )?most|tops|max|maximum|or under)|or more|at least|plus)\b", text
    )
    return None if match is None else "at most" if match["most"] else "at least"


def _is_rate(text: str, match: re.Match[str]) -> bool:
    """A bare "a day", "some nights" far from its number: says how often, and no length of time."""
    if re.match(r"some (?:nights|days|mornings|evenings)", match[0]):
        return True
    leads = re.search(
        r"\b(?:for|in|within|over|after|lasts?|lasted|about|than|took|last|past|half)\s*$", text[: match.start()]
    )
    follows = re.match(r"\s*(?:ago|or|later|before|back|earlier|and)\b", text[match.end() :])
    return bool(_EACH.fullmatch(match[0].strip())) and not leads and not follows


def _ages(said: _Said) -> None:
    for match in list(_BEFORE_AGE.finditer(said.text)):
        age = value_of(match["n"])
        if age is not None and 0 < age < 120:
            said.take(match, Quantity("age", max(0.0, age - BEFORE), age, match[0], vague=True))
    for match in list(_AGE.finditer(said.text)):
        age = value_of(match["n"])
        if age is not None and 0 < age < 120:
            said.take(match, Quantity("age", age, age, match[0]))


def _counts(said: _Said) -> None:
    for match in list(_PLURAL.finditer(said.text)):
        least, most = _PLURALS[match["ten"]]
        said.take(match, Quantity("count", least, most, match[0], vague=True))
    for match in list(_COUNT.finditer(said.text)):
        noun = match["noun"] or ""
        low = {"once": "one", "twice": "two"}.get(match["low"], match["low"])
        digits = match["low"][0].isdigit() or match["low"] == "twice"
        alone = match["low"] == "once" and _ONCE.match(said.text, match.start("low"))
        if (low == "one" and not match["high"] and not alone) or (noun in _NOT_COUNTED and not digits):
            continue
        interval = _interval(
            low, {"twice": "two"}.get(match["high"] or "", match["high"]), (match["hedge"] or "").strip(), None
        )
        if interval is not None:
            said.take(
                match,
                Quantity(
                    "count",
                    interval[0],
                    interval[1],
                    "once" if alone else match[0].strip(),
                    interval[2],
                    "" if noun in _NO_NOUN or alone else stem(noun),
                ),
            )


def _interval(low: str, high: str | None, hedge: str | None, limit: str | None) -> tuple[float, float, bool] | None:
    """Lowest and highest value meant, and whether it is a blur; None when the words name no number."""
    if low in _VAGUE:
        return (*map(float, _VAGUE[low]), True)  # type: ignore[return-value]
    bottom = value_of(low)
    top = value_of(high) if high else bottom
    if bottom is None or top is None or not math.isfinite(bottom + top):
        return None
    bottom, top = min(bottom, top), max(bottom, top)
    if limit in ("more than", "over", "at least"):
        return bottom, bottom * 3 + 1, True
    if limit in ("less than", "fewer than", "under", "at most", "up to", "within"):
        return 0.0, top, True
    if hedge and hedge not in ("some", "like"):
        return bottom * HEDGE_LOW, top * HEDGE_HIGH, True
    return bottom, top, top > bottom


_HEDGED = re.compile(r"(?:about|around|roughly|approximately)\b")
TOLERANCE = 0.13
"""Relative: two weeks are fourteen days, five kilograms eleven pounds, a month four weeks."""


_PLAINLY = re.compile(r"daily|nightly|(?:every|each) (?:day|night|morning|evening)")
"""Says every day, and so at least once a day."""


def agrees(claim: Quantity, record: Quantity) -> bool:
    """The claim says the same as the record or less exactly: never another number, never a sharper one.

    A record that hedges ("about two weeks") agrees with its plain number; one that blurs ("a few days") does not.
    """
    if record.blurred and not claim.vague:
        return False
    if claim.kind == "frequency" == record.kind and _PLAINLY.fullmatch(record.text) and claim.low == record.low:
        return True
    if claim.kind == "frequency" == record.kind and _PLAINLY.fullmatch(claim.text) and _same_unit(claim, record):
        return True
    if claim.kind != record.kind:
        return _year_agrees(claim, record)
    slack = TOLERANCE if claim.kind not in ("year", "age", "scale", "temperature", "count") else 0.0
    slack = 0.0 if record.vague else slack
    low, high = record.low * (1 - slack), record.high * (1 + slack)
    if _HEDGED.match(claim.text) and record.vague:
        return low <= claim.low / HEDGE_LOW <= high
    if claim.vague:
        inside = claim.low <= high and claim.high >= low
        return inside and (record.vague or not _is_pair(claim) or claim.kind != "frequency")
    if not record.vague:
        return low <= claim.low <= high
    return (_is_hedged(record) or _is_pair(record)) and record.low <= claim.low <= record.high


def _same_unit(claim: Quantity, record: Quantity) -> bool:
    """Of one unit: "every day" beside "six cans a day"."""
    unit = claim.text.split()[-1]
    return unit in ("day", "night", "evening", "morning") and record.text.split()[-1] == unit


def _is_pair(quantity: Quantity) -> bool:
    return bool(re.search(r" (?:or|to) (?!so\b)|\d-\d", quantity.text))


def _is_hedged(quantity: Quantity) -> bool:
    return bool(
        re.match(r"(?:about|around|roughly|approximately|nearly|almost|maybe|perhaps)\b", quantity.text)
    ) or any(re.search(pattern, quantity.text) for pattern, _, _ in _RELATIVE)


_HOURS = frozenset((stem("hours"), stem("minutes")))


_TIMES = stem("times")
_SPANS = (1.0, 7.0, 30.44, 365.25)


def _times_over(rate: Quantity, days: float) -> Quantity:
    """How many times that is in a day, week, month or year."""
    return replace(rate, kind="count", low=round(rate.low * days, 3), high=round(rate.high * days, 3), noun="")


def _length_of_time(rate: Quantity) -> Quantity:
    """The time itself of so many hours a night."""
    unit = _DAYS["hour"] if rate.noun == stem("hours") else _DAYS["minute"]
    return replace(rate, kind="time", low=rate.low * unit, high=rate.high * unit, noun="")


SINCE_YEARS = 300.0
"""Days from which a time ago is compared with a year."""


def _year_agrees(claim: Quantity, record: Quantity) -> bool:
    """Years ago against a year: the present lies somewhere in the reference years."""
    kinds = {claim.kind: claim, record.kind: record}
    if set(kinds) != {"time", "year"}:
        return False
    ago, year = kinds["time"], kinds["year"]
    if ago.high < SINCE_YEARS:
        return False
    first, last = load_yaml("verify", "verify.yaml")["reference_years"]
    years = (ago.low / 365.25 - 0.6, ago.high / 365.25 + 0.6)
    return bool(year.low + years[1] >= first and year.low + years[0] <= last)


_BARE_KINDS = ("count", "scale", "age", "temperature")
"""What a number without a unit may stand for."""


def comparable(claim: Quantity, records: Sequence[Quantity]) -> list[Quantity]:
    """Those of the record that speak of the same measure."""
    if claim.kind == "count":
        loose = claim.noun in ("", _TIMES)
        rates = [q for q in records if q.kind == "frequency" and (loose or meanings(q.noun) & meanings(claim.noun))]
        again = "" if loose else claim.noun
        records = [*records, *(replace(_times_over(q, days), noun=again) for q in rates for days in _SPANS)]
    if claim.kind == "count" and not claim.noun:
        return [replace(q, kind="count") for q in records if q.kind in _BARE_KINDS]
    kinds = {"time", "year"} if claim.kind in ("time", "year") else {claim.kind}
    records = (
        [*records, *(_length_of_time(q) for q in records if q.noun in _HOURS)] if claim.kind == "time" else records
    )
    same = [q for q in records if q.kind == claim.kind] or [q for q in records if q.kind in kinds]
    if claim.noun and claim.kind == "count":
        named = [q for q in same if meanings(q.noun) & meanings(claim.noun)]
        return named or [q for q in same if not q.noun]
    return same
