"""Draws and choices that are the same on every machine, in every process, at every batch size."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, TypeVar

T = TypeVar("T")


def digest(value: Any) -> str:
    """SHA-256 hex digest of a JSON-able value, keys sorted."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def draw(*key: Any) -> float:
    """A uniform number in [0, 1) that depends on nothing but ``key`` (JSON-able parts)."""
    return int(digest(key)[:13], 16) / 16**13


def choose(options: Sequence[T], *key: Any) -> T:
    """One of ``options`` (not empty), by ``key``."""
    return options[int(draw(*key) * len(options))]


def shuffled(options: Sequence[T], *key: Any) -> list[T]:
    """``options`` in an order that depends on nothing but ``key`` and their positions."""
    order = sorted(range(len(options)), key=lambda i: (draw(*key, i), i))
    return [options[i] for i in order]
