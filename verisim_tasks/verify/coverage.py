"""Whether every word of a claim that carries a fact is borne out by the record: what is left over is made up."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import replace

from verisim_tasks.language.body import sites
from verisim_tasks.language.words import content_stems, fold, stem, words
from verisim_tasks.verify.claims import Claim
from verisim_tasks.verify.details import Details
from verisim_tasks.verify.evidence import CaseRecord, FactRecord, Nearness, misspelt
from verisim_tasks.verify.judgement import NEVER, Judgement, Outcome
from verisim_tasks.verify.reading import negated_words
from verisim_tasks.verify.synonyms import listed, meanings, opposed, restated, unsure
from verisim_tasks.verify.vocabulary import WordGroup, kin_words, pattern, tables, word_groups
from verisim_tasks.verify.wording import Word, carries, spoken

MAX_BESIDE = 2
"""Facts beside those that a verdict rests on which may bear out the words left over."""


NORMAL = frozenset(("fine", "normal", "ok", "okay", "alright", "clear"))
"""Words by which something is said not to be affected."""
_TO_DOCTOR = re.compile(
    r"\b(?:want to know|know what|you|your|thanks?|thank you|hope|sorry|please|welcome|hello|let me|i hope)\b"
)
OF_PERSON = frozenset(
    ("patient", "patient's", "i", "i'm", "i've", "i'd", "my", "he", "he's", "she", "she's", "his", "her", "we", "we've")
)
"""Words of a clause that speaks of the patient or those around."""
MAX_REMARK = 5
"""Words of a remark in passing."""
FIRM = ("drug", "device", "procedure")
GROWN = 16
"""Years of age at which childhood ends."""
MIN_SHARED = 2
"""Words of a claim that a fact must say before it counts beside those the verdict rests on."""


class Coverage:
    """Checks the verdicts on one case word by word."""

    def __init__(self, record: CaseRecord, details: Details, nearness: Nearness) -> None:
        self._record = record
        self._details = details
        self._near = nearness

    def judge(self, judged: Judgement, among: Sequence[FactRecord], targets: Sequence[str]) -> None:
        """Turn a verdict that words of the claim do not bear out; ``among`` are the facts it may rest on."""
        carrying = self._carrying(judged.claim)
        if self._opposed(judged, carrying, among, targets) or self._clashes(judged, carrying):
            return
        named = judged.verdict != "not_clinical"
        if named:
            carrying = [w for w in carrying if w.stem not in listed("medicine")]
        loose = not named or not judged.claim.reading.is_clinical
        asserted = pattern("asserts").search(fold(judged.claim.text))
        if loose and not asserted and all(w.stem in listed("talk") for w in carrying):
            if not carrying and not named:
                self._bare_quantity(judged, among)
            return
        basis = self._record.siblings(self._record.of((*judged.facts, *targets)))
        basis = tuple(f for f in basis if f in among) if named else basis
        open_words = self._open(carrying, judged.claim, basis)
        beside = self._beside(open_words, carrying, among)
        if named:
            beside = tuple(f for f in beside if _count(carrying, f) >= MIN_SHARED)
        open_words = self._open(open_words, judged.claim, (*basis, *beside))
        if open_words and self._is_paraphrase(judged.claim, open_words, (*basis, *beside)):
            open_words = []
        if open_words and not named and _is_remark(judged.claim, open_words):
            return
        if open_words:
            self._left_over(judged, open_words, (*basis, *beside))
        elif named and not judged.claim.reading.is_clinical:
            self._details.places(judged, judged.claim.reading, basis)
        elif not named and _are_scattered(carrying, (*basis, *beside)):
            self._left_over(judged, carrying, (*basis, *beside))
        elif not named:
            self._found(judged, beside or basis)

    def opposes(self, judged: Judgement, among: Sequence[FactRecord], targets: Sequence[str]) -> bool:
        """Whether the record has the opposite of a way that the claim tells of; the verdict is then turned."""
        return self._opposed(judged, self._carrying(judged.claim), among, targets)

    def _clashes(self, judged: Judgement, carrying: Sequence[Word]) -> bool:
        """The claim names nothing clinical, and states a word that the fact it is about holds only under a negation."""
        if judged.claim.reading.is_clinical or judged.verdict != "supported" or judged.claim.reading.negated:
            return False
        for fact in self._record.of(judged.facts[:1]):
            clash = [w for w in carrying if _only_turned(w.stem, (fact,))]
            if clash:
                judged.add("contradicted", f"the record denies {clash[0].text}", [fact])
                return True
        return False

    def _bare_quantity(self, judged: Judgement, among: Sequence[FactRecord]) -> None:
        """A number or time about nothing that is named must stand somewhere in the record."""
        for quantity in judged.claim.reading.quantities:
            if quantity.text != "once" and not judged.claim.context:
                self._details.quantity(judged, quantity, among, among)

    def rescue(self, judged: Judgement, among: Sequence[FactRecord], targets: Sequence[str]) -> Judgement:
        """The verdict when one fact says every word of the claim, with the same negations; else the one given.

        It undoes what the vocabulary read into single words ("standing there", "burst", "cannot stop drinking").
        """
        claim = judged.claim
        carrying = self._carrying(claim)
        if claim.reading.of("group") and any(a.family == "direction" for a in claim.reading.of("group")):
            return judged
        carrying = [w for w in carrying if w.stem not in _counted(claim) | listed("medicine")]
        asked = self._record.of(targets)
        for fact in (*asked, *(f for f in among if f.id not in targets)):
            said = len(carrying) + len(claim.reading.quantities) + sum(w.negated for w in carrying)
            enough = bool(carrying) and (fact.id in targets or said >= MIN_SHARED)
            enough = enough and self._names_all(claim, fact) and (not fact.denied or claim.reading.negated)
            if enough and all(_bears(w, fact) and not self._turns(w, fact) for w in carrying):
                again = Judgement(claim)
                again.add("supported", "", [fact])
                if not self._opposed(again, carrying, among, targets):
                    self._details.judge(again, (fact,), targets)
                if not again.is_wrong:
                    return again
        return judged

    def _carrying(self, claim: Claim) -> list[Word]:
        """Words that carry a fact; what is called fine counts as denied."""
        told_by = self._record.case.informant
        called = listed("young_patient") if told_by.role == "caregiver" else frozenset()
        names = called | frozenset(stem(w) for w in words(told_by.patient_name or ""))
        found = [w for w in spoken(_without_comparison(restated(claim.text))) if carries(w) and w.stem not in names]
        normal = set(words(claim.text)) & NORMAL
        return [replace(w, negated=True) for w in found] if normal and not claim.reading.negated else found

    def _names_all(self, claim: Claim, fact: FactRecord) -> bool:
        """Medicines, devices, operations and accidents stand in the fact by name; only symptoms go by many words."""
        kinds = self._record.terms.kind
        firm = [
            a
            for a in claim.reading.of("concept", "drug")
            if not a.negated and not a.image and (a.kind == "drug" or kinds(a.values[0]) in FIRM)
        ]
        happened = [a for a in claim.reading.of("event") if not a.negated and a.values[0] in tables()["firm_events"]]
        return all(a.stems & fact.stems for a in firm) and all(a.values[0] in fact.present for a in happened)

    def _turns(self, word: Word, fact: FactRecord) -> bool:
        """The claim denies what the fact states."""
        return word.negated and not meanings(word.stem) & fact.turned

    def _open(self, found: Sequence[Word], claim: Claim, facts: Sequence[FactRecord]) -> list[Word]:
        settled = self._settled(claim, facts)
        return [w for w in found if w.stem not in settled and not any(_bears(w, f) for f in facts)]

    def _settled(self, claim: Claim, facts: Sequence[FactRecord]) -> frozenset[str]:
        """Stems of what was judged by its meaning: concepts that the facts state or deny, numbers and times."""
        stems = _counted(claim) | _young_age(facts)
        loose = tuple(a for a in claim.reading.of("event") if a.values[0] in tables()["loose_events"])
        for atom in (*claim.reading.of("concept", "drug"), *loose):
            turned = atom.negated != claim.negative
            held = (turned and self._record.denying(atom, facts)) or self._record.stating(atom, facts)
            same = bool(self._record.centred(atom, held))
            stems |= frozenset(s for s in atom.stems if held and (turned or same or not _only_turned(s, held)))
        for atom in claim.reading.of("group"):
            held_groups = frozenset(v for f in facts for v in f.groups | f.groups_absent)
            stems |= atom.stems if atom.values[0] in held_groups else frozenset()
        return frozenset(stems)

    def _beside(
        self, open_words: Sequence[Word], carrying: Sequence[Word], among: Sequence[FactRecord]
    ) -> tuple[FactRecord, ...]:
        """The facts that bear out most of the words left over, each of them more than the ones before."""
        chosen: list[FactRecord] = []
        left = list(open_words)
        while left and len(chosen) < MAX_BESIDE:
            best = max(among, key=lambda f: (_count(left, f), _count(carrying, f)), default=None)
            if best is None or not _count(left, best):
                break
            chosen.append(best)
            left = [w for w in left if not _bears(w, best)]
        return tuple(chosen)

    def _is_paraphrase(self, claim: Claim, left: Sequence[Word], facts: Sequence[FactRecord]) -> bool:
        """One word is left over that is no clinical one and tells no cause, and the claim is very close to a fact."""
        clinical = {s for atom in claim.reading.atoms for s in atom.stems}
        firm = any(
            w.stem in clinical or w.negated or w.text in kin_words() or _only_turned(w.stem, facts) for w in left
        )
        if firm or len({w.stem for w in left}) > 1 or pattern("causes").search(fold(claim.text)):
            return False
        close = self._near.of(claim.text, facts)
        return max(close.values(), default=0.0) >= float(tables()["thresholds"]["left_over"])

    def _left_over(self, judged: Judgement, left: Sequence[Word], facts: Sequence[FactRecord]) -> None:
        denied = [w for w in left if not w.negated and any(meanings(w.stem) & f.turned for f in facts)]
        if denied:
            bearing = [f for f in facts if meanings(denied[0].stem) & f.turned]
            judged.add("contradicted", f"the record denies {denied[0].text}", bearing[:1])
            return
        told = ", ".join(dict.fromkeys(w.text for w in left))
        all_denied = all(w.negated for w in left) or judged.claim.negative
        verdict: Outcome = "unrecorded_denial" if all_denied else "unsupported"
        judged.add(verdict, f"the record says nothing of {told}", doubt=_doubt(judged.claim, left))

    def _found(self, judged: Judgement, facts: Sequence[FactRecord]) -> None:
        """A claim that names nothing clinical and stands in the record."""
        if not facts:
            return
        judged.add("supported", "", facts[:1])
        for quantity in judged.claim.reading.quantities:
            self._details.quantity(judged, quantity, facts, self._record.siblings(facts))
        self._details.places(judged, judged.claim.reading, facts)

    def _opposed(
        self, judged: Judgement, carrying: Sequence[Word], among: Sequence[FactRecord], targets: Sequence[str]
    ) -> bool:
        text = fold(restated(judged.claim.text))
        for claimed, held in opposed():
            match = claimed.search(text)
            if match is None or _denies(text, match):
                continue
            inside = frozenset(content_stems(match[0])) | {w.stem for w in spoken(match[0])}
            rest = [w for w in carrying if w.stem not in inside | _counted(judged.claim)]
            facts = (
                [f for f in among if all(_touches(w, f) for w in rest)]
                if rest
                else self._record.siblings(self._record.of((*judged.facts, *targets)))
            )
            against = [f for f in facts if any(held.search(fold(t)) for t in f.texts)]
            agreeing = [f for f in facts if f not in against and _agrees(f, match[0], claimed)]
            if against and not agreeing:
                judged.add("contradicted", f"the record tells otherwise of {match[0]}", against[:1])
                return True
        return False


_COMPARED = re.compile(
    r"(?<!\bfeels )(?<!\bfeel )(?<!\bfelt )(?<!\blooks )(?<!\blook )(?<!\blooked )(?<!\bsounds )(?<!\bsmells )"
    r"(?<!\btastes )(?<!\bit's )(?<!\bis )(?<!\bwas )(?<!\bthing )(?<!\bseems )\blike (?:an?|the) "
    r"(?P<image>\w+(?: \w+){0,3})(?=\s*(?:[,.;!]|$))",
    re.IGNORECASE,
)


def _without_comparison(text: str) -> str:
    """The text without what something is only likened to at its end ("tight like a drum"), if no kind of pain is."""
    match = _COMPARED.search(text)
    if match is None or sites(match["image"]) or any(g.found.search(fold(match["image"])) for g in _qualities()):
        return text
    return text[: match.start()] + text[match.end() :]


@functools.cache
def _qualities() -> tuple[WordGroup, ...]:
    return tuple(g for g in word_groups() if g.family in ("quality", "severity"))


def _is_remark(claim: Claim, left: Sequence[Word]) -> bool:
    """A few words in passing that name nothing of the body, of health, of people or of numbers ("it's murder")."""
    reading = claim.reading
    said = words(claim.text)
    named = reading.atoms or reading.kin or reading.sites or reading.quantities or reading.negated
    return not named and len(said) <= MAX_REMARK and len(left) == 1 and not OF_PERSON & set(said)


def _doubt(claim: Claim, left: Sequence[Word]) -> float:
    """How surely a fact must entail a claim with these words left over: never with a medicine among them."""
    stems = {w.stem for w in left}
    if any(a.stems & stems for a in claim.reading.of("drug", "event")):
        return NEVER
    levels = tables()["entailed"]
    placed = any(sites(w.text) or w.text in kin_words() for w in left)
    return float(levels["place" if placed else "words"])


def _denies(text: str, match: re.Match[str]) -> bool:
    """What matched stands under a negation before it."""
    return len(words(text[: match.start()])) in negated_words(text) and not negated_words(match[0])


def _agrees(fact: FactRecord, said: str, claimed: re.Pattern[str]) -> bool:
    """The fact says the same, or tells what brings relief where the claim does."""
    if fact.fact.aspect == "relieving" and "help" in said:
        return True
    return any(claimed.search(fold(t)) and not unsure().search(fold(t)) for t in fact.texts)


def is_small_talk(claim: Claim) -> bool:
    """Speaks to the doctor, thanks, hopes or asks, in words that carry no fact."""
    plain = [w for w in spoken(claim.text) if carries(w)]
    if pattern("asserts").search(fold(claim.text)):
        return False
    if pattern("remorse").search(fold(claim.text)) or pattern("reported_questions").search(fold(claim.text)):
        return True
    if not claim.reading.is_clinical and pattern("addressed").search(fold(claim.text)):
        return True
    if not claim.reading.is_clinical and pattern("attitudes").search(fold(claim.text)):
        return not claim.reading.sites and all(q.kind == "time" for q in claim.reading.quantities)
    of_visit = _TO_DOCTOR.search(fold(claim.text)) or any(w.stem in listed("visit") for w in plain)
    return bool(of_visit) and all(w.stem in listed("talk") | listed("visit") for w in plain)


def _are_scattered(carrying: Sequence[Word], facts: Sequence[FactRecord]) -> bool:
    """No two of the words stand in one fact: each is found somewhere, and what they say together nowhere."""
    return len(carrying) >= MIN_SHARED and all(_count(carrying, f) < MIN_SHARED for f in facts)


def _count(found: Sequence[Word], fact: FactRecord) -> int:
    return sum(_bears(w, fact) for w in found)


def _bears(word: Word, fact: FactRecord) -> bool:
    """The fact says the word, or one of like meaning, and does not deny it where the claim states it."""
    held = fact.stated | fact.turned if word.negated else fact.stated
    if meanings(word.stem) & held:
        return True
    if word.stem in listed("regions") and sites(word.text) & fact.sites and not (meanings(word.stem) & fact.turned):
        return True
    return any(misspelt(word.stem, s) for s in held)


def _young_age(facts: Sequence[FactRecord]) -> frozenset[str]:
    """What may be said of a time for which a fact gives an age below `GROWN`."""
    ages = [q for f in facts for q in f.quantities if q.kind == "age"]
    return frozenset((stem("childhood"),)) if any(q.high < GROWN for q in ages) else frozenset()


def _counted(claim: Claim) -> set[str]:
    """Stems that say a time or how often; what is counted is not among them."""
    return {s for q in claim.reading.quantities for s in content_stems(q.text) if q.kind != "count" and s != q.noun}


def _only_turned(word_stem: str, facts: Sequence[FactRecord]) -> bool:
    """All that the facts say of the word, they say under a negation ("without condoms")."""
    own = meanings(word_stem)
    return any(own & f.turned for f in facts) and not any(own & f.stated for f in facts)


def _touches(word: Word, fact: FactRecord) -> bool:
    return bool(meanings(word.stem) & (fact.stated | fact.turned))
