"""Runs labelled doctor questions through the scripted patient; shared by the test and by a look at failures."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verisim_tasks.cases.bank import find_case
from verisim_tasks.patient.base import PatientSetting
from verisim_tasks.patient.conversation import Conversation
from verisim_tasks.patient.scripted import ScriptedPatient
from verisim_tasks.records.noise import NoiseProfile

DATA = Path(__file__).parent / "data"
QUESTIONS = DATA / "doctor_questions.jsonl"
ORDINARY = (
    QUESTIONS,
    *(
        DATA / f"doctor_questions_{name}.jsonl"
        for name in ("more", "blind", "fourth", "fifth", "sixth", "ninth", "tenth", "eleventh")
    ),
)
"""Questions as doctors ask them, by nine writers; the gate was fitted on all but the last three."""
HARD = tuple(DATA / f"doctor_questions_{name}.jsonl" for name in ("third", "seventh", "eighth"))
"""Questions in far-fetched words: daily life, hints, riddles."""


@dataclass(frozen=True)
class Answered:
    """One labelled question with what the patient answered."""

    row: dict[str, Any]
    text: str
    told: list[str]
    denied: list[str]
    """Concepts that were denied although the case says nothing of them."""

    @property
    def is_right(self) -> bool:
        """The first fact told answers the first part; nothing is told where nothing is recorded."""
        if self.row["absent"]:
            return not self.told
        return bool(self.told) and self.told[0] in self.row["expect"][0]

    @property
    def answers_all(self) -> bool:
        """Every part is answered by one of its facts."""
        return all(set(part) & set(self.told) for part in self.row["expect"])


@dataclass(frozen=True)
class Shares:
    """How well a set of questions was understood."""

    right: float
    """Share of the questions about something recorded whose first fact is right."""
    wrong: float
    """Share of the questions about something absent that were answered with a fact."""
    all_parts: float


def answers(path: Path = QUESTIONS) -> Iterator[Answered]:
    """Each question asked at the start of a consultation without noise."""
    patient = ScriptedPatient()
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        setting = PatientSetting(find_case(row["case"]), NoiseProfile())
        turn = Conversation(patient, setting).say(row["question"])
        unrecorded = [d.concept for d in turn.denials if d.kind == "unrecorded"]
        yield Answered(row, turn.text, [d.fact_id for d in turn.disclosed], unrecorded)


def shares(answered: Sequence[Answered]) -> Shares:
    """The two figures that are held to a threshold."""
    present = [a for a in answered if not a.row["absent"]]
    absent = [a for a in answered if a.row["absent"]]
    return Shares(
        right=sum(a.is_right for a in present) / len(present),
        wrong=sum(not a.is_right for a in absent) / len(absent),
        all_parts=sum(a.answers_all for a in present) / len(present),
    )


def main(path: Path) -> None:
    """Prints every failure, the figures by kind and the two shares."""
    answered = list(answers(path))
    by_kind: dict[str, list[bool]] = defaultdict(list)
    for answer in answered:
        by_kind[answer.row["kind"]].append(answer.is_right)
        if not answer.is_right:
            row = answer.row
            print(f"{row['case']} [{row['kind']}] {row['question']}\n    -> {answer.told} {answer.text}")
            print(f"    expected {row['expect'] or 'absent'}")
    for kind, rights in sorted(by_kind.items()):
        print(f"{kind:14s} {sum(rights):3d} / {len(rights)}")
    found = shares(answered)
    print(f"right fact first {found.right:.1%}; wrong fact for an absent one {found.wrong:.1%}", end="; ")
    print(f"all parts answered {found.all_parts:.1%}; {len(answered)} questions")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else QUESTIONS)
