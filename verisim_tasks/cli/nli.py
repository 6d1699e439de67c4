"""``verisim nli``: judge whether sentences follow from record items, one JSON line each."""

from __future__ import annotations

import argparse
import json
import math
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
            '"entailment", "neutral" and "contradiction"; null where a judge gave no answer.'
        ),
    )
    parser.add_argument("file", help="a JSON-lines file, or '-' for standard input")
    parser.add_argument(
        "--nli",
        default="builtin",
        metavar="NAME",
        help="'builtin' (default), a Hugging Face NLI model by name or folder, or 'judge'",
    )
    parser.add_argument("--judge", metavar="JSON", help='with --nli judge: {"model": "...", "model_args": {...}}')
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print every line with its verdict. Raises ``UserError`` naming file and line of a bad one."""
    from verisim_metrics.nli import LABELS, label_of
    from verisim_tasks.cli._role_options import judge_of
    from verisim_tasks.loop.simulating import find_nli

    rows = [_checked(row, place) for place, row in read_objects(args.file)]
    nli = find_nli(args.nli, judge_of(args.judge))
    judged: Any = nli.predict([(row["premise"], row["hypothesis"]) for row in rows]) if nli else ()
    for row, numbers in zip(rows, judged, strict=True):
        unknown = any(math.isnan(number) for number in numbers)  # the judge gave no answer
        values = dict(zip(LABELS, (None if unknown else float(number) for number in numbers), strict=True))
        verdict = {"label": None if unknown else label_of(numbers), **values}
        line = json.dumps({**row, **verdict}, ensure_ascii=False)
        print(line.encode("utf-8", "replace").decode("utf-8"))
    return 0


def _checked(row: dict[str, Any], place: str) -> dict[str, Any]:
    for key in ("premise", "hypothesis"):
        if not isinstance(row.get(key), str) or not row[key].strip():
            raise UserError(f'{place}: "{key}" must be a non-empty text')
    return row
