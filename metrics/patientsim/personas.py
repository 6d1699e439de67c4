"""The personas of PatientSim (arXiv 2505.17818): four axes, 37 combinations, and how our noise plays them."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping
from typing import Any, Literal, get_args

from pydantic import ValidationError

from verisim_tasks.errors import UserError, did_you_mean
from verisim_tasks.language.lexicon import load_yaml
from verisim_tasks.records.case import Record
from verisim_tasks.records.noise import NoiseProfile

Personality = Literal["plain", "verbose", "pleasing", "impatient", "distrust", "overanxious"]
Cefr = Literal["A", "B", "C"]
Recall = Literal["low", "high"]
Dazed = Literal["normal", "high"]

AXES: Mapping[str, tuple[str, ...]] = {
    "personality": get_args(Personality),
    "language": get_args(Cefr),
    "recall": get_args(Recall),
    "dazed": get_args(Dazed),
}


class Persona(Record):
    """One way of being a patient; the defaults are a plain, fluent patient with a good memory."""

    personality: Personality = "plain"
    language: Cefr = "C"
    """Command of the doctor's language, CEFR A (beginner) to C (fluent)."""
    recall: Recall = "high"
    dazed: Dazed = "normal"

    @property
    def id(self) -> str:
        """A readable key, e.g. ``verbose-B-low-normal``."""
        return f"{self.personality}-{self.language}-{self.recall}-{self.dazed}"

    @property
    def noise(self) -> NoiseProfile:
        """The noise by which our patient comes nearest to this persona; ``differences`` says what is missing."""
        levels: dict[str, int] = {}
        for axis in AXES:
            levels.update(_axis(axis, self)["noise"])
        return NoiseProfile(levels)

    @property
    def description(self) -> str:
        """The persona in sentences, for a model patient or a judge."""
        return " ".join(_axis(axis, self)["text"] for axis in AXES)

    @property
    def differences(self) -> dict[str, str]:
        """By axis, what the persona means that our noise does not, or the other way round."""
        return {axis: _axis(axis, self)["differs"] for axis in AXES}

    def as_record(self) -> dict[str, str]:
        """As a transcript stores it."""
        return {axis: getattr(self, axis) for axis in AXES}


def parse_persona(values: Mapping[str, Any]) -> Persona:
    """A persona from a mapping of axes, missing ones at their defaults.

    Raises:
        UserError: for an axis or a value that is not known, with what was probably meant.
    """
    for axis, value in values.items():
        if axis not in AXES:
            raise UserError(f"unknown persona axis {axis!r}{did_you_mean(str(axis), AXES)}")
        if value not in AXES[axis]:
            raise UserError(f"persona axis {axis} cannot be {value!r}{did_you_mean(str(value), AXES[axis])}")
    try:
        return Persona.model_validate(dict(values))
    except ValidationError as error:
        raise UserError(f"persona {dict(values)!r} cannot be read: {error.errors()[0]['msg']}") from error


@functools.cache
def all_personas() -> tuple[Persona, ...]:
    """The 37 combinations: 6 x 3 x 2 that are not dazed, and the dazed one with the rest at default."""
    combined = itertools.product(AXES["personality"], AXES["language"], AXES["recall"])
    clear = [Persona.model_validate({"personality": p, "language": c, "recall": r}) for p, c, r in combined]
    return (*clear, Persona(dazed="high"))


def _axis(axis: str, persona: Persona) -> Mapping[str, Any]:
    row: Mapping[str, Any] = load_yaml("patientsim", "personas.yaml")[axis][getattr(persona, axis)]
    return row
