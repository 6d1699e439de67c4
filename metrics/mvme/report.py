"""Reading the five-part report out of whatever the doctor wrote.

The parts of AI Hospital (arXiv 2402.09742): symptoms, examinations, diagnostic results, rationales, treatment plan. The
published evaluation cuts at ``#诊断结果#`` and ``#诊断依据#``; this reader takes headings in any order and dress,
English or Chinese, and JSON. What has no heading, or nothing below it, is missing (``None``).
"""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from verisim_tasks.language.lexicon import load_yaml
from verisim_tasks.records.transcript import Report

PARTS = ("symptoms", "examinations", "diagnosis", "rationale", "treatment")
MAX_CHARACTERS = 100_000
"""Text beyond this is kept in ``raw`` and not read: a report is a page or two."""
MAX_HEADING = 60
_FEW = 2
"""With fewer parts than this the report may stand in one line."""
_MAX_DEPTH = 6
_JSON_TRIES = 8

_LEAD = " \t\u3000"
_MARKS = re.compile(r"^[\s\u3000>]*(?P<list>(?:[-+•·]|\*(?!\*))\s+)?")
_NUMBER = re.compile(r"^(?:\(?\d{1,2}[.、)）:]\s*|（\d{1,2}）\s*|[一二三四五六]、\s*|[ivxIVX]{1,4}[.)]\s+)")
_BRACKET = re.compile(r"\s*[(（][^()（）]{0,30}[)）]\s*$")
_OPENERS = "#*_=【[〖「《<"
_CLOSERS = "#*_=】]〗」》> \t\u3000"


@dataclass(frozen=True)
class _Heading:
    line: int
    part: str
    name: str
    style: int
    """How much the line looks like a heading: 3 marked with signs, 2 numbered, 1 plain."""
    listed: bool
    """Stands behind a bullet."""
    rest: str
    """What follows on the same line."""


def parse_report(text: str | None) -> Report:
    """The five parts of a report; a part without a heading, or with nothing under it, is ``None``.

    Never raises, on any text. ``raw`` keeps the whole text. Text before the first heading belongs to no part. When a
    heading comes twice, the first with text under it counts; different headings of one part are joined.
    """
    whole = text or ""
    kept = whole[:MAX_CHARACTERS]
    parts = _from_json(kept) or _from_lines(kept.splitlines())
    if len(parts) < _FEW:
        parts = max(parts, _from_lines(_unfolded(kept)), key=len)
    return Report(**{p: parts.get(p) for p in PARTS}, raw=whole or None)


def missing_parts(report: Report, parts: Sequence[str] = PARTS) -> tuple[str, ...]:
    """The parts that the report does not have."""
    return tuple(p for p in parts if getattr(report, p) is None)


@functools.cache
def _names() -> Mapping[str, str]:
    return {str(name).casefold(): part for part, names in load_yaml("mvme", "report.yaml").items() for name in names}


def _from_lines(lines: Sequence[str]) -> dict[str, str]:
    found = [h for number, line in enumerate(lines) if (h := _heading(number, line))]
    used = _real_headings(found)
    if not any(h.part in PARTS for h in used):
        return {}
    pieces: dict[str, dict[str, str]] = {}
    ends = [*(h.line for h in used[1:]), len(lines)]
    for heading, end in zip(used, ends, strict=True):
        body = "\n".join([heading.rest, *lines[heading.line + 1 : end]]).strip()
        if _says_something(body):
            pieces.setdefault(heading.part, {}).setdefault(heading.name, body)
    return {part: "\n".join(texts.values()) for part, texts in pieces.items() if part in PARTS}


def _real_headings(found: Sequence[_Heading]) -> list[_Heading]:
    """Those in the style that most parts are written in, or a stronger one, and weaker ones of parts not seen so.

    A weaker one must stand alone on its line, without a bullet: ``* symptoms: ...`` within the rationale is no heading.
    """
    seen = {style: {h.part for h in found if h.style == style and not h.listed} & set(PARTS) for style in (3, 2, 1)}
    main = max(seen, key=lambda style: (len(seen[style]), style))
    if not seen[main]:
        return list(found)
    strong = {h.part for h in found if h.style >= main and not h.listed}
    return [
        h
        for h in found
        if not h.listed and (h.style >= main or (h.part not in strong and not h.rest and len(seen[main]) < len(PARTS)))
    ]


def _heading(number: int, line: str) -> _Heading | None:
    marks = _MARKS.match(line)
    bare = line[marks.end() :] if marks else line
    listed = bool(marks and marks["list"])
    opened, bare = _unmarked(bare)
    numbered = _NUMBER.match(bare)
    if numbered:
        more, bare = _unmarked(bare[numbered.end() :])
        opened = opened or more
    name, rest, closed = _split_name(bare)
    part = _names().get(name)
    if part is None or (rest and not closed):
        return None
    return _Heading(number, part, name, 3 if opened else 2 if numbered else 1, listed, rest)


def _unmarked(text: str) -> tuple[bool, str]:
    bare = text.lstrip(_OPENERS + _LEAD)
    return text.lstrip(_LEAD) != bare, bare


def _split_name(bare: str) -> tuple[str, str, bool]:
    """The name, what follows it, and whether a colon or a closing mark parts the two."""
    head = bare[: MAX_HEADING + 1]
    cut = min((i for i in map(head.find, (":", "：", "#", "**", "】", "]")) if i > 0), default=-1)
    if cut < 0:
        return _plain(head.rstrip(_CLOSERS)), "", False
    rest = bare[cut:].lstrip(_CLOSERS + ":：").strip()
    return _plain(head[:cut]), _BRACKET.sub("", rest) if _BRACKET.fullmatch(rest) else rest, True


def _plain(name: str) -> str:
    name = _BRACKET.sub("", name.strip(_CLOSERS)).strip(_CLOSERS)
    return " ".join(name.replace("_", " ").casefold().split())


def _says_something(text: str) -> bool:
    return any(c.isalnum() for c in text)


@functools.cache
def _inline() -> re.Pattern[str]:
    names = sorted((n for n in _names() if len(n) > 1), key=lambda n: (-len(n), n))
    return re.compile(
        rf"(?<![\w*-])\*{{0,2}}(?:{'|'.join(map(re.escape, names))})\*{{0,2}}\s{{0,3}}[:：]", re.IGNORECASE
    )


def _unfolded(text: str) -> list[str]:
    """The text with a new line before every known heading, for reports written in one line."""
    return [line.strip() for line in _inline().sub(lambda m: "\n" + m.group(), text).splitlines()]


def _from_json(text: str) -> dict[str, str]:
    decoder = json.JSONDecoder()
    starts = itertools.islice((m.start() for m in re.finditer(r"\{", text)), _JSON_TRIES)
    for start in starts:
        try:
            value, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        parts = _from_mapping(value, 0)
        if parts:
            return parts
    return {}


def _from_mapping(value: Any, depth: int) -> dict[str, str]:
    """The parts of the outermost object that has any."""
    if not isinstance(value, dict) or depth > _MAX_DEPTH:
        return {}
    parts: dict[str, list[str]] = {}
    for key, item in value.items():
        part = _names().get(_plain(str(key)[:MAX_HEADING]))
        body = "\n".join(_flat(item, 0)).strip()
        if part in PARTS and _says_something(body):
            parts.setdefault(part, []).append(body)
    if parts:
        return {part: "\n".join(texts) for part, texts in parts.items()}
    inner = (_from_mapping(item, depth + 1) for item in value.values())
    return next((p for p in inner if p), {})


def _flat(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        yield str(value)
    elif isinstance(value, dict) and depth < _MAX_DEPTH:
        for key, item in value.items():
            yield f"{key}: {' '.join(_flat(item, depth + 1))}".strip()
    elif isinstance(value, list) and depth < _MAX_DEPTH:
        yield from itertools.chain.from_iterable(_flat(item, depth + 1) for item in _limited(value))


def _limited(values: Iterable[Any]) -> Iterable[Any]:
    return itertools.islice(values, 1000)
