"""Contexts enriched with UMLS: names of all its vocabularies, SNOMED CT sites, modifiers and relatives."""

from __future__ import annotations

from collections.abc import Iterable

from verisim_tasks.terminology.build import merge_terms
from verisim_tasks.terminology.records import Code, Context, Related, Relation, Term
from verisim_tasks.terminology.spelling import variations
from verisim_tasks.terminology.umls import Atom, Link, UmlsClient

LAY_SOURCES = frozenset({"CHV", "MEDLINEPLUS"})
"""Vocabularies of consumers: Consumer Health Vocabulary and MedlinePlus."""
_SITE = frozenset({"has_finding_site", "finding_site_of", "has_direct_finding_site", "has_indirect_finding_site"})
_MODIFIER = frozenset(
    {"has_severity", "severity_of", "has_clinical_course", "clinical_course_of", "has_episodicity", "episodicity_of"}
    | {"has_laterality", "laterality_of", "has_occurrence", "occurs_in", "has_onset", "temporally_follows"}
)
_WIDER = frozenset({"isa"})
_NARROWER = frozenset({"inverse_isa"})
_NEAR = frozenset(
    {"associated_with", "has_associated_finding", "associated_finding_of", "due_to", "cause_of"}
    | {"has_definitional_manifestation", "definitional_manifestation_of"}
)
_RELATIONS: tuple[tuple[frozenset[str], Relation], ...] = (
    (_WIDER, "broader"),
    (_NARROWER, "narrower"),
    (_NEAR, "near"),
)


def enrich(contexts: Iterable[Context], client: UmlsClient) -> list[Context]:
    """The contexts, each with what UMLS knows of it; what UMLS does not know stays as it is."""
    return [enrich_one(context, client) for context in contexts]


def enrich_one(context: Context, client: UmlsClient) -> Context:
    """One context with the names, codes and relations of its UMLS concept."""
    cui = _known_cui(context)
    if cui is None:
        found = client.search(context.name)
        if found is None:
            return context
        cui = found.cui
    atoms = client.atoms(cui)
    snomed = sorted({a.code for a in atoms if a.source == "SNOMEDCT_US" and a.code.isdigit()})
    links = [link for code in snomed for link in client.snomed_relations(code)]
    codes = {*context.codes, Code(system="UMLS", id=cui), *(Code(system="SNOMEDCT_US", id=c) for c in snomed)}
    return _joined(context, sorted(codes, key=lambda c: (c.system, c.id, c.match)), atoms, links)


def _known_cui(context: Context) -> str | None:
    exact = sorted(c.id for c in context.codes if c.system == "UMLS" and c.match == "exact")
    return exact[0] if exact else None


def _joined(context: Context, codes: list[Code], atoms: list[Atom], links: list[Link]) -> Context:
    names = [Term(text=a.name, lay=a.source in LAY_SOURCES, source="umls") for a in sorted(set(atoms))]
    synonyms = merge_terms((*context.synonyms, *names))
    have = {t.text.lower() for t in synonyms} | {context.name.lower()}
    forms = {form for text in sorted(have) for form in variations(text)} - have
    related = {*context.related, *_relatives(links)}
    return context.model_copy(
        update={
            "codes": tuple(codes),
            "synonyms": synonyms,
            "variations": tuple(sorted(forms)),
            "related": tuple(sorted(related, key=lambda r: (r.relation, r.name, r.source))),
            "locations": tuple(sorted({*context.locations, *(x.name for x in links if x.label in _SITE)})),
            "modifiers": tuple(sorted({*context.modifiers, *(x.name for x in links if x.label in _MODIFIER)})),
        }
    )


def _relatives(links: Iterable[Link]) -> list[Related]:
    return [
        Related(name=link.name, relation=relation, source="umls")
        for link in links
        for labels, relation in _RELATIONS
        if link.label in labels
    ]
