"""From a run's folder to one leaderboard entry.

Every score is computed from transcripts and cases; lm-eval's own numbers are only compared with.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verisim_leaderboard import analysis, scores
from verisim_leaderboard.checks import disagreements
from verisim_leaderboard.record import (
    Cost,
    Counts,
    Curve,
    Entry,
    GroupEntry,
    Headline,
    Instrument,
    OtherTask,
    Robustness,
    RunSettings,
    TranscriptFile,
    VariantEntry,
    VariantTest,
)
from verisim_leaderboard.results import Results, find_transcripts, newest_results, number, public
from verisim_leaderboard.rows import Run, read_run
from verisim_leaderboard.standard import Standard, differences, installed_standard
from verisim_tasks import __version__
from verisim_tasks._files import write_atomically
from verisim_tasks._stable import digest
from verisim_tasks.cases.bank import load_cases
from verisim_tasks.errors import UserError
from verisim_tasks.loop.store import RUN_INFO
from verisim_tasks.records.case import Case
from verisim_tasks.records.transcript import Transcript

ENTRY_FILE = "verisim_entry.json"
_COMPUTED: frozenset[str] = frozenset(scores.NAMES)


def build_entry(
    folder: Path, transcripts: Path | None = None, cases: str | None = None, standard: Standard | None = None
) -> Entry:
    """The entry of the newest run in a folder; see ``build``."""
    return build(folder, transcripts, cases, standard).entry


@dataclass(frozen=True)
class Built:
    """An entry and what it was made from."""

    entry: Entry
    transcripts: Path
    cases: Mapping[str, Case]


def build(
    folder: Path, transcripts: Path | None = None, cases: str | None = None, standard: Standard | None = None
) -> Built:
    """The entry of the newest run in a folder, with its transcripts and cases.

    Args:
        folder: Where lm-eval wrote ``results*.json``, or a folder above.
        transcripts: ``transcripts.jsonl``, or its folder; looked for in ``folder`` when left out.
        cases: The case source; when left out, the one the run recorded, else the bank.
        standard: What makes a run standard; that of the installed suite when left out.

    Raises:
        UserError: for missing or unreadable files, mixed fingerprints and unknown cases.
    """
    results = newest_results(folder)
    path = find_transcripts(folder, results, transcripts)
    info = _run_info(path.with_name(RUN_INFO))  # library versions, beside the transcripts
    run, loaded = read_scored(path, cases or _recorded_source(results, info))
    parts = computed(run, lambda task, cases: results.reported(task, _COMPUTED, cases))
    settings = _settings(results, run, info)
    instrument = Instrument(fingerprint=run.fingerprint, parts=public("instrument", run.instrument))
    found = differences(settings, instrument, standard or installed_standard())
    entry = Entry(
        kind="custom" if found else "standard",
        differences=found,
        model=results.model(),
        date=results.date,
        versions=_versions(results, info),
        scored_with=__version__,
        instrument=instrument,
        settings=settings,
        headline=parts.headline,
        counts=parts.counts,
        cost=Cost(turns=parts.turns, doctor_tokens=None, seconds=results.seconds),
        variants=parts.variants,
        other_tasks=tuple(_other_tasks(results, run)),
        groups=parts.groups,
        curves=parts.curves,
        tests=parts.tests,
        robustness=parts.robustness,
        transcripts=TranscriptFile(file=path.name, sha256=run.sha256, consultations=len(run.rows)),
        warnings=(*_run_warnings(run, loaded), *disagreements(results, parts.variants, parts.groups, run.aside)),
    )
    return Built(entry, path, loaded)


@dataclass(frozen=True)
class Computed:
    """Everything of an entry that transcripts and cases alone decide."""

    headline: Headline
    counts: Counts
    turns: int
    variants: tuple[VariantEntry, ...]
    groups: tuple[GroupEntry, ...]
    curves: tuple[Curve, ...]
    tests: tuple[VariantTest, ...]
    robustness: Robustness


def computed(run: Run, reported: scores.ReportedBy) -> Computed:
    """Score tables, curves, tests and robustness of scored consultations."""
    tables = scores.tables_of(run.rows)
    return Computed(
        headline=scores.headline(tables),
        counts=scores.count(run.rows),
        turns=sum(row.turns for row in run.rows),
        variants=scores.variant_entries(tables, reported),
        groups=scores.group_entries(tables),
        curves=scores.curves(tables),
        tests=analysis.variant_tests(tables),
        robustness=analysis.robustness(tables),
    )


def read_scored(path: Path, source: str | None = None) -> tuple[Run, Mapping[str, Case]]:
    """Score the transcripts of a file against the cases of ``source``, or of the source that they recorded.

    Raises:
        UserError: for an unreadable file, mixed fingerprints and unknown cases.
    """
    loaded: dict[str, Case] = {}

    def cases_for(first: Transcript) -> Mapping[str, Case]:
        loaded.update({case.id: case for case in load_cases(source or _source_of(first) or "bank")})
        return loaded

    return read_run(path, cases_for), loaded


def entry_text(entry: Entry) -> str:
    """The entry as strict JSON: null, never NaN; the same entry is the same text."""
    return json.dumps(entry.model_dump(mode="json"), indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def write_entry(entry: Entry, path: Path) -> None:
    """Write the entry whole or not at all.

    Raises:
        UserError: when the file cannot be written.
    """
    try:
        write_atomically(path, entry_text(entry))
    except OSError as error:
        raise UserError(f"entry {path} cannot be written ({error.strerror}); choose another file with --out") from error


def _other_tasks(results: Results, run: Run) -> Iterator[OtherTask]:
    for task in sorted(run.aside):
        count = run.aside[task]
        yield OtherTask(task=task, consultations=count, reported=results.reported(task, (), count))


def _settings(results: Results, run: Run, info: Mapping[str, Any]) -> RunSettings:
    suite = results.suite_settings or dict(info.get("settings") or {})
    suite.pop("run_dir", None)  # a folder of one machine
    patient = run.roles.get("patient")
    doctor = run.roles.get("doctor")
    gen_kwargs = doctor.settings.get("gen_kwargs") if doctor else None
    batch_size = results.config.get("batch_size")
    return RunSettings(
        suite=public("suite", suite),
        patient=patient.model if patient else "unnamed",
        patient_is_doctor=bool(patient and patient.same_as_doctor),
        seeds=tuple(sorted({row.seed for row in run.rows})),
        repeats=len({row.repeat for row in run.rows}),
        limit=number(results.config.get("limit")),
        batch_size=None if batch_size is None else str(batch_size),
        gen_kwargs=public("gen_kwargs", gen_kwargs) if isinstance(gen_kwargs, Mapping) else {},
        chat_template=bool(doctor and doctor.settings.get("channel") == "chat"),
        system_instruction=bool(results.data.get("system_instruction")),
    )


def _versions(results: Results, info: Mapping[str, Any]) -> dict[str, str]:
    recorded = info.get("versions")
    found = dict(results.versions())
    if isinstance(recorded, Mapping):
        found.update({str(name): str(version) for name, version in recorded.items() if version})
    return dict(sorted(found.items()))


def _run_info(path: Path) -> Mapping[str, Any]:
    """What the run wrote beside its transcripts; empty when it wrote nothing."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read ({error}); mend it, or move it away") from error
    return data if isinstance(data, dict) else {}


def _recorded_source(results: Results, info: Mapping[str, Any]) -> str | None:
    settings = info.get("settings")
    for place in (settings if isinstance(settings, Mapping) else {}, results.suite_settings):
        if isinstance(place.get("cases"), str):
            return str(place["cases"])
    return None


def _source_of(transcript: Transcript) -> str | None:
    cases = transcript.instrument.get("cases")
    source = cases.get("source") if isinstance(cases, Mapping) else None
    return source if isinstance(source, str) else None


def _run_warnings(run: Run, cases: Mapping[str, Case]) -> Iterator[str]:
    recorded = run.instrument.get("cases")
    expected = recorded.get("digest") if isinstance(recorded, Mapping) else None
    if expected is not None and expected != case_bank_digest(cases):
        yield "the cases used for scoring are not the cases of the run (their digests differ)"
    if run.doubled:
        yield f"{run.doubled} consultations stand in the transcripts more than once; the last one counts"


def case_bank_digest(cases: Mapping[str, Case]) -> str:
    """The digest by which the instrument names a case bank."""
    return digest({case_id: digest(cases[case_id].model_dump(mode="json")) for case_id in sorted(cases)})
