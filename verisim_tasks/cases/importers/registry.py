"""The formats, and reading a whole file in one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verisim_tasks.cases.importers import agentclinic, aihospital, fhir, mediq, patientsim, verisim_profile
from verisim_tasks.cases.importers.report import Imported
from verisim_tasks.cases.importers.source import BadRecordError, Place, Raw, clean, read_records
from verisim_tasks.errors import UserError, did_you_mean


@dataclass(frozen=True)
class Format:
    """One format: how a record becomes a case, and how its case is called."""

    convert: Callable[[Raw, str], Imported]
    case_id: Callable[[Raw, str], str]
    marks: tuple[str, ...]
    """Keys by which a record of this format is recognised, any one of them."""
    suffixes: tuple[str, ...] = (".json", ".jsonl", ".ndjson")


FORMATS: dict[str, Format] = {
    "agentclinic": Format(agentclinic.convert, agentclinic.default_id, ("OSCE_Examination", "patient_info")),
    "mediq": Format(mediq.convert, mediq.default_id, ("facts", "atomic_facts", "context")),
    "craftmd": Format(mediq.convert_craftmd, mediq.default_id, ()),
    "patientsim": Format(
        patientsim.convert, patientsim.default_id, ("hadm_id", "present_illness_positive", "chiefcomplaint")
    ),
    "verisim": Format(
        verisim_profile.convert, verisim_profile.default_id, ("noise_profile", "patient_id"), suffixes=(".json",)
    ),
    "aihospital": Format(aihospital.convert, aihospital.default_id, ("medical_record",)),
    "fhir": Format(fhir.convert, fhir.default_id, ("resourceType",)),
}


@dataclass
class Outcome:
    """All cases of a source, and the records that could not be imported."""

    imported: list[Imported]
    bad: list[BadRecordError]


def import_file(name: str, path: Path, *, skip_bad: bool = False, split: str | None = None) -> Outcome:
    """Every case of a file, or of every file of a folder, in one format.

    Raises ``UserError`` for the first bad record, or with ``skip_bad`` collects them and goes on.
    """
    chosen = find_format(name)
    files = _files(path, chosen)
    found = ((raw, file.stem) for file in files for raw in read_records(file))
    return import_records(chosen, found, skip_bad=skip_bad, split=split, source=str(path))


def import_rows(
    name: str | None, rows: Iterable[Any], label: str, *, skip_bad: bool = False, split: str | None = None
) -> Outcome:
    """Every case of rows that are objects already (from ``datasets``); without a name the format is guessed."""
    raws = [_row(row, Place(label, i, "row")) for i, row in enumerate(rows, start=1)]
    first = next((r for r in raws if isinstance(r, Raw)), None)
    if first is None:
        raise UserError(f"{label}: holds no row that could be a case")
    chosen = find_format(name) if name else FORMATS[guess(first)]
    stem = label.rstrip("/").rsplit("/", 2)[-2] if label.count("/") > 2 else label
    return import_records(chosen, ((r, stem) for r in raws), skip_bad=skip_bad, split=split, source=label)


def import_records(
    chosen: Format,
    records: Iterable[tuple[Raw | BadRecordError, str]],
    *,
    skip_bad: bool,
    split: str | None,
    source: str,
) -> Outcome:
    """Convert records one by one; ids are unique or the record is bad."""
    outcome = Outcome([], [])
    places: dict[str, str] = {}
    for record, stem in records:
        try:
            if isinstance(record, BadRecordError):
                raise record
            if split is not None and record.data.get("split") != split:
                continue
            outcome.imported.append(_convert(chosen, record, stem, places))
        except BadRecordError as error:
            if not skip_bad:
                raise
            outcome.bad.append(error)
    if not outcome.imported:
        chosen_split = f" of split {split!r}" if split else ""
        skipped = f" ({len(outcome.bad)} bad records; the first: {outcome.bad[0]})" if outcome.bad else ""
        raise UserError(f"{source}: holds no case{chosen_split} that can be imported{skipped}")
    return outcome


def _convert(chosen: Format, record: Raw, stem: str, places: dict[str, str]) -> Imported:
    case_id = chosen.case_id(record, stem)
    if case_id in places:
        raise record.place.bad(f"has the id of {places[case_id]} ({case_id}); ids must be unique")
    places[case_id] = str(record.place)
    try:
        return chosen.convert(record, case_id)
    except UserError as error:
        if isinstance(error, BadRecordError):
            raise
        raise record.place.bad(str(error)) from error
    except RecursionError as error:
        raise record.place.bad("is nested too deeply to be a case") from error


def find_format(name: str) -> Format:
    """The format of that name. Raises ``UserError``."""
    if name not in FORMATS:
        raise UserError(f"no case format {name!r}{did_you_mean(name, sorted(FORMATS))}")
    return FORMATS[name]


def guess(record: Raw) -> str:
    """The name of the format a record is in, by its keys. Raises ``UserError``."""
    for name, chosen in FORMATS.items():
        if any(mark in record.data for mark in chosen.marks):
            return name
    raise UserError(
        f"{record.place}: cannot tell the format; name it, as in 'agentclinic+hf://...' "
        f"(known: {', '.join(sorted(FORMATS))})"
    )


def _row(row: Any, place: Place) -> Raw | BadRecordError:
    try:
        return Raw(clean(row, place), place)
    except BadRecordError as error:
        return error


def _files(path: Path, chosen: Format) -> list[Path]:
    if not path.exists():
        raise UserError(f"{path} does not exist; give the file to import, or a folder of such files")
    if path.is_file():
        return [path]
    found = sorted(p for p in _inside(path) if p.suffix.lower() in chosen.suffixes)
    if not found:
        raise UserError(f"{path}: holds no file that ends in {', '.join(chosen.suffixes)}")
    return found


def _inside(folder: Path) -> Iterator[Path]:
    yield from (p for p in folder.iterdir() if p.is_file())
