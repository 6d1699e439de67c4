"""The run log ``turns.jsonl``: what doctor and patient said, written as they say it, so that a stopped run can go on.

One JSON object a line. A header says what a stretch of consultations was run with, its digest names the section that
the lines below belong to, and a line ``finished`` ends a section. Every process appends to a file of its own and all
are read, so that the number of processes may change. A line that cannot be read, as a kill leaves one at the end, is
dropped: what it held is asked again.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from verisim_tasks.errors import UserError
from verisim_tasks.loop.labels import Label
from verisim_tasks.loop.run_header import Header, changes, section_name

LOG = "turns.jsonl"
FORMAT = 1
"""Changes when older logs can no longer be read."""

log = logging.getLogger("lm_eval.verisim")  # below lm-eval's own, so that its level and handler hold


@dataclass(frozen=True)
class Line:
    """One message to keep."""

    who: str
    label: Label | None
    asked: str
    """Digest of all that the speaker was given."""
    nth: int
    """Counts messages that are alike in everything above."""
    said: Any

    def as_record(self) -> dict[str, Any]:
        """JSON-able, the label in words."""
        label = self.label._asdict() if self.label else None
        return {"who": self.who, "label": label, "asked": self.asked, "nth": self.nth, "said": self.said}


Slot = tuple[str, Label | None, str, int]
"""``who``, ``label``, ``asked`` and ``nth`` of a line."""


@dataclass
class Kept:
    """What a folder's logs hold of one section."""

    header: Header
    finished: bool = False
    command: dict[str, Any] | None = None
    """What started the run, where that may be kept."""
    said: dict[Slot, Any] = field(default_factory=dict)
    by_prompt: dict[tuple[str, str], Any] = field(default_factory=dict)

    def add(self, line: Line) -> None:
        """Keep a message; of two for one slot the first stands."""
        self.said.setdefault((line.who, line.label, line.asked, line.nth), line.said)
        self.by_prompt.setdefault((line.who, line.asked), line.said)


def log_files(folder: Path) -> list[Path]:
    """The logs of all processes of a folder, that of the first one first."""
    return sorted(folder.glob("turns*.jsonl"))


def load_log(folder: Path) -> dict[str, Kept]:
    """Everything that the logs of a folder hold, by section; unreadable lines are dropped and counted in a warning.

    Raises:
        UserError: for a log of another format.
    """
    found: dict[str, Kept] = {}
    for path in log_files(folder):
        dropped = 0
        with path.open("rb") as file:
            for raw in file:
                dropped += not (raw.endswith(b"\n") and _take(raw, found, path))
        if dropped:
            log.warning("%s: %d torn lines are left out; what they held is asked again", path, dropped)
    return found


def _take(raw: bytes, found: dict[str, Kept], path: Path) -> bool:
    """Put one line where it belongs; false for one that cannot be read."""
    try:
        row = json.loads(raw)
        section = row["section"]
        if "header" in row:
            _check_format(row, path)
            kept = found.setdefault(section, Kept(row["header"]))
            kept.command = row.get("command") or kept.command
        elif "finished" in row:
            found[section].finished = bool(row["finished"])
        else:
            label = Label(**row["label"]) if row["label"] else None
            found[section].add(Line(row["who"], label, row["asked"], row["nth"], row["said"]))
    except UserError:
        raise
    except (ValueError, KeyError, TypeError):
        return False
    return True


def _check_format(row: dict[str, Any], path: Path) -> None:
    if row.get("log") != FORMAT:
        raise UserError(f"{path} was written by another version of the suite; choose another run_dir")


def is_finished(kept: dict[str, Kept]) -> bool:
    """Whether the logs hold a run, and nothing of it is left to do."""
    return bool(kept) and all(k.finished for k in kept.values())


class Section:
    """The lines of one section: looks up what was said, and appends what is said now."""

    def __init__(self, name: str, kept: Kept, append: Callable[[Iterable[dict[str, Any]]], None]) -> None:
        self.name = name
        self._kept = kept
        self._append = append

    def find(self, slot: Slot, *, any_label: bool = False) -> Any | None:
        """What was said, or None. With ``any_label`` also what was said to the very same prompt elsewhere."""
        found = self._kept.said.get(slot)
        return self._kept.by_prompt.get((slot[0], slot[2])) if found is None and any_label else found

    def has(self, slot: Slot) -> bool:
        """Whether this very line is in the log."""
        return slot in self._kept.said

    def add(self, lines: Sequence[Line]) -> None:
        """Append all lines in one go: a kill leaves all of them or, but for a full disk, none.

        What a model said is known from now on, as it would be to a run that goes on from here.
        """
        if not lines:
            return
        self._append({"section": self.name, **line.as_record()} for line in lines)
        for line in lines:
            if isinstance(line.said, str):
                self._kept.by_prompt.setdefault((line.who, line.asked), line.said)


class RunLog:
    """The log of one run folder, for one process."""

    def __init__(
        self, folder: Path, kept: dict[str, Kept], rank: int, command: Mapping[str, Any] | None = None
    ) -> None:
        self.folder = folder
        self._command = command
        self._kept = kept
        self._path = folder / (LOG if rank == 0 else f"turns.rank{rank}.jsonl")
        self._file: Any = None
        self._broken = False
        self._headed: set[str] = set()

    @classmethod
    def open(
        cls,
        folder: Path,
        headers: Sequence[Header],
        rank: int = 0,
        wait: Callable[[], None] = lambda: None,
        command: Mapping[str, Any] | None = None,
    ) -> RunLog:
        """Read what is there; a finished run is started anew, an unfinished one is gone on with.

        Args:
            folder: The run's folder, which need not exist.
            headers: What this run is run with, one for each section.
            rank: Which process this is.
            wait: Returns once every process has called it.
            command: What started the run, to be kept.

        Raises:
            UserError: when the unfinished run was run with other settings, or another process is writing there.
        """
        kept = load_log(folder)
        finished = is_finished(kept)
        if not finished:
            _refuse_changes(folder, [k.header for k in kept.values()], headers)
        made = cls(folder, {} if finished else kept, rank, command)
        if made._path.is_file():
            made._ready()
        if finished:
            made.close()
        wait()
        if finished and rank == 0:
            for path in log_files(folder):
                path.unlink()
        wait()
        turns = sum(len(k.said) for k in made._kept.values())
        if turns and rank == 0:
            log.info("going on with the run in %s: %d messages are there already", folder, turns)
        return made

    def section(self, header: Header) -> Section:
        """The section of a header."""
        name = section_name(header)
        kept = self._kept.setdefault(name, Kept(header))

        def append(rows: Iterable[dict[str, Any]]) -> None:
            head = {"section": name, "log": FORMAT, "header": header, "command": self._command}
            first = [] if name in self._headed else [head]
            self._headed.add(name)
            self._write([*first, *rows])

        return Section(name, kept, append)

    def finish(self, header: Header) -> None:
        """Note that nothing of a section is left to do."""
        self.section(header)._append([{"section": section_name(header), "finished": True}])

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write(self, rows: Iterable[dict[str, Any]]) -> None:
        if self._broken:
            return
        try:
            self._ready()
            data = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
            while data:
                data = data[self._file.write(data) :]
        except OSError as error:
            self._broken = True
            log.error("%s cannot be written (%s); the run goes on, but could not be resumed", self._path, error)

    def _ready(self) -> None:
        """Open the file, alone, and cut a torn last line off."""
        if self._file is not None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self._path.open("ab+", buffering=0)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            self._file = None
            raise UserError(
                f"another run is writing into {self.folder}; wait for it to end, or choose another run_dir"
            ) from None
        except OSError:
            log.debug("%s cannot be locked here", self._path)
        _cut_torn_line(self._file)


def _cut_torn_line(file: Any) -> None:
    end = file.seek(0, os.SEEK_END)
    place = end
    while place > 0:
        start = max(0, place - 65536)
        file.seek(start)
        found = file.read(place - start).rfind(b"\n")
        if found >= 0:
            place = start + found + 1
            break
        place = start
    if place < end:
        file.truncate(place)


def _refuse_changes(folder: Path, logged: Sequence[Header], current: Sequence[Header]) -> None:
    """Refuse a section that the log does not know while it has one of the same mode that nobody goes on with."""
    left = [h for h in logged if h not in current]
    for header in (h for h in current if h not in logged):
        rivals = [changes(old, header) for old in left if old["mode"] == header["mode"]]
        if rivals:
            what = "; ".join(min(rivals, key=lambda found: (len(found), found))[:3])
            raise UserError(
                f"the unfinished run in {folder} was begun with other settings: {what}; "
                f"set that back to go on with it, or choose another run_dir for a new run"
            )


def reopen(folder: Path) -> None:
    """Mark every finished section as unfinished, so that the next run replays it."""
    kept = load_log(folder)
    made = RunLog(folder, kept, 0)
    made._write({"section": name, "finished": False} for name, k in kept.items() if k.finished)
    made.close()
