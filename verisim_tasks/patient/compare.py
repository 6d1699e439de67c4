"""The same questions to several patients, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from verisim_tasks.patient.base import Exchange, Patient, PatientSetting
from verisim_tasks.records.case import Case
from verisim_tasks.records.noise import NoiseProfile
from verisim_tasks.records.transcript import Turn


@dataclass(frozen=True)
class Figures:
    """What one patient said under one noise, over all cases; all are counts."""

    patient: str
    noise: str
    answers: int
    facts: int
    words: int
    events: int
    drafts: int | None
    """None for a patient that writes no drafts."""
    rejected: int
    fallbacks: int


def compare(
    patients: Mapping[str, Patient], cases: Sequence[Case], profiles: Sequence[NoiseProfile], questions: Sequence[str]
) -> Iterator[tuple[Figures, list[dict[str, Any]]]]:
    """Ask every patient the questions in order, one consultation a case, all consultations in step.

    Yields:
        For each profile and patient its figures, and every answer as a JSON-able row.
    """
    for profile in profiles:
        for name, patient in patients.items():
            settings = [PatientSetting(case, profile) for case in cases]
            talks = [[patient.open(setting)] for setting in settings]
            for index, question in enumerate(questions, 1):
                exchanges = [Exchange(s, tuple(t), question, index) for s, t in zip(settings, talks, strict=True)]
                for talk, answer in zip(talks, patient.reply(exchanges), strict=True):
                    talk += [Turn(index=index, speaker="doctor", text=question, heard_by=("patient",)), answer]
            answers = [t for talk in talks for t in talk[1:] if t.speaker == "patient"]
            rows = [
                _row(name, profile, setting.case.id, questions, turn)
                for setting, talk in zip(settings, talks, strict=True)
                for turn in talk[1:]
                if turn.speaker == "patient"
            ]
            yield _figures(name, profile, answers), rows


def _figures(name: str, profile: NoiseProfile, answers: Sequence[Turn]) -> Figures:
    checked = [t.verification for t in answers if t.verification is not None]
    drafts = sum(v.attempts for v in checked)
    fallbacks = sum(v.fallback for v in checked)
    return Figures(
        patient=name,
        noise=str(profile),
        answers=len(answers),
        facts=sum(len(t.disclosed) for t in answers),
        words=sum(len(t.text.split()) for t in answers),
        events=sum(len(t.events) for t in answers),
        drafts=drafts if checked else None,
        rejected=drafts - (len(checked) - fallbacks),
        fallbacks=fallbacks,
    )


def _row(name: str, profile: NoiseProfile, case_id: str, questions: Sequence[str], turn: Turn) -> dict[str, Any]:
    return {
        "patient": name,
        "case": case_id,
        "noise": dict(profile),
        "question": questions[turn.index - 1],
        "answer": turn.text,
        "facts": [d.fact_id for d in turn.disclosed],
        "events": [e.device for e in turn.events],
        "fallback": turn.verification.fallback if turn.verification else None,
        "drafts": [d.model_dump(mode="json") for d in turn.verification.drafts] if turn.verification else None,
    }
