"""Everything that a claim says beside naming a thing: how, where, on which side, when, how much."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from verisim_tasks.language.body import sites
from verisim_tasks.language.words import fold, stem, words
from verisim_tasks.verify.evidence import CaseRecord, FactRecord
from verisim_tasks.verify.judgement import Judgement, Outcome
from verisim_tasks.verify.quantities import Quantity, agrees, comparable
from verisim_tasks.verify.reading import Atom, Reading
from verisim_tasks.verify.sides import agrees as sides_agree
from verisim_tasks.verify.sides import sided, wrong_side
from verisim_tasks.verify.synonyms import meanings
from verisim_tasks.verify.vocabulary import pattern, tables, word_groups
from verisim_tasks.verify.wording import carries, spoken

_OPPOSITE = {"direction:worse": "direction:better", "direction:better": "direction:worse"}
_DAYTIMES = ("circumstance:night", "circumstance:evening", "circumstance:morning")
_RIVALS: Mapping[str, frozenset[str]] = {
    "pattern:constant": frozenset({"pattern:intermittent"}),
    "pattern:intermittent": frozenset({"pattern:constant"}),
    "pattern:sudden": frozenset({"pattern:gradual"}),
    "pattern:gradual": frozenset({"pattern:sudden"}),
    "severity:mild": frozenset({"severity:severe", "severity:moderate"}),
    "severity:severe": frozenset({"severity:mild"}),
    "severity:moderate": frozenset({"severity:mild", "severity:severe"}),
    "direction:better": frozenset(),
    "direction:worse": frozenset(),
}
_LOOSE = ("context",)
_CEASED = frozenset((stem("stopped"),))
"""Said of habits and of complaints alike."""
_NO_BACK = re.compile(
    r"\b(?P<unit>seconds|minutes|hours?|days?|nights?|evenings?|weeks?|months?|years?|while|time) back\b"
    r"|\b(?:goes?|going|went|comes?|came|dates?|gets?|got|sent|lay|sit|turned) back (?=to\b|in\b|on\b|home\b)"
    r"|\bback (?:in (?:19|20)\d\d|then|home|again|when|and forth|to (?:sleep|work|school|normal))\b"
)
"""``back`` that is no part of the body."""
NEARLY = 3
"""Years within which an age may be rounded."""
MIN_NEAR = 2
"""Words beside a number by which a fact is told to be about the same."""
YEAR = 365.25
"""Days."""
_HARMLESS = frozenset(
    stem(w)
    for w in [
        "percent",
        "things",
        "people",
        "question",
        "questions",
        "words",
        "times",
        "minutes",
        "seconds",
        "reasons",
        "of",
        "way",
    ]
)


class Details:
    """Judges the details of claims on one case. ``own``: the facts about the patient."""

    def __init__(self, record: CaseRecord, own: Sequence[FactRecord]) -> None:
        self._record = record
        self._own = tuple(own)

    def judge(self, judged: Judgement, basis: Sequence[FactRecord], targets: Sequence[str]) -> None:
        """Everything else that the claim says of what the basis states."""
        reading = judged.claim.reading
        wider = self._record.siblings(basis)
        wider += tuple(f for f in self._record.of(targets) if f not in wider and _akin(f, reading))
        self._judge_groups(judged, reading, wider)
        self.places(judged, reading, wider)
        for quantity in reading.quantities:
            self.quantity(judged, quantity, basis, (*wider, *self._record.of(targets)))
        self._judge_habit(judged, basis)

    def quantity(
        self, judged: Judgement, quantity: Quantity, basis: Sequence[FactRecord], wider: Sequence[FactRecord]
    ) -> None:
        """A number or time must stand, as exact or more so, in the facts of the basis or in those beside them."""
        for records in (basis, wider):
            known = comparable(quantity, [q for f in records for q in f.quantities])
            held = [f for f in records if any(agrees(quantity, q) for q in comparable(quantity, f.quantities))]
            if held:
                judged.add("supported", "", held)
                return
        if self._is_own_age(quantity, basis) or self._is_own_weight(quantity, judged.claim.reading):
            judged.add("supported", "")
            return
        if any(agrees(other, q) for other in self._by_age(quantity) for f in (*basis, *wider) for q in f.quantities):
            judged.add("supported", "", basis[:1])
            return
        if any(agrees(_as_dose(quantity), q) for f in basis for q in f.quantities):
            judged.add("supported", "", basis[:1])
            return
        if any(_said_daily(quantity, f) for f in basis) or self._beside(quantity, judged.claim.text):
            judged.add("supported", "", basis[:1])
            return
        loosely = quantity.text == "once" or (quantity.kind == "frequency" and quantity.text.startswith("some "))
        if quantity.noun in _HARMLESS or (loosely and not known):
            return
        bearing = [f for f in wider if comparable(quantity, f.quantities)]
        if known:
            said = ", ".join(dict.fromkeys(q.text for q in known[:4]))
            judged.add("contradicted", f"{quantity.text}: the record has {said}", bearing[:2])
        else:
            doubt = float(tables()["entailed"]["number"])
            judged.add("unsupported", f"the record gives no such number or time: {quantity.text}", doubt=doubt)

    def _beside(self, quantity: Quantity, text: str) -> bool:
        """A fact has the number and says every word that stands beside it in its part of the clause."""
        told = fold(text)
        part = next((p for p in _PARTS.split(told) if quantity.text in p), "")
        near = [w for w in spoken(part.replace(quantity.text, " ")) if carries(w)]
        return len(near) >= MIN_NEAR and any(
            all(meanings(w.stem) & f.stated for w in near) and any(agrees(quantity, q) for q in f.quantities)
            for f in self._own
        )

    def _is_own_age(self, quantity: Quantity, basis: Sequence[FactRecord]) -> bool:
        """A decade of life, or a round number beside the age, that fits the patient."""
        own = self._record.case.demographics.age
        if quantity.kind == "age" and quantity.text.startswith("in "):
            return quantity.low <= own <= quantity.high + 0.99
        aged = any(f.fact.category == "age" for f in basis)
        return aged and quantity.kind == "count" and not quantity.noun and abs(quantity.low - own) < NEARLY

    def _is_own_weight(self, quantity: Quantity, reading: Reading) -> bool:
        """What the patient weighs, and not what was lost or gained."""
        own = self._record.case.vitals.weight_kg
        weighed = quantity.kind == "weight" and stem("weigh") in reading.stems
        return weighed and own is not None and agrees(quantity, Quantity("weight", own, own, f"{own:g} kg"))

    def _by_age(self, quantity: Quantity) -> list[Quantity]:
        """A time since some age as years, and years as the age at which they began."""
        own = self._record.case.demographics.age
        if quantity.kind == "age" and "since" in quantity.text:
            low, high = (own - quantity.high) * YEAR, (own - quantity.low) * YEAR
            return [replace(quantity, kind="time", low=low * 0.9, high=high * 1.1, vague=True)]
        if quantity.kind == "time" and quantity.low > 2 * YEAR:
            low, high = own - quantity.high / YEAR, own - quantity.low / YEAR
            return [replace(quantity, kind="age", low=low - 1, high=high + 1, vague=True)]
        return []

    def _judge_groups(self, judged: Judgement, reading: Reading, wider: Sequence[FactRecord]) -> None:
        groups = reading.of("group")
        pairs = [a for a in groups if a.family in ("direction", "circumstance")]
        directions = [a for a in pairs if a.family == "direction"]
        circumstances = [a for a in pairs if a.family == "circumstance"]
        if directions and circumstances:
            for circumstance in circumstances:
                self._judge_pair(judged, directions[0], circumstance, wider)
        for atom in groups:
            if atom.family in ("direction", "circumstance") and directions and circumstances:
                continue
            self._judge_group(judged, atom, reading, wider)

    def _judge_pair(self, judged: Judgement, direction: Atom, circumstance: Atom, wider: Sequence[FactRecord]) -> None:
        """Worse, or better, under a circumstance: both must stand in one fact."""
        turned = direction.negated or circumstance.negated
        bearing = [
            (f, f.groups | f.groups_absent | _aspect_groups(f)) for f in wider if _has_circumstance(circumstance, f)
        ]
        plain_facts = [
            f
            for f, held in bearing
            if direction.values[0] in held and not self._turned(direction, circumstance, f, turned)
        ]
        if plain_facts:
            judged.add("supported", "", plain_facts[:1])
            return
        against = [f for f, held in bearing if held & {direction.values[0], _OPPOSITE[direction.values[0]]}]
        if against and not turned:
            judged.add("contradicted", f"the record tells otherwise of {circumstance.label}", against[:1])
            return
        holding = (f for f in self._own if _has_circumstance(circumstance, f) and direction.values[0] in f.groups)
        everywhere = [f for f in holding if not self._turned(direction, circumstance, f, turned)]
        if everywhere and _shares_words(judged.claim.reading, everywhere[0]):
            judged.add("supported", "", everywhere[:1])
            return
        verdict: Outcome = "unrecorded_denial" if turned else "unsupported"
        doubt = float(tables()["entailed"]["manner"])
        judged.add(verdict, f"the record does not tell of {direction.label} with {circumstance.label}", doubt=doubt)

    def _turned(self, direction: Atom, circumstance: Atom, fact: FactRecord, turned: bool) -> bool:
        """The fact says that the circumstance makes no difference, or ties the direction to another time of day."""
        value = circumstance.values[0]
        if turned:
            return False
        no_matter = value in fact.groups_absent and value not in fact.groups
        return no_matter or (value in _DAYTIMES and not _nearest_daytime(direction, value, fact))

    def _judge_group(self, judged: Judgement, atom: Atom, reading: Reading, wider: Sequence[FactRecord]) -> None:
        family, value = atom.family, atom.values[0]
        if family in ("direction",) and not reading.of("concept") and not reading.quantities:
            wider = wider or self._own
        holding = [f for f in wider if value in f.groups or _has_words(atom, f)]
        if family == "habit_change" and not holding and atom.stems <= _CEASED:
            holding = [f for f in wider if all(meanings(s) & f.stated for s in atom.stems)]
        lacking = [f for f in wider if value in f.groups_absent]
        if family == "severity" and not holding:
            holding = [f for f in wider if any(q.kind == "scale" and _grade(q) == value for q in f.quantities)]
        if atom.negated:
            if lacking or not holding:
                judged.add(
                    "supported" if lacking else "unrecorded_denial",
                    "" if lacking else f"the record says nothing of {atom.label}",
                    lacking,
                )
            elif family in ("spread", "quality"):
                judged.add("contradicted", f"the record states {atom.label}", holding[:1])
            return
        if holding:
            return
        if family == "circumstance" and any(value in f.groups or _has_words(atom, f) for f in self._own):
            return
        rival = _RIVALS.get(value)
        against = [f for f in wider if rival and rival & f.groups]
        if against:
            judged.add("contradicted", f"{atom.label}: the record tells otherwise", against[:1])
        elif lacking:
            judged.add("contradicted", f"the record denies {atom.label}", lacking[:1])
        elif family not in _LOOSE and value != "pattern:constant":
            doubt = float(tables()["entailed"]["quality" if family in ("quality", "severity") else "manner"])
            judged.add("unsupported", f"the record says nothing of {atom.label}", doubt=doubt)

    def places(self, judged: Judgement, reading: Reading, wider: Sequence[FactRecord]) -> None:
        """Parts of the body and sides must be those of the record."""
        concepts = [
            a for a in reading.of("concept") if self._record.terms.kind(a.values[0]) not in ("procedure", "device")
        ]
        named = {s for a in concepts for s in a.stems}
        held = frozenset(s for f in wider for s in f.sites | f.implied_sites)
        stems = frozenset(s for f in wider for s in f.stems)
        for word in words(pattern("not_places").sub(" ", _NO_BACK.sub(" ", fold(reading.text)))):
            here = sites(word)
            if (
                not here
                or word in tables()["adjectives_of_place"]
                or stem(word) in stems
                or here & held
                or (stem(word) in named)
            ):
                continue
            if reading.negated:
                judged.add("unrecorded_denial", f"the record says nothing of the {word}")
                continue
            doubt = float(tables()["entailed"]["place"])
            judged.add("unsupported", f"the record does not place it in the {word}", doubt=doubt)
        self.sides(judged, reading, wider)

    def sides(self, judged: Judgement, reading: Reading, wider: Sequence[FactRecord]) -> None:
        """Left, right and both: of each part of the body where the record tells, else on the whole."""
        claimed = sided(reading.text)
        held = frozenset(one for f in wider for t in f.texts for one in sided(t))
        wrong_part = wrong_side(claimed, held)
        if wrong_part is not None and not reading.negated:
            bearing = [f for f in wider if any(p == wrong_part[1] for t in f.texts for _, p in sided(t))]
            judged.add("contradicted", f"the record has the {wrong_part[1]} on another side", bearing[:1])
            return
        if sides_agree(claimed, held):
            return
        sides = frozenset(s for f in wider for s in f.sides)
        wrong = reading.sides - sides or (sides if "both" in sides - reading.sides and reading.sides else frozenset())
        if wrong and not reading.negated:
            side = sorted(reading.sides)[0]
            bearing = [f for f in wider if f.sides]
            if bearing:
                judged.add(
                    "contradicted",
                    f"the record has the {' and '.join(sorted(sides - {'both'}))} side, not the {side}",
                    bearing[:1],
                )
            else:
                judged.add("unsupported", f"the record names no side: {side}")

    def _judge_habit(self, judged: Judgement, basis: Sequence[FactRecord]) -> None:
        """A habit or medicine given up is not one of the present."""
        claim = judged.claim
        current = pattern("current").search(fold(claim.text)) and not claim.reading.past
        if not current or any(a.values[0] == "habit_change:stopped" for a in claim.reading.atoms):
            return
        kinds = {self._record.terms.kind(a.values[0]) for a in claim.reading.of("concept") if not a.negated}
        given_up = [f for f in basis if "habit_change:stopped" in f.groups and not f.denied]
        if given_up and len(given_up) == len(basis) and kinds & {"habit", "drug"} and not claim.negative:
            judged.add("contradicted", "the record has it as given up", given_up)


def _said_daily(quantity: Quantity, fact: FactRecord) -> bool:
    """Says every day, where the fact has some amount a day."""
    unit = re.fullmatch(r"(?:every|each) (day|night|evening|morning)", quantity.text)
    return bool(unit) and any(re.search(rf"\b(?:a|per|each|every) {unit[1]}\b", fold(t)) for t in fact.texts)  # type: ignore[index]


_PARTS = re.compile(r"[,;]|\b(?:since|when|after|before|until|because|and)\b")


def _as_dose(quantity: Quantity) -> Quantity:
    """A bare number, or one a day, as a dose: "fifty at night" of a medicine."""
    hedged = quantity.vague and quantity.kind == "count"
    bare = quantity.kind in ("frequency", "count") and not quantity.noun and (hedged or not quantity.vague)
    return replace(quantity, kind="dose") if bare else quantity


def _has_words(atom: Atom, fact: FactRecord) -> bool:
    return bool(atom.stems) and atom.stems <= fact.stems and not fact.denied


def _has_circumstance(atom: Atom, fact: FactRecord) -> bool:
    return atom.values[0] in fact.groups | fact.groups_absent or _has_words(atom, fact)


def _aspect_groups(fact: FactRecord) -> frozenset[str]:
    """The direction that a fact of this aspect tells of, whatever its words."""
    found = {"aggravating": "direction:worse", "relieving": "direction:better"}.get(fact.fact.aspect or "")
    return frozenset({found} if found else ())


def _grade(quantity: Quantity) -> str:
    return "severity:" + ("mild" if quantity.high <= 3 else "moderate" if quantity.high <= 6 else "severe")


def _shares_words(reading: Reading, fact: FactRecord) -> bool:
    return len(reading.stems & fact.stems) >= 2


def _akin(fact: FactRecord, reading: Reading) -> bool:
    """A fact that was asked for and shares a word or a place with the claim."""
    return bool(fact.stems & reading.stems or fact.sites & reading.sites)


def _nearest_daytime(direction: Atom, value: str, fact: FactRecord) -> bool:
    """In one of the fact's texts no other time of day stands nearer to the direction."""
    found = {f"{g.family}:{g.name}": g.found for g in word_groups()}
    for text in fact.texts:
        places = [m.start() for m in found[direction.values[0]].finditer(fold(text))]
        folded = fold(text)
        times = [
            (_distance(folded, m.start(), p), v) for v in _DAYTIMES for m in found[v].finditer(folded) for p in places
        ]
        if times and min(times)[1] == value:
            return True
    return False


def _distance(text: str, one: int, other: int) -> int:
    """Characters between two places; a comma between them counts as far."""
    between = text[min(one, other) : max(one, other)]
    return len(between) + len(text) * between.count(",")
