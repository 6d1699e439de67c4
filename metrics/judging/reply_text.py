"""The visible text of a reply, the JSON objects in it, and what it merely repeats from the data."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from verisim_metrics.judging.fencing import clean
from verisim_tasks.language.model_text import strip_thinking

MAX_SPANS = 100
_FENCE_BEFORE = re.compile(r"(?:^|:)\s*(?:`{3,}\s*(?:json)?|json)?\s*$", re.IGNORECASE)
_FENCE_AFTER = re.compile(r"^\s*(?:`{3,})?\s*$")
_BLANK = re.compile(r"[\s|]+")


def visible(reply: str) -> str:
    """The reply without its thinking. A thought that never ends hides the rest; a lone end hides what is before it."""
    return strip_thinking(reply)[0]


@dataclass(frozen=True)
class Span:
    """One outermost bracketed stretch of a reply."""

    text: str
    closed: bool
    anchored: bool
    """It stands alone on its lines: after nothing, a colon or a code fence, and before nothing but a fence."""


def spans(text: str, opener: str = "{") -> list[Span]:
    """The outermost stretches in brackets, quoted brackets not counted. One that never closes runs to the end."""
    closer = {"{": "}", "[": "]"}[opener]
    found: list[tuple[int, int, bool]] = []
    depth = start = 0
    quoted = escaped = False
    for i, char in enumerate(text):
        if depth and quoted:
            quoted, escaped = (char != '"' or escaped), char == "\\" and not escaped
        elif char == opener:
            start = start if depth else i
            depth += 1
        elif depth and char == '"':
            quoted = True
        elif depth and char == closer:
            depth -= 1
            if depth == 0:
                found.append((start, i + 1, True))
    if depth:
        found.append((start, len(text), False))
    return [_span(text, *place) for place in found[-MAX_SPANS:]]


def _span(text: str, start: int, stop: int, closed: bool) -> Span:
    before = text[max(text.rfind("\n", 0, start) + 1, start - 200) : start]
    line_end = text.find("\n", stop)
    after = text[stop : min(len(text) if line_end < 0 else line_end, stop + 200)]
    anchored = bool(_FENCE_BEFORE.search(before)) and bool(_FENCE_AFTER.match(after))
    return Span(text[start:stop], closed, anchored)


class Echo:
    """Knows the words of the data, to tell an answer from a quotation."""

    def __init__(self, texts: Iterable[str]) -> None:
        both = [form for text in texts for form in (text, clean(text))]
        self._whole = [_squeeze(text) for text in both]
        self._lines = {_squeeze(line) for text in both for line in text.splitlines()}

    def holds(self, stretch: str) -> bool:
        """Whether the stretch stands word for word in the data, blanks and capitals aside."""
        wanted = _squeeze(stretch)
        return bool(wanted) and any(wanted in text for text in self._whole)

    def holds_line(self, line: str) -> bool:
        """Whether the stretch is a whole line of the data."""
        return _squeeze(line) in self._lines


def _squeeze(text: str) -> str:
    return _BLANK.sub("", text).casefold()
