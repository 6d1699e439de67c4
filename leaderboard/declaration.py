"""What only the submitter can say: who, which model exactly, its licence, and what it may have seen."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated

from pydantic import Field

from verisim_leaderboard.record import Cleanness, Contamination, Entry, EntryRecord, Line, Name, Sha256
from verisim_tasks.errors import UserError

WEIGHTS: tuple[str, ...] = (".safetensors", ".gguf", ".bin", ".pt", ".pth", ".npz")
"""Suffixes of files that hold weights."""
_BLOCK = 1 << 20
_OF_MODEL: tuple[str, ...] = (
    *("canonical_name", "revision", "weights_sha256", "parameters", "licence", "open_weights"),
)


class Declaration(EntryRecord):
    """Everything that results do not hold. What is null leaves the entry as the results made it."""

    submitter: Name | None = None
    canonical_name: Name | None = None
    revision: Name | None = None
    weights_sha256: Sha256 | None = None
    parameters: Annotated[int, Field(ge=1)] | None = None
    licence: Name | None = None
    open_weights: bool | None = None
    contamination: Cleanness | None = None
    parents: tuple[Name, ...] = ()
    reason: Line | None = None
    """Why the model is called clean or contaminated."""


def declare(entry: Entry, declaration: Declaration) -> Entry:
    """The entry with what the submitter says."""
    said = {name: value for name in _OF_MODEL if (value := getattr(declaration, name)) is not None}
    contamination = Contamination(
        declared=declaration.contamination or entry.contamination.declared,
        parents=declaration.parents or entry.contamination.parents,
        reason=declaration.reason or entry.contamination.reason,
    )
    return entry.model_copy(
        update={
            "submitter": declaration.submitter or entry.submitter,
            "model": entry.model.model_copy(update=said),
            "contamination": contamination,
        }
    )


def weights_digest(path: Path) -> str:
    """SHA-256 of a weights file, or of the names and digests of all weights files of a folder.

    Raises:
        UserError: when there is no weights file, or it cannot be read.
    """
    try:
        if path.is_file():
            return _file_digest(path)
        files = sorted(p for p in path.rglob("*") if p.suffix in WEIGHTS and p.is_file())
        if not files:
            raise UserError(f"no weights file ({', '.join(WEIGHTS)}) in {path}; name the file or its folder")
        lines = [f"{_file_digest(p)}  {p.relative_to(path).as_posix()}\n" for p in files]
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror}); check --weights and its permissions") from error
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _file_digest(path: Path) -> str:
    found = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            found.update(block)
    return found.hexdigest()
