"""``verisim card``: a robustness section and metadata for a model card."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from verisim_tasks.errors import UserError

if TYPE_CHECKING:
    from verisim_leaderboard.record import Entry

CARD = "README.md"


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "card",
        help="write a robustness section and metadata into a model card",
        description="Write or renew the robustness section of a model card (table, plot, how to reproduce, limits) and "
        "the evaluation results in its metadata. Everything else in the card stays as it is.",
    )
    parser.add_argument("results_dir", type=Path, metavar="RESULTS_DIR", help="a results folder, or an entry's folder")
    parser.add_argument("--readme", type=Path, metavar="FILE", help=f"the card; default: RESULTS_DIR/{CARD}")
    parser.add_argument("--name", metavar="MODEL", help="canonical name, e.g. Qwen/Qwen2.5-7B-Instruct")
    parser.add_argument("--transcripts", type=Path, metavar="FILE", help="default: transcripts.jsonl in RESULTS_DIR")
    parser.add_argument("--cases", metavar="SOURCE", help="default: the cases that the run recorded, else the bank")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the card and say what changed."""
    try:
        from verisim_leaderboard.card import write_card
    except ModuleNotFoundError as error:
        raise UserError(f"a card needs {error.name}; run: pip install 'verisim-tasks[leaderboard]'") from error
    folder = args.results_dir if args.results_dir.is_dir() else args.results_dir.parent
    written = write_card(_entry(args), args.readme or folder / CARD)
    for path in written.changed:
        print(f"{path} written")
    if not written.changed:
        print(f"{written.card} holds it already; nothing changed")
    return 0


def _entry(args: argparse.Namespace) -> Entry:
    from verisim_leaderboard.declaration import Declaration, declare
    from verisim_leaderboard.entries import locate
    from verisim_leaderboard.entry import build_entry

    source: Path = args.results_dir
    is_run = source.is_dir() and any(source.rglob("results*.json"))
    entry = build_entry(source, args.transcripts, args.cases) if is_run else locate(source).entry
    return declare(entry, Declaration(canonical_name=args.name))
