"""Finding a diagnosis, and a differential, in what a doctor said."""

from __future__ import annotations

import re

_WRAP = r"[\s*_#>`\"'“”\[\]{}()|\\-]*"
_MARKER = re.compile(
    rf"final\s+diagnos[ie]s{_WRAP}(?:[:：=]|(?<=\s)[–—-]\s|\bis\b(?!\s+(?:to|that|when|why|how)\b)|(?=\n|$))",
    re.IGNORECASE,
)
_FORCED_MARKER = re.compile(rf"\bdiagnos[ie]s{_WRAP}(?:[:：=]|\bis\b(?!\s+(?:to|that|when|why|how)\b))", re.IGNORECASE)
_MENTION = re.compile(r"final\s+diagnos[ie]s", re.IGNORECASE)
_NO_CONTENT = re.compile(
    r"^(?:(?:still|currently|yet)\s+)*(?:not\b|pending\b|to\s+be\s+\w+|tbd\b|tba\b|n/?a\b|none\b|nothing\b|deferred\b|"
    r"awaiting\b|impossible\b|difficult\b|insert\b|\?+$|"
    r"un(?:clear|known|certain|determined|specified)\b(?:\W*$|\s+(?:at|yet|until|without|for|as|so)\b))"
    r"|^(?:the\s+|your\s+|one\s+|specific\s+|name\s+of\s+)*(?:condition|diagnosis)\b(?:\s+(?:name|here))?\W*$"
    r"|^i\s+(?:need|cannot|can't|am\s+not|will|would)\b",
    re.IGNORECASE,
)
_BRACKETED = re.compile(r"^\W*<([^<>\n]{1,200})>")
_ABBREVIATION = re.compile(r"(?:\b(?:st|vs|dr|e\.g|i\.e|cf|no|spp|sp|ca|approx|type)|\b[A-Za-z])$", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?…](?=[\s*_\"')\]]+\S)")
MAX_LENGTH = 300
"""A condition is cut here, in characters."""


def find_diagnosis(text: str, *, forced: bool) -> tuple[str | None, bool]:
    """The condition behind the first marker that has one, and whether a final diagnosis was mentioned at all.

    A marker with a placeholder, or with words that say there is no diagnosis yet, has none. ``forced`` lets a plain
    ``Diagnosis:`` count when the proper marker is missing.
    """
    for marker in _MARKER.finditer(text):
        if condition := _condition(text[marker.end() :]):
            return condition, True
    if forced:
        for marker in _FORCED_MARKER.finditer(text):
            if condition := _condition(text[marker.end() :]):
                return condition, True
    return None, bool(_MENTION.search(text))


def _condition(rest: str) -> str | None:
    """The condition at the start of ``rest``: to the end of its sentence or line, without markup."""
    for line in rest.lstrip(" \t*_:`\"'").split("\n")[:4]:
        bracketed = _BRACKETED.match(line)
        candidate = _unwrap(bracketed.group(1) if bracketed else _first_sentence(line))
        if candidate:
            return None if _NO_CONTENT.search(candidate) else candidate[:MAX_LENGTH].rstrip()
        if line.strip():
            return None
    return None


def _first_sentence(line: str) -> str:
    for end in _SENTENCE_END.finditer(line):
        before = line[: end.start()].rstrip("*_")
        if end.group() != "." or not (_ABBREVIATION.search(before) or before.strip().isdigit()):
            return line[: end.start()]
    return line


def _unwrap(text: str) -> str:
    text = re.sub(r"\\(?:boxed|text|textbf)\{([^{}]*)\}", r"\1", text)
    text = re.sub(r"^\W*(?:\d{1,2}[.)]\s+|[-•]\s+)", "", text)
    text = re.sub(r"^[\s*_#>`\"'“”\[\]{}|:=–—-]+|[\s*_#>`\"'“”\[\]{}|.,;:!–—-]+$", "", text)
    text = re.sub(r"\*\*|__|`", "", text).strip()
    return text if any(c.isalnum() for c in text) else ""


_DIFFERENTIAL = re.compile(
    rf"(?:^|[\n.?!])\W*(?:my\s+|the\s+)?differentials?(?:\s+diagnos[ie]s)?{_WRAP}(?:[:：]|\bincludes?\b|\bare\b|\bis\b)",
    re.IGNORECASE,
)
_ITEM = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+(.+)$")
MAX_DIFFERENTIAL = 20


def find_differential(text: str) -> tuple[str, ...]:
    """The conditions of a differential line (``Differential: a, b``) or of the list below it; empty without one."""
    marker = _DIFFERENTIAL.search(text)
    if not marker:
        return ()
    first, *following = text[marker.end() :].split("\n")
    items = re.split(r"[,;]|\s+(?:or|and)\s+", _first_sentence(first)) if _unwrap(first) else []
    if not items:
        for line in (raw for raw in following if raw.strip()):
            item = _ITEM.match(line)
            if not item:
                break
            items.append(_first_sentence(item.group(1)))
    named = [re.sub(r"^(?:and|or)\s+", "", _unwrap(i), flags=re.IGNORECASE) for i in items]
    kept = [n[:MAX_LENGTH] for n in named if n and not _MENTION.search(n)]
    return tuple(dict.fromkeys(kept))[:MAX_DIFFERENTIAL]
