"""Reading other people's files: every record with its place, every fault with file and line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verisim_tasks.errors import UserError

MAX_LINE = 2_000_000
"""Characters of one JSONL line; the longest published case has a few thousand."""
MAX_FILE = 500_000_000
"""Bytes of one file."""
MAX_TEXT = 20_000
"""Characters of one text field: no clinical narrative is longer, and a longer one is damage."""
MAX_DEPTH = 40


class BadRecordError(UserError):
    """One record that cannot be imported: a sentence that starts with its file and line."""


@dataclass(frozen=True)
class Place:
    """Where a record stands: a file and a line, or a record number in a list."""

    file: str
    line: int
    unit: str = "line"

    def __str__(self) -> str:
        return f"{self.file}, {self.unit} {self.line}"

    def bad(self, reason: str) -> BadRecordError:
        """The error for this record."""
        return BadRecordError(f"{self}: {reason}")


@dataclass(frozen=True)
class Raw:
    """One record as it came: a JSON object, and where it stands."""

    data: dict[str, Any]
    place: Place


def read_records(path: Path) -> Iterator[Raw | BadRecordError]:
    """The JSON objects of a file: a list, one object, or one object a line (JSONL); faulty ones as errors, in order.

    Raises ``UserError`` when the file as a whole cannot be read.
    """
    content = _bytes(path)
    if not content.strip():
        raise UserError(f"{path}: is empty; give a JSON or JSONL file with at least one case")
    name = str(path)
    if _is_lines(path, content):
        yield from _lines(content, name)
        return
    whole = parse(decode(content, Place(name, 1)), Place(name, 1))
    if isinstance(whole, dict):
        yield _checked(whole, Place(name, 1, "record"))
        return
    if not isinstance(whole, list):
        raise UserError(f"{path}: holds a {_kind(whole)}; a list of cases or one case (a JSON object) is needed")
    if not whole:
        raise UserError(f"{path}: holds an empty list; there is no case to import")
    for number, item in enumerate(whole, start=1):
        yield _checked(item, Place(name, number, "record"))


def decode(content: bytes, place: Place) -> str:
    """Text of bytes in UTF-8, or UTF-16 with its mark. Raises :class:`BadRecordError`."""
    encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = place.line + content[: error.start].count(b"\n")
        where = Place(place.file, line, place.unit)
        raise where.bad(f"is not {encoding.removesuffix('-sig').upper()} text; save the file as UTF-8") from error


def parse(text: str, place: Place) -> Any:
    """JSON of a text. Raises :class:`BadRecordError` with the line of the fault."""
    try:
        value = json.loads(text, parse_constant=_no_constant)
        _check_tree(value, 0)
    except json.JSONDecodeError as error:
        where = Place(place.file, place.line + error.lineno - 1)
        raise where.bad(f"is not valid JSON ({error.msg} at column {error.colno}); is the line cut off?") from error
    except RecursionError as error:
        raise place.bad("is nested too deeply to be a case; check how the file was made") from error
    except ValueError as error:
        raise place.bad(f"is not valid JSON ({error}); check how the file was made") from error
    return value


def clean(value: Any, place: Place) -> dict[str, Any]:
    """A record that came as an object already (from ``datasets``), held to the same rules as one from a file."""
    try:
        _check_tree(value, 0)
    except (RecursionError, ValueError) as error:
        raise place.bad(str(error) or "is nested too deeply to be a case") from error
    if not isinstance(value, dict):
        raise place.bad(f"is a {_kind(value)}; a case is a JSON object")
    return value


def _bytes(path: Path) -> bytes:
    try:
        if path.stat().st_size > MAX_FILE:
            raise UserError(f"{path}: has more than {MAX_FILE // 1_000_000} MB; split it into smaller files")
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); check the path") from error


def _is_lines(path: Path, content: bytes) -> bool:
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        return True
    if path.suffix.lower() == ".json" and content.lstrip()[:1] == b"[":
        return False
    first, _, rest = content.strip().partition(b"\n")
    if not rest or content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return False
    return first.lstrip().startswith(b"{") and first.rstrip().endswith(b"}")


def _lines(content: bytes, name: str) -> Iterator[Raw | BadRecordError]:
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        content = decode(content, Place(name, 1)).encode("utf-8")
    for number, line in enumerate(content.split(b"\n"), start=1):
        if not line.strip():
            continue
        place = Place(name, number)
        if len(line) > MAX_LINE:
            yield place.bad(f"has {len(line) / 1e6:.1f} MB, more than a case can have; are line breaks lost?")
            continue
        try:
            value = parse(decode(line, place), place)
        except BadRecordError as error:
            yield error
            continue
        yield _checked(value, place)


def _checked(value: Any, place: Place) -> Raw | BadRecordError:
    try:
        return Raw(clean(value, place), place)
    except BadRecordError as error:
        return error


def _check_tree(value: Any, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise ValueError(f"is nested more than {MAX_DEPTH} deep")
    if isinstance(value, str):
        if any(0xD800 <= ord(c) <= 0xDFFF for c in value):
            raise ValueError("holds half of a character pair (a lone surrogate)")
    elif isinstance(value, dict):
        for key, item in value.items():
            _check_tree(key, depth + 1)
            _check_tree(item, depth + 1)
    elif isinstance(value, list | tuple):
        for item in value:
            _check_tree(item, depth + 1)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON value")


def _kind(value: Any) -> str:
    names = {list: "list", str: "text", bool: "truth value", int: "number", float: "number", type(None): "null"}
    return names.get(type(value), type(value).__name__)
