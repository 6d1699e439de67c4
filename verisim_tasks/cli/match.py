"""``verisim match``: judge predicted diagnoses against their references, one JSON line each."""

from __future__ import annotations

import argparse
import json
from typing import Any

from verisim_tasks._jsonl import read_objects
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

    rows = [_checked(row, place) for place, row in read_objects(args.file)]
    for row in rows:
        verdict = match_diagnosis(
            row["prediction"], row["reference"], row.get("synonyms") or (), row.get("accepted_codes") or ()
        )
        line = json.dumps({**row, "match": verdict.match, "rule": verdict.rule}, ensure_ascii=False)
        print(line.encode("utf-8", "replace").decode("utf-8"))
    return 0


def _checked(row: dict[str, Any], place: str) -> dict[str, Any]:
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
