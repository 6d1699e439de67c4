"""Entry point of the ``verisim`` command."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

from verisim_tasks import __version__
from verisim_tasks.errors import EXIT_INTERRUPTED, EXIT_USER_ERROR, UserError

COMMANDS: tuple[str, ...] = (
    *("run", "merge", "cache", "path", "register", "cases", "ask", "chat", "compare-patients"),
    *("verify", "score", "match", "icd", "nli", "mvme", "context"),
    *("entry", "report", "card", "leaderboard", "agreement", "rate"),
)
"""Subcommands in the order of the help text; ``verisim_tasks.cli.<name>`` holds ``add_parser`` and ``run``."""


def build_parser() -> argparse.ArgumentParser:
    """The whole command line."""
    parser = argparse.ArgumentParser(
        prog="verisim",
        description="Does a medical language model still find the diagnosis when patients talk like real patients?",
    )
    parser.add_argument("--version", action="version", version=f"verisim-tasks {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in COMMANDS:
        module = name.replace("-", "_")
        importlib.import_module(f"verisim_tasks.cli.{module}").add_parser(subparsers)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code (2 for a user's mistake, 130 for Ctrl-C)."""
    args = build_parser().parse_args(argv)
    try:
        return int(args.run(args) or 0)
    except UserError as error:
        print(f"verisim: {error}", file=sys.stderr)
        return EXIT_USER_ERROR
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


if __name__ == "__main__":
    sys.exit(main())
