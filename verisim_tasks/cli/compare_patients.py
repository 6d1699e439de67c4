"""``verisim compare-patients``: the same questions to the scripted patient and to one played by a model."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from verisim_tasks.cli._role_options import settings_with
from verisim_tasks.errors import UserError

if TYPE_CHECKING:
    from verisim_tasks.patient.compare import Figures

QUESTIONS = (
    "What brings you in today?",
    "When did it start?",
    "Does anything make it better or worse?",
    "Have you noticed anything else?",
    "Do you have a fever?",
    "What medicines do you take?",
    "Do you smoke or drink alcohol?",
    "Are there any illnesses in your family?",
)


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser(
        "compare-patients",
        help="put the same questions to the scripted patient and to a model's",
        description=(
            "Ask the scripted patient and a patient played by a model the same questions about the same cases at the "
            "same noise, and print facts told, words per answer, noise events, rejected drafts and fallbacks by level."
        ),
    )
    parser.add_argument("--patient", required=True, metavar="JSON", help='{"model": "hf", "model_args": {...}}')
    parser.add_argument("--cases", default="bank", help="a case file, a folder of them, or 'bank' (default)")
    parser.add_argument("--limit", type=int, default=3, metavar="N", help="cases to ask about (default 3)")
    parser.add_argument(
        "--noise",
        action="append",
        metavar="DIM=LEVEL,...",
        help="a noise profile, repeatable; 'clean' for none (default: clean, then every dimension at level 3)",
    )
    parser.add_argument("--questions", metavar="FILE", help="one question a line (default: eight questions)")
    parser.add_argument("--out", metavar="FILE", help="write every answer as JSON lines")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Ask, and print one table. Raises ``UserError`` for a wrong setting before the model is loaded."""
    from verisim_tasks.cases.bank import load_cases
    from verisim_tasks.loop.roles import make_patient
    from verisim_tasks.patient.compare import compare
    from verisim_tasks.patient.scripted import ScriptedPatient
    from verisim_tasks.records.noise import DIMENSIONS, NoiseProfile

    if args.limit < 1:
        raise UserError(f"--limit {args.limit} leaves no case; give at least 1")
    profiles = (
        [NoiseProfile.parse([] if text == "clean" else [text]) for text in args.noise]
        if args.noise
        else [NoiseProfile(), *(NoiseProfile({d: 3}) for d in DIMENSIONS)]
    )
    settings = settings_with("patient", args.patient)
    cases = list(load_cases(args.cases))[: args.limit]
    questions = _questions(args.questions)
    played, _ = make_patient(settings)
    rows = list(compare({"scripted": ScriptedPatient(), "model": played}, cases, profiles, questions))
    _show([figures for figures, _ in rows])
    if args.out:
        lines = [json.dumps(answer, ensure_ascii=False) for _, answers in rows for answer in answers]
        Path(args.out).write_text("\n".join([*lines, ""]), encoding="utf-8")
    return 0


def _questions(path: str | None) -> list[str]:
    if path is None:
        return list(QUESTIONS)
    try:
        found = [line.strip() for line in Path(path).read_text(encoding="utf-8").splitlines() if line.strip()]
    except OSError as error:
        raise UserError(f"cannot read --questions {path}: {error.strerror}; check the path") from None
    if not found:
        raise UserError(f"no question in {path}; write one a line")
    return found


def _show(rows: list[Figures]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title="The same questions to both patients")
    for name in ("patient", "noise", "answers", "facts/answer", "words/answer", "noise events", "rejected", "fallback"):
        table.add_column(name, justify="left" if name in ("patient", "noise") else "right")
    for row in rows:
        table.add_row(
            row.patient,
            row.noise,
            str(row.answers),
            f"{row.facts / row.answers:.2f}",
            f"{row.words / row.answers:.1f}",
            str(row.events),
            "-" if row.drafts is None else f"{row.rejected} of {row.drafts} drafts",
            "-" if row.drafts is None else f"{row.fallbacks / row.answers:.0%}",
        )
    Console(width=120).print(table)
