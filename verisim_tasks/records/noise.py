"""Noise profiles: how much of each of the six dimensions a patient's telling carries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from verisim_tasks.errors import UserError, did_you_mean

DIMENSIONS: tuple[str, ...] = (
    "cognitive_processing",
    "social_cultural",
    "memory_recall",
    "health_literacy",
    "emotional_state",
    "communication_style",
)
"""The six dimensions of VeriSim (arXiv 2604.10441), in their fixed order of composition."""

MAX_LEVEL = 4


class NoiseProfile(Mapping[str, int]):
    """An immutable ``{dimension: level}``; a missing dimension is 0, and 0 is never stored.

    Raises ``UserError`` for an unknown dimension or a level outside 0-4.
    """

    def __init__(self, levels: Mapping[str, int] | None = None) -> None:
        checked: dict[str, int] = {}
        for dimension, level in (levels or {}).items():
            if dimension not in DIMENSIONS:
                raise UserError(f"unknown noise dimension {dimension!r}{did_you_mean(dimension, DIMENSIONS)}")
            if isinstance(level, bool) or not isinstance(level, int) or not 0 <= level <= MAX_LEVEL:
                raise UserError(f"noise level of {dimension} is {level!r}; levels are whole numbers from 0 to 4")
            if level:
                checked[dimension] = level
        self._levels = {d: checked[d] for d in DIMENSIONS if d in checked}

    @classmethod
    def parse(cls, words: Iterable[str]) -> NoiseProfile:
        """From ``dimension=level`` words, as on a command line."""
        levels: dict[str, int] = {}
        for word in (part for w in words for part in w.split(",") if part.strip()):
            dimension, equals, level = word.strip().partition("=")
            if not equals or not level.strip().lstrip("-").isdigit():
                raise UserError(f"cannot read noise {word!r}; write it as memory_recall=3")
            if dimension.strip() in levels:
                raise UserError(f"noise dimension {dimension.strip()} is given twice; give it once")
            levels[dimension.strip()] = int(level)
        return cls(levels)

    def level(self, dimension: str) -> int:
        """The level of a dimension, 0 when it is not in the profile."""
        return self._levels.get(dimension, 0)

    @property
    def is_clean(self) -> bool:
        """No noise at all."""
        return not self._levels

    def __getitem__(self, dimension: str) -> int:
        return self._levels[dimension]

    def __iter__(self) -> Iterator[str]:
        return iter(self._levels)

    def __len__(self) -> int:
        return len(self._levels)

    def __hash__(self) -> int:
        return hash(tuple(self._levels.items()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NoiseProfile) and self._levels == other._levels

    def __repr__(self) -> str:
        return f"NoiseProfile({self._levels!r})"

    def __str__(self) -> str:
        return ",".join(f"{d}={level}" for d, level in self._levels.items()) or "clean"
