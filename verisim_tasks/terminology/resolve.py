"""From the concept of a case to entries of the lexicon and the ontology."""

from __future__ import annotations

import functools
import re
from typing import Any

from verisim_tasks.errors import UserError
from verisim_tasks.language.lexicon import Concept, Lexicon, default_lexicon, load_yaml
from verisim_tasks.language.phrases import resolve_overlaps
from verisim_tasks.language.words import words
from verisim_tasks.terminology.hpo import Hpo
from verisim_tasks.terminology.records import Entry
from verisim_tasks.terminology.spelling import name_key

_JOINS = re.compile(r"\s*(?:,|;|/|\band\b|\bor\b|\bwith\b)\s*")
_TOO_GENERAL = frozenset({"pain", "swelling", "skin_change"})
"""Entries that a longer concept is only resolved to when it has no better."""
_ABOUT = re.compile(
    r"^(?:previous|recent|recently started|other|earlier|current|history of|family history of|mother's|father's|uncle's"
    r"|childhood|chronic|mild|supposed|prescribed|borrowed|leftover|self-raised|regular|unexplained|witnessed) "
    r"| (?:in (?:the )?(?:mother|father|an? uncle|the family|the home)|use|omission|rationing|overuse|intolerance"
    r"|infection|episodes?|not taken|stopped early|from an? \w+)$",
    re.IGNORECASE,
)
"""Words about whose it is, when it was or how it is taken, not about what it is."""


class Resolver:
    """Finds what the concept of a case is made of."""

    def __init__(self, hpo: Hpo) -> None:
        self.hpo = hpo
        extra = extra_terms()
        self.concepts = extended_concepts()
        self._lexicon = Lexicon(list(self.concepts.values()))
        self._aliases = {name_key(k): tuple(v) for k, v in extra["aliases"].items()}
        self._not_heads = frozenset(extra["not_heads"])
        self._by_hpo = {c.hpo: c.id for c in sorted(self.concepts.values(), key=lambda c: c.id, reverse=True) if c.hpo}
        self._by_hpo = {h: i for h, i in self._by_hpo.items() if i not in extra["near"]}
        self._exact: dict[str, str] = {}
        for concept in sorted(self.concepts.values(), key=lambda c: c.id):
            self._exact.setdefault(name_key(concept.name), concept.id)
        for concept in sorted(self.concepts.values(), key=lambda c: c.id):
            for term in concept.terms:
                self._exact.setdefault(name_key(term), concept.id)

    def resolve(self, concept: str) -> Entry:
        """What the concept is made of; never fails: an unknown one stands for itself."""
        if key := self._aliases.get(name_key(concept)):
            return Entry(ids=key, by="named" if len(key) == 1 else "parts")
        if found := self._named(concept):
            return Entry(ids=(found,), by="named")
        pieces = [p for p in _JOINS.split(concept) if p]
        if len(pieces) > 1:
            named = [self._aliases.get(name_key(p)) or ((n,) if (n := self._named(p)) else ()) for p in pieces]
            if all(named):
                return Entry(ids=tuple(dict.fromkeys(i for part in named for i in part)), by="parts")
        bare = _ABOUT.sub("", _ABOUT.sub("", concept))
        if bare != concept and (found := self._named(bare)):
            return Entry(ids=(found,), by="head")
        if heads := self._heads(concept):
            return Entry(ids=heads, by="head")
        return Entry(ids=(slug(concept),), by="own")

    def _named(self, phrase: str) -> str | None:
        """The lexicon first, because it holds lay words; then the ontology."""
        exact = self._exact.get(name_key(phrase))
        if exact:
            return exact
        loose = self._lexicon.named(phrase)
        if loose is not None and len(words(phrase)) > 1:
            return loose.id
        term = self.hpo.find(phrase)
        return self._by_hpo.get(term.id, term.id) if term else None

    def _heads(self, concept: str) -> tuple[str, ...]:
        hits = resolve_overlaps(self._lexicon.mentions(concept))
        found = [i for i in dict.fromkeys(sorted(hit.values)[0] for hit in hits) if i not in self._not_heads]
        return tuple(i for i in found if i not in _TOO_GENERAL) or tuple(found)


@functools.cache
def extra_terms() -> dict[str, Any]:
    """``fixtures/lexicon/context_extra.yaml``: aliases of case concepts, further concepts, lay words and codes."""
    loaded: dict[str, Any] = load_yaml("lexicon", "context_extra.yaml")
    return {part: loaded[part] for part in ("aliases", "lay", "hpo", "concepts", "near", "not_heads")}


@functools.cache
def extended_concepts() -> dict[str, Concept]:
    """The concepts of the lexicon with what ``context_extra.yaml`` adds.

    Raises ``UserError`` when the file adds to or points at a concept that does not exist.
    """
    extra = extra_terms()
    found = dict(default_lexicon().concepts)
    for row in extra["concepts"]:
        if row["id"] not in found:
            found[row["id"]] = Concept.model_validate(row)
    wanted = {i for ids in extra["aliases"].values() for i in ids if not i.startswith("HP:")}
    unknown = sorted((wanted | set(extra["lay"]) | set(extra["hpo"]) | set(extra["near"])) - set(found))
    if unknown:
        raise UserError(f"context_extra.yaml names concepts that do not exist: {', '.join(unknown)}; correct the ids")
    for name, terms in extra["lay"].items():
        found[name] = found[name].model_copy(update={"lay": (*found[name].lay, *terms)})
    for name, term_id in extra["hpo"].items():
        if found[name].hpo is None:
            found[name] = found[name].model_copy(update={"hpo": term_id})
    return found


def slug(text: str) -> str:
    """An id made of the words of a name."""
    return "_".join(words(text)) or "concept"
