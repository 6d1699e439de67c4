"""Rubrics: what a judge is asked, on which scale, with which data. They are data, under ``fixtures/rubrics``."""

from __future__ import annotations

import functools
from importlib.resources import files
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt, ValidationError, model_validator

from verisim_tasks._stable import digest
from verisim_tasks._yaml import parse_yaml
from verisim_tasks.errors import UserError, did_you_mean

Kind = Literal["scale", "letters", "labels", "list", "fields"]
Text = Annotated[str, Field(min_length=1)]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]


class _Data(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Point(_Data):
    """One answer that a rubric allows: a number, a letter or a word."""

    symbol: Text
    value: float | None = None
    """What it counts; null for a word that is no amount, such as the type of a sentence."""
    anchor: str = ""
    """When it is the right answer, in our own words."""
    aliases: tuple[str, ...] = ()
    """Other words for it that are understood."""


class Scale(_Data):
    """The form of the answer. Exactly one of: whole numbers, letters, words, a list of texts, an object of texts."""

    min: StrictInt | None = None
    max: StrictInt | None = None
    letters: dict[Annotated[str, Field(pattern=r"^[A-Z]$")], float] | None = None
    labels: dict[Text, float | None] | None = None
    list: Name | None = None
    """The key under which the texts stand."""
    allowed: tuple[str, ...] | None = None
    """For ``list``: the only texts that may stand in it."""
    fields: tuple[Name, ...] | None = None

    @model_validator(mode="after")
    def _one_form(self) -> Scale:
        forms = (self.min, self.letters, self.labels, self.list, self.fields)
        if sum(form is not None for form in forms) != 1 or (self.min is None) != (self.max is None):
            raise ValueError("give exactly one of: min and max, letters, labels, list, fields")
        if self.min is not None and self.max is not None and self.min >= self.max:
            raise ValueError("min must be below max")
        if self.allowed is not None and self.list is None:
            raise ValueError("allowed belongs to list")
        return self

    @property
    def kind(self) -> Kind:
        """Which form it is."""
        if self.min is not None:
            return "scale"
        if self.letters is not None:
            return "letters"
        if self.labels is not None:
            return "labels"
        return "list" if self.list is not None else "fields"

    def values(self) -> dict[str, float | None]:
        """Symbol to value, best first for numbers and letters as written; empty for lists and objects."""
        if self.min is not None and self.max is not None:
            return {str(n): float(n) for n in range(self.max, self.min - 1, -1)}
        return dict(self.letters or self.labels or {})


class Rubric(_Data):
    """One question to a judge, whole.

    A comparison names two blocks in ``compare``; its labels are ``first``, ``second`` and ``tie``.
    """

    id: Name
    version: Annotated[StrictInt, Field(ge=1)]
    source: Text
    """The paper whose score this is, and where ours departs from it."""
    task: Text
    rules: tuple[Text, ...] = ()
    blocks: dict[Name, Text]
    """Name of each data block and what it holds."""
    scale: Scale
    anchors: dict[str, Text] = Field(default_factory=dict)
    aliases: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    compare: tuple[Name, Name] | None = None

    @model_validator(mode="after")
    def _hangs_together(self) -> Rubric:
        symbols = list(self.scale.values())
        if not self.blocks:
            raise ValueError("a rubric needs at least one data block")
        missing = [s for s in symbols if s not in self.anchors]
        if missing:
            raise ValueError(f"no anchor for {', '.join(missing)}")
        known = {*symbols, *(self.scale.fields or ()), *(self.scale.allowed or ())}
        stray = [s for s in (*self.anchors, *self.aliases) if s not in known]
        if stray:
            raise ValueError(f"anchors or aliases for unknown answers: {', '.join(stray)}")
        if self.compare and (len({*self.compare} & {*self.blocks}) != 2 or set(symbols) != {"first", "second", "tie"}):
            raise ValueError("compare names two different blocks, and its labels are first, second and tie")
        return self

    @property
    def kind(self) -> Kind:
        """The form of the answer."""
        return self.scale.kind

    @property
    def points(self) -> tuple[Point, ...]:
        """The allowed answers, in the order of the rubric; empty for lists and objects."""
        return tuple(
            Point(symbol=s, value=v, anchor=self.anchors[s], aliases=self.aliases.get(s, ()))
            for s, v in self.scale.values().items()
        )

    @property
    def fingerprint(self) -> str:
        """A digest of everything the rubric says."""
        return digest(self.model_dump(mode="json"))


def parse_rubric(data: Any, name: str = "rubric") -> Rubric:
    """A rubric from its YAML data. Raises ``UserError`` that names the rubric and its first fault."""
    try:
        return Rubric.model_validate(_with_text_keys(data))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the whole"
        raise UserError(f"rubric {name} is not valid at {place}: {first['msg']}; mend its YAML file") from None


def _with_text_keys(data: Any) -> Any:
    """Anchors of a scale are written ``4: ...``, and YAML reads such a key as a number."""
    if not isinstance(data, dict) or not isinstance(data.get("anchors", {}), dict):
        return data
    return {**data, "anchors": {str(key): text for key, text in (data.get("anchors") or {}).items()}}


@functools.cache
def rubric_names() -> tuple[str, ...]:
    """The ids of all rubrics that come with the suite, sorted."""
    folder = files("verisim_fixtures") / "rubrics"
    return tuple(sorted(p.name.removesuffix(".yaml") for p in folder.iterdir() if p.name.endswith(".yaml")))


@functools.cache
def load_rubric(name: str) -> Rubric:
    """A rubric of the suite by its id. Raises ``UserError`` for an unknown one."""
    if name not in rubric_names():
        raise UserError(f"unknown rubric {name!r}{did_you_mean(name, rubric_names())}")
    path = files("verisim_fixtures") / "rubrics" / f"{name}.yaml"
    rubric = parse_rubric(parse_yaml(path.read_text(encoding="utf-8")), name)
    if rubric.id != name:
        raise UserError(f"rubric file {name}.yaml says id {rubric.id}; the two must be the same")
    return rubric


def rubrics_digest() -> str:
    """A digest of all rubrics of the suite, for the fingerprint of judged scores."""
    return digest({name: load_rubric(name).fingerprint for name in rubric_names()})
