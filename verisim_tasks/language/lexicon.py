"""The concept lexicon: what a doctor may ask about, in clinical, lay and colloquial words."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from importlib.resources import files
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from verisim_tasks._yaml import parse_yaml
from verisim_tasks.errors import UserError
from verisim_tasks.language.phrases import Hit, PhraseIndex

ConceptKind = Literal[
    "symptom", "condition", "drug", "procedure", "exposure", "habit", "allergy_agent", "device", "other"
]


class Concept(BaseModel):
    """One thing a doctor may ask about."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    name: str
    kind: ConceptKind
    clinical: tuple[str, ...] = ()
    lay: tuple[str, ...] = ()
    colloquial: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    """More ways to ask about it: understood, never said by a patient."""
    vague: str | None = None
    """True but imprecise body talk that does not name the concept."""
    salient: bool = False
    """Acute and dramatic, hard to forget; memory noise spares it."""
    sensitive: bool = False
    site: str | None = None
    broader: tuple[str, ...] = ()
    hpo: str | None = None
    icd10: str | None = None

    @property
    def terms(self) -> tuple[str, ...]:
        """All its names."""
        return (self.name, *self.clinical, *self.lay, *self.colloquial)


class Lexicon:
    """All concepts, found by their names."""

    def __init__(self, concepts: Sequence[Concept]) -> None:
        self.concepts = {c.id: c for c in concepts}
        self.index: PhraseIndex[str] = PhraseIndex((term, c.id) for c in concepts for term in (*c.terms, *c.asked))

    @functools.lru_cache(maxsize=20_000)  # noqa: B019 - one lexicon lives as long as the process
    def mentions(self, text: str) -> tuple[Hit[str], ...]:
        """Everything in the text that may name a concept, overlaps and all."""
        return tuple(self.index.candidates(text))

    def named(self, phrase: str) -> Concept | None:
        """The concept that goes by exactly this name, the first by id where several do."""
        ids = sorted(self.index.values(phrase))
        return self.concepts[ids[0]] if ids else None

    @functools.cache  # noqa: B019 - one lexicon lives as long as the process
    def ancestors(self, concept_id: str) -> frozenset[str]:
        """The concept and everything it is a kind of."""
        found, todo = {concept_id}, [concept_id]
        while todo:
            concept = self.concepts.get(todo.pop())
            for parent in concept.broader if concept else ():
                if parent not in found:
                    found.add(parent)
                    todo.append(parent)
        return frozenset(found)


@functools.cache
def load_yaml(*path: str) -> Any:
    """A data file of the fixtures, parsed once; do not change what it returns."""
    resource = files("verisim_fixtures")
    for part in path:
        resource = resource / part
    return parse_yaml(resource.read_text(encoding="utf-8"))


@functools.cache
def default_lexicon() -> Lexicon:
    """The lexicon that ships with the suite."""
    folder = files("verisim_fixtures") / "lexicon" / "concepts"
    names = sorted(f.name for f in folder.iterdir() if f.name.endswith(".yaml"))
    rows = [row for name in names for row in load_yaml("lexicon", "concepts", name) or ()]
    idioms = load_yaml("lexicon", "idioms.yaml")
    unknown = sorted(set(idioms) - {row["id"] for row in rows})
    if unknown:
        raise UserError(f"idioms.yaml names concepts the lexicon does not hold: {', '.join(unknown)}; correct the ids")
    return Lexicon([Concept.model_validate({**row, "asked": idioms.get(row["id"], ())}) for row in rows])
