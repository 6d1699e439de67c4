"""Writing files and folders so that a reader never sees half of one."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO


def write_atomically(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    with writing(path) as file:
        file.write(text)


@contextlib.contextmanager
def writing(path: Path) -> Iterator[IO[str]]:
    """A new text file, to be filled piece by piece; it takes the place of an earlier one when all went well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            yield file
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def replacing(folder: Path) -> Iterator[Path]:
    """A new folder beside this one, to be filled; it takes the place of an earlier one when all went well."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    try:
        yield made
        made.chmod(0o755)
        if folder.exists():
            shutil.rmtree(folder)
        os.replace(made, folder)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
