"""Where transcripts go: ``transcripts.jsonl`` in the run's folder, one strict JSON object a line, put in place whole.

With several processes each writes a file of its own, and the first merges them once all have finished.
"""

from __future__ import annotations

import hashlib
import heapq
import itertools
import json
import logging
import os
import platform
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from verisim_tasks import __version__
from verisim_tasks._files import write_atomically, writing
from verisim_tasks.errors import UserError
from verisim_tasks.loop.gaps import Gaps
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
    return list(read_transcripts(path))


def read_transcripts(path: Path) -> Iterator[Transcript]:
    """The transcripts of a file one at a time, as ``load_transcripts`` has them all."""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                try:
                    yield Transcript.model_validate_json(line)
                except ValueError as error:
                    raise UserError(
                        f"line {number} of {path} is not a transcript ({str(error).splitlines()[0]}); "
                        "run the tasks again"
                    ) from None


def in_order(transcripts: Iterable[Transcript]) -> list[Transcript]:
    """Sorted by case, variant, repeat and task; of equal ones the first is kept."""
    unique: dict[_Place, Transcript] = {}
    for transcript in transcripts:
        unique.setdefault(_place(transcript), transcript)
    return [unique[k] for k in sorted(unique)]


_Place = tuple[str, str, int, str, int]


def _place(t: Transcript) -> _Place:
    return (t.case_id, t.variant, t.repeat, t.task, t.seed)


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
    """Write a run's transcripts one at a time; an earlier file of other content is kept under a name of its own."""
    return _write_lines(folder / name, (dump(t) for t in in_order(transcripts)))


def _write_lines(path: Path, lines: Iterable[str]) -> Path:
    earlier = _digest_of(path) if path.is_file() and path.stat().st_size else None
    written = hashlib.sha256()
    with writing(path) as file:
        for line in lines:
            file.write(f"{line}\n")
            written.update(f"{line}\n".encode())
        if earlier not in (None, written.hexdigest()):
            kept = path.with_name(f"{path.stem}.{str(earlier)[:8]}{path.suffix}")
            os.replace(path, kept)
            log.warning("%s held other transcripts; they are now in %s", path, kept.name)
    return path


def _digest_of(path: Path) -> str:
    found = hashlib.sha256()
    with path.open("rb") as file:
        for line in file:
            found.update(line)
    return found.hexdigest()


def rank_file(rank: int) -> str:
    """The name of one process's transcripts before they are merged."""
    return f"transcripts.rank{rank}.jsonl"


def lost_file(rank: int) -> str:
    """The name of the file in which one process says which scores it could not have."""
    return f"lost.rank{rank}.json"


def merge_ranks(folder: Path, world_size: int) -> Path:
    """Merge the files of all processes into one, one transcript at a time, and remove them."""
    parts = [folder / rank_file(rank) for rank in range(world_size)]
    present = [p for p in parts if p.is_file()]
    if len(present) < world_size:
        log.warning("transcripts of %d of %d processes are in %s", len(present), world_size, folder)
    ordered = heapq.merge(*map(read_transcripts, present), key=_place)  # each file is in order
    path = _write_lines(folder / TRANSCRIPTS, (dump(next(same)) for _, same in itertools.groupby(ordered, _place)))
    for part in present:
        part.unlink()
    return path


def merge_lost(folder: Path, world_size: int) -> dict[str, int]:
    """Add up what all processes could not score, and remove their files."""
    found: Counter[str] = Counter()
    for path in (folder / lost_file(rank) for rank in range(world_size)):
        if path.is_file():
            found.update(json.loads(path.read_text(encoding="utf-8")))
            path.unlink()
    return dict(found)


def read_gaps(folder: Path) -> Gaps | None:
    """What ``run.json`` of a folder says is missing; None where there is no such file, or an older one."""
    try:
        return Gaps.read(json.loads((folder / RUN_INFO).read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_run_info(
    folder: Path, settings: dict[str, Any], transcripts: Iterable[Transcript], lost: Mapping[str, int] | None = None
) -> Gaps:
    """Write ``run.json``: settings, fingerprints, how consultations ended, what is missing, library versions.

    Args:
        folder: The run's folder.
        settings: JSON-able.
        transcripts: All of the run; they are read once.
        lost: Scores that could not be had, by reason.
    """
    reasons: Counter[str] = Counter()
    fingerprints: set[str] = set()

    def counted() -> Iterator[Transcript]:
        for transcript in transcripts:
            reasons[transcript.outcome.stop_reason] += 1
            fingerprints.add(transcript.fingerprint)
            yield transcript

    gaps = Gaps.among(counted(), lost)
    info = {
        "settings": settings,
        "fingerprints": sorted(fingerprints),
        "consultations": gaps.of,
        **gaps.as_record(),
        "stop_reasons": dict(sorted(reasons.items())),
        "versions": library_versions(),
    }
    write_atomically(folder / RUN_INFO, json.dumps(info, indent=2, sort_keys=True, allow_nan=False) + "\n")
    return gaps


def library_versions() -> dict[str, str | None]:
    """Versions of Python, of this suite and of the libraries whose results may move with them."""
    found: dict[str, str | None] = {"python": platform.python_version(), "verisim-tasks": __version__}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found
