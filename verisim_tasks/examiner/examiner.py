"""The Examiner of AI Hospital (arXiv 2402.09742): answers what the doctor orders, from the case, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from verisim_tasks.errors import UserError, did_you_mean
from verisim_tasks.examiner.answers import Answer, Answerer
from verisim_tasks.examiner.entries import Entry, holdings
from verisim_tasks.examiner.imaging import ImagingReader
from verisim_tasks.examiner.mentions import MentionFinder
from verisim_tasks.examiner.reading import OrderReader
from verisim_tasks.examiner.umbrellas import is_needless
from verisim_tasks.examiner.vocabulary import default_vocabulary
from verisim_tasks.examiner.wording import Wording
from verisim_tasks.records.case import Case

VERSION = 6
"""Goes up when the same message and case may bring other results."""

AbsentTests = Literal["not_recorded", "normal"]
_ABSENT: dict[str, str] = {"not_recorded": "not recorded", "normal": "no abnormality found"}
_UNCLEAR = "please say which one or which part of the body"


@dataclass(frozen=True)
class ExaminerResult:
    """One entry of the case that answers an order."""

    kind: Literal["vital", "finding", "test"]
    id: str
    """Its id in the case; for a vital sign its fields, joined by ``+``."""
    name: str
    text: str
    """The case's result verbatim with unit and reference range."""


@dataclass(frozen=True)
class ExaminerReply:
    """What one doctor message brings from the examiner."""

    ordered: tuple[str, ...] = ()
    """Canonical names understood as ordered, in order of mention."""
    results: tuple[ExaminerResult, ...] = ()
    """Entries that answer, in order of mention, each once."""
    not_recorded: tuple[str, ...] = ()
    """Ordered items that the case does not hold."""
    text: str = ""
    """What the doctor hears; empty when nothing was ordered."""
    remainder: str = ""
    """The message without its order sentences: what goes to the patient; empty when nothing is left."""
    unclear: tuple[str, ...] = ()
    """Ordered items that fit several entries and name none ("an ultrasound"): the doctor is asked which."""


class Examiner:
    """Reads one doctor message against one case. Built once, pure, without state between calls.

    Args:
        absent_tests: What is said of an ordered item that the case does not hold: ``not_recorded`` (default; an
            invented normal result would be a false one) or ``normal``, the published "no abnormality found".
    """

    def __init__(self, absent_tests: AbsentTests = "not_recorded") -> None:
        if absent_tests not in _ABSENT:
            raise UserError(f"absent_tests {absent_tests!r} is not known{did_you_mean(str(absent_tests), _ABSENT)}")
        self._absent_tests = absent_tests
        self._vocabulary = default_vocabulary()
        imaging = ImagingReader(self._vocabulary.imaging)
        self._finder = MentionFinder(self._vocabulary, imaging)
        self._reader = OrderReader(self._vocabulary, self._finder, Wording(self._vocabulary.requests))
        self._answerer = Answerer(self._vocabulary, imaging)

    def examine(self, case: Case, message: str) -> ExaminerReply:
        """What the message orders and what the case holds of it; never raises, whatever the message."""
        held = holdings(case, self._vocabulary, self._finder)
        reading = self._reader.read(message, held.own)
        answers: list[Answer] = []
        strange = list(reading.unknown)
        for place, mention in enumerate(reading.mentions):
            answers += [Answer(name) for _, name in (s for s in strange if s[0] == place)]
            if is_needless(mention, reading.mentions, self._vocabulary, held):
                continue
            answers += self._answerer.answers(mention, held)
        answers += [Answer(name) for place, name in strange if place >= len(reading.mentions)]
        return self._reply(answers, reading.remainder)

    def describe(self) -> dict[str, Any]:
        """What stands in the instrument fingerprint."""
        return {
            "name": "examiner",
            "version": VERSION,
            "absent_tests": self._absent_tests,
            "data": self._vocabulary.digest,
        }

    def _reply(self, answers: list[Answer], remainder: str) -> ExaminerReply:
        entries = dict.fromkeys(e for a in answers for e in a.entries)
        absent = tuple(dict.fromkeys(a.name for a in answers if not a.entries and not a.unclear))
        unclear = tuple(dict.fromkeys(a.name for a in answers if a.unclear))
        lines = [f"{e.name}: {e.text}" for e in entries]
        lines += [f"{name}: {_ABSENT[self._absent_tests]}" for name in absent]
        lines += [f"{name}: {_UNCLEAR}" for name in unclear]
        return ExaminerReply(
            ordered=tuple(dict.fromkeys(a.name for a in answers)),
            results=tuple(_result(e) for e in entries),
            not_recorded=absent,
            text="\n".join(lines),
            remainder=remainder,
            unclear=unclear,
        )


def _result(entry: Entry) -> ExaminerResult:
    return ExaminerResult(entry.kind, entry.id, entry.name, entry.text)
