"""Where transcripts go: ``transcripts.jsonl`` in the run's folder, one strict JSON object a line, written whole.

With several processes each writes a file of its own, and the first merges them once all have finished.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import platform
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from verisim_tasks import __version__
from verisim_tasks._files import write_atomically
from verisim_tasks.errors import UserError
from verisim_tasks.records.transcript import Transcript

TRANSCRIPTS = "transcripts.jsonl"
RUN_INFO = "run.json"
"""Beside the transcripts: settings, counts and library versions, which are no part of the instrument."""

LIBRARIES: tuple[str, ...] = ("lm_eval", "transformers", "torch", "sentence-transformers", "numpy", "pydantic")

log = logging.getLogger("lm_eval.verisim")  # below lm-eval's own, so that its level and handler hold


def place_among(lm: Any) -> tuple[int, int]:
    """The rank of this process, and how many there are, by the model under test."""
    return int(getattr(lm, "rank", 0)), int(getattr(lm, "world_size", 1))


def writes_nothing(lm: Any) -> bool:
    """Whether another process writes what this one has: under torchrun every process runs everything."""
    return place_among(lm)[1] == 1 and os.environ.get("LOCAL_RANK", "0") != "0"


def dump(transcript: Transcript) -> str:
    """One transcript as one line of strict JSON (ASCII only, so that no reader splits it)."""
    return json.dumps(transcript.model_dump(mode="json"), allow_nan=False)


def load_transcripts(path: Path) -> list[Transcript]:
    """Every transcript of a file; blank lines are skipped.

    Raises:
        UserError: naming the line that cannot be read.
    """
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1):
        if line.strip():
            try:
                found.append(Transcript.model_validate_json(line))
            except ValueError as error:
                raise UserError(
                    f"line {number} of {path} is not a transcript ({str(error).splitlines()[0]}); run the tasks again"
                ) from None
    return found


def in_order(transcripts: Iterable[Transcript]) -> list[Transcript]:
    """Sorted by case, variant, repeat and task; of equal ones the first is kept."""

    def key(t: Transcript) -> tuple[str, str, int, str, int]:
        return (t.case_id, t.variant, t.repeat, t.task, t.seed)

    unique: dict[tuple[str, str, int, str, int], Transcript] = {}
    for transcript in transcripts:
        unique.setdefault(key(transcript), transcript)
    return [unique[k] for k in sorted(unique)]


def check_writable(folder: Path, what: str) -> None:
    """Raise ``UserError`` unless files can be made in ``folder``, which need not exist yet. Leaves nothing behind."""
    place = folder.absolute()
    while not place.exists() and place != place.parent:
        place = place.parent
    if not place.is_dir():
        raise UserError(f"{what} {folder} cannot be a folder: {place} is a file; choose another folder")
    if not os.access(place, os.W_OK | os.X_OK):
        raise UserError(f"{what} {folder} cannot be written to: no permission in {place}; choose another folder")
    try:
        with tempfile.TemporaryDirectory(dir=place, prefix=".verisim."):
            pass
    except OSError as error:
        reason = (error.strerror or "refused").lower()
        raise UserError(f"{what} {folder} cannot be written to: {reason} in {place}; choose another folder") from error


def write_transcripts(folder: Path, transcripts: Iterable[Transcript], name: str = TRANSCRIPTS) -> Path:
    """Write a run's transcripts; an earlier file of other content is kept under a name of its own."""
    path = folder / name
    text = "".join(f"{dump(t)}\n" for t in in_order(transcripts))
    if path.is_file() and (earlier := path.read_bytes()) and earlier != text.encode():
        kept = folder / f"{path.stem}.{hashlib.sha256(earlier).hexdigest()[:8]}{path.suffix}"
        os.replace(path, kept)
        log.warning("%s held other transcripts; they are now in %s", path, kept.name)
    write_atomically(path, text)
    return path


def rank_file(rank: int) -> str:
    """The name of one process's transcripts before they are merged."""
    return f"transcripts.rank{rank}.jsonl"


def merge_ranks(folder: Path, world_size: int) -> Path:
    """Merge the files of all processes into one and remove them."""
    parts = [folder / rank_file(rank) for rank in range(world_size)]
    present = [p for p in parts if p.is_file()]
    if len(present) < world_size:
        log.warning("transcripts of %d of %d processes are in %s", len(present), world_size, folder)
    path = write_transcripts(folder, (t for p in present for t in load_transcripts(p)))
    for part in present:
        part.unlink()
    return path


@dataclass(frozen=True)
class Gaps:
    """Consultations that ended in an error: they are in no score, and can be asked for again."""

    count: int
    of: int
    reasons: Mapping[str, int]
    """How often each error stands."""

    @classmethod
    def among(cls, transcripts: Iterable[Transcript]) -> Gaps:
        """The gaps of a run."""
        everything = list(transcripts)
        errors = [t.outcome.error or "unknown" for t in everything if t.outcome.stop_reason == "error"]
        return cls(len(errors), len(everything), {e: errors.count(e) for e in sorted(set(errors))})

    def __str__(self) -> str:
        often = sorted(self.reasons.items(), key=lambda reason: (-reason[1], reason[0]))
        named = ", ".join(f"{n} x {reason}" for reason, n in often[:3])
        more = f", and {len(often) - 3} other reasons" if len(often) > 3 else ""
        return f"{self.count} of {self.of} consultations ended in an error and are in no score ({named}{more})"


def read_gaps(folder: Path) -> Gaps | None:
    """What ``run.json`` of a folder says is missing; None where there is no such file, or an older one."""
    try:
        info = json.loads((folder / RUN_INFO).read_text(encoding="utf-8"))
        return Gaps(sum(info["errors"].values()), info["consultations"], info["errors"])
    except (OSError, ValueError, KeyError):
        return None


def write_run_info(folder: Path, settings: dict[str, Any], transcripts: Sequence[Transcript]) -> None:
    """Write ``run.json``: settings, fingerprints, how consultations ended and failed, library versions."""
    reasons = sorted({t.outcome.stop_reason for t in transcripts})
    info = {
        "settings": settings,
        "fingerprints": sorted({t.fingerprint for t in transcripts}),
        "consultations": len(transcripts),
        "errors": dict(Gaps.among(transcripts).reasons),
        "stop_reasons": {r: sum(t.outcome.stop_reason == r for t in transcripts) for r in reasons},
        "versions": library_versions(),
    }
    write_atomically(folder / RUN_INFO, json.dumps(info, indent=2, sort_keys=True, allow_nan=False) + "\n")


def library_versions() -> dict[str, str | None]:
    """Versions of Python, of this suite and of the libraries whose results may move with them."""
    found: dict[str, str | None] = {"python": platform.python_version(), "verisim-tasks": __version__}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found
