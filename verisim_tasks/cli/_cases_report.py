"""``verisim cases report``: printing the difficulty and leakage report."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from verisim_tasks.cases.report import BankReport, CaseReport

_COUNTED = ("specialty", "sex", "difficulty", "computed_difficulty", "informant", "key_facts_needed")
_AGES = (("under 1", 1.0), ("1-11", 12.0), ("12-17", 18.0), ("18-39", 40.0), ("40-64", 65.0), ("65 and over", 200.0))


def add_report(parts: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand."""
    parser = parts.add_parser(
        "report",
        help="counts, difficulty, and cases whose opening gives the diagnosis away",
        description="Flags cases whose diagnosis the built-in clinician guesses from the opening alone, or misses with "
        "every fact told. Names diagnoses: not for eyes that still have to take the test.",
    )
    parser.add_argument("source", nargs="?", default="bank", help="'bank' (default), a case file or a folder")
    parser.add_argument("--json", action="store_true", help="the whole report as one JSON object")
    parser.set_defaults(run=run_report)


def run_report(args: argparse.Namespace) -> int:
    """Make the report and print it."""
    from rich.console import Console

    from verisim_tasks.cases.bank import load_cases
    from verisim_tasks.cases.report import report

    found = report(load_cases(args.source))
    if args.json:
        print(json.dumps(as_json(found), ensure_ascii=False, indent=1))
    else:
        _print(found, Console())
    return 0


def as_json(found: BankReport) -> dict[str, object]:
    """The report as plain data."""
    return {
        "cases": len(found.cases),
        "counts": {field: found.count(field) for field in _COUNTED},
        "ages": age_groups(found),
        "facts_per_item": found.facts_per_item,
        "mean_facts": found.mean_facts,
        "sensitive_facts": sum(c.sensitive_facts for c in found.cases),
        "sensitive_key_facts": sum(c.sensitive_key_facts for c in found.cases),
        "guessed_from_opening": [c.id for c in found.leaked],
        "missed_with_every_fact": [c.id for c in found.unsolved],
        "unknown_to_the_clinician": [c.id for c in found.cases if c.in_knowledge is False],
        "label_differs": [c.id for c in found.mislabelled],
        "by_case": [asdict(c) for c in found.cases],
    }


def age_groups(found: BankReport) -> dict[str, int]:
    """Number of cases in each age group, youngest first."""
    counts = dict.fromkeys((name for name, _ in _AGES), 0)
    for case in found.cases:
        counts[next(name for name, below in _AGES if case.age < below)] += 1
    return counts


def _print(found: BankReport, console: Console) -> None:
    groups = {field.replace("_", " "): found.count(field) for field in _COUNTED}
    for title, counts in {"age": age_groups(found), **groups, "facts by profile item": found.facts_per_item}.items():
        console.print(_counts(title, counts))
    console.print(_by_case(found))
    cases = len(found.cases)
    sensitive = sum(c.sensitive_facts for c in found.cases)
    key = sum(c.sensitive_key_facts for c in found.cases)
    facts = "-" if found.mean_facts is None else f"{found.mean_facts:.1f}"
    console.print(f"{cases} cases, {facts} facts a case; {sensitive} sensitive facts, {key} of them key facts")
    for label, flagged in (
        ("diagnosis guessed from the opening alone", found.leaked),
        ("diagnosis missed with every fact told", found.unsolved),
        ("of them unknown to the clinician", tuple(c for c in found.unsolved if c.in_knowledge is False)),
        ("difficulty label differs from the computed one", found.mislabelled),
    ):
        console.print(f"{label}: {len(flagged)} of {cases}" + "".join(f" {c.id}" for c in flagged), highlight=False)


def _counts(title: str, counts: dict[str, int]) -> Table:
    from rich.table import Table

    table = Table(title=title, title_justify="left", show_header=False)
    for value, number in counts.items():
        table.add_row(value.replace("_", " "), str(number))
    return table


def _by_case(found: BankReport) -> Table:
    from rich.markup import escape
    from rich.table import Table

    table = Table(title="by case", title_justify="left")
    for head in ("case", "facts", "key", "needed", "label", "computed", "from the opening", "with every fact"):
        table.add_column(head)
    for case in found.cases:
        needed = "-" if case.key_facts_needed is None else str(case.key_facts_needed)
        label, computed = case.difficulty or "-", case.computed_difficulty or "-"
        table.add_row(
            case.id, str(case.facts), str(case.key_facts), needed, label, computed, *map(escape, _guesses(case))
        )
    return table


def _guesses(case: CaseReport) -> tuple[str, str]:
    def mark(right: bool | None, guess: str | None) -> str:
        return "no reference" if guess is None else f"{'RIGHT' if right else 'wrong'}: {guess}"

    return mark(case.guessed_from_opening, case.first_guess), mark(case.found_with_everything, case.last_guess)
