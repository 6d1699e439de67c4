"""``verisim cache``: what is kept between runs, and how to be rid of it."""

from __future__ import annotations

import argparse
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from verisim_tasks.errors import UserError, did_you_mean

VECTORS = "vectors"
UMLS = "umls"


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser(
        "cache",
        help="show or clear what is kept between runs",
        description=(
            "Without a word more: where the cache is, and entries and bytes of each kind. Kinds: judge, nli, patient, "
            "interviewer, colleague (replies of models, kept where the setting 'cache' asks for it), vectors "
            "(sentences encoded) and umls (answers of the UMLS API). A reply is kept by content: model down to its "
            "weights, prompt, settings. Of a model behind a server only name and address are known: clear when its "
            "weights change. The model under test has a cache of lm-eval's (--use_cache)."
        ),
    )
    parser.add_argument("action", nargs="?", choices=("show", "clear"), default="show")
    parser.add_argument("--kind", help="one kind alone")
    parser.add_argument("--dir", type=Path, help="the folder (default: $VERISIM_CACHE, else ~/.cache/verisim)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Report or clear; raises ``UserError`` for an unknown kind or a folder that is none."""
    from verisim_tasks.language.vector_store import CACHE_VARIABLE, cache_folder

    folder = args.dir or cache_folder()
    if folder is None:
        raise UserError(f"{CACHE_VARIABLE} is empty and switches the cache off; name a folder with --dir")
    _check_kind(args.kind)
    try:
        return _clear(folder, args.kind) if args.action == "clear" else _show(folder, args.kind)
    except (OSError, sqlite3.Error) as error:
        raise UserError(
            f"the cache in {folder} cannot be used ({error}); delete the file, or name another --dir"
        ) from None


@dataclass(frozen=True)
class _Holding:
    """What one file or folder holds of one kind."""

    path: Path
    kind: str
    entries: int
    bytes: int


def _check_kind(kind: str | None) -> None:
    from verisim_tasks.loop.content_cache import KINDS

    known = (*KINDS, VECTORS, UMLS)
    if kind is not None and kind not in known:
        raise UserError(f"unknown kind {kind!r}{did_you_mean(kind, known)}")


def _show(folder: Path, kind: str | None) -> int:
    found = [h for h in _holdings(folder) if kind in (None, h.kind)]
    print(folder if found else f"{folder}: nothing is kept")
    for held in found:
        print(f"  {held.kind:<12}{held.entries:>10} entries {_size(held.bytes):>10}  {held.path.name}")
    if len(found) > 1:
        total = sum(h.entries for h in found), _size(sum(h.bytes for h in found))
        print(f"  {'all':<12}{total[0]:>10} entries {total[1]:>10}")
    return 0


def _holdings(folder: Path) -> Iterator[_Holding]:
    from verisim_tasks.loop.content_cache import ContentCache

    cache = ContentCache(folder)
    for usage in cache.usage():
        yield _Holding(cache.path, usage.kind, usage.entries, usage.bytes)
    for path in _vector_files(folder):
        yield _Holding(path, VECTORS, _rows(path), path.stat().st_size)
    answers = [path for path in (folder / UMLS).glob("*") if path.is_file()]
    if answers:
        yield _Holding(folder / UMLS, UMLS, len(answers), sum(p.stat().st_size for p in answers))


def _vector_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("vectors-*.sqlite"))


def _rows(path: Path) -> int:
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=30)) as store:
        return int(store.execute("SELECT count(*) FROM vectors").fetchone()[0])


def _clear(folder: Path, kind: str | None) -> int:
    from verisim_tasks.loop.content_cache import ContentCache

    gone = [h for h in _holdings(folder) if kind in (None, h.kind)]
    if kind not in (VECTORS, UMLS):
        ContentCache(folder).clear(kind)
    if kind in (None, VECTORS):
        for path in _vector_files(folder):
            path.unlink()
    if kind in (None, UMLS) and (folder / UMLS).is_dir():
        shutil.rmtree(folder / UMLS)
    print(f"{folder}: {sum(h.entries for h in gone)} entries cleared, {_size(sum(h.bytes for h in gone))}")
    return 0


def _size(count: int) -> str:
    """Bytes for people."""
    value = float(count)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"
