"""Contexts out of the lexicon and the Human Phenotype Ontology, without a network."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from verisim_tasks.language.body import sites
from verisim_tasks.language.lexicon import Concept
from verisim_tasks.records.case import Case
from verisim_tasks.terminology.hpo import Hpo, HpoTerm
from verisim_tasks.terminology.records import Code, Context, Entry, Kind, Related, Relation, Source, Term
from verisim_tasks.terminology.resolve import Resolver, extra_terms, slug
from verisim_tasks.terminology.spelling import name_key, variations

SYMPTOM_ITEMS = frozenset({"present_illness_positive", "present_illness_negative", "pain", "chief_complaint"})
"""Profile items whose concepts are symptoms."""
_ITEM_KINDS: dict[str, Kind] = {
    **dict.fromkeys(SYMPTOM_ITEMS, "symptom"),
    "medication": "medicine",
    "medical_history": "condition",
    "family_medical_history": "condition",
    **dict.fromkeys(
        ("allergies", "medical_device", "tobacco", "alcohol", "illicit_drug", "sexual_history", "exercise"), "other"
    ),
}
"""Profile items whose concepts get a context, and of what kind one is that nothing else is known about."""
_LEXICON_KINDS: dict[str, Kind] = {"symptom": "symptom", "condition": "condition", "drug": "medicine"}
_SEVERITY, _TIME, _PAIN = "HP:0012824", "HP:0011008", "HP:0025280"


class Builder:
    """Builds the context of an entry, joined from our own lexicon and the ontology."""

    def __init__(self, hpo: Hpo) -> None:
        self.hpo = hpo
        self.resolver = Resolver(hpo)
        self._near = frozenset(extra_terms()["near"])
        self._own: dict[str, _Wanted] = {}

    def entries(self, cases: Iterable[Case]) -> dict[str, Entry]:
        """How each concept of the cases was found, diagnoses too, in alphabetical order."""
        found: dict[str, Entry] = {}
        for wanted in sorted(set(_concepts(cases))):
            entry = self.resolver.resolve(wanted.name)
            if wanted.synonyms and entry.by in ("head", "parts"):
                entry = Entry(ids=(slug(wanted.name),), by="own")
            found.setdefault(wanted.name, entry)
            if entry.by == "own":
                self._own.setdefault(entry.ids[0], wanted)
        return dict(sorted(found.items()))

    def contexts(self, entries: Iterable[Entry]) -> list[Context]:
        """The contexts of the entries, each once, by id."""
        return [self.context(i) for i in sorted({i for entry in entries for i in entry.ids})]

    def context(self, entry_id: str) -> Context:
        """The context with that id."""
        concept = self.resolver.concepts.get(entry_id)
        if concept is not None:
            return self._of_concept(concept)
        if entry_id in self.hpo.terms:
            return self._of_term(self.hpo.terms[entry_id])
        own = self._own[entry_id]
        terms = [Term(text=t, source="verisim") for t in own.synonyms]
        codes = tuple(Code(system="ICD10CM", id=c) for c in own.icd10)
        return _context(entry_id, own.name, own.kind, codes, terms, (), sites(own.name), ())

    def _of_term(self, term: HpoTerm) -> Context:
        codes, names, related = _codes(term, "exact"), _hpo_terms(term), self._hpo_related(term)
        modifiers = self._modifiers(term, "symptom")
        return _context(term.id, term.name, "symptom", codes, names, related, sites(term.name), modifiers)

    def _of_concept(self, concept: Concept) -> Context:
        kind = _LEXICON_KINDS.get(concept.kind, "other")
        terms = list(_lexicon_terms(concept))
        term, exact = self._term_of(concept)
        codes: tuple[Code, ...] = ()
        related = list(self._lexicon_related(concept))
        if term is not None:
            codes = _codes(term, "exact" if exact else "close")
            terms += _hpo_terms(term) if exact else ()
            related += self._hpo_related(term) if exact else [_related(term.name, "near", "hpo")]
        if concept.icd10:
            codes += (Code(system="ICD10CM", id=concept.icd10),)
        places = set(sites(concept.name)) | ({concept.site} if concept.site else set())
        modifiers = self._modifiers(term if exact else None, kind)
        return _context(concept.id, concept.name, kind, codes, terms, related, places, modifiers)

    def _term_of(self, concept: Concept) -> tuple[HpoTerm | None, bool]:
        """Its term in the ontology and whether it is just that; else the term of the next wider concept."""
        todo = [concept]
        while todo:
            current = todo.pop(0)
            if current.hpo in self.hpo.terms:
                term = self.hpo.terms[current.hpo]
                return term, current is concept and concept.id not in self._near
            todo += [self.resolver.concepts[b] for b in current.broader if b in self.resolver.concepts]
        return None, False

    def _lexicon_related(self, concept: Concept) -> Iterator[Related]:
        for broader in concept.broader:
            if broader in self.resolver.concepts:
                yield _related(self.resolver.concepts[broader].name, "broader", "verisim")
        for narrower in self._narrower.get(concept.id, ()):
            yield _related(narrower, "narrower", "verisim")

    @functools.cached_property
    def _narrower(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for concept in sorted(self.resolver.concepts.values(), key=lambda c: c.id):
            for broader in concept.broader:
                found.setdefault(broader, []).append(concept.name)
        return found

    def _hpo_related(self, term: HpoTerm) -> list[Related]:
        found = [_related(self.hpo.terms[p].name, "broader", "hpo") for p in term.parents if p in self.hpo.terms]
        found += [_related(self.hpo.terms[c].name, "narrower", "hpo") for c in self.hpo.children.get(term.id, ())]
        scopes: dict[str, Relation] = {"NARROW": "narrower", "BROAD": "broader", "RELATED": "near"}
        return found + [_related(s.text, scopes[s.scope], "hpo") for s in term.synonyms if s.scope in scopes]

    def _modifiers(self, term: HpoTerm | None, kind: Kind) -> set[str]:
        """Grades and courses of any symptom, characters of any pain, and what tells narrower terms from this one."""
        if kind not in ("symptom", "condition"):
            return set()
        roots = [_SEVERITY, _TIME] if kind == "symptom" else [_SEVERITY]
        roots += [_PAIN] if term is not None and " pain" in f" {term.name.lower()}" else []
        found = {
            self.hpo.terms[c].name.lower().removesuffix(" pain")
            for root in roots
            for c in self.hpo.children.get(root, ())
        }
        found = {m for m in found if len(m.split()) < 3}
        if term is not None:
            own = set(name_key(term.name).split())
            for child in self.hpo.children.get(term.id, ()):
                words = self.hpo.terms[child].name.lower().split()
                rest = [w for w in words if name_key(w) not in own]
                if len(rest) + len(own) == len(words) and len(rest) == 1:
                    found.add(rest[0])
        return found


class _Wanted(NamedTuple):
    """A concept that a case names. Only a diagnosis brings synonyms and codes of its own."""

    name: str
    kind: Kind
    synonyms: tuple[str, ...] = ()
    icd10: tuple[str, ...] = ()


def _concepts(cases: Iterable[Case]) -> Iterator[_Wanted]:
    for case in cases:
        for fact in case.facts:
            if fact.category in _ITEM_KINDS:
                yield _Wanted(fact.concept, _ITEM_KINDS[fact.category])
        if case.diagnosis is not None:
            known = case.diagnosis
            yield _Wanted(known.name, "condition", known.synonyms, known.accepted_codes)


def _context(
    entry_id: str,
    name: str,
    kind: Kind,
    codes: tuple[Code, ...],
    terms: Iterable[Term],
    related: Iterable[Related],
    locations: Iterable[str],
    modifiers: Iterable[str],
) -> Context:
    names = merge_terms(terms)
    have = {t.text.lower() for t in names} | {name.lower()}
    forms = {form for text in sorted(have) for form in variations(text)} - have
    return Context(
        id=entry_id,
        name=name,
        kind=kind,
        codes=codes,
        synonyms=names,
        variations=tuple(sorted(forms)),
        related=tuple(sorted(set(related), key=lambda r: (r.relation, r.name, r.source))),
        locations=tuple(sorted(locations)),
        modifiers=tuple(sorted(modifiers)),
    )


def merge_terms(terms: Iterable[Term]) -> tuple[Term, ...]:
    """Each name once, by text; lay when any source has it as lay, our own source first."""
    best: dict[str, Term] = {}
    for term in terms:
        old = best.get(term.text.lower())
        lay = term.lay or (old is not None and old.lay)
        best[term.text.lower()] = (old or term).model_copy(update={"lay": lay})
    return tuple(best[key] for key in sorted(best))


def _lexicon_terms(concept: Concept) -> Iterator[Term]:
    for text in (concept.name, *concept.clinical):
        yield Term(text=text, source="verisim")
    for text in (*concept.lay, *concept.colloquial):
        yield Term(text=text, lay=True, source="verisim")


def _hpo_terms(term: HpoTerm) -> list[Term]:
    lay = {s.text for s in term.synonyms if s.type == "layperson"}
    names = [term.name, *(s.text for s in term.synonyms if _is_name(s.scope, s.type))]
    return [Term(text=name, lay=name in lay, source="hpo") for name in names]


def _is_name(scope: str, kind: str) -> bool:
    return scope == "EXACT" and kind in ("", "layperson", "uk_spelling", "plural_form", "abbreviation")


def _codes(term: HpoTerm, match: str) -> tuple[Code, ...]:
    pairs = [("HPO", term.id)]
    for xref in term.xrefs:
        system, _, number = xref.partition(":")
        if system in ("UMLS", "SNOMEDCT_US") and number:
            pairs.append((system, number))
    return tuple(Code.model_validate({"system": s, "id": i, "match": match}) for s, i in sorted(set(pairs)))


def _related(name: str, relation: Relation, source: Source) -> Related:
    return Related(name=name, relation=relation, source=source)
