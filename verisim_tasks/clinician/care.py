"""How the clinician examines for a disease and treats it: ``fixtures/mvme/care.yaml``, by group of diseases."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

from verisim_tasks._stable import digest
from verisim_tasks.errors import UserError
from verisim_tasks.language.lexicon import load_yaml


@dataclass(frozen=True)
class Care:
    """Examinations and treatment of one group of diseases."""

    examine: tuple[str, ...]
    tests: tuple[str, ...]
    treatment: tuple[str, ...]


@functools.cache
def care_table() -> Mapping[str, Care]:
    """Care by disease. Raises ``UserError`` for a disease that stands in two groups."""
    table: dict[str, Care] = {}
    for name, group in load_yaml("mvme", "care.yaml").items():
        care = Care(tuple(group["examine"]), tuple(group["tests"]), tuple(group["treatment"]))
        for disease in group["diseases"]:
            if disease in table:
                raise UserError(f"{disease!r} stands twice in care.yaml, again in {name}; take it out of one group")
            table[disease] = care
    return table


def care_digest() -> str:
    """Identifies everything that decides orders, treatment and the weighing of results."""
    return digest([load_yaml("mvme", name) for name in ("care.yaml", "signs.yaml")])


GENERAL = Care(
    ("general appearance", "heart", "chest", "abdomen"),
    ("full blood count", "creatinine and electrolytes", "C-reactive protein", "urinalysis"),
    ("Treat the symptoms, look for the cause, and see the patient again soon",),
)
"""For a disease that no group holds."""


def care_of(disease: str) -> Care:
    """How this disease is examined for and treated."""
    return care_table().get(disease, GENERAL)
