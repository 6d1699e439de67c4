"""Splitting what somebody said into sentences.

The cutting is done by ``sentencex`` (MIT, Wikimedia); this module mends what spoken medical English needs on top:
units and shortened words that do not end a sentence ("5 mg. of", "my temp. was"), and times that do ("at 3 a.m. It").
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import sentencex

_LANGUAGE = "en"

_NEVER_LAST = re.compile(r"\b(?:approx|e\.g|i\.e|vs|incl|esp|dr|mr|mrs|ms|prof|st|fig|nr)\.$", re.IGNORECASE)
"""Shortened words that always lean on what follows."""

_SELDOM_LAST = re.compile(
    r"(?:\b(?:mg|mcg|kg|lbs?|ml|cc|cm|mm|oz|hrs?|mins?|secs?|yrs?|wks?|mos?|temp|meds?|appt|tabs?|caps?|etc|no|"
    r"a\.m|p\.m|u\.s|jan|feb|mar|apr|aug|sept?|oct|nov|dec|mon|tues?|wed|thurs?|fri)|\b[A-Z])\.$",
    re.IGNORECASE,
)
"""Shortened words that end a sentence only when a new one plainly begins."""

_NEW_START = re.compile(
    r"(?:i|it|he|she|we|they|you|that|this|there|then|no|yes|yeah|but|so|and|my|the|what|is|do|can)\b(?!\.)"
)
"""Words in small letters with which a careless typist still begins a new sentence."""

_DAYS = "Mon|Tues|Wednes|Thurs|Fri|Satur|Sun"
_BREAK = re.compile(
    rf"(?<=\b[apAP]\.[mM]\.|\b[uU]\.[sS]\.|\betc\.)(?=\s+[A-Z][a-z']*\b)(?!\s+(?:{_DAYS})day\b)"
    rf"|(?<=\b[apAP]\.[mM]\.)(?=\s+{_NEW_START.pattern})|(?<=[.!?]\))(?=\s+[A-Z])"
    r"|(?:(?<=\bme\.)|(?<=\bno\.)|(?<=\bill\.)|(?<=\bfed\.)|(?<=\bart\.))(?=\s+[A-Z])"
)
"""After a time, a country or a bracket, where a new sentence begins; a weekday goes with its time. Also after common
words that the library takes for short ones: "it hurts me. I ..." (Maine), "no. I ..." (number)."""

_LINE = re.compile(r"\n+")
_EDGE = re.compile(r"^(?:[-*•–]\s+|\d{1,2}[.)]\s+)")
_LONE_CLOSER = re.compile(r"^[\"'”’)\]*]+$")


class Span(NamedTuple):
    """A sentence as ``text[start:end]``."""

    start: int
    end: int


def split_sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text, trimmed, in order; empty for a text without words or marks."""
    return tuple(text[span.start : span.end] for span in sentence_spans(text))


def sentence_spans(text: str) -> tuple[Span, ...]:
    """Where each sentence of the text stands; list marks and space at the edges are left outside."""
    found: list[Span] = []
    for start, end in _lines(text):
        line = text[start:end]
        found.extend(_trimmed(text, start + cut.start, start + cut.end) for cut in _mended(line, _cuts(line)))
    return tuple(span for span in found if span.start < span.end)


def _lines(text: str) -> Iterator[Span]:
    start = 0
    for match in _LINE.finditer(text):
        yield Span(start, match.start())
        start = match.end()
    yield Span(start, len(text))


def _cuts(line: str) -> Iterator[Span]:
    """The cuts of the library, each as a span, and further ones after times."""
    cursor = 0
    for piece in sentencex.segment(_LANGUAGE, line):
        start = line.find(piece, cursor)
        if start < 0:  # the library changed the text: keep the rest whole
            break
        cursor = start + len(piece)
        edges = [start, *(start + m.start() for m in _BREAK.finditer(piece)), cursor]
        yield from (Span(a, b) for a, b in itertools.pairwise(edges))
    yield Span(cursor, len(line))


def _mended(line: str, cuts: Iterable[Span]) -> Iterator[Span]:
    """Neighbouring spans joined where the first one does not end a sentence."""
    held: Span | None = None
    for cut in cuts:
        if not line[cut.start : cut.end].strip():
            continue
        if held is not None and _goes_on(line[held.start : held.end].strip(), line[cut.start : cut.end].strip()):
            held = Span(held.start, cut.end)
            continue
        if held is not None:
            yield held
        held = cut
    if held is not None:
        yield held


def _goes_on(before: str, after: str) -> bool:
    if _NEVER_LAST.search(before) or _LONE_CLOSER.match(after) or _EDGE.fullmatch(f"{before} "):
        return True
    return bool(_SELDOM_LAST.search(before) and not after[0].isupper() and not _NEW_START.match(after))


def _trimmed(text: str, start: int, end: int) -> Span:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    mark = _EDGE.match(text[start:end])
    return Span(start + mark.end(), end) if mark else Span(start, end)
