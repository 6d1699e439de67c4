"""Reading transcripts into rows of scores; no text is kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from verisim_leaderboard.reading import TranscriptReader
from verisim_metrics.consultation import Scores, is_excluded, score_consultation
from verisim_tasks.errors import UserError
from verisim_tasks.records.case import Case
from verisim_tasks.records.transcript import Role, StopReason, Transcript
from verisim_tasks.tasks.variants import VARIANTS

_KNOWN: frozenset[str] = frozenset(variant.name for variant in VARIANTS)

CasesFor = Callable[[Transcript], Mapping[str, Case]]
"""The cases, by id, that a run's first transcript says it used."""


@dataclass(frozen=True)
class Row:
    """One consultation, scored."""

    task: str
    variant: str
    case_id: str
    seed: int
    repeat: int
    stop_reason: StopReason
    turns: int
    """Doctor messages, also of a consultation that is excluded from scores."""
    excluded: bool
    scores: Scores

    @property
    def key(self) -> tuple[str, str, int, int]:
        """What makes two rows the same consultation."""
        return (self.variant, self.case_id, self.seed, self.repeat)


@dataclass
class Run:
    """All consultations of one transcript file, and what they share."""

    path: Path
    held: dict[tuple[str, str, int, int], Row] = field(default_factory=dict)
    sha256: str = ""
    fingerprint: str = ""
    instrument: dict[str, Any] = field(default_factory=dict)
    roles: dict[str, Role] = field(default_factory=dict)
    doubled: int = 0
    """Consultations that stood in the file more than once; the last one counts."""
    aside: dict[str, int] = field(default_factory=dict)
    """Consultations of tasks beside the suite's variants that have an instrument or doctor of their own, by task."""

    @property
    def rows(self) -> list[Row]:
        """The consultations by variant, case, seed and repeat."""
        return [self.held[key] for key in sorted(self.held)]

    def take(self, transcript: Transcript, row: Row, number: int) -> None:
        """Add a consultation. Raises ``UserError`` when its instrument or doctor is not that of the others."""
        if not self.held:
            self.fingerprint, self.instrument = transcript.fingerprint, transcript.instrument
            self.roles = transcript.roles
        _check_same_run(self, transcript, number)
        self.doubled += row.key in self.held
        self.held[row.key] = row


def read_run(path: Path, cases_for: CasesFor) -> Run:
    """Score every transcript of a file, one line at a time.

    Args:
        path: ``transcripts.jsonl``, or the same compressed (``.gz``).
        cases_for: Finds the cases once the first transcript is read.

    Raises:
        UserError: for a file that cannot be read or is empty, a line that is no transcript, two fingerprints or two
            doctors in one file, or a case that is not among the cases; file and line are named.
    """
    run = Run(path)
    reader = TranscriptReader(path)
    cases: Mapping[str, Case] | None = None
    others: list[tuple[Transcript, Row, int]] = []
    for number, transcript in reader:
        if cases is None:
            cases = cases_for(transcript)
        row = _row(transcript, cases, path, number)
        if transcript.variant in _KNOWN:
            run.take(transcript, row, number)
        else:
            others.append((_header(transcript), row, number))
    main = run.fingerprint
    for transcript, row, number in others:
        if main and (transcript.fingerprint != main or _doctor(transcript.roles) != _doctor(run.roles)):
            run.aside[row.task] = run.aside.get(row.task, 0) + 1
        else:
            run.take(transcript, row, number)
    if not run.held:
        raise UserError(f"{path} holds no transcript; run the tasks again, or name another file with --transcripts")
    run.sha256 = reader.sha256
    return run


def _header(transcript: Transcript) -> Transcript:
    """The transcript without what was said, to be kept for later."""
    return transcript.model_copy(update={"turns": (), "report": None})


def _check_same_run(run: Run, transcript: Transcript, number: int) -> None:
    if transcript.fingerprint != run.fingerprint:
        raise UserError(
            f"{run.path}, line {number}: instrument fingerprint {transcript.fingerprint[:12]} differs from "
            f"{run.fingerprint[:12]} above; scores of different instruments cannot be mixed, give each its own file"
        )
    names = [_doctor(run.roles), _doctor(transcript.roles)]
    if names[0] != names[1]:
        raise UserError(
            f"{run.path}, line {number}: the doctor is {names[1]!r}, but {names[0]!r} above; "
            "an entry is about one model, give each its own file"
        )


def _doctor(roles: Mapping[str, Role]) -> str:
    return roles["doctor"].model if "doctor" in roles else "unnamed"


def _row(transcript: Transcript, cases: Mapping[str, Case], path: Path, number: int) -> Row:
    case = cases.get(transcript.case_id)
    if case is None:
        raise UserError(
            f"{path}, line {number}: case {transcript.case_id!r} is not among the cases; "
            "name the file or folder that the run used with --cases"
        )
    return Row(
        task=transcript.task,
        variant=transcript.variant,
        case_id=transcript.case_id,
        seed=transcript.seed,
        repeat=transcript.repeat,
        stop_reason=transcript.outcome.stop_reason,
        turns=transcript.outcome.turns,
        excluded=is_excluded(transcript),
        scores=score_consultation(transcript, case),
    )
