"""The run logs of one call: opened before the first token, closed at its end, and what is said when it is stopped."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verisim_tasks.loop.gaps import Gaps
from verisim_tasks.loop.run_header import Header
from verisim_tasks.loop.run_log import RunLog, Section
from verisim_tasks.loop.store import place_among, writes_nothing

PATIENTSIM = "patientsim"
"""Subfolder of a run's folder for interviews in which the model under test is the patient."""
COMMAND_VARIABLE = "VERISIM_COMMAND"
"""Environment variable by which ``verisim run`` tells the log what started it."""

log = logging.getLogger("lm_eval.verisim")  # below lm-eval's own, so that its level and handler hold


class StoppedByUser(KeyboardInterrupt):
    """Ctrl-C, after it was said how to go on."""


@dataclass(frozen=True)
class Stretch:
    """Consultations that share their circumstances: where they are kept, and what they are run with."""

    folder: Path
    header: Header
    withheld: bool = False
    """Whether nothing may be kept, because a case stands under a data-use agreement."""


class Logs:
    """The logs of a call, one for each folder."""

    def __init__(self, stretches: Mapping[str, Stretch], logs: Mapping[Path, RunLog]) -> None:
        self._stretches = stretches
        self._logs = logs

    def section(self, key: str) -> Section | None:
        """Where a stretch keeps what is said; None where it keeps nothing."""
        stretch = self._stretches[key]
        run_log = self._logs.get(stretch.folder)
        return run_log.section(stretch.header) if run_log and not stretch.withheld else None

    def finish(self, folder: Path) -> None:
        """Note that nothing is left to do in a folder."""
        if folder in self._logs:
            for stretch in self._stretches.values():
                if stretch.folder == folder and not stretch.withheld:
                    self._logs[folder].finish(stretch.header)


@contextlib.contextmanager
def open_logs(lm: Any, stretches: Mapping[str, Stretch], wait: Callable[[], None]) -> Iterator[Logs]:
    """Open the logs of all stretches of a call; on Ctrl-C say how to go on.

    Args:
        lm: The model under test, asked for its rank.
        stretches: By any key.
        wait: Returns once every process has called it.

    Raises:
        UserError: when an unfinished run with other settings is in the way, or another process writes there.
    """
    logs = _open(lm, stretches, wait)
    try:
        yield Logs(stretches, logs)
    except KeyboardInterrupt:
        for folder in logs:
            print(f"\n{how_to_resume(folder)}", file=sys.stderr)
        raise StoppedByUser from None
    finally:
        for run_log in logs.values():
            run_log.close()


def _open(lm: Any, stretches: Mapping[str, Stretch], wait: Callable[[], None]) -> dict[Path, RunLog]:
    if any(s.withheld for s in stretches.values()):
        log.info("cases under a data-use agreement are not logged; a run of theirs that is stopped begins again")
    if writes_nothing(lm):
        return {}
    rank, _ = place_among(lm)
    command = json.loads(os.environ.get(COMMAND_VARIABLE) or "null")
    folders = dict.fromkeys(s.folder for s in stretches.values() if not s.withheld)
    return {
        folder: RunLog.open(
            folder,
            [s.header for s in stretches.values() if s.folder == folder and not s.withheld],
            rank,
            wait,
            command,
        )
        for folder in folders
    }


def how_to_resume(folder: Path) -> str:
    """What to do after a run was stopped, in one sentence."""
    return (
        f"verisim: stopped; what was said is kept in {folder}, go on with: verisim run --resume {folder} "
        f"(or lm_eval as before, with run_dir {folder} in metadata.verisim)"
    )


def say_what_is_missing(folder: Path, gaps: Gaps) -> None:
    """Log what could not be had, why, and what completes it."""
    if gaps.count:
        log.warning("%s; %s", gaps, how_to_complete(folder))


def how_to_complete(folder: Path) -> str:
    """What to do about what is missing."""
    return f"everything else is kept; ask again for what is missing alone with: verisim run --resume {folder}"
