"""The verdict on one claim: what it names is looked for in the record, then everything else it says of it."""

from __future__ import annotations

from collections.abc import Sequence

from verisim_tasks.language.body import sites
from verisim_tasks.language.words import content_stems, fold, stem, words
from verisim_tasks.verify.claims import Claim
from verisim_tasks.verify.coverage import Coverage, is_small_talk
from verisim_tasks.verify.details import Details
from verisim_tasks.verify.evidence import CaseRecord, FactRecord, Nearness, verbatim
from verisim_tasks.verify.family import FamilyJudge
from verisim_tasks.verify.judgement import NEVER, Judgement, Part
from verisim_tasks.verify.lists import judge_list
from verisim_tasks.verify.personal import judge_personal
from verisim_tasks.verify.reading import Atom, Reading, without_echo
from verisim_tasks.verify.vocabulary import kin_words, pattern, tables

ANAPHORS = frozenset(
    [
        "it",
        "it's",
        "its",
        "that",
        "that's",
        "this",
        "they",
        "they're",
        "them",
        "both",
        "either",
        "there",
        "the",
        "pain",
        "attacks",
        "spells",
        "symptoms",
    ]
)
"""Words by which a claim goes on about what was talked of."""
MAX_FRAGMENT = 7
"""Words of an answer that may be no sentence of its own."""
_NEUTRAL = frozenset(
    stem(w)
    for w in [
        "notice",
        "noticed",
        "experience",
        "experiencing",
        "suffer",
        "feel",
        "feeling",
        "feels",
        "felt",
        "recently",
        "lately",
        "currently",
        "history",
        "past",
        "problems",
        "trouble",
        "issues",
        "before",
        "still",
        "ever",
        "anything",
        "like",
        "now",
        "today",
        "since",
        "known",
    ]
)
"""Words that make a question no narrower."""
_LIGHT = _NEUTRAL | frozenset(
    stem(w)
    for w in [
        "start",
        "started",
        "begin",
        "began",
        "come",
        "comes",
        "came",
        "go",
        "goes",
        "going",
        "went",
        "gone",
        "last",
        "lasted",
        "lasts",
        "happen",
        "happens",
        "happened",
        "usually",
        "mostly",
        "mainly",
        "maybe",
        "probably",
        "think",
        "guess",
        "thing",
        "things",
        "bit",
        "little",
        "lot",
        "bad",
        "pretty",
        "quite",
        "really",
        "time",
        "times",
        "day",
        "days",
        "take",
        "takes",
        "taking",
        "use",
        "uses",
        "way",
        "kind",
        "sort",
        "get",
        "gets",
        "getting",
        "keep",
        "keeps",
        "make",
        "makes",
        "one",
        "pain",
        "ache",
        "attack",
        "hurt",
        "hurts",
        "especially",
        "patient",
        "symptom",
        "symptoms",
        "exactly",
        "roughly",
        "around",
        "almost",
        "nearly",
        "ago",
        "first",
        "second",
        "since",
        "mind",
        "know",
        "actually",
        "kept",
        "seem",
        "seems",
        "tend",
        "stay",
        "stays",
        "side",
    ]
)
"""Words that leave a clause one that only goes on about what was talked of."""


class Judge:
    """Judges claims on one case. ``targets`` are the facts the question asked for, most relevant first."""

    def __init__(self, record: CaseRecord, nearness: Nearness) -> None:
        self._record = record
        self._near = nearness
        self._own = tuple(f for f in record.facts if not f.family)
        self._details = Details(record, self._own)
        self._relatives = FamilyJudge(record, self._details)
        self._coverage = Coverage(record, self._details, nearness)

    def judge(self, claim: Claim, targets: Sequence[str] = ()) -> Judgement:
        """The verdict on a claim."""
        judged = Judgement(claim)
        if claim.manner in ("talk", "deflection") or is_small_talk(claim):
            return judged
        record = verbatim(claim, self._record.facts)
        if record is not None and claim.manner == "statement":
            judged.add("supported", "said in the record's own words", [record])
            return judged
        if claim.reading.subject == "self" and claim.manner == "statement":
            judge_personal(judged, self._record, self._near)
        if judged.verdict == "contradicted" or judge_list(judged, self._record):
            return judged
        if claim.reading.subject == "family" and not self._is_patient(claim):
            self._relatives.judge(judged)
        elif claim.reading.is_clinical and any(
            self._counts(a, claim) for a in claim.reading.atoms if a.kind != "group"
        ):
            self._judge_clinical(judged, targets)
        else:
            self._judge_unnamed(judged, targets)
        if claim.manner == "statement" and judged.verdict in ("supported", "not_clinical"):
            self._coverage.judge(judged, self.bearing(claim), targets)
        if claim.manner == "statement" and claim.reading.subject == "self":
            if judged.is_wrong:
                judged = self._coverage.rescue(judged, self._own, targets)
            if judged.verdict not in ("supported", "not_clinical") and self._is_of_symptoms(claim):
                judged.doubt = min(judged.doubt, float(tables()["entailed"]["whatever"]))
        if judged.is_wrong and pattern("brought_on").search(fold(claim.text)):
            judged.doubt = NEVER
        return judged

    def _is_of_symptoms(self, claim: Claim) -> bool:
        """Names nothing that only its own name can bear out: no relative, medicine, illness, test or accident."""
        reading = claim.reading
        kinds = {self._record.terms.kind(a.values[0]) for a in reading.of("concept")}
        events = {a.values[0] for a in reading.of("event")} - set(tables()["loose_events"])
        return not (reading.kin or reading.of("drug") or events) and kinds <= {"symptom"}

    def bearing(self, claim: Claim) -> tuple[FactRecord, ...]:
        """Facts whose words may bear out those of the claim: a relative's only where it speaks of relatives."""
        blood = claim.reading.kin & set(tables()["blood"])
        if claim.reading.subject == "family" and not self._is_patient(claim):
            return tuple(f for f in self._record.facts if f.family or f.kin & blood)
        return self._record.facts if blood else self._own

    def _is_patient(self, claim: Claim) -> bool:
        """A caregiver's "my son" is the patient."""
        return self._record.case.informant.role == "caregiver" and claim.reading.kin <= {"child"}

    def _counts(self, atom: Atom, claim: Claim) -> bool:
        """The atom is about health, in this claim."""
        if atom.kind == "event":
            return atom.values[0] != "contact" or claim.reading.subject != "self"
        return atom.kind == "drug" or (atom.kind == "concept" and self._record.terms.is_clinical(atom.values))

    def borne_out(self, judged: Judgement, fact: FactRecord, targets: Sequence[str]) -> Judgement:
        """The verdict on a claim that the fact entails as a whole: its numbers and sides must still be the record's."""
        wider = self._record.siblings((fact, *self._record.of(targets)))
        if _says(fact, "nearly") and not pattern("nearly").search(fold(judged.claim.text)):
            return judged
        checked, again = Judgement(judged.claim), Judgement(judged.claim)
        for quantity in judged.claim.reading.quantities:
            self._details.quantity(checked, quantity, (fact,), wider)
        if checked.is_wrong and _says(fact, "weekly") and pattern("every_day").search(fold(judged.claim.text)):
            return judged
        self._details.sides(checked, judged.claim.reading, wider)
        again.add("supported", "follows from the record", [fact])
        if self._coverage.opposes(again, self.bearing(judged.claim), targets):
            return again
        return checked if checked.verdict == "contradicted" else again

    # --- what names a concept, a medicine or an event

    def _judge_clinical(self, judged: Judgement, targets: Sequence[str]) -> None:
        claim = judged.claim
        among = self._candidates(claim)
        atoms = [a for a in claim.reading.atoms if a.kind != "group" and self._counts(a, claim)]
        atoms = without_echo(atoms)
        basis: dict[str, FactRecord] = {}
        parts = [self._judge_atom(a, claim, among) for a in atoms]
        parts = self._answered(parts, claim, targets)
        if claim.negative:
            parts = [("unrecorded_denial", *p[1:3], claim.text) if p[0] == "unsupported" else p for p in parts]
        if any(p[0] == "unsupported" for p in parts):
            parts = self._rescued(parts, atoms, claim, among)
        doubt = self._doubt([a for a, p in zip(atoms, parts, strict=True) if p[0] == "unsupported"], among)
        if claim.any_of and any(p[0] == "supported" for p in parts):
            parts = [p for p in parts if p[0] == "supported"]
        for verdict, reason, facts, concept in parts:
            judged.add(verdict, reason, facts, doubt=doubt if verdict == "unsupported" else NEVER)
            if concept is not None:
                judged.denied.append((concept, facts[0].id if facts else None))
            basis.update({f.id: f for f in facts if verdict == "supported"})
        if judged.verdict in ("supported", "unrecorded_denial") and basis and not claim.negative:
            self._details.judge(judged, self._meant(claim, atoms, tuple(basis.values())), targets)

    def _meant(self, claim: Claim, atoms: Sequence[Atom], basis: tuple[FactRecord, ...]) -> tuple[FactRecord, ...]:
        """Where next to nothing is said but a thing and its time: the facts that are about the thing, if there are."""
        named = {v for a in atoms for v in a.values}
        central = tuple(f for f in basis if f.main & named)
        timed = claim.reading.quantities and not claim.reading.of("group") and _is_light(claim.reading)
        return central if central and timed else basis

    def _candidates(self, claim: Claim) -> tuple[FactRecord, ...]:
        """Facts that may bear the claim out: of the patient, and of allergies only where it speaks of allergies."""
        if claim.reading.subject == "other":
            people = frozenset(stem(w) for w in words(claim.text) if w in tables()["others"] or w in kin_words())
            told = (f.about(people) for f in self._record.facts)
            return tuple(f for f in told if f is not None)
        stems = claim.reading.stems | (
            frozenset(stem(w) for w in words(claim.question)) if claim.manner == "answer" else frozenset()
        )
        if "allerg" in stems or "allergi" in stems:
            return tuple(
                f for f in self._own if f.fact.category == "allergies" or "allerg" in f.stems or "allergi" in f.stems
            )
        taking = pattern("taking").search(fold(claim.text))
        return tuple(f for f in self._own if not (taking and f.fact.category == "allergies"))

    def _judge_atom(self, atom: Atom, claim: Claim, among: Sequence[FactRecord]) -> Part:
        negated = atom.negated != claim.negative
        if not negated and self._is_normality(atom, claim):
            negated = True
        stating = self._record.stating(atom, among, strictly=negated)
        denying = self._record.denying(atom, among)
        if negated:
            return self._judge_denial(atom, claim, stating, denying)
        if stating:
            return "supported", "", list(stating), None
        if denying and not atom.image:
            return "contradicted", f"the record denies {atom.label}", list(denying), None
        return "unsupported", f"the record says nothing of {atom.label}", [], None

    def _doubt(self, atoms: Sequence[Atom], among: Sequence[FactRecord]) -> float:
        """How surely a fact must entail a claim that names these, none of which the record has."""
        loosely = all(a.image or a.values[0] in tables()["loose_events"] for a in atoms)
        if not loosely or not all(self._may_be_meant_otherwise(a, among) for a in atoms):
            return NEVER
        return float(tables()["entailed"]["image"])

    def _judge_denial(
        self, atom: Atom, claim: Claim, stating: Sequence[FactRecord], denying: Sequence[FactRecord]
    ) -> Part:
        concept = self._record.terms.name(atom.values[0]) if atom.kind == "concept" else atom.label
        exact = [f for f in stating if not (claim.reading.sites and f.sites and not claim.reading.sites & f.sites)]
        central = self._record.centred(atom, [f for f in exact if not f.denied])
        outweighed = bool(central) and not any(f.denied for f in self._record.centred(atom, denying))
        literal = any(set(atom.values) & f.absent for f in denying)
        if denying and not outweighed and (literal or not exact):
            return "supported", "", list(denying), concept
        if exact and _never_done(claim, exact):
            return "supported", "", exact, concept
        if exact and not self._only_qualified(atom, claim):
            return "contradicted", f"the record states {atom.label}", list(exact), None
        if self._in_complete_list(atom, claim):
            return "supported", f"{atom.label} is not among a list that is complete", [], concept
        return "unrecorded_denial", f"the record neither states nor denies {atom.label}", [], concept

    def _only_qualified(self, atom: Atom, claim: Claim) -> bool:
        """Not the thing itself is denied but a circumstance of it ("the pain doesn't spread")."""
        if claim.manner == "answer":
            more = frozenset(content_stems(claim.question)) - atom.stems - _NEUTRAL
            return len(more) > 1
        return any(a.kind == "group" and a.negated and not a.stems <= atom.stems for a in claim.reading.atoms)

    def _in_complete_list(self, atom: Atom, claim: Claim) -> bool:
        kind = self._record.terms.kind(atom.values[0]) if atom.kind == "concept" else atom.kind
        allergic = {"allerg", "allergi"} & claim.reading.stems
        return kind in ("drug", "device", "allergy_agent") or bool(allergic) or atom.values[0] in ("device", "selfcare")

    def _answered(self, parts: list[Part], claim: Claim, targets: Sequence[str]) -> list[Part]:
        """A yes or no to a question that asks for a fact in words the vocabulary does not connect."""
        asked = self._record.of(targets[:1])
        if claim.manner != "answer" or not asked or asked[0].denied != claim.negative:
            return parts
        loose = "unrecorded_denial" if claim.negative else "unsupported"
        return [("supported", "answers what was asked", list(asked), p[3]) if p[0] == loose else p for p in parts]

    def _is_normality(self, atom: Atom, claim: Claim) -> bool:
        said = set(words(claim.text)) & set(tables()["normal"])
        symptom = atom.kind == "concept" and self._record.terms.kind(atom.values[0]) == "symptom"
        return bool(said) and symptom and not claim.reading.negated and claim.manner == "statement"

    def _rescued(
        self, parts: list[Part], atoms: Sequence[Atom], claim: Claim, among: Sequence[FactRecord]
    ) -> list[Part]:
        """A claim that says what a fact says, in words the vocabulary does not connect."""
        open_atoms = [a for a, p in zip(atoms, parts, strict=True) if p[0] == "unsupported"]
        if not all(self._may_be_meant_otherwise(a, among) for a in open_atoms):
            return parts
        scores = self._near.of(claim.text, among)
        best = max(scores.values(), default=0.0)
        near = [f for f in among if scores.get(f.id) == best and f.denied == claim.reading.negated]
        level = "paraphrase_image" if all(a.image for a in open_atoms) else "paraphrase"
        if best < tables()["thresholds"][level] or not near or not _same_places(claim.reading, near[0]):
            return parts
        reason = f"says the same (similarity {best:.2f})"
        return [("supported", reason, near[:1], p[3]) if p[0] == "unsupported" else p for p in parts]

    def _may_be_meant_otherwise(self, atom: Atom, among: Sequence[FactRecord]) -> bool:
        """A symptom goes by many words; a medicine, an illness, a stay in hospital or a thing denied does not."""
        if self._record.touched_by_denial(atom, among):
            return False
        kind = self._record.terms.kind(atom.values[0]) if atom.kind == "concept" else atom.kind
        return (
            kind == "symptom"
            or (atom.image and kind in ("exposure", "habit"))
            or atom.values[0] in tables()["loose_events"]
        )

    # --- what names nothing: it goes on about something, or is small talk

    def _judge_unnamed(self, judged: Judgement, targets: Sequence[str]) -> None:
        claim = judged.claim
        reading = claim.reading
        about = self._talked_of(claim, targets)
        detail = bool(reading.of("group") or reading.sides or any(q.text != "once" for q in reading.quantities))
        said = words(claim.text)
        goes_on = (len(said) <= MAX_FRAGMENT or bool(ANAPHORS & set(said))) and _is_light(reading)
        if claim.negative and about is not None and about and claim.manner == "answer":
            self._judge_bare_denial(judged, about)
            return
        scores = self._near.of(claim.text, self._own)
        best = max(scores.values(), default=0.0)
        nearest = [f for f in self._own if scores.get(f.id) == best]
        if best >= tables()["thresholds"]["same"] and nearest and nearest[0].denied == reading.negated:
            judged.add("supported", f"says the same (similarity {best:.2f})", nearest[:1])
            for quantity in reading.quantities:
                self._details.quantity(judged, quantity, nearest[:1], self._record.siblings(nearest[:1]))
            return
        complaint = bool(reading.sites) and bool(pattern("complaints").search(fold(claim.text)))
        if complaint and not reading.negated:
            self._judge_complaint(judged, reading)
            return
        if detail and goes_on and about is not None:
            if about:
                judged.add("supported", "", about[:1])
                self._details.judge(judged, about, targets)
            else:
                doubt = float(tables()["entailed"]["words"])
                judged.add("unsupported", "the record says nothing of what was asked about", doubt=doubt)
            return
        if detail and goes_on and _tells_direction(reading):
            judged.add("supported", "")
            self._details.judge(judged, self._own, targets)
            return
        if best >= tables()["thresholds"]["topic"] and nearest and not nearest[0].denied:
            judged.add("supported", f"is about this (similarity {best:.2f})", nearest[:1])
            self._details.judge(judged, nearest[:1], targets)

    def _talked_of(self, claim: Claim, targets: Sequence[str]) -> tuple[FactRecord, ...] | None:
        """Facts about what the claim goes on about; None where nothing clinical was talked of."""
        asked = [f.id for f in self._record.of(targets)]
        context = claim.context.of("concept", "drug") if claim.context else ()
        atoms = [a for a in context if self._record.terms.is_clinical(a.values)]
        if not asked and not atoms:
            return None
        found = {f.id for a in atoms for f in self._record.stating(a, self._own)}
        return self._record.siblings(self._record.of({*asked, *found}))

    def _judge_bare_denial(self, judged: Judgement, about: Sequence[FactRecord]) -> None:
        """A plain no to a question that names no concept but asks for a fact."""
        denied = [f for f in about if f.denied]
        if denied:
            judged.add("supported", "", denied[:1])
            judged.denied.append((denied[0].fact.concept, denied[0].id))

    def _judge_complaint(self, judged: Judgement, reading: Reading) -> None:
        held = [f for f in self._own if f.sites & reading.sites and not f.denied]
        if held:
            judged.add("supported", "", held[:1])
            self._details.places(judged, reading, held)
        else:
            doubt = float(tables()["entailed"]["place"])
            judged.add("unsupported", "the record has no complaint there", doubt=doubt)


def _is_light(reading: Reading) -> bool:
    """Next to nothing is said beside manner, time and place."""
    covered = {s for a in reading.atoms for s in a.stems} | {
        s for q in reading.quantities for s in content_stems(q.text)
    }
    heavy = [s for s in reading.stems - covered - _LIGHT if not sites(s)]
    telling = reading.quantities or reading.sides or any(a.family != "circumstance" for a in reading.of("group"))
    return len(heavy) <= bool(telling)


def _never_done(claim: Claim, facts: Sequence[FactRecord]) -> bool:
    """The claim denies an act ("I never took it"), and a fact has it as not done."""
    undone = pattern("undone")
    return bool(undone.search(fold(claim.text))) and any(undone.search(fold(t)) for f in facts for t in f.texts)


def _says(fact: FactRecord, name: str) -> bool:
    """Whether one of the fact's texts has the named pattern."""
    return any(pattern(name).search(fold(t)) for t in fact.texts)


def _tells_direction(reading: Reading) -> bool:
    return any(a.family in ("direction", "spread") for a in reading.of("group"))


def _same_places(reading: Reading, fact: FactRecord) -> bool:
    """Every part of the body that the clause names stands in the fact, or lies where it does."""
    places = [w for w in words(reading.text) if sites(w) and w not in tables()["adjectives_of_place"]]
    return all(stem(w) in fact.stems or (sites(w) & fact.sites and not reading.sides) for w in places)
