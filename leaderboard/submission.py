"""Putting a run on the leaderboard: its entry and its transcripts, in one folder."""

from __future__ import annotations

import gzip
import io
import re
from pathlib import Path

from verisim_leaderboard.declaration import Declaration, declare
from verisim_leaderboard.entries import SUBMITTED_ENTRY, SUBMITTED_TRANSCRIPTS
from verisim_leaderboard.entry import build, write_entry
from verisim_leaderboard.record import Entry
from verisim_leaderboard.standard import Standard
from verisim_tasks._files import replacing
from verisim_tasks.errors import UserError


def add(
    results_dir: Path,
    entries: Path,
    declaration: Declaration,
    *,
    transcripts: Path | None = None,
    cases: str | None = None,
    replace: bool = False,
    standard: Standard | None = None,
) -> Path:
    """Make the entry of a run and put it, with its transcripts, into a folder of its own below ``entries``.

    Returns:
        The entry's file.

    Raises:
        UserError: when the run cannot be read, holds restricted text, or an entry of that name
            is there and ``replace`` is false.
    """
    built = build(results_dir, transcripts, cases, standard)
    entry = declare(built.entry, declaration)
    if entry.settings.suite.get("keep_restricted_text"):
        raise UserError(
            "the transcripts hold restricted text; run again without keep_restricted_text, and add that run"
        )
    file = entry.transcripts.model_copy(update={"file": SUBMITTED_TRANSCRIPTS})
    entry = entry.model_copy(update={"transcripts": file})
    folder = entries / slug(entry)
    if folder.exists() and not replace:
        raise UserError(f"{folder} exists; use --replace to put this run in its place")
    try:
        _put(folder, entry, built.transcripts)
    except OSError as error:
        raise UserError(
            f"{folder} cannot be written ({error.strerror}); choose another folder with --entries"
        ) from error
    return folder / SUBMITTED_ENTRY


def slug(entry: Entry) -> str:
    """The name of an entry's folder: model, the head of the instrument's fingerprint, and ``custom`` where it is."""
    name = re.sub(r"[^a-z0-9]+", "-", entry.model.canonical_name.lower()).strip("-")[:80] or "model"
    return "-".join([name, entry.instrument.fingerprint[:8], *(["custom"] if entry.kind == "custom" else [])])


def _put(folder: Path, entry: Entry, transcripts: Path) -> None:
    """Both files or neither."""
    with replacing(folder) as made:
        (made / SUBMITTED_TRANSCRIPTS).write_bytes(_compressed(transcripts))
        write_entry(entry, made / SUBMITTED_ENTRY)


def _compressed(path: Path) -> bytes:
    """The file's text, compressed the same way each time (no name, no time)."""
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    target = io.BytesIO()
    with gzip.GzipFile(filename="", fileobj=target, mode="wb", mtime=0) as file:
        file.write(text)
    return target.getvalue()
