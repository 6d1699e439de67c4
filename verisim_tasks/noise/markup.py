"""The marked spans of a lay sentence: what memory may blur, and into what."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

SpanKind = Literal["time", "dose", "drug", "number"]

_SPAN = re.compile(r"\[([^\[\]|]+)\|(time|dose|drug|number)(?:\|([^\[\]|]+))?\]")
_STRAY = re.compile(r"[\[\]|]")


@dataclass(frozen=True)
class Span:
    """``[text|kind|vaguer]``: exact words, what they are, and a vaguer wording that is as true (None: leave out)."""

    text: str
    kind: SpanKind
    vaguer: str | None


def spans(marked: str) -> list[Span]:
    """All spans of a marked sentence, in order."""
    return [Span(m[1].strip(), m[2], m[3].strip() if m[3] else None) for m in _SPAN.finditer(marked)]  # type: ignore[arg-type]


def plain(marked: str) -> str:
    """The sentence as it is said exactly."""
    return _SPAN.sub(lambda m: m[1].strip(), marked)


def blur(marked: str, wanted: Callable[[Span], bool]) -> tuple[str, list[Span]]:
    """The sentence with the wanted spans replaced by their vaguer wording or left out; and those spans."""
    blurred: list[Span] = []

    def replace(match: re.Match[str]) -> str:
        span = Span(match[1].strip(), match[2], match[3].strip() if match[3] else None)  # type: ignore[arg-type]
        if not wanted(span):
            return span.text
        blurred.append(span)
        return span.vaguer or ""

    return tidy(_SPAN.sub(replace, marked)), blurred


def tidy(text: str) -> str:
    """Mend what leaving words out leaves behind: doubled spaces, stray commas, a lost capital."""
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r"\s+([,.;:!?])", r"\1", text)
    text = re.sub(r",(?:\s*,)+", ",", text)
    text = re.sub(r",\s*([.!?])", r"\1", text)
    text = re.sub(r"^[,;]\s*", "", text)
    return text[:1].upper() + text[1:]


def is_balanced(marked: str) -> bool:
    """Every bracket and bar belongs to a well-formed span."""
    return _STRAY.search(_SPAN.sub("", marked)) is None
