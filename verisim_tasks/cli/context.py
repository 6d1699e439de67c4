"""``verisim context``: build and look up the terminology context of the cases."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from verisim_tasks.errors import UserError, did_you_mean

if TYPE_CHECKING:
    from verisim_tasks.records.case import Case
    from verisim_tasks.terminology.records import Context

EXIT_OUTDATED = 1


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the ``context`` subcommand and its own subcommands."""
    parser = subparsers.add_parser("context", help="build and show the terminology context of symptoms and conditions")
    parts = parser.add_subparsers(dest="context_command", metavar="COMMAND", required=True)
    build = parts.add_parser(
        "build",
        help="make the contexts of all cases",
        description="Writes one JSON file for each kind of concept. 'hpo' needs no network. 'umls' needs UMLS_API_KEY, "
        "keeps every answer on disk and goes on where it stopped.",
    )
    build.add_argument("--source", choices=("hpo", "umls"), default="hpo", help="where names come from (default: hpo)")
    build.add_argument("--cases", default="bank", metavar="SOURCE", help="'bank' (default), a case file or a folder")
    build.add_argument(
        "--out", type=Path, metavar="DIR", help="folder to write (default: the shipped one; for umls required)"
    )
    build.add_argument("--check", action="store_true", help="write nothing; exit code 1 when files are out of date")
    build.set_defaults(run=run_build)
    show = parts.add_parser("show", help="everything known about one term")
    show.add_argument("term", metavar="TERM")
    show.add_argument("--dir", type=Path, metavar="DIR", help="folder of contexts (default: those shipped)")
    show.add_argument("--json", action="store_true", help="print the record as JSON")
    show.set_defaults(run=run_show)


def run_build(args: argparse.Namespace) -> int:
    """Build, then write or compare. Prints how many symptoms are well covered."""
    from verisim_tasks.cases.bank import load_cases
    from verisim_tasks.terminology.store import outdated, write

    folder = _target(args)
    cases = load_cases(args.cases)
    texts = _texts(args.source, cases)
    if args.check:
        stale = outdated(folder, texts)
        print(f"out of date: {', '.join(stale)}; run: verisim context build" if stale else "up to date")
        return EXIT_OUTDATED if stale else 0
    write(folder, texts)
    print(f"written to {folder}")
    return 0


def run_show(args: argparse.Namespace) -> int:
    """Print one context."""
    from verisim_tasks.terminology import context_for
    from verisim_tasks.terminology.store import load, shipped_folder

    if not args.term.strip():
        raise UserError('the term is empty; try: verisim context show "chest pain"')
    context = context_for(args.term, args.dir)
    if context is None:
        known = load(args.dir or shipped_folder()).names
        hint = did_you_mean(args.term, known)
        raise UserError(
            f"no context for {args.term!r}{hint if 'did you mean' in hint else '; it is in no case of the bank'}"
        )
    if args.json:
        print(json.dumps(context.model_dump(mode="json"), ensure_ascii=False, indent=1))
    else:
        _print(context)
    return 0


def _target(args: argparse.Namespace) -> Path:
    from verisim_tasks.terminology.store import shipped_folder

    shipped = shipped_folder().resolve()
    if args.source == "hpo":
        return args.out or shipped
    if args.check:
        raise UserError("--check compares the shipped files, which hold no UMLS content; use it with --source hpo")
    if args.out is None or args.out.resolve() == shipped:
        raise UserError("UMLS content may not be shipped with the suite; give a folder of your own with --out")
    folder: Path = args.out
    return folder


def _texts(source: str, cases: list[Case]) -> dict[str, str]:
    from verisim_tasks.terminology.build import Builder
    from verisim_tasks.terminology.coverage import coverage
    from verisim_tasks.terminology.hpo import default_hpo
    from verisim_tasks.terminology.store import Contexts, rendered
    from verisim_tasks.terminology.umls import client_from_environment
    from verisim_tasks.terminology.umls_build import enrich

    client = client_from_environment() if source == "umls" else None
    builder = Builder(default_hpo())
    entries = builder.entries(cases)
    contexts = builder.contexts(entries.values())
    if client is not None:
        contexts = enrich(contexts, client)
        print(f"UMLS: {client.asked} requests, {client.from_cache} answers from the cache")
    print(f"{len(cases)} cases, {len(entries)} concepts, {len(contexts)} contexts, {builder.hpo.version}")
    print(coverage(cases, Contexts(contexts, entries)))
    return rendered("hpo" if client is None else "umls", builder.hpo.version, contexts, entries)


def _print(context: Context) -> None:
    from rich.console import Console
    from rich.markup import escape

    def line(label: str, values: list[str]) -> None:
        if values:
            console.print(f"[bold]{label}:[/bold] {escape('; '.join(values))}", highlight=False)

    console = Console()
    console.print(f"[bold]{escape(context.name)}[/bold] ({context.kind})", highlight=False)
    line("ids", [f"{c.system} {c.id}" + (" (close)" if c.match == "close" else "") for c in context.codes])
    line("lay", list(context.lay))
    line("clinical", [t.text for t in context.synonyms if not t.lay])
    line("variations", list(context.variations))
    for relation in ("broader", "narrower", "near"):
        line(relation, [r.name for r in context.related if r.relation == relation])
    line("locations", list(context.locations))
    line("modifiers", list(context.modifiers))
