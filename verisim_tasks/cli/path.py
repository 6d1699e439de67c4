"""``verisim path``: where the suite's task files are."""

from __future__ import annotations

import argparse
from pathlib import Path

import verisim_task_configs


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "path",
        help="print the folder to give to lm_eval --include_path",
        description='Print the folder of the suite\'s task files: lm_eval --include_path "$(verisim path)" ...',
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the folder."""
    print(config_folder())
    return 0


def config_folder() -> Path:
    """The folder of the task files."""
    return Path(verisim_task_configs.__path__[0]).resolve()
