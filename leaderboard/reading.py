"""Reading transcripts one line at a time, compressed or not, with every fault named by its line."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from pydantic import ValidationError

from verisim_tasks.errors import UserError
from verisim_tasks.records.transcript import Transcript


class TranscriptReader:
    """The transcripts of a file with their line numbers. ``sha256`` is that of the text once it is read through."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._digest = hashlib.sha256()

    @property
    def sha256(self) -> str:
        """Of the uncompressed text read so far."""
        return self._digest.hexdigest()

    def __iter__(self) -> Iterator[tuple[int, Transcript]]:
        """Raises ``UserError`` for a file that cannot be read or a line that is no transcript."""
        self._digest = hashlib.sha256()
        try:
            with _open(self.path) as file:
                for number, line in enumerate(file, start=1):
                    self._digest.update(line)
                    if line.strip():
                        yield number, _transcript(line, self.path, number)
        except (OSError, EOFError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise UserError(f"{self.path} cannot be read ({reason}); check the path and its permissions") from error


def _open(path: Path) -> IO[bytes]:
    return cast("IO[bytes]", gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")


def _transcript(line: bytes, path: Path, number: int) -> Transcript:
    try:
        return Transcript.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        reason = f"{where}: {first['msg']}" if where else first["msg"]
        raise UserError(f"{path}, line {number}: not a transcript ({reason}); remove the line or run again") from None


def transcripts_in(place: Path) -> Path:
    """A file of transcripts, or the one in a folder. Raises ``UserError`` when there is none."""
    names = ("transcripts.jsonl", "transcripts.jsonl.gz")
    found = next((place / n for n in names if (place / n).is_file()), None) if place.is_dir() else place
    if found is None or not found.is_file():
        raise UserError(f"no transcripts at {place}; give transcripts.jsonl, or the folder that holds it")
    return found
