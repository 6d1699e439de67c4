"""Speakers and patients with a run log: what they said before a stop is replayed, what they say now is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from verisim_tasks.loop.engine import DoctorGenerate, Reply
from verisim_tasks.loop.labels import Label, label_of, patient_label, words_digest
from verisim_tasks.loop.model import ModelSpeaker
from verisim_tasks.loop.prompts import Conversation
from verisim_tasks.loop.replies import mark_empty
from verisim_tasks.loop.run_log import Line, Section, Slot
from verisim_tasks.patient.base import Exchange, Patient, PatientSetting
from verisim_tasks.records.transcript import Turn

DOCTOR = "doctor"
PATIENT = "patient"
ASKED_AT_ONCE = 512
"""Different prompts that go to the model in one call, so that a kill costs no more than their answers. Prompts answered
before count too, so that a resumed run asks the same prompts together as one that was left alone."""


class LoggedSpeaker(ModelSpeaker):
    """A model with a run log. An empty answer of an API model, given twice, is no answer.

    Args:
        lm: The model.
        section: Where its words are kept, if they are.
        logged_as: Who it is in the log: models that may get the same prompts have different names.
        **options: As ``ModelSpeaker`` takes them.
    """

    def __init__(self, lm: Any, *, section: Section | None, logged_as: str = DOCTOR, **options: Any) -> None:
        super().__init__(lm, **options)
        self._section = section
        self._logged_as = logged_as

    def __call__(self, prompts: Sequence[Conversation]) -> list[Reply]:
        """One reply for each prompt, in order; those of the log are not asked for again."""
        if self._section is None:
            return self._speak(prompts)
        return replay(self._section, prompts, self._speak, who=self._logged_as, greedy=self.greedy)

    def _speak(self, prompts: Sequence[Conversation]) -> list[Reply]:
        replies: list[Reply] = super().__call__(prompts)
        return mark_empty(replies) if self._is_api else replies


def replay(
    section: Section, prompts: Sequence[Conversation], ask: DoctorGenerate, *, who: str = DOCTOR, greedy: bool
) -> list[Reply]:
    """The logged replies, and new ones for the rest, which are logged as they come.

    Greedy: the same prompt has one reply, whoever gets it, and is asked once. Replies that failed are not logged.
    """
    slots = _slots(prompts, who)
    places: dict[Any, list[int]] = {}
    for place, slot in enumerate(slots):
        places.setdefault(slot[2] if greedy else slot, []).append(place)
    replies: dict[int, Reply] = {}
    questions = list(places.values())
    for start in range(0, len(questions), ASKED_AT_ONCE):
        together = questions[start : start + ASKED_AT_ONCE]
        said = [_find(section, [slots[i] for i in same], greedy) for same in together]
        missing = [n for n, found in enumerate(said) if found is None]
        fresh = ask([prompts[together[n][0]] for n in missing]) if missing else []
        answers: dict[int, Reply] = {n: found for n, found in enumerate(said) if found is not None}
        answers.update(zip(missing, fresh, strict=True))
        by_place = {place: answers[n] for n, same in enumerate(together) for place in same}
        section.add(
            [
                Line(*slots[place], reply)
                for place, reply in sorted(by_place.items())
                if isinstance(reply, str) and not section.has(slots[place])
            ]
        )
        replies.update(by_place)
    return [replies[place] for place in range(len(prompts))]


def _find(section: Section, slots: Sequence[Slot], greedy: bool) -> str | None:
    found = section.find(slots[0], any_label=greedy)
    return found if isinstance(found, str) else None


def _slots(prompts: Sequence[Conversation], who: str) -> list[Slot]:
    seen: Counter[tuple[Label | None, str]] = Counter()
    slots: list[Slot] = []
    for prompt in prompts:
        key = (label_of(prompt), words_digest([[m.role, m.content] for m in prompt]))
        slots.append((who, *key, seen[key]))
        seen[key] += 1
    return slots


class LoggedPatient:
    """A patient with a run log."""

    def __init__(self, patient: Patient, section: Section) -> None:
        self._patient = patient
        self._section = section

    def open(self, setting: PatientSetting) -> Turn:
        """The opening line, which stands in the case."""
        return self._patient.open(setting)

    def describe(self) -> dict[str, Any]:
        """What the patient says of itself; the log is no part of it."""
        return self._patient.describe()

    def reply(self, exchanges: Sequence[Exchange]) -> list[Turn]:
        """One turn for each exchange, in order; those of the log are not asked for again."""
        slots = [_patient_slot(e) for e in exchanges]
        turns = {i: turn for i, slot in enumerate(slots) if (turn := _read(self._section.find(slot))) is not None}
        missing = [i for i in range(len(exchanges)) if i not in turns]
        fresh = dict(zip(missing, self._patient.reply([exchanges[i] for i in missing]), strict=True)) if missing else {}
        self._section.add([Line(*slots[i], t.model_dump(mode="json")) for i, t in fresh.items() if isinstance(t, Turn)])
        turns.update(fresh)
        return [turns[i] for i in range(len(exchanges))]


def _patient_slot(exchange: Exchange) -> Slot:
    heard = words_digest([[t.speaker, t.text] for t in exchange.turns], exchange.message)
    return (PATIENT, patient_label(exchange.setting, exchange.index), heard, 0)


def _read(said: Any) -> Turn | None:
    try:
        return None if said is None else Turn.model_validate(said)
    except ValidationError:
        return None
