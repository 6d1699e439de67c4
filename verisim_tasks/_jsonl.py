"""Reading JSON lines that people and pipes bring: one object a line, every fault named with its place."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from verisim_tasks.errors import UserError


def read_objects(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a JSON-lines file (``-`` is standard input), each with its place; blank lines are skipped.

    Raises:
        UserError: for a file that cannot be read, a line that is no object, or no object at all.
    """
    label = "standard input" if name == "-" else name
    try:
        source: Iterable[bytes] = sys.stdin.buffer if name == "-" else Path(name).read_bytes().splitlines()
    except OSError as error:
        raise UserError(f"{name} cannot be read ({error.strerror}); give a JSON-lines file or '-'") from error
    empty = True
    for number, raw in enumerate(source, start=1):
        place = f"{label}, line {number}"
        try:
            line = raw.decode("utf-8-sig").strip()
        except UnicodeDecodeError as error:
            raise UserError(f"{place}: not UTF-8 text; save the file as UTF-8") from error
        if line:
            empty = False
            yield place, _object(line, place)
    if empty:
        raise UserError(f"{label} holds no line; write one {{...}} a line")


def _object(line: str, place: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise UserError(f"{place}: not a JSON object; write one {{...}} a line") from error
    if not isinstance(row, dict):
        raise UserError(f"{place}: not a JSON object; write one {{...}} a line")
    return row
