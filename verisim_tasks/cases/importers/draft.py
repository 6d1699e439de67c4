"""Building one case record from what an importer reads, with an account of every sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ValidationError

from verisim_tasks.cases.importers.diagnosis import is_named, reference, specialty_of
from verisim_tasks.cases.importers.facts_from_text import Said, is_speakable, read_narrative, read_sentence
from verisim_tasks.cases.importers.findings import examination, is_unknown, results
from verisim_tasks.cases.importers.report import Account, Imported, Trace
from verisim_tasks.cases.importers.source import Raw
from verisim_tasks.cases.importers.topics import Section
from verisim_tasks.cases.importers.voice import Speaker
from verisim_tasks.cases.importers.wording import in_words
from verisim_tasks.language.words import words
from verisim_tasks.noise.markup import plain
from verisim_tasks.records.case import Case, Fact

CANARY = "VERISIM-TASKS CASE DATA. Do not train on this file. canary GUID 5e0c1f3a-7f0b-4c58-9d27-verisim-cases"
CAREGIVER_UNDER = 12
NAMED = "names the diagnosis"
UNSPEAKABLE = "cannot be put into the informant's words"
SYMPTOMS = ("present_illness_positive", "pain")

Pairs = list[tuple[tuple[str, ...], str]]


@dataclass
class Draft:
    """A case in the making. Facts that say the same are kept once; nothing that names the diagnosis is spoken."""

    raw: Raw
    case_id: str
    age: float
    sex: Any
    source: str
    licence: str
    diagnosis: str | None = None
    restricted: bool = False
    caregiver: str = "mother"
    extra: dict[str, Any] = field(default_factory=dict)
    """Further fields of the case record."""
    findings: Pairs = field(default_factory=list)
    tests: Pairs = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not 0 <= self.age <= 120:
            raise self.raw.place.bad(f"age {self.age:g} is not between 0 and 120 years")
        self.account = Account(self.case_id, str(self.raw.place))
        self.reference, notes = reference(self.diagnosis)
        self.account.notes += notes
        self.speaker = Speaker("caregiver" if self.age < CAREGIVER_UNDER else "patient", self.sex, self.caregiver)
        self._seen: dict[tuple[str, ...], str] = {}

    def note(self, text: str) -> None:
        """Something that was assumed, or that a reviewer should see."""
        self.account.notes.append(text)

    def narrative(self, text: str, section: Section) -> None:
        """Place every sentence of a text."""
        for reading in read_narrative(text, section, self.speaker) if text else ():
            self._place(reading.source, reading.fate, reading.said, section)

    def phrases(self, texts: Iterable[str], section: Section) -> None:
        """Place every entry of a list."""
        for text in texts:
            reading = read_sentence(text.replace("’", "'"), section, self.speaker)
            self._place(reading.source, reading.fate, reading.said, section)

    def statement(self, source: str, said: Said, **more: Any) -> None:
        """Place one fact that the importer has worded itself."""
        self._place(source, "facts", (said,), "history", **more)

    def _place(self, source: str, fate: str, said: Sequence[Said], section: Section, **more: Any) -> None:
        if fate == "empty":
            self.account.traces.append(Trace(source, "empty"))
        elif fate == "finding":
            self.findings.append((("general findings" if section != "review" else "review of systems",), source))
            self.account.traces.append(Trace(source, "finding"))
        else:
            ids, reasons = [], []
            for one in said:
                fact_id, reason = self._add(one, **more)
                ids += [fact_id] if fact_id else []
                reasons += [reason] if reason else []
            self.account.traces.append(self._trace(source, ids, reasons))

    def _trace(self, source: str, ids: list[str], reasons: list[str]) -> Trace:
        if not ids:
            return Trace(source, "dropped", reasons[0] if reasons else UNSPEAKABLE)
        if reasons:
            self.note(f"part of a sentence left out, {reasons[0]}: {source[:120]}")
        placed = [f for f in self.facts if f.id in ids and f.category != "other"]
        return Trace(source, "fact" if placed else "other", None, tuple(dict.fromkeys(ids)))

    def _add(self, said: Said, **more: Any) -> tuple[str | None, str | None]:
        """The id of the fact that holds it, or the reason why none does."""
        if self.reference and any(is_named(t, self.reference) for t in (plain(said.lay), said.statement, said.concept)):
            return None, NAMED
        if not is_speakable(said.lay):
            return None, UNSPEAKABLE
        key = (said.polarity, *(words(plain(said.lay)) or [plain(said.lay)]))
        if key in self._seen:
            return self._seen[key], None
        fact_id = f"f{len(self.facts) + 1:02d}"
        self._seen[key] = fact_id
        terms = tuple(t for t in said.terms if not (self.reference and is_named(t, self.reference)))
        fields = {**vars(said), "terms": terms, "key": said.category in SYMPTOMS, **more}
        self.facts.append(Fact.model_validate({"id": fact_id, **fields}))
        return fact_id, None

    def finish(self, complaint: str | None = None, opening: Fact | None = None) -> Imported:
        """The case. ``complaint``: clinical words; ``opening``: the fact that opens, else the first present symptom.

        Raises ``BadRecordError`` when the record breaks a rule of the case format.
        """
        self._open(opening)
        self._identity()
        self._conflicts()
        self._results()
        first = next(f for f in self.facts if f.category == "chief_complaint")
        if complaint is None or (self.reference and is_named(complaint, self.reference)):
            complaint = first.statement
        about = self.speaker.about
        informant = {"role": "caregiver", "name": "Alex", "relation": self.caregiver} if about else {"role": "patient"}
        if about:
            self.note("caregiver's name not in the source: Alex")
        data: dict[str, Any] = {
            "canary": CANARY,
            "id": self.case_id,
            "specialty": specialty_of(self.reference, self.age),
            "provenance": {"source": self.source, "licence": self.licence, "restricted": self.restricted},
            "demographics": {"age": self.age, "sex": self.sex},
            "informant": informant,
            "chief_complaint": complaint,
            "facts": self.facts,
            "examination": examination(self.findings),
            "tests": results(self.tests),
            "diagnosis": self.reference,
        }
        try:
            return Imported(Case.model_validate({**data, **self.extra}), self.account)
        except ValidationError as error:
            problem = error.errors()[0]
            where = ".".join(str(p) for p in problem["loc"]) or "case"
            raise self.raw.place.bad(f"{where}: {problem['msg']}") from error

    def _open(self, opening: Fact | None) -> None:
        """Exactly one fact opens, and at least one other is key where there is another symptom."""
        symptoms = [f for f in self.facts if f.category in SYMPTOMS and f.polarity == "present"]
        first = (
            next((f for f in self.facts if f.category == "chief_complaint"), None)
            or opening
            or (symptoms[0] if symptoms else None)
        )
        if first is None:
            self.note("no complaint that can be spoken: the opening line is general")
            lay = f"{self.speaker.say('haven' + chr(39) + 't')} been well."
            first = Fact(
                id="f00",
                category="chief_complaint",
                concept="feeling unwell",
                statement="Feels unwell",
                lay=lay,
                key=not symptoms,
            )
            self.facts.insert(0, first)
            return
        self.facts = [
            f.model_copy(update={"category": "chief_complaint"}) if f.id == first.id else f for f in self.facts
        ]
        if not any(f.key for f in self.facts):
            self.facts = [f.model_copy(update={"key": True}) if f.id == first.id else f for f in self.facts]

    def _identity(self) -> None:
        """Age and sex as facts, worded for the speaker."""
        if self.extra.get("language", "en") != "en":
            return
        have = {f.category for f in self.facts}
        if "age" not in have:
            said = age_in_words(self.age)
            lay = f"{self.speaker.subject.capitalize()}'s {said} old." if self.speaker.about else f"I'm {said} old."
            self.facts.append(
                Fact(
                    id="age", category="age", concept="age", statement=f"{said} old", lay=lay, terms=("age", "how old")
                )
            )
        if "gender" not in have:
            noun = {"female": ("girl", "woman"), "male": ("boy", "man")}[self.sex][self.age >= 18]
            lay = f"{self.speaker.subject.capitalize()}'s a {noun}." if self.speaker.about else f"I'm a {noun}."
            self.facts.append(Fact(id="gender", category="gender", concept="sex", statement=str(self.sex), lay=lay))

    def _results(self) -> None:
        """Results that the source leaves open are left out; one that names the diagnosis is noted."""
        for pairs in (self.findings, self.tests):
            for path, text in pairs:
                if is_unknown(text):
                    self.note(f"result not in the source, left out: {' '.join(path)}")
                elif self.reference and is_named(text, self.reference):
                    self.note(f"a result names the diagnosis: {' '.join(path)}")
            pairs[:] = [pair for pair in pairs if not is_unknown(pair[1])]

    def _conflicts(self) -> None:
        """The source says and denies the same; a reviewer should look."""
        said = {f.concept for f in self.facts if f.polarity == "present"}
        for fact in self.facts:
            if fact.polarity == "denied" and fact.concept in said and fact.category == "present_illness_negative":
                self.note(f"stated and denied in the source: {fact.concept}")


def age_in_words(age: float) -> str:
    """``thirty-five years``; months, weeks or days for an infant."""
    if age >= 2 or age == 1:
        count, unit = int(age), "year"
    elif age >= 0.25:
        count, unit = round(age * 12), "month"
    elif age >= 0.038:
        count, unit = round(age * 52), "week"
    else:
        count, unit = max(round(age * 365), 1), "day"
    return f"{in_words(str(count))} {unit}{'' if count == 1 else 's'}"


def said(statement: str, lay: str, category: str, concept: str, **more: Any) -> Said:
    """A fact that an importer words itself."""
    return replace(Said(statement, lay, category, concept), **more)


def slug(text: str) -> str:
    """A text as part of an id."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60] or "case"
