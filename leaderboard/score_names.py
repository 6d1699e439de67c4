"""What is known about scores by name: label, unit, direction and meaning. Unknown names are welcome too."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Literal

from pydantic import BaseModel, ConfigDict

from verisim_tasks._yaml import parse_yaml

Unit = Literal["share", "points", "ratio", "count", "grade", "unknown"]


RANGES: Mapping[Unit, tuple[float, float]] = {
    "share": (0.0, 1.0),
    "points": (-100.0, 100.0),
    "ratio": (-math.inf, math.inf),
    "count": (0.0, math.inf),
    "grade": (1.0, 5.0),
    "unknown": (-math.inf, math.inf),
}
"""What a score of a unit can be."""


class ScoreInfo(BaseModel):
    """One score: how to show it and how to read it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    label: str
    unit: Unit = "unknown"
    """``share`` 0-1, ``points`` -100 to 100, ``ratio`` 0 is no change, ``grade`` 1-4 or 1-5."""
    better: Literal["higher", "lower", "neither"] = "neither"
    text: str = ""
    """One sentence; empty for a score that is not documented here."""


@functools.cache
def known() -> Mapping[str, ScoreInfo]:
    """The documented scores, in the order they are reported."""
    text = (files("verisim_leaderboard") / "score_names.yaml").read_text(encoding="utf-8")
    return {name: ScoreInfo.model_validate(info) for name, info in parse_yaml(text).items()}


def describe(name: str) -> ScoreInfo:
    """What is known of a score; a label made of its name for one that is not documented."""
    return known().get(name) or ScoreInfo(label=name.replace("_", " "))


def ordered(names: Iterable[str]) -> list[str]:
    """Documented names first, in their order, then the others by name."""
    place = {name: i for i, name in enumerate(known())}
    return sorted(set(names), key=lambda name: (place.get(name, len(place)), name))
