"""Shards of one run, run apart, put together as if they had been run at once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verisim_tasks._files import write_atomically
from verisim_tasks.errors import UserError
from verisim_tasks.loop.gaps import Gaps
from verisim_tasks.loop.resuming import PATIENTSIM
from verisim_tasks.loop.run_header import ELSEWHERE
from verisim_tasks.loop.run_log import LOG, load_log, log_files
from verisim_tasks.loop.shards import Shard, split_source
from verisim_tasks.loop.store import (
    RUN_INFO,
    TRANSCRIPTS,
    dump,
    in_order,
    load_transcripts,
    write_run_info,
    write_transcripts,
)
from verisim_tasks.records.transcript import Transcript


@dataclass(frozen=True)
class Merged:
    """What came of a merge."""

    path: Path
    gaps: Gaps
    missing: tuple[str, ...]
    """Shards that were not among the folders."""


def merge_runs(folders: Sequence[Path], out: Path) -> list[Merged]:
    """Put the runs of several folders together in ``out``: transcripts, run logs, settings.

    Returns:
        One result for the folder, and one for its subfolder of patient interviews, as far as there are any.

    Raises:
        UserError: when a folder holds no run, the runs do not belong together, or ``out`` already holds one.
    """
    if any((place / name).is_file() for place in (out, out / PATIENTSIM) for name in (TRANSCRIPTS, LOG)):
        raise UserError(f"{out} already holds a run; choose another --out")
    found = []
    for sub in ("", PATIENTSIM):
        parts = [folder / sub for folder in folders]
        held = [(part / TRANSCRIPTS).is_file() for part in parts]
        if any(held):
            if not all(held):
                raise UserError(
                    f"{parts[held.index(False)]} holds no {TRANSCRIPTS}, and others do; finish that run first"
                )
            found.append(_merge(parts, out / sub))
    if not found:
        raise UserError(f"no {TRANSCRIPTS} in {folders[0]}; name folders that hold runs")
    return found


def _merge(parts: Sequence[Path], out: Path) -> Merged:
    infos = [_info(part) for part in parts]
    _refuse_strangers(parts, infos)
    transcripts = _together(parts)
    path = write_transcripts(out, transcripts)
    if any(log_files(part) for part in parts):
        write_atomically(out / LOG, "".join(f"{line}\n" for part in parts for line in _lines(part)))
    settings = dict(infos[0].get("settings") or {})
    shards = [split_source(str((info.get("settings") or {}).get("cases", "bank")))[1] for info in infos]
    settings.update(cases=split_source(str(settings.get("cases", "bank")))[0], run_dir=str(out))
    lost: Counter[str] = Counter()
    for info in infos:
        lost.update(info.get("scores_missing") or {})
    return Merged(path, write_run_info(out, settings, in_order(transcripts), lost), _missing(shards))


def _info(part: Path) -> dict[str, Any]:
    try:
        return dict(json.loads((part / RUN_INFO).read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise UserError(f"{part / RUN_INFO} cannot be read ({error}); run that shard again") from None


def _refuse_strangers(parts: Sequence[Path], infos: Sequence[Mapping[str, Any]]) -> None:
    """Shards of one run have the same fingerprints, and the same settings but for the shard and the folder."""
    for part, info in zip(parts[1:], infos[1:], strict=True):
        if info.get("fingerprints") != infos[0].get("fingerprints"):
            raise UserError(f"{part} and {parts[0]} were run with different instruments; merge shards of one run")
        differing = _differing(infos[0], info)
        if differing:
            raise UserError(f"{part} and {parts[0]} differ in {', '.join(differing)}; merge shards of one run")


def _differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    def plain(info: Mapping[str, Any]) -> dict[str, Any]:
        settings = {k: v for k, v in (info.get("settings") or {}).items() if k not in ELSEWHERE}
        return {**settings, "cases": split_source(str(settings.get("cases", "bank")))[0]}

    a, b = plain(one), plain(other)
    return sorted(key for key in {*a, *b} if a.get(key) != b.get(key))


def _together(parts: Sequence[Path]) -> list[Transcript]:
    """All transcripts; one that two parts hold has to be the same in both."""
    unique: dict[tuple[str, str, str, int, int], tuple[str, Transcript, Path]] = {}
    for part in parts:
        for transcript in load_transcripts(part / TRANSCRIPTS):
            t = transcript
            key, text = (t.task, t.variant, t.case_id, t.seed, t.repeat), dump(t)
            known = unique.setdefault(key, (text, t, part))
            if known[0] != text:
                raise UserError(
                    f"{known[2]} and {part} both hold {t.variant} of {t.case_id}, and it differs; "
                    "merge shards of one run with one model"
                )
    _refuse_other_doctors([(t, part) for _, t, part in unique.values()])
    return [t for _, t, _ in unique.values()]


def _refuse_other_doctors(found: Sequence[tuple[Transcript, Path]]) -> None:
    first: dict[str, tuple[str, Path]] = {}
    for transcript, part in found:
        roles = json.dumps({k: r.model_dump(mode="json") for k, r in sorted(transcript.roles.items())})
        known = first.setdefault(transcript.variant, (roles, part))
        if known[0] != roles:
            raise UserError(f"{known[1]} and {part} were run with different models; merge shards of one run")


def _lines(part: Path) -> Iterator[str]:
    """The whole lines of a log, without the marks of an end: a merged log can be gone on with."""
    load_log(part)  # says what cannot be read
    for path in log_files(part):
        with path.open("rb") as file:
            for raw in file:
                if raw.endswith(b"\n") and b'"finished": ' not in raw[:60]:
                    yield _whole(raw[:-1].decode("utf-8", "replace"))


def _whole(line: str) -> str:
    """A line of a shard's log as one of the whole run: a header's command is no longer that of a shard."""
    if '"header": ' not in line[:80]:
        return line
    row = json.loads(line)
    if row.get("command"):
        row["command"]["shard"] = None
    return json.dumps(row)


def _missing(shards: Sequence[Shard]) -> tuple[str, ...]:
    counts = {s.count for s in shards}
    if len(counts) > 1:
        raise UserError(f"shards of {sorted(counts)} parts do not make one run; merge shards of one run")
    count = counts.pop()
    return tuple(str(Shard(n, count)) for n in range(1, count + 1) if Shard(n, count) not in shards)
