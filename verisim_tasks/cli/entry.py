"""``verisim entry``: one strict JSON leaderboard entry from a run's folder."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "entry",
        help="write the leaderboard entry of a run and print its table",
        description="Read the newest results*.json and the transcripts of a run, score the transcripts, "
        "write one strict JSON entry and print it as a table.",
    )
    parser.add_argument("results_dir", type=Path, metavar="RESULTS_DIR", help="what lm_eval --output_path named")
    parser.add_argument("--out", type=Path, metavar="FILE", help="default: RESULTS_DIR/verisim_entry.json")
    parser.add_argument("--transcripts", type=Path, metavar="FILE", help="default: transcripts.jsonl in RESULTS_DIR")
    parser.add_argument("--cases", metavar="SOURCE", help="default: the cases that the run recorded, else the bank")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the entry and print it."""
    from verisim_leaderboard.entry import ENTRY_FILE, build_entry, write_entry
    from verisim_leaderboard.table import print_entry

    entry = build_entry(args.results_dir, args.transcripts, args.cases)
    path = args.out or args.results_dir / ENTRY_FILE
    write_entry(entry, path)
    print_entry(entry)
    print(f"entry written to {path}")
    return 0
