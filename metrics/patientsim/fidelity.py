"""Persona fidelity (PatientSim, arXiv 2505.17818): does the patient show the persona it was given? 1-4 by a judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from verisim_metrics.judging import Judge, Judgement, Question
from verisim_metrics.patientsim.judged import dialogue_of
from verisim_metrics.patientsim.personas import parse_persona
from verisim_tasks.records.transcript import Transcript

FIDELITY: tuple[str, ...] = ("personality", "language", "recall", "confused", "realism")
"""The criteria; the rubric of each is ``persona_<criterion>``."""


def judge_personas(transcripts: Sequence[Transcript], judge: Judge) -> list[Mapping[str, Judgement]]:
    """The criteria of each transcript, in order, in one call of the judge; nothing where there is no persona."""
    with_persona = [t for t in transcripts if t.persona is not None]
    asked = [
        Question(f"persona_{criterion}", {"persona": described(t), "dialogue": dialogue_of(t)})
        for t in with_persona
        for criterion in FIDELITY
    ]
    found = iter(judge(asked) if asked else [])
    return [{} if t.persona is None else {criterion: next(found) for criterion in FIDELITY} for t in transcripts]


def described(transcript: Transcript) -> str:
    """The persona of a transcript, in sentences; empty without one."""
    return "" if transcript.persona is None else parse_persona(transcript.persona).description
