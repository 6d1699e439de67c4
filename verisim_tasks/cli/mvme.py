"""``verisim mvme``: link-based diagnosis scores of any reports, and published Chief Physician evaluations."""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from verisim_tasks._jsonl import read_objects
from verisim_tasks.errors import UserError

if TYPE_CHECKING:
    from verisim_metrics.mvme.behaviour import Average, Behaviour, Share
    from verisim_metrics.mvme.chief import PartMean
    from verisim_metrics.mvme.linking import LinkScore


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser("mvme", help="AI Hospital (MVME) scores that need no model")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    link = actions.add_parser(
        "link",
        help="link-based diagnosis scores",
        description=(
            'Read lines {"id", "reference", "prediction"} of free text, optionally with "doctor" (or AI Hospital rows '
            'with "reference" and "reports"), and print micro recall, precision and F1.'
        ),
    )
    link.add_argument("file", help="a JSON-lines file, or '-' for standard input")
    link.add_argument("--codes", type=Path, metavar="FILE", help="CSV with code,name (default: ICD-10-CM)")
    link.add_argument("--json", action="store_true", help="print JSON")
    link.set_defaults(run=run_link)
    imported = actions.add_parser(
        "import",
        help="mean scores of published evaluation files",
        description="Read an AI Hospital evaluation file and print the Chief Physician's mean scores per doctor.",
    )
    imported.add_argument("file", help="a JSON-lines file, or '-' for standard input")
    imported.add_argument(
        "--empty", choices=("null", "one"), default="null", help="what an unreadable choice counts (published: one)"
    )
    imported.add_argument("--json", action="store_true", help="print JSON")
    imported.set_defaults(run=run_import)
    behaviour = actions.add_parser(
        "behaviour",
        help="how patient, examiner and report behaved, from saved transcripts",
        description=(
            "Read transcripts and print the share of relevant and honest answers, what became of orders, whether the "
            "reports are consistent with the dialogue, the regression of the diagnosis on completeness, and why wrong "
            "diagnoses are wrong."
        ),
    )
    behaviour.add_argument("transcripts", type=Path, metavar="TRANSCRIPTS", help="transcripts.jsonl, or its folder")
    behaviour.add_argument("--cases", default="bank", metavar="SOURCE", help="the cases of the run (default: the bank)")
    behaviour.add_argument("--json", action="store_true", help="print JSON")
    behaviour.set_defaults(run=run_behaviour)


def run_link(args: argparse.Namespace) -> int:
    """Print the table. Raises ``UserError`` on a bad file or code list."""
    from verisim_metrics.mvme.linking import FuzzyLinker, icd10_cm, link_fuzzy, link_icd, read_code_list
    from verisim_metrics.mvme.published import pairs_in

    groups = pairs_in(read_objects(args.file))
    code_list = read_code_list(args.codes) if args.codes else icd10_cm()
    linker = FuzzyLinker(code_list)
    scores = {d: {"link_fuzzy": link_fuzzy(p, linker)[0], "link_icd": link_icd(p)[0]} for d, p in groups.items()}
    if args.json:
        plain = {d: {name: dataclasses.asdict(s) for name, s in named.items()} for d, named in scores.items()}
        print(json.dumps({"codes": code_list.source, "scores": plain}, ensure_ascii=False, indent=2))
        return 0
    rows = [_link_row(doctor, name, score) for doctor, named in scores.items() for name, score in named.items()]
    print(_table(("doctor", "score", "recall", "precision", "F1", "cases", "unanswered", "left out"), rows))
    print(f"code list of link_fuzzy: {code_list.source}, {len(code_list.names)} names")
    return 0


def run_import(args: argparse.Namespace) -> int:
    """Print the mean mark of each part for each doctor. Raises ``UserError`` on another kind of file."""
    from verisim_metrics.mvme.chief import aggregate, breaches
    from verisim_metrics.mvme.published import choices_in

    choices = choices_in(read_objects(args.file))
    means = aggregate(choices, args.empty)
    if args.json:
        plain = {d: {part: dataclasses.asdict(m) for part, m in parts.items()} for d, parts in means.items()}
        print(json.dumps({"doctors": plain, "dependence_breaches": breaches(choices)}, ensure_ascii=False, indent=2))
        return 0
    rows = [_import_row(doctor, part, m) for doctor, parts in means.items() for part, m in parts.items()]
    print(_table(("doctor", "part", "mean", "n", "nulls"), rows))
    print(f"rationale or treatment marked higher than the diagnosis allows: {breaches(choices)} of {len(choices)}")
    return 0


def run_behaviour(args: argparse.Namespace) -> int:
    """Print the checks, by variant. Raises ``UserError`` for what cannot be read."""
    from verisim_metrics.mvme.behaviour import observe
    from verisim_tasks.cases.bank import load_cases
    from verisim_tasks.loop.store import load_transcripts

    path = args.transcripts / "transcripts.jsonl" if args.transcripts.is_dir() else args.transcripts
    if not path.is_file():
        raise UserError(f"no transcripts at {path}; give the file, or the run_dir that holds it")
    transcripts = load_transcripts(path)
    cases = {case.id: case for case in load_cases(args.cases)}
    unknown = sorted({t.case_id for t in transcripts} - set(cases))
    if unknown:
        raise UserError(f"{path} is about case {unknown[0]!r}, which {args.cases!r} does not hold; give --cases")
    variants = sorted({t.variant for t in transcripts})
    found = {name: observe([t for t in transcripts if t.variant == name], cases) for name in variants}
    if args.json:
        print(json.dumps({name: dataclasses.asdict(b) for name, b in found.items()}, ensure_ascii=False, indent=2))
        return 0
    for name, behaviour in found.items():
        print(f"{name}\n{_behaviour_text(behaviour)}\n")
    return 0


def _behaviour_text(behaviour: Behaviour) -> str:
    from verisim_metrics.mvme.behaviour import SHARES

    rows = [_share_row(label, getattr(behaviour, name)) for name, label in SHARES.items()]
    rows += [(f"wrong: {name.replace('_', ' ')}", str(count), "") for name, count in behaviour.failures.items()]
    fit = behaviour.regression
    rows += [
        (f"diagnosis on {c.name}", f"{c.value:.3f}", f"standard error {c.standard_error:.3f}, p {_number(c.p)}")
        for c in fit.coefficients
    ]
    rows.append(
        ("regression", f"R² {_number(fit.r_squared)}", f"{fit.n} reports" + (f", {fit.reason}" if fit.reason else ""))
    )
    return _table(("check", "value", "of"), rows)


def _share_row(label: str, value: Share | Average) -> tuple[str, ...]:
    counted = f"{value.hits} of {value.of}" if hasattr(value, "hits") else f"{value.n} of {value.of} reports"
    return label, _number(value.value), counted


def _link_row(doctor: str, name: str, score: LinkScore) -> tuple[str, ...]:
    left_out = f"{score.left_out} ({score.reason})" if score.left_out else "0"
    values = (_number(score.recall), _number(score.precision), _number(score.f1))
    return (doctor, name, *values, str(score.cases), str(score.unanswered), left_out)


def _import_row(doctor: str, part: str, value: PartMean) -> tuple[str, ...]:
    return doctor, part, _number(value.mean), str(value.n), str(value.nulls)


def _number(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.3f}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in (head, *rows))
