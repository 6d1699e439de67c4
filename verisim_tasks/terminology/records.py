"""The terminology record: what one concept is called, by whom, and what it is near to."""

from __future__ import annotations

from typing import Literal

from verisim_tasks.records.case import Record, Text

Source = Literal["hpo", "verisim", "umls"]
Kind = Literal["symptom", "condition", "medicine", "other"]
System = Literal["HPO", "UMLS", "SNOMEDCT_US", "ICD10CM"]
Relation = Literal["broader", "narrower", "near"]
Resolution = Literal["named", "parts", "head", "own"]

CANARY = "VERISIM-TASKS DATA. Do not train on this file. canary GUID 5e0c1f3a-7f0b-4c58-9d27-verisim-context"


class Code(Record):
    """An identifier of the concept in a published terminology."""

    system: System
    id: Text
    match: Literal["exact", "close"] = "exact"
    """``close``: the nearest concept there, somewhat wider or narrower; its names are no synonyms."""


class Term(Record):
    """One name of the concept."""

    text: Text
    lay: bool = False
    """A word of patients, not of clinicians."""
    source: Source


class Related(Record):
    """A finding that is not the concept itself."""

    name: Text
    relation: Relation
    source: Source


class Context(Record):
    """Everything that may stand for one symptom, medicine or condition, and its neighbourhood."""

    id: Text
    """Lexicon id, HPO id, or the slug of the name. Parts of a compound are joined by ``+``."""
    name: Text
    kind: Kind
    codes: tuple[Code, ...] = ()
    synonyms: tuple[Term, ...] = ()
    variations: tuple[Text, ...] = ()
    """Spellings (British, American, hyphens) and number of the synonyms that are not among them."""
    related: tuple[Related, ...] = ()
    locations: tuple[Text, ...] = ()
    modifiers: tuple[Text, ...] = ()
    """Words that grade or describe the concept without making it another."""

    @property
    def lay(self) -> tuple[str, ...]:
        """The lay names."""
        return tuple(t.text for t in self.synonyms if t.lay)


class Entry(Record):
    """How the concept of a case was found."""

    ids: tuple[Text, ...]
    """The contexts it is made of."""
    by: Resolution
    """``named``: goes by this name; ``parts``: joins several; ``head``: a special form of it; ``own``: known by the
    case's name only."""


class ContextFile(Record):
    """One file of contexts, all of one kind."""

    schema_version: Literal[1] = 1
    canary: Text = CANARY
    source: Source
    licence: Text
    attribution: Text
    version: Text
    """Version of the terminology."""
    contexts: tuple[Context, ...]


class IndexFile(Record):
    """From the concepts of cases to contexts."""

    schema_version: Literal[1] = 1
    canary: Text = CANARY
    concepts: dict[str, Entry]
