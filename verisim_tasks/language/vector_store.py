"""Rows of numbers by text, kept on disk between runs: sentence vectors, and candidates of linked diseases."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]

CACHE_VARIABLE = "VERISIM_CACHE"
"""Environment variable that names the cache folder; empty switches the cache off."""
_CHUNK = 500


def cache_folder() -> Path | None:
    """``$VERISIM_CACHE``, else ``verisim`` in the user's cache folder; None when switched off."""
    if CACHE_VARIABLE in os.environ:
        return Path(os.environ[CACHE_VARIABLE]) if os.environ[CACHE_VARIABLE] else None
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "verisim"


class VectorStore:
    """Rows by text, of one model or list of names. Safe with several processes; a store that fails only costs time."""

    def __init__(self, folder: Path | None, model: str) -> None:
        name = sha256(model.encode()).hexdigest()[:16]
        self._file = folder / f"vectors-{name}.sqlite" if folder else None

    def load(self, texts: Sequence[str]) -> dict[str, Vector]:
        """The vectors that are stored, of the texts given."""
        found: dict[str, Vector] = {}
        if self._file is None or not self._file.exists():
            return found
        keys = {_key(text): text for text in texts}
        try:
            with self._open() as store:
                for chunk in _chunks(sorted(keys)):
                    marks = ",".join("?" * len(chunk))
                    rows = store.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", chunk)
                    found.update({keys[k]: np.frombuffer(v, dtype=np.float32) for k, v in rows})
        except sqlite3.Error:
            return {}
        return found

    def save(self, vectors: Mapping[str, Vector]) -> None:
        """Store vectors; the first one stored for a text stays."""
        if self._file is None or not vectors:
            return
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with self._open() as store:
                rows = [(_key(t), np.asarray(v, dtype=np.float32).tobytes()) for t, v in vectors.items()]
                store.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows)
                store.commit()
        except (OSError, sqlite3.Error):
            return

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(str(self._file), timeout=30)) as store:
            store.execute("CREATE TABLE IF NOT EXISTS vectors (key TEXT PRIMARY KEY, vector BLOB NOT NULL)")
            yield store


def _key(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _chunks(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    return (keys[i : i + _CHUNK] for i in range(0, len(keys), _CHUNK))
