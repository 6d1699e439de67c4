"""Trained weights in a file: matrices as int8 with one scale a row, the rest float32, the base's own left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from verisim_tasks.errors import UserError

Arrays = Mapping[str, npt.NDArray[Any]]


def pack(state: Arrays, base: tuple[str, ...]) -> dict[str, npt.NDArray[Any]]:
    """Arrays for a file from a network's state by name. ``base``: beginnings of names whose values are not stored."""
    packed: dict[str, npt.NDArray[Any]] = {}
    for name in sorted(state):
        if name.startswith(base):
            continue
        value = np.asarray(state[name], dtype=np.float32)
        if value.ndim == 2:
            scale = np.maximum(np.abs(value).max(axis=1, keepdims=True), 1e-12) / 127.0
            packed[f"{name}|int8"] = np.round(value / scale).astype(np.int8)
            packed[f"{name}|scale"] = scale.astype(np.float32)
        else:
            packed[name] = value
    return packed


def unpack(
    packed: Arrays, state: Arrays, base: tuple[str, ...], *, whose: str, remedy: str
) -> dict[str, npt.NDArray[Any]]:
    """The state with packed values in the place of its own.

    ``whose`` and ``remedy`` say in an error which weights do not fit and what makes them anew.
    Raises ``UserError`` where a value is missing or of another shape.
    """
    return {
        name: value if name.startswith(base) else _value(packed, name, value, whose, remedy)
        for name, value in state.items()
    }


def _value(packed: Arrays, name: str, own: npt.NDArray[Any], whose: str, remedy: str) -> npt.NDArray[Any]:
    if f"{name}|int8" in packed:
        value = packed[f"{name}|int8"].astype(np.float32) * packed[f"{name}|scale"]
    elif name in packed:
        value = packed[name]
    else:
        raise UserError(f"{whose} lack {name}; {remedy}")
    if value.shape != own.shape:
        raise UserError(f"{whose} do not fit at {name}; {remedy}")
    return np.ascontiguousarray(value)
