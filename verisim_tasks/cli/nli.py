"""``verisim nli``: judge whether sentences follow from record items, one JSON line each."""

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
        "nli",
        help="judge whether sentences follow from record items",
        description=(
            'Read lines {"premise": ..., "hypothesis": ...} and print each back with "label" and the probabilities '
            '"entailment", "neutral" and "contradiction".'
        ),
    )
    parser.add_argument("file", help="a JSON-lines file, or '-' for standard input")
    parser.add_argument(
        "--nli",
        default="builtin",
        metavar="NAME",
        help="'builtin' (default), or a Hugging Face NLI model by name or folder",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print every line with its verdict. Raises ``UserError`` naming file and line of a bad one."""
    from verisim_metrics.nli import LABELS, label_of, make_nli

    rows = [_checked(line, place) for place, line in _lines(args.file)]
    judged = make_nli(args.nli).predict([(row["premise"], row["hypothesis"]) for row in rows])
    for row, numbers in zip(rows, judged, strict=True):
        verdict = {"label": label_of(numbers), **dict(zip(LABELS, map(float, numbers), strict=True))}
        line = json.dumps({**row, **verdict}, ensure_ascii=False)
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
    for key in ("premise", "hypothesis"):
        if not isinstance(row.get(key), str) or not row[key].strip():
            raise UserError(f'{place}: "{key}" must be a non-empty text')
    return row
