"""``verisim match``: judge predicted diagnoses against their references, one JSON line each."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from verisim_tasks.errors import UserError


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser(
        "match",
        help="judge predicted diagnoses against their references",
        description=(
            'Read lines {"reference": ..., "prediction": ...}, optionally with "synonyms" and "accepted_codes", and '
            'print each back with "match" and the "rule" that decided.'
        ),
    )
    parser.add_argument("file", help="a JSON-lines file, or '-' for standard input")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print every line with its verdict. Raises ``UserError`` naming file and line of a bad one."""
    from verisim_metrics.matching import match_diagnosis

    rows = [_checked(line, place) for place, line in _lines(args.file)]
    for row in rows:
        verdict = match_diagnosis(
            row["prediction"], row["reference"], row.get("synonyms") or (), row.get("accepted_codes") or ()
        )
        line = json.dumps({**row, "match": verdict.match, "rule": verdict.rule}, ensure_ascii=False)
        print(line.encode("utf-8", "replace").decode("utf-8"))
    return 0


def _lines(name: str) -> Iterator[tuple[str, str]]:
    try:
        source: Iterable[bytes] = sys.stdin.buffer if name == "-" else Path(name).read_bytes().splitlines()
    except OSError as error:
        raise UserError(f"{name} cannot be read ({error.strerror}); give a JSON-lines file or '-'") from error
    label = "standard input" if name == "-" else name
    for number, raw in enumerate(source, start=1):
        place = f"{label}, line {number}"
        try:
            line = raw.decode("utf-8-sig").strip()
        except UnicodeDecodeError as error:
            raise UserError(f"{place}: not UTF-8 text; save the file as UTF-8") from error
        if line:
            yield place, line


def _checked(line: str, place: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise UserError(f"{place}: not a JSON object; write one {{...}} a line") from error
    if not isinstance(row, dict):
        raise UserError(f"{place}: not a JSON object; write one {{...}} a line")
    for key in ("reference", "prediction"):
        if key not in row:
            raise UserError(f'{place}: "{key}" is missing; every line needs "reference" and "prediction"')
    if not isinstance(row["reference"], str) or not row["reference"].strip():
        raise UserError(f'{place}: "reference" must be a non-empty text')
    if not (row["prediction"] is None or isinstance(row["prediction"], str)):
        raise UserError(f'{place}: "prediction" must be a text or null')
    for key in ("synonyms", "accepted_codes"):
        if not (row.get(key) is None or (isinstance(row[key], list) and all(isinstance(x, str) for x in row[key]))):
            raise UserError(f'{place}: "{key}" must be a list of texts')
    return row
