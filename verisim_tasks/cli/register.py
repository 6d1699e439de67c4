"""``verisim register``: let a bare ``lm_eval --tasks verisim_noisy`` find the suite.

Makes one folder in the installed lm-eval's own task folder, with one link for each task file (lm-eval does not look
into linked folders). Touches nothing else; ``--remove`` undoes it.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
from pathlib import Path

from verisim_tasks.cli.path import config_folder
from verisim_tasks.errors import UserError

FOLDER = "verisim_tasks"


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "register",
        help="let lm_eval find the tasks without --include_path",
        description=(
            "Link the suite's task files into the installed lm-eval's own task folder, so that a bare "
            "'lm_eval --tasks verisim_noisy' finds them. Touches nothing else; --remove undoes it."
        ),
    )
    parser.add_argument("--remove", action="store_true", help="take the links away again")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Register or remove; both may be repeated."""
    folder = lm_eval_task_folder() / FOLDER
    try:
        if args.remove:
            print(f"removed {remove_links(folder)} links from {folder}")
        else:
            print(f"linked {make_links(config_folder(), folder)} task files into {folder}")
    except PermissionError as error:
        raise UserError(
            f"no permission to change {error.filename}; use a virtual environment of your own, or run lm_eval with "
            '--include_path "$(verisim path)"'
        ) from None
    return 0


def lm_eval_task_folder() -> Path:
    """The task folder of the installed lm-eval, found without importing it."""
    spec = importlib.util.find_spec("lm_eval")
    for location in (spec.submodule_search_locations or []) if spec else []:
        folder = Path(location) / "tasks"
        if folder.is_dir():
            return folder
    raise UserError("lm-eval is not installed; run 'pip install \"lm-eval[hf]>=0.4.12\"'")


def make_links(source: Path, folder: Path) -> int:
    """Link every task file of ``source`` into ``folder``; returns how many there are.

    Raises:
        UserError: when a file that is not one of our links stands in the way.
    """
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise UserError(f"{folder} is in the way and is not a folder of ours; remove it and register again")
    wanted = {path.name: path for path in sorted(source.glob("*.yaml"))}
    strangers = [n for n in sorted(wanted) if (folder / n).exists() and not (folder / n).is_symlink()]
    if strangers:
        raise UserError(f"{folder / strangers[0]} is in the way and is no link of ours; remove it and register again")
    folder.mkdir(exist_ok=True)
    for link in _our_links(folder):
        link.unlink()
    for name, path in wanted.items():
        os.symlink(path, folder / name)
    return len(wanted)


def is_registered(source: Path, folder: Path) -> bool:
    """Whether lm-eval already finds every task file of ``source`` through its own folder."""
    return all((folder / p.name).is_file() and (folder / p.name).resolve() == p for p in source.glob("*.yaml"))


def remove_links(folder: Path) -> int:
    """Remove our links, and the folder if nothing else is in it; returns how many links there were."""
    if not folder.is_dir() or folder.is_symlink():
        return 0
    links = _our_links(folder)
    for link in links:
        link.unlink()
    if not any(folder.iterdir()):
        folder.rmdir()
    return len(links)


def _our_links(folder: Path) -> list[Path]:
    """Links to task files called ``verisim...yaml``, whether or not their target still exists."""
    links = (p for p in sorted(folder.iterdir()) if p.is_symlink())
    return [p for p in links if p.name.startswith("verisim") and p.suffix == ".yaml"]
