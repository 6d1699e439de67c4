"""Nested records as dotted paths, so that two of them can be compared leaf by leaf."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_IDENTITIES: tuple[str, ...] = ("variant", "group", "dimension")
"""Fields that name an element of a list better than its place does."""
ABSENT = "(absent)"


@dataclass(frozen=True)
class Change:
    """One leaf that differs; ``ABSENT`` on the side that lacks it."""

    path: str
    first: Any
    second: Any

    def __str__(self) -> str:
        return f"{self.path}: {self.first!r} against {self.second!r}"


def flatten(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Leaves with their paths; an empty mapping or list is a leaf."""
    if isinstance(value, Mapping) and value:
        for key in value:
            yield from flatten(value[key], f"{path}.{key}" if path else str(key))
    elif isinstance(value, Sequence) and not isinstance(value, str) and value:
        for i, inner in enumerate(value):
            yield from flatten(inner, f"{path}.{_identity(inner, i)}" if path else _identity(inner, i))
    else:
        yield path, value


def changes(first: Any, second: Any, tolerance: float = 0.0) -> list[Change]:
    """The leaves in which two records differ, in the order of the first, then those that only the second has.

    Args:
        first: Nested mappings and lists.
        second: The same.
        tolerance: Numbers that are this close, relatively (absolutely below one), are equal.
    """
    a, b = dict(flatten(first)), dict(flatten(second))
    paths = [*a, *(path for path in b if path not in a)]
    both = [Change(path, a.get(path, ABSENT), b.get(path, ABSENT)) for path in paths]
    return [change for change in both if not _equal(change.first, change.second, tolerance)]


def _identity(element: Any, place: int) -> str:
    if isinstance(element, Mapping):
        name = next((element[key] for key in _IDENTITIES if isinstance(element.get(key), str)), None)
        if name is not None:
            return str(name)
        if isinstance(element.get("level"), int):
            return f"level_{element['level']}"
    return str(place)


def _equal(first: Any, second: Any, tolerance: float) -> bool:
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second
    if isinstance(first, (int, float)) and isinstance(second, (int, float)):
        return math.isclose(first, second, rel_tol=tolerance, abs_tol=tolerance)
    return bool(first == second) and type(first) is type(second)
