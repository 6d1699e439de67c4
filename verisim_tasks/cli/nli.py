"""``verisim nli``: judge whether sentences follow from record items, one JSON line each."""

from __future__ import annotations

import argparse
import json
from typing import Any

from verisim_tasks._jsonl import read_objects
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

    rows = [_checked(row, place) for place, row in read_objects(args.file)]
    judged = make_nli(args.nli).predict([(row["premise"], row["hypothesis"]) for row in rows])
    for row, numbers in zip(rows, judged, strict=True):
        verdict = {"label": label_of(numbers), **dict(zip(LABELS, map(float, numbers), strict=True))}
        line = json.dumps({**row, **verdict}, ensure_ascii=False)
        print(line.encode("utf-8", "replace").decode("utf-8"))
    return 0


def _checked(row: dict[str, Any], place: str) -> dict[str, Any]:
    for key in ("premise", "hypothesis"):
        if not isinstance(row.get(key), str) or not row[key].strip():
            raise UserError(f'{place}: "{key}" must be a non-empty text')
    return row
