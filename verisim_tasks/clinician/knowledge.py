"""What the clinician knows: features that patients can tell, and how often each disease shows them."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import yaml

import verisim_fixtures
from verisim_tasks._stable import digest
from verisim_tasks._yaml import parse_yaml
from verisim_tasks.errors import UserError

Array = npt.NDArray[np.float64]

MAX_AGE = 130.0

DETAIL_PREFIXES: tuple[tuple[str, str], ...] = (
    ("abdo_pain_", "abdominal_pain"),
    ("pain_radiates_right_shoulder", "abdominal_pain"),
    ("pain_radiates_arm_jaw", "chest_pain"),
    ("chest_wall_tender", "chest_pain"),
    ("neck_pounding", "palpitations"),
    ("vagal_relief", "palpitations"),
    ("presyncope_warning", "syncope"),
    ("sputum_", "cough_productive"),
    ("pregnancy_", "pregnant"),
    ("vaginal_bleeding_pregnancy", "pregnant"),
    ("first_pregnancy", "pregnant"),
    ("reduced_fetal_movement", "pregnant"),
    ("womb_hard", "pregnant"),
    ("discharge_fishy", "vaginal_discharge"),
    ("new_headache_over_50", "headache"),
    ("eye_waters_with_headache", "headache"),
    ("facial_pain_triggers", "facial_pain_electric"),
    ("vertigo_", "vertigo_spinning"),
    ("tremor_alcohol_relief", "tremor_action"),
    ("high_fever", "fever"),
    ("fit_with_fever", "seizure"),
    ("blisters_tense", "blisters"),
    ("hives_brief", "hives"),
    ("flush_triggers", "facial_redness"),
    ("draining_scars", "boils_folds"),
    ("central_weight_gain", "weight_gain"),
)
"""A feature whose id starts like this is a detail of that feature: asked only once the whole is known to be there.

Besides, ``x_y`` is a detail of ``x`` wherever both are features."""


@dataclass(frozen=True)
class Feature:
    """Something a patient can say yes or no to."""

    id: str
    name: str
    group: str
    ask: str
    """The question, plain words, at most 20 of them."""
    rephrase: str
    """The same, shorter and simpler."""
    hears: tuple[str, ...]
    """Ways in which patients say it."""
    base: float
    """Probability (0-1) in a patient whose disease has nothing to do with it."""
    sensitive: bool = False
    sex: Literal["any", "female", "male"] = "any"
    """Who may be asked."""
    age: tuple[float, float] = (0.0, MAX_AGE)
    """From and to which age (years) it may be asked."""


@dataclass(frozen=True)
class Disease:
    """One diagnosis the clinician can make."""

    name: str
    prior: float
    """1 (rare) to 4 (common)."""
    age: tuple[float, float, float, float]
    """Typical from, typical to, earliest, latest (years)."""
    sex: Literal["any", "female", "male"] = "any"
    sex_ratio: float = 1.0
    """Males for one female."""
    features: Mapping[str, float] = field(default_factory=dict)
    """Probability (0-1) of each feature that is more or less common than usual."""


class Knowledge:
    """Features and diseases with their probability table.

    Args:
        features: unique ids.
        diseases: unique names; every feature they name must exist.

    Raises:
        UserError: a duplicate, an unknown feature or a probability outside 0-1.
    """

    def __init__(self, features: Sequence[Feature], diseases: Sequence[Disease]) -> None:
        self.features = tuple(features)
        self.diseases = tuple(sorted(diseases, key=lambda d: d.name))
        self.index = {f.id: i for i, f in enumerate(self.features)}
        self._check()
        self.base: Array = np.array([f.base for f in self.features])
        self.probability: Array = np.tile(self.base, (len(self.diseases), 1))
        self.listed = np.zeros(self.probability.shape, dtype=bool)
        """Where a disease says something about a feature."""
        for row, disease in enumerate(self.diseases):
            for name, value in disease.features.items():
                self.listed[row, self.index[name]] = True
                self.probability[row, self.index[name]] = value
        self.parent: dict[str, str] = self._parents()
        self.by_group: dict[str, tuple[str, ...]] = {}
        for f in self.features:
            self.by_group[f.group] = (*self.by_group.get(f.group, ()), f.id)

    def feature(self, name: str) -> Feature:
        """The feature of this id."""
        return self.features[self.index[name]]

    def ancestors(self, name: str) -> tuple[str, ...]:
        """The features this one is a detail of, nearest first."""
        chain: list[str] = []
        while name in self.parent and self.parent[name] not in chain:
            name = self.parent[name]
            chain.append(name)
        return tuple(chain)

    def digest(self) -> str:
        """Identifies features, diseases and numbers."""
        rows = [[f.id, f.ask, f.rephrase, list(f.hears), f.base, f.group, f.sensitive] for f in self.features]
        table = [[d.name, d.prior, list(d.age), d.sex, d.sex_ratio, dict(d.features)] for d in self.diseases]
        return digest([rows, table])

    def _check(self) -> None:
        if len(self.index) != len(self.features):
            raise UserError("the clinician's knowledge has a feature id twice; make the ids unique")
        if len({d.name for d in self.diseases}) != len(self.diseases) or not self.diseases:
            raise UserError("the clinician's knowledge has a disease twice or none at all; make the names unique")
        for disease in self.diseases:
            for name, value in disease.features.items():
                if name not in self.index or not 0 <= value <= 1:
                    raise UserError(
                        f"disease {disease.name!r} gives {value!r} for feature {name!r}; "
                        "use a feature of features.yaml and a probability from 0 to 1"
                    )

    def _parents(self) -> dict[str, str]:
        parents: dict[str, str] = {}
        for f in self.features:
            wholes = [o for o in self.index if f.id.startswith(o + "_")]
            listed = [whole for prefix, whole in DETAIL_PREFIXES if f.id.startswith(prefix) and whole in self.index]
            if listed or wholes:
                parents[f.id] = listed[0] if listed else max(wholes, key=len)
        return {child: whole for child, whole in parents.items() if child != whole}


def load_knowledge(folder: Path) -> Knowledge:
    """Knowledge from ``features.yaml`` and ``diseases.yaml`` or ``diseases/*.yaml`` in a folder.

    Raises:
        UserError: a file is missing or malformed; the message names it.
    """
    features = [_feature(row) for row in _rows(folder / "features.yaml", "features")]
    single = folder / "diseases.yaml"
    files = [single] if single.is_file() else sorted((folder / "diseases").glob("*.yaml"))
    return Knowledge(features, [_disease(row) for file in files for row in _rows(file, "diseases")])


@functools.cache
def default_knowledge() -> Knowledge:
    """The knowledge that ships with the suite."""
    return load_knowledge(Path(verisim_fixtures.__path__[0]) / "knowledge")


def _rows(file: Path, key: str) -> list[dict[str, Any]]:
    try:
        content = parse_yaml(file.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise UserError(f"the clinician's knowledge file {file} cannot be read ({type(error).__name__})") from error
    rows = content.get(key) if isinstance(content, dict) else content
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise UserError(
            f"the clinician's knowledge file {file} holds no list of {key}; see its neighbours for the form"
        )
    return rows


def _feature(row: dict[str, Any]) -> Feature:
    try:
        youngest, oldest = row.get("age") or (0, MAX_AGE)
        return Feature(
            id=row["id"],
            name=row["name"],
            group=row["group"],
            ask=row["ask"],
            rephrase=row["rephrase"],
            hears=tuple(row["hears"]),
            base=float(row["base"]),
            sensitive=bool(row.get("sensitive", False)),
            sex=row.get("sex") or "any",
            age=(float(youngest), float(oldest)),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"feature {row.get('id', row)!r} in features.yaml is malformed ({error})") from error


def _disease(row: dict[str, Any]) -> Disease:
    try:
        first, last, earliest, latest = (float(x) for x in row["age"])
        return Disease(
            name=row["name"],
            prior=float(row["prior"]),
            age=(first, last, earliest, latest),
            sex=row.get("sex") or "any",
            sex_ratio=float(row.get("sex_ratio") or 1.0),
            features={str(k): float(v) for k, v in row["features"].items()},
        )
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"disease {row.get('name', row)!r} in the knowledge files is malformed ({error})") from error
