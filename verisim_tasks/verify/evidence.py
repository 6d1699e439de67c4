"""The record of one case, read like a claim, so that claims can be laid beside it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rapidfuzz.distance import Levenshtein

from verisim_tasks.language.body import sites
from verisim_tasks.language.embedding import Encoder, similarities
from verisim_tasks.language.words import stem, words
from verisim_tasks.noise.markup import blur, plain
from verisim_tasks.patient.ranking import PLACED
from verisim_tasks.records.case import Case, Fact
from verisim_tasks.verify.claims import Claim, split_clauses
from verisim_tasks.verify.quantities import Quantity, quantities
from verisim_tasks.verify.reading import Atom, Reader, Reading
from verisim_tasks.verify.vocabulary import ClinicalTerms, kin_words
from verisim_tasks.verify.wording import all_meanings, spoken

MIN_VERBATIM = 3
"""Words of a claim that stands word for word in a fact and needs no more thought."""
FUZZY = 0.84
"""Normalised similarity of letters at which two words longer than `FUZZY_LENGTH` are one word misspelt."""
FUZZY_LENGTH = 6


@dataclass(frozen=True)
class FactRecord:
    """One fact with everything its texts say."""

    fact: Fact
    readings: tuple[Reading, ...]
    """Its clauses, in all the words the case has for it."""
    firm: tuple[Reading, ...]
    """Those of its clinical and plain wordings, without the very informal and vague ones."""
    texts: tuple[str, ...]
    plain_texts: tuple[str, ...]
    """The same as words between single spaces."""
    present: frozenset[str]
    """Concepts, medicines and events that it states, without what they are a kind of."""
    absent: frozenset[str]
    """Those that it denies."""
    main: frozenset[str]
    """Concepts that the fact is about."""
    groups: frozenset[str]
    groups_absent: frozenset[str]
    stems: frozenset[str]
    quantities: tuple[Quantity, ...]
    sites: frozenset[str]
    implied_sites: frozenset[str]
    """Where what it is about lies by its nature."""
    sides: frozenset[str]
    kin: frozenset[str]
    stated: frozenset[str]
    """Meanings of the words that it says without a negation."""
    turned: frozenset[str]
    """Meanings of the words that it says under a negation."""

    @property
    def id(self) -> str:
        """The fact's id."""
        return self.fact.id

    @property
    def denied(self) -> bool:
        """The fact says that something is not so."""
        return self.fact.polarity == "denied"

    def about(self, people: frozenset[str]) -> FactRecord | None:
        """What the fact says of other people, in the clauses that name one of them; None where it says nothing."""
        readings = tuple(r for r in self.readings if r.stems & people or any("contact" in a.values for a in r.atoms))
        if not readings:
            return None
        atoms = [(a, a.negated) for r in readings for a in r.atoms]
        present, absent = (_values(atoms, negated=n, groups=False) for n in (False, True))
        return replace(self, readings=readings, present=present, absent=absent)

    @property
    def family(self) -> bool:
        """The fact is about relatives."""
        return self.fact.category == "family_medical_history"


@dataclass(frozen=True)
class CaseRecord:
    """A case prepared for verification. Build with :func:`record_of`."""

    case: Case
    facts: tuple[FactRecord, ...]
    terms: ClinicalTerms

    def of(self, ids: Iterable[str]) -> tuple[FactRecord, ...]:
        """Records of these facts, in case order."""
        wanted = set(ids)
        return tuple(f for f in self.facts if f.id in wanted)

    def stating(self, atom: Atom, among: Sequence[FactRecord], *, strictly: bool = False) -> tuple[FactRecord, ...]:
        """Facts that state what the atom names, or a special case of it; not ``strictly``: or what is near to it."""
        return tuple(f for f in among if self._states(atom, f, strictly=strictly))

    def denying(self, atom: Atom, among: Sequence[FactRecord]) -> tuple[FactRecord, ...]:
        """Facts that deny what the atom names, or something more general."""
        wider = {v for value in atom.values for v in self.terms.lineage(value)} - (set(PLACED) - set(atom.values))
        return tuple(f for f in among if f.absent & wider or (not atom.image and _denied_words(atom, f)))

    def _states(self, atom: Atom, record: FactRecord, *, strictly: bool) -> bool:
        meanings = set(atom.values)
        for value in () if strictly else atom.values:
            meanings |= self.terms.near(value)
        if any(meanings & self.terms.lineage(own) for own in record.present):
            return True
        if strictly and any(v in self.terms.lexicon.concepts for v in atom.values):
            return False
        narrower = any(self.terms.lineage(v) & record.present for v in atom.values)
        return (narrower or not record.absent & meanings) and _said_in(atom, record)

    def touched_by_denial(self, atom: Atom, among: Sequence[FactRecord]) -> bool:
        """Some fact denies what the atom names, or something more general, be it of another place."""
        wider = {v for value in atom.values for v in self.terms.lineage(value)}
        return any(f.absent & wider or _denied_words(atom, f) for f in among)

    def centred(self, atom: Atom, among: Sequence[FactRecord]) -> list[FactRecord]:
        """Those that are about what the atom names, and do not only mention it."""
        return [f for f in among if any(set(atom.values) & self.terms.lineage(own) for own in f.main)]

    def siblings(self, records: Sequence[FactRecord]) -> tuple[FactRecord, ...]:
        """These facts and all that are about the same concept, in case order."""
        names = {r.fact.concept.lower() for r in records}
        ids = {r.id for r in records}
        return tuple(f for f in self.facts if f.id in ids or f.fact.concept.lower() in names)


def _said_in(atom: Atom, record: FactRecord) -> bool:
    """One clause that states something uses the atom's own words."""
    if not atom.stems:
        return False
    for reading in record.firm:
        if _fuzzily_in(atom.stems, reading.stems):
            own = [a for a in reading.atoms if a.stems & atom.stems]
            if not record.denied and not any(a.negated for a in own) and not (reading.negated and not own):
                return True
    return False


def _denied_words(atom: Atom, record: FactRecord) -> bool:
    """A clause that denies uses the atom's own words."""
    for reading in record.readings:
        if atom.stems and _fuzzily_in(atom.stems, reading.stems):
            own = [a for a in reading.atoms if a.stems & atom.stems]
            if any(a.negated for a in own) or (not own and (reading.negated or record.denied)):
                return True
    return False


def _fuzzily_in(wanted: frozenset[str], held: frozenset[str]) -> bool:
    aching = bool(held & _PAIN) and len(wanted - _PAIN) > 1
    return all(w in held or (aching and w in _PAIN) or any(misspelt(w, h) for h in held) for w in wanted)


_PAIN = frozenset(stem(w) for w in ("pain", "ache", "aching", "hurt", "sore", "soreness", "discomfort"))
"""Stems that say pain; beside a place they are one."""


def misspelt(one: str, other: str) -> bool:
    """Two long words that differ by a slip of the pen."""
    long_enough = min(len(one), len(other)) >= FUZZY_LENGTH and one[0] == other[0]
    return long_enough and bool(Levenshtein.normalized_similarity(one, other, score_cutoff=FUZZY))


def record_of(case: Case, reader: Reader) -> CaseRecord:
    """Prepare a case: every text of every fact is read clause by clause."""
    strict = Reader(reader.terms, strictly=True)
    return CaseRecord(case, tuple(_fact_record(f, strict) for f in case.facts), reader.terms)


def _fact_record(fact: Fact, reader: Reader) -> FactRecord:
    texts = _texts(fact)
    readings = _read(texts, reader)
    firm = _read(_told((fact.lay,), fact.statement), reader)
    whole = tuple(reader.read(text) for text in texts)
    name = reader.read(fact.concept)
    atoms = _atoms(fact, name, firm, readings, reader)
    spoken_words = [w for text in (*texts, fact.concept if fact.polarity != "denied" else "") for w in spoken(text)]
    stated = all_meanings(w for w in spoken_words if not w.negated)
    fields = " . ".join(t for t in (fact.onset, fact.duration, fact.severity, fact.frequency) if t)
    return FactRecord(
        fact=fact,
        readings=readings,
        firm=firm,
        texts=texts,
        plain_texts=tuple(f" {' '.join(words(text))} " for text in texts),
        main=frozenset(v for a in name.of("concept", "drug") for v in a.values),
        present=_values(atoms, negated=False, groups=False),
        absent=_values(atoms, negated=True, groups=False),
        groups=_values(atoms, negated=False, groups=True)
        | _values([(a, False) for a in reader.read(fields).atoms], False, True),
        groups_absent=_values(atoms, negated=True, groups=True),
        stems=frozenset(s for r in (*whole, name) for s in r.stems),
        quantities=_quantities(fact, (*texts, fields)),
        sites=frozenset(s for r in (*whole, name) for s in r.sites),
        implied_sites=_own_sites(name, reader),
        sides=frozenset(s for r in whole for s in r.sides),
        kin=frozenset(k for r in whole for k in r.kin),
        stated=stated,
        turned=all_meanings(w for w in spoken_words if w.negated),
    )


def _read(texts: Sequence[str], reader: Reader) -> tuple[Reading, ...]:
    return tuple(reader.read(clause) for text in texts for clause in _clauses(text))


def _atoms(
    fact: Fact, name: Reading, firm: Sequence[Reading], readings: Sequence[Reading], reader: Reader
) -> list[tuple[Atom, bool]]:
    """What the fact names, each with whether it denies it.

    Informal wordings are full of images ("knock me out"): what they alone name counts only where it is of the kind
    that the plain wordings name. A fact that denies states nothing but what its statement sets beside the denial.
    """
    lineage = reader.terms.lineage
    meant = {w for r in (*firm, name) for a in r.atoms for v in a.values for w in lineage(v)}
    kept = [
        a if r in firm or a.kind != "concept" else replace(a, values=tuple(v for v in a.values if lineage(v) & meant))
        for r in readings
        for a in r.atoms
    ]
    if fact.polarity != "denied":
        return [(a, a.negated) for a in (*kept, *name.atoms)]
    own = {v for a in name.atoms for v in a.values}
    beside = [a for r in _read((fact.statement,), reader) if not r.negated for a in r.atoms]
    stated = [(a, False) for a in beside if not own & set(a.values)]
    denied = [(a, True) for a in kept if a.negated or own & set(a.values)]
    return [*stated, *denied, *((a, True) for a in name.atoms)]


def _own_sites(name: Reading, reader: Reader) -> frozenset[str]:
    """Where the lexicon has what the fact is about, be it named or not: wheezing is of the chest."""
    known = reader.terms.lexicon.concepts
    placed = (known[v].site for a in name.of("concept") for v in a.values if v in known)
    return frozenset(s for site in placed if site for s in sites(site))


def _quantities(fact: Fact, texts: Sequence[str]) -> tuple[Quantity, ...]:
    """Numbers and times of all its texts; those of blurred wordings alone are marked."""
    sharp = (fact.statement, *(plain(t) for t in (fact.lay, fact.colloquial, fact.vague) if t), texts[-1])
    exact = dict.fromkeys(q for text in sharp for q in quantities(text.lower()))
    blurs = dict.fromkeys(q for text in texts for q in quantities(text.lower()) if q not in exact)
    return (*exact, *(replace(q, blurred=True) for q in blurs))


def _texts(fact: Fact) -> tuple[str, ...]:
    """All the ways the case says a fact, exact and blurred."""
    return _told((fact.lay, fact.colloquial, fact.vague), fact.statement)


def _told(wordings: Sequence[str | None], statement: str) -> tuple[str, ...]:
    """The statement, then these wordings, exact and blurred."""
    marked = [t for t in wordings if t]
    told = [statement, *(plain(t) for t in marked), *(v for t in marked for v in _blurred(t))]
    return tuple(dict.fromkeys(told))


def _blurred(marked: str) -> list[str]:
    """The sentence with every choice of its spans blurred; only all or one where there are many."""
    kinds = ("time", "dose", "drug", "number")
    chosen = [c for size in range(1, 5) for c in itertools.combinations(kinds, size)]
    return list(dict.fromkeys(_blurred_kinds(marked, frozenset(c)) for c in chosen))


def _blurred_kinds(marked: str, kinds: frozenset[str]) -> str:
    return blur(marked, lambda span: span.kind in kinds)[0]


def _clauses(text: str) -> list[str]:
    """Clauses; a relative named before stays the one spoken of."""
    found: list[str] = []
    kin = ""
    for clause in split_clauses(text.replace(". ", "; ")):
        named = [w for w in words(clause) if w in kin_words()]
        found.append(clause if named or not kin or len(words(clause)) > 8 else f"{kin} {clause}")
        kin = named[-1] if named else kin
    return found


def _values(atoms: Sequence[tuple[Atom, bool]], negated: bool, groups: bool) -> frozenset[str]:
    return frozenset(v for a, turned in atoms if turned == negated and (a.kind == "group") == groups for v in a.values)


def verbatim(claim: Claim, records: Sequence[FactRecord]) -> FactRecord | None:
    """The fact in whose words the claim stands, word for word."""
    said = words(claim.text)
    if len(said) < MIN_VERBATIM:
        return None
    joined = f" {' '.join(said)} "
    for record in records:
        for own in record.plain_texts:
            place = own.find(joined)
            if place >= 0 and not re.search(
                r"(?:\b(?:no|not|never|without|denies|nor|or)|n't)(?: \w+){0,3} ?$", own[:place]
            ):
                return record
    return None


class Nearness:
    """Similarities of claims to the texts of facts, encoded in one batch."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def encode(self, texts: Iterable[str]) -> None:
        """Work out the vectors of all texts at once, so that later questions cost nothing."""
        self._encoder.encode(sorted({t for t in texts if t.strip()}))

    def of(self, claim: str, records: Sequence[FactRecord]) -> Mapping[str, float]:
        """Best similarity (rounded) of the claim to a text of each fact."""
        documents = [(r.id, text) for r in records for text in r.texts]
        if not documents or not claim.strip():
            return {}
        scores = similarities(self._encoder.encode([claim]), self._encoder.encode([t for _, t in documents]))[0]
        best: dict[str, float] = {}
        for (fact_id, _), score in zip(documents, scores, strict=True):
            best[fact_id] = max(best.get(fact_id, -1.0), float(score))
        return best


def stems_of(text: str) -> frozenset[str]:
    """Stems of all words."""
    return frozenset(stem(w) for w in words(text))
