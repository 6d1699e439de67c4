"""All questions the clinician can put, and recognising them when they stand in a dialogue."""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from verisim_tasks.clinician.hearing import Asked
from verisim_tasks.clinician.knowledge import Knowledge
from verisim_tasks.clinician.script import OPEN_QUESTIONS
from verisim_tasks.language.words import fold

_SENTENCE = re.compile(r"(?<=[.!?])\s+")


@dataclass(frozen=True)
class Question:
    """One thing to ask: a feature or an open question, in two wordings."""

    id: str
    """A feature id, or ``open:<id>``."""
    ask: str
    rephrase: str
    asked: Asked
    topic: str
    """Group that it belongs to."""


class Questions:
    """The questions over one body of knowledge."""

    def __init__(self, knowledge: Knowledge) -> None:
        found = [Question(f.id, f.ask, f.rephrase, Asked(feature=f.id), f.group) for f in knowledge.features]
        found += [
            Question(f"open:{q.id}", q.ask, q.rephrase, Asked(open=q), f"open:{q.id}") for q in OPEN_QUESTIONS.values()
        ]
        self.all: Mapping[str, Question] = {q.id: q for q in found}
        self._texts: dict[str, list[str]] = defaultdict(list)
        for q in found:
            for text in {q.ask, q.rephrase}:
                self._texts[_key(text)].append(q.id)
        self._names = functools.lru_cache(maxsize=20_000)(self._find)

    def recognise(self, message: str, earlier: Sequence[str]) -> Question | None:
        """The question that a doctor message puts, or None when it is none of ours.

        Args:
            message: the doctor's words, small talk included.
            earlier: ids of the questions put before, oldest first. Where two questions share a wording, the one just
                put (asked again) is meant, else the first that was not put yet.
        """
        names = self._names(message)
        if not names:
            return None
        if earlier and earlier[-1] in names:
            return self.all[earlier[-1]]
        return self.all[next((n for n in names if n not in earlier), names[0])]

    def _find(self, message: str) -> list[str]:
        last = _SENTENCE.split(message.strip())[-1]
        return self._texts.get(_key(message)) or self._texts.get(_key(last)) or []


def _key(text: str) -> str:
    return " ".join(re.findall(r"[a-z0-9']+", fold(text)))
