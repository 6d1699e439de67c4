"""What models in side roles answered, kept between runs by content: ``replies.sqlite`` in the cache folder.

A key is a digest of everything that can change the answer, the model's identity included (see ``keeping``). Safe with
several processes of one machine; machines that share a disk should have a folder each. A cache that fails costs time
and nothing else.
"""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

Kind = Literal["judge", "nli", "patient", "interviewer", "colleague"]
KINDS: tuple[Kind, ...] = get_args(Kind)
FILE = "replies.sqlite"

_TABLE = "CREATE TABLE IF NOT EXISTS replies (kind TEXT, key TEXT, value TEXT, PRIMARY KEY (kind, key)) WITHOUT ROWID"
_KEEP = (
    "INSERT INTO replies VALUES (?, ?, ?) "
    "ON CONFLICT DO UPDATE SET value = excluded.value WHERE NOT json_valid(replies.value)"
)
_CHUNK = 500
_PATIENCE = 30.0
"""Seconds to wait for another process that writes."""

log = logging.getLogger("lm_eval.verisim")  # below lm-eval's own, so that its level and handler hold


@dataclass(frozen=True)
class Usage:
    """How much a cache holds of one kind."""

    kind: str
    entries: int
    bytes: int


class ContentCache:
    """The replies in one folder, which need not exist yet."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        self._warned = False

    def shelf(self, kind: Kind) -> Shelf:
        """The replies of one kind."""
        return Shelf(self, kind)

    def usage(self) -> list[Usage]:
        """Entries and bytes of each kind that there is; raises ``sqlite3.Error`` for a file that is no cache."""
        if not self.path.is_file():
            return []
        with self._open() as store:
            size = "sum(length(CAST(key AS BLOB)) + length(CAST(value AS BLOB)))"
            rows = store.execute(f"SELECT kind, count(*), {size} FROM replies GROUP BY kind ORDER BY kind").fetchall()
        return [Usage(*row) for row in rows]

    def clear(self, kind: str | None = None) -> int:
        """Forget everything, or one kind; how many entries that were. Raises ``sqlite3.Error`` where it cannot."""
        if not self.path.is_file():
            return 0
        with self._open() as store:
            gone = store.execute("DELETE FROM replies WHERE ? IS NULL OR kind = ?", (kind, kind)).rowcount
            store.commit()
            store.execute("VACUUM")
        return int(gone)

    def read(self, kind: Kind, keys: Sequence[str]) -> dict[str, Any]:
        """What is kept under these keys; nothing where the cache fails."""
        found: dict[str, Any] = {}
        if not self.path.is_file():
            return found
        with self._forgiving(), self._open() as store:
            for start in range(0, len(keys), _CHUNK):
                chunk = keys[start : start + _CHUNK]
                marks = ",".join("?" * len(chunk))
                found.update(
                    store.execute(
                        f"SELECT key, value FROM replies WHERE kind = ? AND json_valid(value) AND key IN ({marks})",
                        (kind, *chunk),
                    )
                )
        return {key: json.loads(value) for key, value in found.items()}

    def write(self, kind: Kind, replies: Mapping[str, Any]) -> None:
        """Keep replies (JSON-able), all or none; of two for one key the first stays."""
        rows = [(kind, key, json.dumps(value)) for key, value in replies.items()]
        with self._forgiving():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self._open() as store:
                store.executemany(_KEEP, rows)
                store.commit()

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(str(self.path), timeout=_PATIENCE)) as store:
            store.execute("PRAGMA journal_mode=WAL")
            store.execute("PRAGMA synchronous=NORMAL")
            store.execute(_TABLE)
            yield store

    @contextmanager
    def _forgiving(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            if not self._warned:
                log.warning("the cache %s cannot be used (%s); the run goes on without it", self.path, error)
            self._warned = True


class Shelf:
    """The replies of one kind by key; values are JSON-able."""

    def __init__(self, cache: ContentCache, kind: Kind) -> None:
        self._cache = cache
        self._kind = kind

    def get(self, key: str, /) -> Any | None:
        """What is kept under this key, or None."""
        return self._cache.read(self._kind, [key]).get(key)

    def many(self, keys: Sequence[str]) -> dict[str, Any]:
        """What is kept under these keys, read at once."""
        return self._cache.read(self._kind, keys)

    def update(self, replies: Mapping[str, Any], /) -> None:
        """Keep replies, all at once; of two for one key the first stays."""
        if replies:
            self._cache.write(self._kind, replies)
