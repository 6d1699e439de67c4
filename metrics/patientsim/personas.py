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


ALIASES: Mapping[str, str] = {"cefr": "language"}
"""Other names of axes."""


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
    def styles(self) -> dict[str, str]:
        """By noise dimension, which of its two ways this persona has, where the seed would decide otherwise."""
        styles: dict[str, str] = {}
        for axis in AXES:
            styles.update(_axis(axis, self).get("styles", {}))
        return styles

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


PLAIN = Persona()
"""The persona with every axis at its default."""


def parse_persona(values: Mapping[str, Any]) -> Persona:
    """A persona from a mapping of axes (``cefr`` is another name of ``language``), missing ones at their defaults.

    Raises:
        UserError: for an axis or a value that is not known, with what was probably meant, or an axis given twice.
    """
    axes: dict[str, Any] = {}
    for name, value in values.items():
        axis = ALIASES.get(name, name)
        if axis not in AXES:
            raise UserError(f"unknown persona axis {name!r}{did_you_mean(str(name), (*AXES, *ALIASES))}")
        if axis in axes:
            raise UserError(f"persona axis {axis} is given twice, as {axis} and as {name}; give it once")
        if value not in AXES[axis]:
            raise UserError(f"persona axis {name} cannot be {value!r}{did_you_mean(str(value), AXES[axis])}")
        axes[axis] = value
    try:
        return Persona.model_validate(axes)
    except ValidationError as error:
        raise UserError(f"persona {dict(values)!r} cannot be read: {error.errors()[0]['msg']}") from error


def find_persona(given: str | Mapping[str, Any]) -> Persona:
    """A persona by its id (``verbose-B-low-normal``), by a personality alone, ``dazed``, or by its axes.

    Raises:
        UserError: for a name or an axis that is not known.
    """
    if not isinstance(given, str):
        return parse_persona(given)
    known = named_personas()
    if given not in known:
        raise UserError(f"unknown persona {given!r}{did_you_mean(given, known)}")
    return known[given]


@functools.cache
def named_personas() -> Mapping[str, Persona]:
    """Every name that ``find_persona`` knows: the 37 ids, the personalities, and ``dazed``."""
    short = {name: Persona.model_validate({"personality": name}) for name in AXES["personality"]}
    return {**short, "dazed": Persona(dazed="high"), **{persona.id: persona for persona in all_personas()}}


@functools.cache
def all_personas() -> tuple[Persona, ...]:
    """The 37 combinations: 6 x 3 x 2 that are not dazed, and the dazed one with the rest at default."""
    combined = itertools.product(AXES["personality"], AXES["language"], AXES["recall"])
    clear = [Persona.model_validate({"personality": p, "language": c, "recall": r}) for p, c, r in combined]
    return (*clear, Persona(dazed="high"))


def _axis(axis: str, persona: Persona) -> Mapping[str, Any]:
    row: Mapping[str, Any] = load_yaml("patientsim", "personas.yaml")[axis][getattr(persona, axis)]
    return row
