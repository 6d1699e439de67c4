"""Claims about relatives, held to the family history of the case."""

from __future__ import annotations

from collections.abc import Sequence

from verisim_tasks.language.words import stem, words
from verisim_tasks.verify.claims import Claim
from verisim_tasks.verify.details import Details
from verisim_tasks.verify.evidence import CaseRecord, FactRecord
from verisim_tasks.verify.judgement import Judgement
from verisim_tasks.verify.reading import Atom, Reading, without_echo
from verisim_tasks.verify.synonyms import listed
from verisim_tasks.verify.vocabulary import tables


class FamilyJudge:
    """Judges claims about relatives. A relative and an illness must stand in one clause of the record."""

    def __init__(self, record: CaseRecord, details: Details) -> None:
        self._record = record
        self._details = details
        self._family = tuple(f for f in record.facts if f.family or f.kin & set(tables()["blood"]))

    def judge(self, judged: Judgement) -> None:
        """Note the verdict; says nothing where the claim tells nothing of health."""
        claim = judged.claim
        atoms = [
            a
            for a in claim.reading.atoms
            if a.kind in ("concept", "drug", "event")
            and (a.kind != "event" or a.values[0] != "contact" or "same" in a.text)
        ]
        atoms = [a for a in without_echo(atoms) if a.kind != "concept" or self._record.terms.is_clinical(a.values)]
        kin = _expanded(claim.reading.kin)
        died = _died(claim.reading.stems)
        if not atoms and not died and not (claim.reading.quantities and self._family):
            return
        units = [(f, r) for f in self._family for r in f.readings if _expanded(r.kin or f.kin) & kin or not f.kin]
        for atom in atoms:
            self._judge_family_atom(judged, atom, claim, units)
        if died and not atoms:
            held = [f for f, r in units if _died(r.stems) and r.kin]
            judged.add(
                "supported" if held else "unsupported", "" if held else "the record tells of no such death", held[:1]
            )
        if judged.verdict == "supported" and judged.facts:
            facts = [f for f in self._family if f.id in judged.facts]
            for quantity in claim.reading.quantities:
                self._details.quantity(judged, quantity, facts, facts)

    def _without(self, claim: Claim, stating: Sequence[FactRecord]) -> str:
        """The first relative named of whom none of these facts tells; empty where there is none."""
        told = frozenset(k for f in stating for k in f.kin)
        known = told | (frozenset(tables()["blood"]) if not told else frozenset())
        if len(claim.reading.kin) < 2 and "both" not in words(claim.text):
            return ""
        return next((sorted(k)[0] for k in _named(claim) if not k & known), "")

    def _judge_family_atom(
        self, judged: Judgement, atom: Atom, claim: Claim, units: Sequence[tuple[FactRecord, Reading]]
    ) -> None:
        negated = atom.negated != claim.negative
        lineage = self._record.terms.lineage
        stating: list[FactRecord] = []
        for fact, reading in units:
            for own in (a for a in reading.atoms if a.kind != "group"):
                named = atom.stems - listed("harmless")
                related = any(set(atom.values) & lineage(v) for v in own.values) or bool(named and named <= own.stems)
                if related and not own.negated and not fact.denied:
                    stating.append(fact)
        denying = self._record.denying(atom, [f for f, _ in units])
        if negated:
            if stating:
                judged.add("contradicted", f"the record has {atom.label} in the family", stating[:1])
            else:
                judged.add("supported", "the family history is complete" if not denying else "", denying[:1])
        elif stating and not (missing := self._without(claim, stating)):
            judged.add("supported", "", stating[:1])
        elif stating:
            judged.add("unsupported", f"the record has no {atom.label} of {missing}")
        else:
            reason = f"the record has no {atom.label} of {' or '.join(sorted(claim.reading.kin)) or 'a relative'}"
            judged.add("contradicted" if denying else "unsupported", reason, denying[:1])


def _named(claim: Claim) -> list[frozenset[str]]:
    """Each relative that the claim names, with those who may be meant; both parents are two."""
    kinds = tables()["kin_kinds"]
    both = "parent" in claim.reading.kin and "both" in words(claim.text)
    single = [frozenset((k, *kinds.get(k, ()))) for k in sorted(claim.reading.kin & set(tables()["blood"]))]
    return [*single, *(frozenset((k,)) for k in (kinds["parent"] if both else ()))]


def _expanded(kin: frozenset[str]) -> frozenset[str]:
    """Relatives with those that a general word stands for."""
    wider = {k for name in kin for k in tables()["kin_kinds"].get(name, ())}
    return kin | wider


def _died(stems: frozenset[str]) -> bool:
    return bool(stems & {stem("died"), stem("dead"), stem("dies"), stem("death")})
