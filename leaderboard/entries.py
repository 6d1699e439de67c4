"""Where entries lie: one folder each, with ``entry.json`` and the transcripts it was computed from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from verisim_leaderboard.entry import ENTRY_FILE
from verisim_leaderboard.problems import Problem
from verisim_leaderboard.record import ENTRY_SCHEMA_VERSION, Entry
from verisim_tasks.errors import UserError

SUBMITTED_ENTRY = "entry.json"
SUBMITTED_TRANSCRIPTS = "transcripts.jsonl.gz"
_ENTRY_NAMES: tuple[str, ...] = (SUBMITTED_ENTRY, ENTRY_FILE)
_TRANSCRIPT_NAMES: tuple[str, ...] = (SUBMITTED_TRANSCRIPTS, "transcripts.jsonl")


@dataclass(frozen=True)
class Submission:
    """One entry and where it lies."""

    path: Path
    """The entry's file."""
    entry: Entry
    transcripts: Path | None
    """Beside it; null when there are none."""


def read_entry(path: Path) -> Entry:
    """The entry of a file. Raises ``UserError`` with the first reason why it is none."""
    found = parse_entry(path)
    if isinstance(found, Entry):
        return found
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    raise UserError(f"{path} is not an entry: {found[0].text}{more}; make it again with 'verisim leaderboard add'")


def parse_entry(path: Path) -> Entry | list[Problem]:
    """The entry of a file, or everything that keeps it from being one. Raises ``UserError`` if it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise UserError(f"entry {path} cannot be read ({reason}); give an entry file or its folder") from error
    version = _version(text)
    if version not in (None, ENTRY_SCHEMA_VERSION):
        return [Problem("schema", f"schema_version is {version!r}, this suite reads {ENTRY_SCHEMA_VERSION}")]
    try:
        return Entry.model_validate_json(text)
    except ValidationError as error:
        return [_problem(e["loc"], e["msg"]) for e in error.errors(include_input=False, include_url=False)]


def locate(source: Path) -> Submission:
    """The entry of a file or folder, with the transcripts beside it."""
    path = source if source.is_file() else _entry_in(source)
    return Submission(path, read_entry(path), transcripts_beside(path))


def entry_files(source: Path) -> list[Path]:
    """The entry files that a path means: itself, that of its folder, or those of the folders in it, by name.

    Raises:
        UserError: when there is none.
    """
    if source.is_file():
        return [source]
    own = next((source / name for name in _ENTRY_NAMES if (source / name).is_file()), None)
    found = [own] if own else sorted(source.glob(f"*/{SUBMITTED_ENTRY}"))
    if not found:
        raise UserError(f"no {SUBMITTED_ENTRY} in {source} or its folders; make one with 'verisim leaderboard add'")
    return found


def submissions(folder: Path) -> Iterator[Submission]:
    """Every entry of a leaderboard's folder, by the name of its own folder."""
    for path in entry_files(folder):
        yield Submission(path, read_entry(path), transcripts_beside(path))


def transcripts_beside(path: Path) -> Path | None:
    """The transcripts in the folder of an entry file."""
    return next((path.with_name(name) for name in _TRANSCRIPT_NAMES if path.with_name(name).is_file()), None)


def _entry_in(folder: Path) -> Path:
    files = entry_files(folder)
    if len(files) > 1:
        raise UserError(f"{folder} holds {len(files)} entries; name one of them, e.g. {files[0].parent}")
    return files[0]


def _version(text: str) -> object:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return data.get("schema_version") if isinstance(data, dict) else None


def _problem(place: tuple[int | str, ...], message: str) -> Problem:
    where = ".".join(str(part) for part in place)
    return Problem("schema", f"{where}: {message}" if where else message)
