"""The noise table and the phrase files: data that says how strong each device is and what it sounds like."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from verisim_tasks.language.lexicon import load_yaml
from verisim_tasks.records.noise import DIMENSIONS


@functools.cache
def noise_table() -> Mapping[str, Mapping[int, Mapping[str, float]]]:
    """``{dimension: {level: {device: rate}}}``; a device missing from a row does not occur at that level."""
    data = load_yaml("levels.yaml")
    return {
        dimension: {
            int(level): {k: float(v) for k, v in row.items() if not isinstance(v, str)}
            for level, row in data[dimension]["levels"].items()
        }
        for dimension in DIMENSIONS
    }


@functools.cache
def phrase_table() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """``{file: {device: phrases}}``; files are the dimensions, ``patient`` and ``caregiver`` (plain speech)."""
    plain: dict[str, Any] = load_yaml("phrases", "plain.yaml")
    return {**plain, **{d: load_yaml("phrases", f"{d}.yaml") for d in DIMENSIONS}}
