"""``verisim report``: a run's result in the terminal, and as PNG plots."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from verisim_tasks.errors import UserError

if TYPE_CHECKING:
    from verisim_leaderboard.record import Entry

PLOTS = "verisim_plots"
_WIDTH = 120


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "report",
        help="print what a run shows (tables, curves, telling moments) and draw it",
        description="Read a run's results and transcripts, print a summary, and write PNG plots.",
    )
    parser.add_argument("results_dir", type=Path, metavar="RESULTS_DIR", help="what lm_eval --output_path named")
    parser.add_argument("--out", type=Path, metavar="DIR", help=f"for the plots; default: RESULTS_DIR/{PLOTS}")
    parser.add_argument("--no-plots", action="store_true", help="print only")
    parser.add_argument("--transcripts", type=Path, metavar="FILE", help="default: transcripts.jsonl in RESULTS_DIR")
    parser.add_argument("--cases", metavar="SOURCE", help="default: the cases that the run recorded, else the bank")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the summary and write the plots."""
    from rich.console import Console

    from verisim_leaderboard.entry import build
    from verisim_leaderboard.moments import telling_moments
    from verisim_leaderboard.reading import TranscriptReader
    from verisim_leaderboard.report import report

    found = build(args.results_dir, args.transcripts, args.cases)
    moments = telling_moments((t for _, t in TranscriptReader(found.transcripts)), found.cases)
    console = Console(width=None if Console().is_terminal else _WIDTH)
    console.print(report(found.entry, moments))
    if not args.no_plots:
        _draw(found.entry, args.out or args.results_dir / PLOTS)
    return 0


def _draw(entry: Entry, folder: Path) -> None:
    try:
        from verisim_leaderboard.plots import write_plots
    except ModuleNotFoundError as error:
        raise UserError(
            f"plots need {error.name}; run: pip install 'verisim-tasks[leaderboard]', or use --no-plots"
        ) from error
    for path in write_plots(entry, folder):
        print(f"plot written to {path}")
