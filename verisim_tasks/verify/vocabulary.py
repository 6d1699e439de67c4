"""The words by which the verifier sees what is clinical in a text: concepts, medicines, groups of words, events."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from verisim_tasks.language.icd_names import hand_written
from verisim_tasks.language.lexicon import Lexicon, load_yaml
from verisim_tasks.language.phrases import Hit, PhraseIndex, resolve_overlaps
from verisim_tasks.language.words import STOPWORDS, stem, words
from verisim_tasks.terminology.store import load, shipped_folder

_TROUBLE = re.compile(r"\b(?:issues?|troubles?|problem|condition)\b")
"""Words that name a trouble as generally as "problems"."""
MIN_TERM = 4
"""Shorter names of the terminologies are abbreviations that ordinary words may hit."""


@functools.cache
def tables() -> Mapping[str, Any]:
    """``fixtures/verify/verify.yaml``."""
    loaded: dict[str, Any] = load_yaml("verify", "verify.yaml")
    return loaded


@functools.cache
def pattern(*path: str) -> re.Pattern[str]:
    """One regular expression of a list of alternatives in the table, for whole words where they begin with one."""
    rows: Any = tables()
    for part in path:
        rows = rows[part]
    return re.compile("|".join(f"(?:{row})" for row in rows), re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True)
class WordGroup:
    """Words that say one thing about a complaint: ``worse`` of the family ``direction``."""

    family: str
    name: str
    found: re.Pattern[str]


@functools.cache
def word_groups() -> tuple[WordGroup, ...]:
    """All groups, in the order of the table."""
    return tuple(
        WordGroup(family, name, re.compile(rf"\b(?:{'|'.join(map(re.escape, listed))})\b"))
        for family, groups in tables()["groups"].items()
        for name, listed in groups.items()
        if listed
    )


@functools.cache
def events() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """What happens in and around care, with the words that tell it."""
    return tuple((name, re.compile(found)) for name, found in tables()["events"].items())


@functools.cache
def kin_words() -> Mapping[str, str]:
    """From a word for a relative to who that is."""
    return {word: who for who, names in tables()["kin"].items() for word in names}


@functools.cache
def _drug_patterns() -> tuple[re.Pattern[str], frozenset[str]]:
    return re.compile(tables()["drug_stems"]), frozenset(tables()["not_drugs"])


def is_drug_word(word: str) -> bool:
    """The word is built like the name of a medicine."""
    stems, not_drugs = _drug_patterns()
    return bool(stems.match(word)) and word not in not_drugs and len(word) > MIN_TERM + 1


class ClinicalTerms:
    """Everything in a text that names a concept: the lexicon first, then shipped contexts and names of diagnoses.

    Values are lexicon ids, or ``term:<words>`` for a name that only a terminology knows.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        entries = [(term, c.id) for c in lexicon.concepts.values() for term in c.terms]
        entries += [(term, c.id) for c in lexicon.concepts.values() for term in c.asked if not _is_wellness(term)]
        self._index: PhraseIndex[str] = PhraseIndex(entries)
        self._plain: PhraseIndex[str] = PhraseIndex((term, c.id) for c in lexicon.concepts.values() for term in c.terms)
        self._lacks = _lacking_terms(lexicon)
        self._further: PhraseIndex[str] = PhraseIndex(_further_names(lexicon))
        self._ambiguous = frozenset(" ".join(words(w)) for w in tables()["ambiguous"])
        self._not_clinical = frozenset(tables()["not_clinical_concepts"])
        self._near = _near(tables()["near"])

    @functools.lru_cache(maxsize=20_000)  # noqa: B019 - one vocabulary lives as long as the process
    def find(self, text: str, *, strictly: bool = False) -> tuple[Hit[str], ...]:
        """Names in the text, overlaps resolved, in order; those that mean something else in ordinary talk left out.

        ``strictly``: only names of concepts, no images by which people may also ask for them.
        """
        said = words(text)
        alike = _TROUBLE.sub("problems", text)
        spoken = (text,) if alike == text else (text, alike)
        found = [
            h
            for t in spoken
            for index in (self._plain if strictly else self._index, self._further)
            for h in index.candidates(t)
        ]
        kept = [h for h in found if self._counts(h, said)]
        return tuple(_merged(resolve_overlaps(kept)))

    def _counts(self, hit: Hit[str], said: Sequence[str]) -> bool:
        covered = " ".join(said[p] for p in hit.positions)
        return covered not in self._ambiguous and " ".join(words(hit.phrase)) not in self._ambiguous

    def is_image(self, hit: Hit[str]) -> bool:
        """The words are no name of a concept, only a way to ask for it."""
        return not self._plain.values(hit.phrase) and not self._further.values(hit.phrase)

    def is_inverted(self, hit: Hit[str]) -> bool:
        """The words name what is there when the concept is not: "eating much" for loss of appetite."""
        return hit.phrase in self._lacks and all(v in tables()["absences"] for v in hit.values)

    def is_clinical(self, values: Iterable[str]) -> bool:
        """At least one meaning is about health."""
        return any(v not in self._not_clinical for v in values)

    def kind(self, value: str) -> str:
        """The kind of a concept; a name of a terminology is a condition."""
        concept = self.lexicon.concepts.get(value)
        return concept.kind if concept else "condition"

    def lineage(self, value: str) -> frozenset[str]:
        """The concept and everything it is a kind of."""
        return self.lexicon.ancestors(value) if value in self.lexicon.concepts else frozenset({value})

    def near(self, value: str) -> frozenset[str]:
        """Concepts as which it may truly be told."""
        return self._near.get(value, frozenset())

    def name(self, value: str) -> str:
        """What it is called."""
        concept = self.lexicon.concepts.get(value)
        return concept.name if concept else value.removeprefix("term:")


def _lacking_terms(lexicon: Lexicon) -> frozenset[str]:
    lack = frozenset(tables()["lack_words"])
    known = [c for c in lexicon.concepts.values() if c.id in tables()["absences"]]
    return frozenset(t for c in known for t in c.asked if not set(words(t)) & lack and not t.endswith("ia"))


def _near(rows: Sequence[Sequence[str]]) -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for row in rows:
        for one in row:
            table.setdefault(one, set()).update(o for o in row if o != one)
    return {k: frozenset(v) for k, v in table.items()}


_WELL = frozenset(
    ["well", "properly", "normally", "normal", "ok", "okay", "regular", "safe", "enough", "fine", "easily", "usual"]
)


def _is_wellness(term: str) -> bool:
    """A way to ask after a trouble by its absence ("eating well")."""
    return bool(set(words(term)) & _WELL)


def _merged(hits: Sequence[Hit[str]]) -> list[Hit[str]]:
    """Hits at the same place as one with all meanings."""
    merged: dict[tuple[int, ...], Hit[str]] = {}
    for hit in hits:
        other = merged.get(hit.positions)
        values = dict.fromkeys((*(other.values if other else ()), *hit.values))
        merged[hit.positions] = Hit(other.phrase if other else hit.phrase, tuple(values), hit.positions, hit.content)
    return list(merged.values())


def _further_names(lexicon: Lexicon) -> list[tuple[str, str]]:
    """Names that the lexicon does not hold: of shipped contexts and of diagnoses."""
    names: dict[str, None] = {}
    for context in sorted(load(shipped_folder()).by_id.values(), key=lambda c: c.id):
        if context.id not in lexicon.concepts:
            names.update(dict.fromkeys((context.name, *(s.text for s in context.synonyms))))
        names.update({r.name: None for r in context.related})
    names.update({name.text: None for name in hand_written()})
    found = []
    for name in names:
        content = [stem(w) for w in words(name) if w not in STOPWORDS]
        if len(name) > MIN_TERM and content and not lexicon.index.values(name) and len(content) <= MIN_TERM:
            found.append((name, "term:" + " ".join(content)))
    return found
