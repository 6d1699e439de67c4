"""``verisim agreement``: do clinicians agree with each other, and with the judge?"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from verisim_leaderboard.agreement import Agreement


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "agreement",
        help="agreement of raters: Cohen, Fleiss, Gwet's AC1, Krippendorff, with intervals",
        description="One CSV file a rater: a column 'item', and one column a criterion, as 'verisim rate import' "
        "writes them. Empty cells are missing ratings. Intervals are 95% percentile bootstrap over items.",
    )
    parser.add_argument("ratings", nargs="+", type=Path, metavar="CSV", help="one file a rater")
    parser.add_argument("--judge", type=Path, metavar="CSV", help="the judge's file: compared with each rater")
    parser.add_argument("--column", action="append", default=[], metavar="NAME", help="only this criterion")
    parser.add_argument(
        "--level", choices=("nominal", "ordinal", "interval"), default="ordinal", help="default: %(default)s"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON list")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Read the tables and print every measure."""
    from rich.console import Console

    from verisim_leaderboard.agreement import agreement
    from verisim_leaderboard.rating.tables import read_ratings

    judge = read_ratings(args.judge) if args.judge else None
    found = agreement([read_ratings(path) for path in args.ratings], judge, args.column, args.level)
    if args.json:
        print(json.dumps([asdict(one) for one in found], ensure_ascii=False, indent=1, allow_nan=False))
    else:
        Console(width=None if Console().is_terminal else 140).print(_table(found))
    return 0


def _table(found: list[Agreement]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD)
    for head in ("criterion", "raters", "measure", "value [95%]", "items"):
        table.add_column(head)
    for one in found:
        c = one.coefficient
        value = f"- ({c.note})" if c.value is None else f"{c.value:.3f}"
        interval = "" if c.low is None or c.high is None else f" [{c.low:.3f}, {c.high:.3f}]"
        cells = (one.criterion, ", ".join(one.raters), c.name, value + interval, str(c.items))
        table.add_row(*(Text(cell) for cell in cells))
    return table
