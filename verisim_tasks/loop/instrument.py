"""The instrument fingerprint: a digest of everything that makes one measurement comparable with another.

Library versions are not in it: they are recorded beside the transcripts (see ``store``).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any

from verisim_tasks._stable import digest
from verisim_tasks.language.embedding import MODEL_NAME, MODEL_REVISION
from verisim_tasks.loop.prompts import prompts_digest
from verisim_tasks.records.case import Case

DATA: tuple[tuple[str, str], ...] = (
    ("verisim_tasks", "noise"),
    ("verisim_fixtures", "levels.yaml"),
    ("verisim_fixtures", "lexicon"),
    ("verisim_fixtures", "mixed.yaml"),
    ("verisim_fixtures", "phrases"),
)
"""Files and folders whose data files decide what a patient says under noise."""

SUFFIXES: tuple[str, ...] = (".yaml", ".yml", ".json", ".jsonl", ".txt", ".csv", ".tsv")


def describe_instrument(
    cases: Iterable[Case], patient: dict[str, Any], max_turns: int, *, examiner: dict[str, Any] | None = None
) -> dict[str, Any]:
    """The instrument as JSON-able data; its digest is the fingerprint of a transcript.

    Args:
        cases: The whole case bank, however few of its cases are run.
        patient: What the patient says of itself.
        max_turns: The turn limit.
        examiner: What the examiner says of itself, where there is one.
    """
    return {
        **({"examiner": examiner} if examiner is not None else {}),
        "cases": describe_bank(cases),
        "noise_table": noise_table_digest(),
        "patient": patient,
        "max_turns": max_turns,
        "prompts": prompts_digest(),
        "embedding": {"model": MODEL_NAME, "revision": MODEL_REVISION},
    }


def describe_onestep(cases: Iterable[Case]) -> dict[str, Any]:
    """The instrument where a whole record is handed over: the cases and what the doctor is told."""
    return {"mode": "onestep", "cases": describe_bank(cases), "prompts": prompts_digest()}


def describe_bank(cases: Iterable[Case]) -> dict[str, Any]:
    """How many cases there are, and a digest of all they say."""
    unique = {case.id: case for case in cases}
    return {"count": len(unique), "digest": digest({i: cases_digest(unique[i]) for i in sorted(unique)})}


def cases_digest(case: Case) -> str:
    """A digest of everything one case says."""
    return digest(case.model_dump(mode="json"))


@functools.cache
def noise_table_digest() -> str:
    """A digest of the noise levels, the phrases, the lexicon and the mixed assignment."""
    found: dict[str, str] = {}
    for package, name in DATA:
        root = Path(str(files(package)))
        place = root / name
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if path.is_file() and path.suffix in SUFFIXES:
                found[f"{package}/{path.relative_to(root).as_posix()}"] = digest(path.read_text(encoding="utf-8"))
    return digest(found)
