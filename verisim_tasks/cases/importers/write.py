"""Writing imported cases: one YAML file a case, and the account of the import beside them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import yaml

from verisim_tasks._files import write_atomically
from verisim_tasks.cases.importers.report import Imported
from verisim_tasks.errors import UserError
from verisim_tasks.records.case import Case

REPORT = "import_report.json"


def write_cases(imported: Sequence[Imported], folder: Path) -> None:
    """One ``<id>.yaml`` a case, and :data:`REPORT` with the fate of every source sentence.

    Raises ``UserError`` when a file cannot be written, or stands there already: nothing is overwritten.
    """
    taken = [folder / f"{i.case.id}.yaml" for i in imported if (folder / f"{i.case.id}.yaml").exists()]
    if taken:
        raise UserError(f"{taken[0]} exists already ({len(taken)} such files); give an empty folder to --out")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for one in imported:
            write_atomically(folder / f"{one.case.id}.yaml", as_yaml(one.case))
        accounts = [i.account.as_json() for i in imported]
        write_atomically(folder / REPORT, json.dumps(accounts, ensure_ascii=False, indent=1) + "\n")
    except OSError as error:
        raise UserError(f"{folder}: cannot be written ({error.strerror}); give another folder to --out") from error


def as_yaml(case: Case) -> str:
    """The case file: the canary first, empty fields left out."""
    data = case.model_dump(mode="json", exclude_defaults=True)
    data = {"schema_version": case.schema_version, **data}
    text = yaml.safe_dump(data, allow_unicode=True, sort_keys=False, width=120)
    return f"# {case.canary}\n{text}"
