"""Reading transcripts line by line into rows of scores; no text is kept."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from verisim_metrics.consultation import Scores, is_excluded, score_consultation
from verisim_tasks.errors import UserError
from verisim_tasks.records.case import Case
from verisim_tasks.records.transcript import Role, StopReason, Transcript

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
    rows: list[Row] = field(default_factory=list)
    sha256: str = ""
    fingerprint: str = ""
    instrument: dict[str, Any] = field(default_factory=dict)
    roles: dict[str, Role] = field(default_factory=dict)
    doubled: int = 0
    """Consultations that stood in the file more than once; the last one counts."""


def read_run(path: Path, cases_for: CasesFor) -> Run:
    """Score every transcript of a file, one line at a time.

    Args:
        path: ``transcripts.jsonl``.
        cases_for: Finds the cases once the first transcript is read.

    Raises:
        UserError: for a file that cannot be read or is empty, a line that is no transcript, two fingerprints or two
            doctors in one file, or a case that is not among the cases; file and line are named.
    """
    run = Run(path)
    cases: Mapping[str, Case] | None = None
    rows: dict[tuple[str, str, int, int], Row] = {}
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                digest.update(line)
                if not line.strip():
                    continue
                transcript = _transcript(line, path, number)
                if cases is None:
                    cases = cases_for(transcript)
                    run.fingerprint, run.instrument = transcript.fingerprint, transcript.instrument
                    run.roles = transcript.roles
                _check_same_run(run, transcript, number)
                row = _row(transcript, cases, path, number)
                run.doubled += row.key in rows
                rows[row.key] = row
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror}); check the path and its permissions") from error
    if not rows:
        raise UserError(f"{path} holds no transcript; run the tasks again, or name another file with --transcripts")
    run.rows = [rows[key] for key in sorted(rows)]
    run.sha256 = digest.hexdigest()
    return run


def _transcript(line: bytes, path: Path, number: int) -> Transcript:
    try:
        return Transcript.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        reason = f"{where}: {first['msg']}" if where else first["msg"]
        raise UserError(f"{path}, line {number}: not a transcript ({reason}); remove the line or run again") from None


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
        excluded=is_excluded(transcript),
        scores=score_consultation(transcript, case),
    )
