"""Everything a noise module may look at: the message, the patient, what has passed, and the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from verisim_tasks._stable import choose, draw
from verisim_tasks.language.lexicon import Concept
from verisim_tasks.noise.table import noise_table, phrase_table
from verisim_tasks.patient.base import PatientSetting
from verisim_tasks.patient.case_index import CaseIndex
from verisim_tasks.patient.grounding import Target
from verisim_tasks.patient.history import History
from verisim_tasks.patient.plan import Line
from verisim_tasks.patient.questions import Message
from verisim_tasks.records.transcript import NoiseEvent


@dataclass(frozen=True)
class Scene:
    """One doctor message and everything the answer may depend on."""

    setting: PatientSetting
    index: CaseIndex
    message: Message
    targets: Sequence[Sequence[Target]]
    history: History
    turn: int

    @property
    def by_caregiver(self) -> bool:
        """Somebody else speaks for the patient."""
        return self.setting.case.informant.role == "caregiver"

    def level(self, dimension: str) -> int:
        """The patient's level on a dimension."""
        return self.setting.noise.level(dimension)

    def row(self, dimension: str) -> Mapping[str, float]:
        """The rates that apply to this patient; empty at level 0."""
        level = self.level(dimension)
        return noise_table()[dimension][level] if level else {}

    def rate(self, dimension: str, device: str) -> float:
        """The rate of a device, 0 where it does not occur."""
        return self.row(dimension).get(device, 0.0)

    def applies(self, dimension: str, device: str, key: str) -> bool:
        """Whether a device hits this fact or item: one draw per dimension and item, whatever the level or turn."""
        return draw(*self._patient(), dimension, key) < self.rate(dimension, device)

    def happens(self, dimension: str, device: str) -> bool:
        """Whether a device of wording occurs on this turn."""
        return draw(*self._patient(), dimension, device, "turn", self.turn) < self.rate(dimension, device)

    def trait(self, dimension: str, name: str) -> float:
        """A number in [0, 1) that marks this patient for the whole consultation."""
        return draw(*self._patient(), dimension, name, "trait")

    def asked_before(self, line: Line) -> int:
        """How often this was asked in earlier messages."""
        return max(self.history.asked[line.key], self.history.asked[line.target.key])

    def event(self, dimension: str, device: str, line: Line | None = None, detail: str | None = None) -> NoiseEvent:
        """A record of one effect."""
        fact_id = line.fact.id if line is not None and line.fact is not None else None
        if detail is None and line is not None and line.fact is None:
            detail = line.target.key
        return NoiseEvent(
            dimension=dimension, level=self.level(dimension), device=device, fact_id=fact_id, detail=detail
        )

    def asked_concept(self, line: Line) -> Concept | None:
        """The concept that the doctor's words name, whether the case holds it or not; else the line's own."""
        named = self.index.lexicon.named(line.target.phrase) if line.target.phrase else None
        return named or self.concept(line)

    def concept(self, line: Line) -> Concept | None:
        """The lexicon's concept of what the line tells, where it has one."""
        concept_id = line.target.concept
        if line.fact is not None:
            concept_id = self.index.concept_of.get(line.fact.id) or None
        return self.index.lexicon.concepts.get(concept_id) if concept_id else None

    def say(self, source: str, device: str, *key: object) -> str:
        """One of the phrases for a device (``source``: a dimension or ``plain``), placeholders filled but ``{term}``.

        A patient does not repeat a phrase of the last turns: the order is the patient's own, and use moves on in it.
        """
        phrases = self._phrases(source, device)
        offset = int(draw(*self._patient(), source, device, "voice") * len(phrases))
        used = self.history.devices[device] + self.turn
        chosen = (
            phrases[(offset + used * 5) % len(phrases)]
            if len(phrases) % 5
            else choose(phrases, *self._patient(), source, device, self.turn, *key)
        )
        return self._pronouns(chosen)

    def _phrases(self, source: str, device: str) -> Sequence[str]:
        table = phrase_table()
        if source == "plain":
            own = table["caregiver"] if self.by_caregiver else {}
            return own.get(device) or table["patient"][device]
        if self.by_caregiver and f"{device}_caregiver" in table[source]:
            return table[source][f"{device}_caregiver"]
        return table[source][device]

    def _pronouns(self, phrase: str) -> str:
        female = self.setting.case.demographics.sex == "female"
        they, them, their = ("she", "her", "her") if female else ("he", "him", "his")
        for name, word in (("{they}", they), ("{They}", they.capitalize()), ("{them}", them), ("{their}", their)):
            phrase = phrase.replace(name, word)
        return phrase

    def _patient(self) -> tuple[int, int, str]:
        return self.setting.seed, self.setting.repeat, self.setting.case.id
