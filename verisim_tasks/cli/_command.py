"""The command that started a run, as its log keeps it for ``verisim run --resume``."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

from verisim_tasks.errors import UserError
from verisim_tasks.loop.resuming import COMMAND_VARIABLE, PATIENTSIM
from verisim_tasks.loop.run_log import LOG, load_log, log_files, reopen

_SECRET = re.compile(
    r"""(^|[\s,{"'])(\w*api_key|auth_token|token|hf_token|use_auth_token|password)["']?\s*[=:]""", re.I
)


def announce(argv: Sequence[str], shard: str | None) -> None:
    """Let the log of this process keep the command; not one that holds a secret."""
    os.environ.pop(COMMAND_VARIABLE, None)
    if not any(_SECRET.search(word) for word in argv):
        os.environ[COMMAND_VARIABLE] = json.dumps({"argv": list(argv), "shard": shard, "cwd": os.getcwd()})


def command_to_resume(folder: Path, more: Sequence[str]) -> list[str]:
    """The arguments that go on with the run in a folder; goes to where it was started, so that its paths hold.

    A run that had ended is marked as unfinished, so that it is replayed.

    Args:
        folder: The run's folder.
        more: Arguments to put behind those of the run, and so before them where both say something.

    Raises:
        UserError: when there is no run, or its command is not kept and ``more`` names no tasks.
    """
    places = [place for place in (folder, folder / PATIENTSIM) if log_files(place)]
    if not places:
        raise UserError(f"no run to go on with in {folder}: it holds no {LOG}; name the run's folder")
    kept = [section.command for place in places for section in load_log(place).values() if section.command]
    if not kept and "--tasks" not in more:
        raise UserError(
            f"{folder} keeps no command to go on with (started by plain lm_eval, or with a secret in it); "
            f"give the arguments again: verisim run --resume {folder} --model ... --tasks ..."
        )
    for place in places:
        reopen(place)
    if kept and Path(kept[0]["cwd"]).is_dir():
        os.chdir(kept[0]["cwd"])
    if not kept:
        return list(more)
    shard = kept[0].get("shard")
    return [*kept[0]["argv"], *(["--shard", shard] if shard else []), *more]
