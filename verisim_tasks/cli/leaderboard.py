"""``verisim leaderboard``: put runs on the leaderboard, check them, compare them."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from verisim_tasks.cli._site import add_site_parts
from verisim_tasks.errors import UserError

EXIT_PROBLEMS = 1
"""An entry is refused, a score differs, or the schema file is not current."""
ENTRIES = Path("leaderboard/entries")


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand and its own subcommands."""
    parser = subparsers.add_parser("leaderboard", help="add, check, compare, rank and show leaderboard entries")
    parts = parser.add_subparsers(dest="leaderboard_command", metavar="COMMAND", required=True)
    _add_add(parts)
    one = _part(parts, "validate", "check entry files against the schema and for impossible values", run_validate)
    one.add_argument(
        "paths", nargs="+", type=Path, metavar="ENTRY", help="entry files, their folders, or a folder of them"
    )
    checked = _part(parts, "check", "say whether entries may stand on the leaderboard (for CI)", run_check)
    checked.add_argument("paths", nargs="*", type=Path, metavar="ENTRY", help=f"default: {ENTRIES}")
    _transcripts_and_cases(checked)
    _quick(checked)
    again = _part(parts, "rescore", "score an entry's transcripts again and say what differs", run_rescore)
    again.add_argument("entry", type=Path, metavar="ENTRY", help="an entry file or its folder")
    again.add_argument("transcripts", type=Path, metavar="TRANSCRIPTS", help="transcripts.jsonl, or .jsonl.gz")
    again.add_argument("--cases", metavar="SOURCE", help="default: the cases that the run recorded, else the bank")
    _quick(again)
    diff = _part(parts, "diff", "settings that differ between two entries, and paired tests of their scores", run_diff)
    for name in ("first", "second"):
        diff.add_argument(name, type=Path, metavar=name.upper(), help="an entry, its folder, or a results folder")
    diff.add_argument("--cases", metavar="SOURCE", help="default: the cases that the runs recorded, else the bank")
    rank = _part(parts, "rank", "print the leaderboard", run_rank)
    rank.add_argument("entries", nargs="?", type=Path, default=ENTRIES, metavar="DIR", help="default: %(default)s")
    schema = _part(parts, "schema", "print the JSON Schema of entries", run_schema)
    schema.add_argument("--out", type=Path, metavar="FILE", help="write it instead")
    schema.add_argument("--check", action="store_true", help="say whether the shipped file is current")
    add_site_parts(lambda name, text, run: _part(parts, name, text, run), ENTRIES)


def _part(
    parts: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    text: str,
    run: Callable[[argparse.Namespace], int],
) -> argparse.ArgumentParser:
    parser = parts.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
    parser.set_defaults(run=run)
    return parser


def _add_add(parts: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _part(parts, "add", "make the entry of a run and put it with its transcripts among the entries", run_add)
    parser.add_argument("results_dir", type=Path, metavar="RESULTS_DIR", help="what lm_eval --output_path named")
    parser.add_argument("--entries", type=Path, default=ENTRIES, metavar="DIR", help="default: %(default)s")
    parser.add_argument("--replace", action="store_true", help="put this run in the place of an earlier one")
    _transcripts_and_cases(parser)
    said = parser.add_argument_group("what only you can say")
    said.add_argument("--submitter", metavar="NAME", help="a person or an organisation")
    said.add_argument("--name", metavar="MODEL", help="canonical name, e.g. Qwen/Qwen2.5-7B-Instruct")
    said.add_argument("--revision", metavar="COMMIT", help="pinned revision of the model")
    said.add_argument("--weights", type=Path, metavar="PATH", help="the weights file or folder; its digest is recorded")
    said.add_argument("--parameters", type=float, metavar="N", help="number of parameters, e.g. 7.6e9")
    said.add_argument("--licence", metavar="ID", help="an SPDX identifier, or the name of the licence")
    weights = said.add_mutually_exclusive_group()
    weights.add_argument("--open-weights", action="store_const", const=True, dest="open_weights", default=None)
    weights.add_argument("--closed-weights", action="store_const", const=False, dest="open_weights")
    said.add_argument(
        "--contamination", choices=("clean", "unknown", "contaminated"), help="were the cases in its training data?"
    )
    said.add_argument("--parent", action="append", default=[], metavar="MODEL", help="a model it was trained from")
    said.add_argument("--reason", metavar="TEXT", help="why it is called clean or contaminated")


def _transcripts_and_cases(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--transcripts", type=Path, metavar="FILE", help="default: those in the folder")
    parser.add_argument("--cases", metavar="SOURCE", help="default: the cases that the run recorded, else the bank")


def _quick(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quick", action="store_true", help="do not score the patient's side again (truth, coverage)")


def run_add(args: argparse.Namespace) -> int:
    """Make the entry, put it in its folder, and say whether it may stand there."""
    from verisim_leaderboard.standard import installed_standard
    from verisim_leaderboard.submission import add

    path = add(
        args.results_dir,
        args.entries,
        _declaration(args),
        transcripts=args.transcripts,
        cases=args.cases,
        replace=args.replace,
        standard=installed_standard(),
    )
    print(f"entry written to {path}")
    return _refused(path, None, args.cases, quick=True)


def _declaration(args: argparse.Namespace) -> Any:
    from pydantic import ValidationError

    from verisim_leaderboard.declaration import Declaration, weights_digest

    try:
        return Declaration(
            submitter=args.submitter,
            canonical_name=args.name,
            revision=args.revision,
            weights_sha256=weights_digest(args.weights) if args.weights else None,
            parameters=None if args.parameters is None else int(args.parameters),
            licence=args.licence,
            open_weights=args.open_weights,
            contamination=args.contamination,
            parents=tuple(args.parent),
            reason=args.reason,
        )
    except ValidationError as error:
        first = error.errors()[0]
        raise UserError(f"--{first['loc'][0]} is {first['input']!r}: {first['msg']}; give another value") from None


def run_validate(args: argparse.Namespace) -> int:
    """Print what is wrong with the files themselves; no transcripts are read."""
    from verisim_leaderboard.entries import entry_files, parse_entry
    from verisim_leaderboard.record import Entry
    from verisim_leaderboard.tables import visible
    from verisim_leaderboard.validation import impossible

    files = [file for path in args.paths for file in entry_files(path)]
    wrong = 0
    for file in files:
        found = parse_entry(file)
        problems = list(impossible(found)) if isinstance(found, Entry) else found
        wrong += bool(problems)
        print(visible("\n".join(f"{file}: {problem}" for problem in problems) or f"{file}: valid"))
    return EXIT_PROBLEMS if wrong else 0


def run_check(args: argparse.Namespace) -> int:
    """Print every reason to refuse an entry; 1 when there is any."""
    from verisim_leaderboard.entries import entry_files

    files = [file for path in (args.paths or [ENTRIES]) for file in entry_files(path)]
    if args.transcripts and len(files) > 1:
        raise UserError(f"--transcripts belongs to one entry, but {len(files)} are named; name one")
    return max([_refused(file, args.transcripts, args.cases, quick=args.quick) for file in files], default=0)


def _refused(file: Path, transcripts: Path | None, cases: str | None, *, quick: bool) -> int:
    from verisim_leaderboard.audit import check
    from verisim_leaderboard.entries import read_entry
    from verisim_leaderboard.standard import installed_standard
    from verisim_leaderboard.tables import visible

    problems = check(file, installed_standard(), transcripts, cases, quick=quick)
    if problems:
        print(visible("\n".join(f"{file}: refused: {problem}" for problem in problems)))
        return EXIT_PROBLEMS
    entry = read_entry(file)
    print(f"{file}: accepted as {entry.kind}")
    for found in entry.differences:
        print(visible(f"  custom: {found.setting} is {found.found!r}, not {found.standard!r}"))
    return 0


def run_rescore(args: argparse.Namespace) -> int:
    """Print every value that the transcripts do not give; 1 when there is any."""
    from verisim_leaderboard.entries import locate
    from verisim_leaderboard.patient_side import repeatable_scores
    from verisim_leaderboard.rescoring import rescore
    from verisim_leaderboard.tables import visible

    entry = locate(args.entry).entry
    wrong = rescore(entry, args.transcripts, args.cases, quick=args.quick)
    for change in wrong:
        print(visible(f"{change.path}: {change.first!r} in the entry, {change.second!r} from the transcripts"))
    again = 0 if args.quick else repeatable_scores(entry)
    kept = sum(len(v.reported) for v in entry.variants) - again
    print(f"{len(wrong)} values differ" if wrong else "every value is what the transcripts give")
    if kept:
        print(f"{kept} reported scores were not compared (a judge, another model, or --quick)")
    return EXIT_PROBLEMS if wrong else 0


def run_diff(args: argparse.Namespace) -> int:
    """Print settings that differ, and paired tests where both were measured with one instrument."""
    from rich.console import Console

    from verisim_leaderboard.difference import compare_models, settings_that_differ
    from verisim_leaderboard.tables import comparison_table, settings_table

    console = Console(width=None if Console().is_terminal else 160)
    (first, one), (second, two) = (_entry_of(path, args.cases) for path in (args.first, args.second))
    changed = settings_that_differ(first, second)
    console.print(settings_table(changed, str(args.first), str(args.second)) if changed else "no setting differs")
    if first.instrument.fingerprint != second.instrument.fingerprint:
        print("the instruments differ: scores are not comparable, and are not tested")
    elif one is None or two is None:
        print("no paired test: it needs the transcripts of both, beside their entries")
    else:
        console.print(comparison_table(compare_models(one, two, args.cases)))
        print("Wilcoxon signed-rank over cases, Holm over variants; intervals: 95% paired percentile bootstrap")
    return 0


def _entry_of(path: Path, cases: str | None) -> Any:
    """An entry and its transcripts, from an entry or a results folder."""
    from verisim_leaderboard.entries import locate
    from verisim_leaderboard.entry import build

    if path.is_dir() and any(path.rglob("results*.json")):
        built = build(path, cases=cases)
        return built.entry, built.transcripts
    found = locate(path)
    return found.entry, found.transcripts


def run_rank(args: argparse.Namespace) -> int:
    """Print one table for each instrument."""
    from rich.console import Console

    from verisim_leaderboard.entries import submissions
    from verisim_leaderboard.ranking import boards, size_effect
    from verisim_leaderboard.tables import board_table, size_sentences

    console = Console(width=None if Console().is_terminal else 160)
    for board in boards(found.entry for found in submissions(args.entries)):
        console.print(board_table(board))
        print(size_sentences(size_effect(board)))
    return 0


def run_schema(args: argparse.Namespace) -> int:
    """Print, write or check the schema."""
    from verisim_leaderboard.entry_schema import published_schema, schema_text
    from verisim_tasks._files import write_atomically

    if args.check:
        current = published_schema() == schema_text()
        print("the schema file is current" if current else "the schema file is not current; write it with --out")
        return 0 if current else EXIT_PROBLEMS
    if args.out:
        write_atomically(args.out, schema_text())
        print(f"schema written to {args.out}")
    else:
        print(schema_text(), end="")
    return 0
