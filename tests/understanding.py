"""Runs the labelled doctor questions through the scripted patient; shared by the test and by a look at failures."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verisim_tasks.cases.bank import find_case
from verisim_tasks.patient.base import PatientSetting
from verisim_tasks.patient.conversation import Conversation
from verisim_tasks.patient.scripted import ScriptedPatient
from verisim_tasks.records.noise import NoiseProfile

QUESTIONS = Path(__file__).parent / "data" / "doctor_questions.jsonl"


@dataclass(frozen=True)
class Answered:
    row: dict[str, Any]
    text: str
    told: list[str]

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


def answers(path: Path = QUESTIONS) -> Iterator[Answered]:
    patient = ScriptedPatient()
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        setting = PatientSetting(find_case(row["case"]), NoiseProfile())
        turn = Conversation(patient, setting).say(row["question"])
        yield Answered(row, turn.text, [d.fact_id for d in turn.disclosed])


if __name__ == "__main__":
    by_kind: dict[str, list[bool]] = defaultdict(list)
    for answer in answers():
        by_kind[answer.row["kind"]].append(answer.is_right)
        if not answer.is_right:
            expected = answer.row["expect"] or "absent"
            print(
                f"{answer.row['case']} [{answer.row['kind']}] {answer.row['question']}\n    -> {answer.told} {answer.text}\n    expected {expected}"
            )
    for kind, rights in sorted(by_kind.items()):
        print(f"{kind:14s} {sum(rights):3d} / {len(rights)}")
    present = [r for k, rs in by_kind.items() if not k.startswith("absent") for r in rs]
    absent = [r for k, rs in by_kind.items() if k.startswith("absent") for r in rs]
    print(
        f"right fact first {sum(present) / len(present):.1%} of {len(present)}; wrong fact for an absent one {1 - sum(absent) / len(absent):.1%} of {len(absent)}"
    )
