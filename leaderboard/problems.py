"""A reason to refuse an entry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "schema", "impossible", "unpinned", "kind", "fingerprint", "missing", "partial", "digest", "score", "restricted"
]


@dataclass(frozen=True)
class Problem:
    """One thing wrong with an entry, as one sentence."""

    kind: Kind
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"
