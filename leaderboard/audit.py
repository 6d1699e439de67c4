"""The check that stands between a submission and the leaderboard. Every reason to refuse is one sentence."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path

from verisim_leaderboard.entries import parse_entry, transcripts_beside
from verisim_leaderboard.entry import case_bank_digest, read_scored
from verisim_leaderboard.patient_side import compare_patient_side
from verisim_leaderboard.problems import Problem
from verisim_leaderboard.record import Entry
from verisim_leaderboard.rescoring import compare
from verisim_leaderboard.rows import Run
from verisim_leaderboard.standard import REQUIRED, Standard, differences
from verisim_leaderboard.validation import impossible
from verisim_tasks._yaml import parse_yaml

SHOWN = 5
"""Differing scores that are named; the rest is counted."""


def check(
    path: Path,
    standard: Standard,
    transcripts: Path | None = None,
    cases: str | None = None,
    *,
    quick: bool = False,
) -> list[Problem]:
    """Everything that speaks against an entry; empty when it may stand on the leaderboard.

    Args:
        path: The entry's file.
        standard: What a standard run is.
        transcripts: The transcripts; those beside the entry when left out.
        cases: The case source of a custom entry, when it is neither the bank nor what the run recorded.
        quick: Do not score the patient's side again (see ``patient_side``).

    Raises:
        UserError: when the entry or the transcripts cannot be read.
    """
    found = parse_entry(path)
    if not isinstance(found, Entry):
        return found
    problems = [*impossible(found), *_pins(found), *_kind(found, standard), *_whole(found, standard)]
    place = transcripts or transcripts_beside(path)
    if place is None:
        return [*problems, Problem("missing", "there are no transcripts beside the entry; scores cannot be checked")]
    return [*problems, *_against_transcripts(found, place, standard, cases, quick)]


@functools.cache
def earlier_fingerprints() -> Mapping[str, str]:
    """Fingerprints of instruments that earlier releases measured with, and the release; their entries may stay."""
    text = (files("verisim_leaderboard") / "fingerprints.yaml").read_text(encoding="utf-8")
    return {str(key): str(value) for key, value in (parse_yaml(text) or {}).items()}


def _pins(entry: Entry) -> Iterator[Problem]:
    model = entry.model
    if entry.settings.suite.get("keep_restricted_text"):
        yield Problem("restricted", "the run kept the text of cases under a data-use agreement in its transcripts")
    if model.open_weights is None:
        yield Problem("unpinned", "nobody said whether the weights are open (--open-weights or --closed-weights)")
    if model.licence is None:
        yield Problem("unpinned", "no licence is stated (--licence)")
    if entry.submitter is None:
        yield Problem("unpinned", "no submitter is stated (--submitter)")
    if model.open_weights and model.revision is None and model.weights_sha256 is None:
        yield Problem("unpinned", "open weights without a pinned revision or a digest (--revision or --weights)")


def _kind(entry: Entry, standard: Standard) -> Iterator[Problem]:
    """A run that departs from the standard can only be custom, and says in what."""
    if entry.instrument.fingerprint in earlier_fingerprints():
        return
    expected = differences(entry.settings, entry.instrument, standard)
    named = ", ".join(f"{d.setting} is {d.found!r}, not {d.standard!r}" for d in expected[:SHOWN])
    if entry.kind == "standard" and expected:
        wrong = entry.instrument.fingerprint != standard.fingerprint
        yield Problem("fingerprint" if wrong else "kind", f"not a standard run: {named}; it can only be custom")
    elif {d.setting for d in expected} != {d.setting for d in entry.differences}:
        yield Problem("kind", f"the differences listed are not those of the run: {named or 'there are none'}")


def _whole(entry: Entry, standard: Standard) -> Iterator[Problem]:
    """No task and no case of a standard entry is missing, and no consultation failed."""
    if entry.kind == "custom":
        return
    present = {v.variant: v for v in entry.variants}
    for name in REQUIRED:
        if name not in present:
            yield Problem("missing", f"the {name} variant was not run; run the tasks of verisim_core")
    for name, variant in present.items():
        expected = standard.cases_of(name)
        if expected is not None and variant.counts.cases != len(expected):
            yield Problem("partial", f"{name} holds {variant.counts.cases} of {len(expected)} cases")
        if variant.counts.excluded:
            yield Problem("partial", f"{name}: {variant.counts.excluded} consultations ended in an error; run again")
    for warning in entry.warnings[:SHOWN]:
        yield Problem("score", f"the entry carries a warning: {warning}")
    if len(entry.warnings) > SHOWN:
        yield Problem("score", f"and {len(entry.warnings) - SHOWN} more warnings")


def _against_transcripts(
    entry: Entry, path: Path, standard: Standard, source: str | None, quick: bool
) -> Iterator[Problem]:
    run, cases = read_scored(path, source)
    if run.sha256 != entry.transcripts.sha256:
        yield Problem("digest", f"{path.name} has sha256 {run.sha256[:12]}, the entry {entry.transcripts.sha256[:12]}")
    if run.fingerprint != entry.instrument.fingerprint:
        yield Problem("fingerprint", "the transcripts were measured with another instrument than the entry states")
    if entry.kind == "standard":
        if case_bank_digest(cases) != case_bank_digest(standard.cases):
            yield Problem("fingerprint", "the cases used for scoring are not the bank of this suite")
        yield from _missing_cases(run, standard)
    wrong = [*compare(entry, run), *([] if quick else compare_patient_side(entry, path, cases))]
    for change in wrong[:SHOWN]:
        yield Problem("score", f"{change.path} is {change.first!r}, the transcripts give {change.second!r}")
    if len(wrong) > SHOWN:
        yield Problem("score", f"and {len(wrong) - SHOWN} more values that the transcripts do not give")


def _missing_cases(run: Run, standard: Standard) -> Iterator[Problem]:
    held: dict[str, set[str]] = {}
    for row in run.rows:
        held.setdefault(row.variant, set()).add(row.case_id)
    for name in sorted(held):
        missing = sorted((standard.cases_of(name) or frozenset()) - held[name])
        if missing:
            listed = ", ".join(missing[:SHOWN]) + (", ..." if len(missing) > SHOWN else "")
            yield Problem("partial", f"{name}: cases that the transcripts lack: {len(missing)} ({listed})")
