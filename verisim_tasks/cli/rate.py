"""``verisim rate``: blinded rating sheets for clinicians, and their grades back in."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from verisim_tasks.cli._role_options import judge_of
from verisim_tasks.errors import UserError

if TYPE_CHECKING:
    from verisim_leaderboard.rating.sample import Key
    from verisim_leaderboard.rating.tables import Ratings


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand and its own subcommands."""
    parser = subparsers.add_parser("rate", help="blinded rating sheets for clinicians: export and import")
    parts = parser.add_subparsers(dest="rate_command", metavar="COMMAND", required=True)
    export = parts.add_parser(
        "export",
        help="make blinded sheets",
        description="Writes DIR/for_raters (sheet.html and difficulties.html to read or print, ratings.csv to fill in) "
        "and DIR/key.json, which raters must not see.",
    )
    export.add_argument(
        "transcripts", type=Path, metavar="TRANSCRIPTS", help="transcripts.jsonl, .jsonl.gz, or a folder"
    )
    export.add_argument("--out", type=Path, required=True, metavar="DIR")
    export.add_argument("--number", type=int, metavar="N", help="how many transcripts; default: all")
    export.add_argument("--variant", action="append", default=[], metavar="NAME", help="only this variant; repeatable")
    export.add_argument("--seed", type=int, default=1234, help="of choice and order (default: %(default)s)")
    export.add_argument("--cases", default="bank", metavar="SOURCE", help="the cases of the run (default: the bank)")
    export.set_defaults(run=run_export)
    back = parts.add_parser(
        "import",
        help="read filled-in sheets back",
        description="Writes one CSV a rater (for 'verisim agreement') and joined.csv, which says what each item was.",
    )
    back.add_argument("key", type=Path, metavar="DIR", help="the folder that export made, or its key.json")
    back.add_argument("filled", nargs="+", type=Path, metavar="CSV", help="one filled-in table a rater")
    back.add_argument("--out", type=Path, required=True, metavar="DIR")
    back.add_argument(
        "--judge", metavar="JSON", help='let a judge rate the same: {"model": "...", "model_args": {...}}'
    )
    back.add_argument("--transcripts", type=Path, metavar="FILE", help="needed for --judge: those of the export")
    back.add_argument("--cases", default="bank", metavar="SOURCE", help="the cases of the run (default: the bank)")
    back.set_defaults(run=run_import)


def run_export(args: argparse.Namespace) -> int:
    """Choose, number, and write the sheets and the key."""
    from verisim_leaderboard.rating.sample import KEY_FILE, choose, key_text, make_key
    from verisim_leaderboard.rating.sheets import difficulties_html, empty_table, sheet_html
    from verisim_leaderboard.reading import TranscriptReader, transcripts_in
    from verisim_tasks._files import write_atomically
    from verisim_tasks.cases.bank import load_cases
    from verisim_tasks.loop.store import check_writable

    if args.number is not None and args.number < 1:
        raise UserError(f"--number is {args.number}; give 1 or more")
    reader = TranscriptReader(transcripts_in(args.transcripts))
    wanted = [t for _, t in reader if not args.variant or t.variant in args.variant]
    if not wanted:
        raise UserError(f"{args.transcripts} holds no transcript of {', '.join(args.variant) or 'any variant'}")
    items = choose(wanted, args.number, args.seed)
    cases = {case.id: case for case in load_cases(args.cases)}
    check_writable(args.out, "--out")
    sheets = args.out / "for_raters"
    write_atomically(sheets / "sheet.html", sheet_html(items, cases))
    write_atomically(sheets / "difficulties.html", difficulties_html(items))
    write_atomically(sheets / "ratings.csv", empty_table(items))
    write_atomically(args.out / KEY_FILE, key_text(make_key(items, args.seed, reader.sha256)))
    print(f"{len(items)} transcripts to rate in {sheets}; keep {args.out / KEY_FILE} to yourself")
    return 0


def run_import(args: argparse.Namespace) -> int:
    """Check the tables, write one a rater and the joined one."""
    from verisim_leaderboard.rating.returned import JUDGE, check_returned, coverage, joined_csv, rater_csv
    from verisim_leaderboard.rating.sample import read_key
    from verisim_leaderboard.rating.tables import read_ratings
    from verisim_tasks._files import write_atomically

    key = read_key(args.key)
    tables = [read_ratings(path) for path in args.filled]
    names = [table.rater for table in tables]
    if len({*names, JUDGE}) <= len(names):
        raise UserError(
            f"give each rater's file a name of its own, and none the name {JUDGE!r}; got {', '.join(names)}"
        )
    for table in tables:
        check_returned(table, key)
    if args.judge:
        tables.append(_judge_rates(args, key))
    for table in tables:
        write_atomically(args.out / f"{table.rater}.csv", rater_csv(table, key))
        counts = ", ".join(f"{name} {n}" for name, n in coverage(table, key).items())
        print(f"{table.rater}: of {len(key.items)} items: {counts}")
    write_atomically(args.out / "joined.csv", joined_csv(tables, key))
    judge = f" --judge {args.out / JUDGE}.csv" if args.judge else ""
    print(f"now: verisim agreement {' '.join(str(args.out / f'{name}.csv') for name in names)}{judge}")
    return 0


def _judge_rates(args: argparse.Namespace, key: Key) -> Ratings:
    from verisim_leaderboard.rating.returned import judged
    from verisim_leaderboard.reading import TranscriptReader, transcripts_in
    from verisim_tasks.cases.bank import load_cases

    if args.transcripts is None:
        raise UserError("--judge needs the transcripts that were exported; name them with --transcripts")
    judge = judge_of(args.judge)
    if judge is None:
        raise UserError('--judge is null; write \'{"model": "hf", ...}\', or leave it out')
    reader = TranscriptReader(transcripts_in(args.transcripts))
    transcripts = [t for _, t in reader]
    if reader.sha256 != key.transcripts_sha256:
        raise UserError(f"{args.transcripts} is not the file that was exported (its digest differs); name that file")
    return judged(key, transcripts, {case.id: case for case in load_cases(args.cases)}, judge)
