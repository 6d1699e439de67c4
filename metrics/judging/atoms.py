"""Answers that are one symbol, where they stand alone: ``3``, ``3/4``, ``D, Absent``, ``Score: 3``."""

from __future__ import annotations

import re

from verisim_metrics.judging.rubric import Rubric

MAX_VALUE = 300
"""A longer value is prose."""
_DECORATION = re.compile(r"[*`\"]+")
_NUMBER = re.compile(r"(0|[1-9][0-9]{0,5})(?:\.0+(?![0-9]))?(?:\s*(?:/|out of)\s*([0-9]{1,6})(?![0-9.]))?")
_LETTER = re.compile(r"(?:\(([A-Za-z])\)|([A-Za-z])\)?)(?![\w'’])")
_REST = re.compile(r"\s*[.,;:](?:\s|$)|\s*\(|\s+[-–—]\s|\s*$")
_COUNT_WORDS = re.compile(r"[0-9]|\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten)\b", re.IGNORECASE)
_LABELLED = re.compile(
    r"[-#>\s\[]*(?:(?:final|overall|my)\s+)?"
    r"(?:score|rating|grade|choice|option|label|answer|verdict|result|judge?ment|classification|prediction)"
    r"\]?\s*[:=]\s*(\S.*)",
    re.IGNORECASE,
)


def labelled_value(line: str) -> str | None:
    """What a line such as ``Final score: 3`` gives, or None for any other line."""
    match = _LABELLED.fullmatch(_DECORATION.sub("", line).strip())
    return match.group(1) if match else None


def read_atom(text: str, rubric: Rubric) -> str | None:
    """The symbol that the text is, or None. The text is one value; words after a separator explain it.

    Nothing is an answer that is off the scale, between two answers, or followed by another possible answer.
    """
    value = _DECORATION.sub("", text).strip()
    if not value or len(value) > MAX_VALUE:
        return None
    if rubric.kind == "scale":
        return _read_number(value, rubric)
    return _read_letter(value, rubric) if rubric.kind == "letters" else _read_label(value, rubric)


def _read_number(value: str, rubric: Rubric) -> str | None:
    match = _NUMBER.match(value)
    if not match or not _REST.match(rest := value[match.end() :]) or _COUNT_WORDS.search(rest):
        return None
    if match.group(2) and int(match.group(2)) != rubric.scale.max:
        return None
    return match.group(1) if match.group(1) in rubric.scale.values() else None


def _read_letter(value: str, rubric: Rubric) -> str | None:
    match = _LETTER.match(value)
    rest = value[match.end() :] if match else ""
    if not match or not (_REST.match(rest) or (match.group(1) and rest.startswith(" "))):
        return None
    letter = (match.group(1) or match.group(2)).upper()
    letters = rubric.scale.letters or {}
    others = re.compile(rf"\b[{''.join(sorted(letters))}]\b")
    return letter if letter in letters and not others.search(rest) else None


def _read_label(value: str, rubric: Rubric) -> str | None:
    words = {_plain(name): p.symbol for p in rubric.points for name in (p.symbol, *p.aliases)}
    plain = _plain(value)
    for name in sorted(words, key=lambda n: (-len(n), n)):
        rest = plain[len(name) :]
        if plain.startswith(name) and _REST.match(rest):
            others = [other for other, symbol in words.items() if symbol != words[name]]
            return None if any(re.search(rf"\b{re.escape(o)}\b", rest) for o in others) else words[name]
    return None


def _plain(text: str) -> str:
    return re.sub(r"(?<=\w)[\s_-]+(?=\w)", " ", text.strip().casefold())
