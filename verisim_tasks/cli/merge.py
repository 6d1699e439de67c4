"""``verisim merge``: put the shards of one run together."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from verisim_tasks.errors import EXIT_INCOMPLETE


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser(
        "merge",
        help="put the shards of one run together",
        description=(
            "Merge run folders made with 'verisim run --shard 1/8' ... '8/8': transcripts.jsonl and run.json are what "
            "the whole run would have written. lm-eval's results come from 'verisim run --resume DIR', which replays "
            "the merged log and asks the model nothing; 'verisim score DIR' needs no model at all."
        ),
    )
    parser.add_argument("run_dirs", nargs="+", type=Path, metavar="RUN_DIR", help="folder of one shard")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="a new folder")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Merge and say what is missing; 3 when anything is. Raises ``UserError`` for runs that do not belong together."""
    from verisim_tasks.loop.merging import merge_runs
    from verisim_tasks.loop.resuming import how_to_complete

    complete = True
    for merged in merge_runs(args.run_dirs, args.out):
        print(f"{merged.gaps.of} transcripts of {len(args.run_dirs)} runs are in {merged.path}")
        if merged.missing:
            print(f"verisim: without shard {', '.join(merged.missing)}; run and merge it too", file=sys.stderr)
        if merged.gaps.count:
            print(f"verisim: {merged.gaps}; {how_to_complete(args.out)}", file=sys.stderr)
        complete = complete and not merged.missing and not merged.gaps.count
    print(f"for lm-eval's results: verisim run --resume {args.out} --output_path {args.out}")
    return 0 if complete else EXIT_INCOMPLETE
