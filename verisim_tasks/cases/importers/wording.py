"""Clinical words into plain ones, and marking what memory may blur."""

# ruff: noqa: E501 - a pattern stays on one line
from __future__ import annotations

import functools
import re
from importlib.resources import files
from typing import Any

from verisim_tasks._yaml import parse_yaml
from verisim_tasks.language.lexicon import default_lexicon
from verisim_tasks.language.numbers import ONES, TENS
from verisim_tasks.language.words import fold

_UNIT = r"(?:hour|day|week|month|year|minute|second)"
_NUMBER_WORD = "|".join(["an?", *ONES[1:13]])
_COUNT = rf"(\d{{1,3}}(?:\.\d+)?(?:\s?(?:-|–|to)\s?\d{{1,3}})?|{_NUMBER_WORD})"
_SPAN_TIME = re.compile(
    rf"\b(?:(the (?:past|last)|at|every) )?{_COUNT}\s+({_UNIT})s?(\s+(?:ago|prior(?! to)|earlier)|'?\s+(?:of )?gestation)?(?![\w-])",
    re.I,
)
_HISTORY = re.compile(rf"\b(?:an?|the|my|his|her)\s+{_COUNT}[\s-]+({_UNIT})s?\s+history of\b", re.I)
_HYPHENED = re.compile(rf"\b(\d{{1,3}})-({_UNIT})(?=[\s-])", re.I)
_AT_AGE = re.compile(r"\bat (?:the )?age (?:of )?(\d+)\b|\bat (\d+) years old\b", re.I)
_SINCE_AGE = re.compile(r"\bsince (I|he|she) was (\d+)\b", re.I)
_IN_YEAR = re.compile(r"\b(in|since) ((?:19|20)\d\d)\b", re.I)
_DAY_WORDS = re.compile(r"\b(yesterday|last night|this morning|last week|earlier this evening)\b", re.I)
_DAY_VAGUE = {
    "yesterday": "in the last few days",
    "last night": "in the last day or two",
    "this morning": "earlier",
    "last week": "in the last few weeks",
    "earlier this evening": "earlier",
}
_MEASURE = re.compile(
    r"\b(\d+(?:\.\d+)?)[\s-]*(kg|kilograms?|lbs?|pounds?|g|grams?|mg|mcg|ml|cm|inch(?:es)?|degrees|°c|°f)(?!\w)", re.I
)
_ADJECTIVE = re.compile(r"(?<=\ban )(\d{1,3})[\s-](pound)(?= \w)|(?<=\ba )(\d{1,3})[\s-](pound)(?= \w)", re.I)
_UNITS = {
    "kg": "kilos",
    "lb": "pounds",
    "pound": "pounds",
    "kilogram": "kilos",
    "kilograms": "kilos",
    "gram": "grams",
    "lbs": "pounds",
    "g": "grams",
    "mg": "milligrams",
    "mcg": "micrograms",
    "ml": "millilitres",
    "cm": "centimetres",
    "°c": "degrees",
    "°f": "degrees",
}
_RANGE = re.compile(r"(?<![\w.|/])(\d{1,4})\s?(?:-|–|to)\s?(\d{1,4})(?![\w.|/]*\])\b")
_NUMBER = re.compile(r"(?<![\w.|/])(\d{1,6}(?:\.\d+)?)\b(?![^\[]*\])")
_SUFFIX = r"pril|olol|statin|azole|cillin|mycin|floxacin|sartan|gliptin|formin|glitazone|mab|prazole|vir|zepam|cycline|parin|dipine|oxetine|"
_SUFFIX += r"triptan|sone|solone|lukast|tidine|thiazide|semide|barbital|zosin|fibrate|dronate|profen|cycline|xaban|gatran|peridol|peridone|apine"
_DRUG_SUFFIX = re.compile(rf"\b[a-z]{{3,}}(?:{_SUFFIX})\b", re.I)

_NOT_DRUGS = {"vir", "cocaine", "hone", "milestone", "gallstone", "kidneystone", "hormone", "testosterone"}


@functools.cache
def tables() -> dict[str, Any]:
    """The wording tables."""
    text = (files("verisim_tasks.cases.importers") / "wording.yaml").read_text(encoding="utf-8")
    loaded: dict[str, Any] = parse_yaml(text)
    return loaded


@functools.cache
def word_list(name: str) -> tuple[str, ...]:
    """One list of the tables."""
    return tuple(str(w) for w in tables()[name])


@functools.cache
def _plain_words() -> tuple[re.Pattern[str], dict[str, str]]:
    """The table of replacements; the lexicon's names are too broad to stand in for what a record says."""
    replacements = {str(k).lower(): str(v) for k, v in tables()["lay"].items()}
    longest = sorted(replacements, key=lambda k: (-len(k), k))
    pattern = r"(?<![\w-])(?:" + "|".join(map(re.escape, longest)) + r")(?![\w-]| of\b)"
    return re.compile(pattern, re.I), replacements


def in_plain_words(text: str) -> str:
    """The text with brackets left out and clinical words replaced by everyday ones."""
    text = re.sub(r"\s*\([^()]*\)", "", text.replace("’", "'").replace("‘", "'"))
    text = re.sub(r"[\[\]|]", "", text)
    pattern, replacements = _plain_words()
    text = pattern.sub(lambda m: replacements[m[0].lower()], text)
    text = re.sub(r"\b(episodes?|onset|history) of an? ", r"\1 of ", text)
    text = re.sub(r"\b(an?|the|any|my|his|her|no)\s+(an?|the)\s+", r"\1 ", text, flags=re.I)
    text = re.sub(r"\ban (?=[bcdfgjklmnpqrstvwxz])", "a ", text)
    return re.sub(r"\ba (?=[aeio](?!ne\b|nce\b))", "an ", text)


def marked(text: str) -> str:
    """The sentence with its times, drugs and numbers marked ``[text|kind|vaguer]``."""
    text = _DAY_WORDS.sub(lambda m: f"[{m[0]}|time|{_DAY_VAGUE[m[0].lower()]}]", text)
    text = _outside(_AT_AGE, lambda m: f"[at the age of {in_words(m[1] or m[2])}|time|at some point]", text)
    text = _outside(_SINCE_AGE, lambda m: f"[since {m[1]} was {in_words(m[2])}|time|for a long time]", text)
    text = _outside(
        _IN_YEAR, lambda m: f"[{m[0]}|time|{'some time ago' if m[1].lower() == 'in' else 'for some time'}]", text
    )
    text = _HISTORY.sub(lambda m: f"{m[1]} {m[2]} of", text)
    text = _HYPHENED.sub(lambda m: f"{in_words(m[1])}-{m[2]}", text)
    text = _outside(_SPAN_TIME, _time, text)
    text = _outside(_ADJECTIVE, lambda m: f"{in_words(m[1] or m[3])}-pound", text)
    text = _outside(_MEASURE, _measure, text)
    text = mark_drugs(text)
    text = _outside(_RANGE, lambda m: f"[{in_words(m[1])} to {in_words(m[2])}|number|several]", text)
    return _outside(_NUMBER, _count, text)


def mark_drugs(text: str) -> str:
    """Names of medicines marked; memory may lose them."""
    names = sorted(drugs_in(text), key=len, reverse=True)
    for name in names:
        text = _outside(re.compile(rf"\b{re.escape(name)}\b", re.I), lambda m: f"[{m[0]}|drug|a medicine]", text)
    return text


def drugs_in(text: str) -> list[str]:
    """Names of medicines in a text, in order: by the lexicon, by a list, by how such names end."""
    found = [m[0] for m in _DRUG_SUFFIX.finditer(text) if m[0].lower() not in _NOT_DRUGS]
    known = _drug_names()
    found += [w for w in re.findall(r"[A-Za-z][A-Za-z-]{3,}", text) if fold(w) in known]
    return sorted(dict.fromkeys(found), key=text.find)


@functools.cache
def _drug_names() -> frozenset[str]:
    terms = {
        fold(t) for c in default_lexicon().concepts.values() if c.kind == "drug" for t in (c.name, *c.clinical, *c.lay)
    }
    terms = {t for t in terms if " " not in t and len(t) > 4} | set(word_list("drugs"))
    everyday = {
        "steroid",
        "steroids",
        "antibiotic",
        "antibiotics",
        "painkiller",
        "painkillers",
        "tablets",
        "medicine",
        "vitamins",
        "supplements",
    }
    return frozenset(terms - everyday - _NOT_DRUGS)


def in_words(number: str) -> str:
    """A number below 1000 in words; what is not one as it is."""
    if not re.fullmatch(r"\d{1,3}", number):
        return number
    n = int(number)
    if n < 20:
        return ONES[n]
    if n < 100:
        return TENS[n // 10 - 2] + (f"-{ONES[n % 10]}" if n % 10 else "")
    rest = f" and {in_words(str(n % 100))}" if n % 100 else ""
    return f"{ONES[n // 100]} hundred{rest}"


def duration(number: str, unit: str) -> str:
    """A marked stretch of time: ``[a month|time|a month or so]``."""
    return marked(
        f"{number} {unit}s" if number not in ("1", "a", "an", "one") else f"a {unit}".replace("a hour", "an hour")
    )


def _time(match: re.Match[str]) -> str:
    lead, number, unit, ago = (
        (match[1] or "").lower(),
        match[2].lower(),
        match[3].lower(),
        (match[4] or "").strip().lower(),
    )
    single = number in ("1", "a", "an", "one")
    article = "an" if unit == "hour" else "a"
    ago = "of pregnancy" if "gestation" in ago else {"prior": "before"}.get(ago, ago)
    tail = f" {ago}" if ago else ""
    if lead in ("at", "every"):
        said = f"{lead} {in_words(number)} {unit}{'' if single else 's'}{tail}"
        return f"[{said}|time|{'at some point' if lead == 'at' else 'every so often'}]"
    if single and lead:
        return f"[{lead} {unit}|time|{article} {unit} or so]"
    if single:
        return f"[{article} {unit}{tail}|time|{article} {unit} or so{tail}]"
    said = " to ".join(in_words(part) for part in re.split(r"\s?(?:-|–|to)\s?", number))
    before = f"{lead} " if lead else ""
    return f"[{before}{said} {unit}s{tail}|time|some {unit}s{tail}]"


def _measure(match: re.Match[str]) -> str:
    unit = _UNITS.get(match[2].lower(), match[2].lower())
    kind = "dose" if match[2].lower() in ("mg", "mcg", "ml") else "number"
    return f"[{in_words(match[1])} {unit}|{kind}|a number of {unit}]"


def _count(match: re.Match[str]) -> str:
    said = in_words(match[1])
    if match[1] == "1":
        return said
    value = float(match[1])
    return f"[{said}|number|{'some' if value < 4 else 'several' if value < 20 else 'many'}]"


def _outside(pattern: re.Pattern[str], replace: Any, text: str) -> str:
    """Substitute outside of spans that are marked already."""
    parts = re.split(r"(\[[^\[\]]*\])", text)
    return "".join(p if i % 2 else pattern.sub(replace, p) for i, p in enumerate(parts))
