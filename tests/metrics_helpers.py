"""Small synthetic cases and transcripts for the tests of scores and entries."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from verisim_tasks._stable import digest
from verisim_tasks.records.case import Case
from verisim_tasks.records.transcript import CleanTwin, Denial, Disclosure, Outcome, Role, Transcript, Turn

RIGHT, WRONG = "Acute appendicitis", "Migraine"
INSTRUMENT = {"max_turns": 20}


def fact(fact_id: str, category: str = "present_illness_positive", **more: Any) -> dict[str, Any]:
    return {"id": fact_id, "category": category, "concept": fact_id, "statement": fact_id, "lay": fact_id, **more}


FACTS = [
    fact("open", "chief_complaint", key=True),
    fact("k1", key=True),
    fact("k2", key=True),
    fact("k3", key=True),
    fact("no_fever", "present_illness_negative", key=True, polarity="denied"),
    fact("drinks", "alcohol", sensitive=True),
    fact("drugs", "illicit_drug", sensitive=True, key=True),
    fact("no_sti", "sexual_history", sensitive=True, polarity="denied"),
    fact("plain"),
]
"""Five key facts outside the opening, two present sensitive facts."""


def make_case(case_id: str = "c1", **changes: Any) -> Case:
    return Case.model_validate(
        {
            "canary": "test",
            "id": case_id,
            "specialty": "gastroenterology",
            "provenance": {"source": "test", "licence": "MIT"},
            "demographics": {"age": 30, "sex": "female"},
            "chief_complaint": "pain",
            "facts": FACTS,
            "diagnosis": {"name": RIGHT, "synonyms": ["appendicitis"], "accepted_codes": ["K35.80"]},
            **changes,
        }
    )


def answer(index: int, told: Iterable[Disclosure] = (), denials: Iterable[Denial] = ()) -> Turn:
    return Turn(index=index, speaker="patient", text="...", disclosed=tuple(told), denials=tuple(denials))


def told(*fact_ids: str, **more: Any) -> list[Disclosure]:
    return [Disclosure(fact_id=fact_id, **more) for fact_id in fact_ids]


OPENING = answer(0, told("open", asked=False))


def make_transcript(
    *answers: Turn,
    case_id: str = "c1",
    noise: dict[str, int] | None = None,
    variant: str | None = None,
    diagnosis: str | None = RIGHT,
    reason: str = "diagnosed",
    turns: int = 5,
    twin: tuple[str | None, str, int] | None = (RIGHT, "diagnosed", 5),
    repeat: int = 0,
    doctor: str = "some-model",
    instrument: dict[str, Any] | None = None,
) -> Transcript:
    levels = noise or {}
    name = variant or ("_".join(f"{d}_l{level}" for d, level in levels.items()) or "clean")
    clean = None
    if levels and twin is not None:
        clean = CleanTwin.model_validate(dict(zip(("diagnosis", "stop_reason", "turns"), twin, strict=True)))
    parts = INSTRUMENT if instrument is None else instrument
    return Transcript(
        task=f"verisim_{name}",
        variant=name,
        case_id=case_id,
        noise=levels,
        seed=1234,
        repeat=repeat,
        roles={"doctor": Role(model=doctor), "patient": Role(model="scripted")},
        turns=(OPENING, *answers),
        outcome=Outcome.model_validate({"diagnosis": diagnosis, "stop_reason": reason, "turns": turns}),
        clean_twin=clean,
        fingerprint=digest(parts),
        instrument=parts,
    )


def write_transcripts(path: Path, transcripts: Iterable[Transcript]) -> Path:
    path.write_text("".join(t.model_dump_json() + "\n" for t in transcripts), encoding="utf-8")
    return path


def write_cases(folder: Path, cases: Iterable[Case]) -> Path:
    folder.mkdir(exist_ok=True)
    for case in cases:
        text = yaml.safe_dump(json.loads(case.model_dump_json()))
        (folder / f"{case.id}.yaml").write_text(text, encoding="utf-8")
    return folder
