"""``verisim icd``: find the ICD-10-CM code that a diagnosis name means."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from dataclasses import asdict

from verisim_tasks.errors import UserError

WEAK = 0.45
"""Below this a code is a guess: nonsense reaches 0.43."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser(
        "icd",
        help="find the ICD-10-CM code of a diagnosis in anybody's words",
        description="Find the ICD-10-CM codes that a diagnosis name (lay, clinical or misspelt) most likely means.",
    )
    parser.add_argument("term", help="the name; '-' reads one name a line from standard input")
    parser.add_argument(
        "-n", "--limit", type=int, default=5, metavar="N", help="codes to show for each name (default 5)"
    )
    parser.add_argument("--all", action="store_true", help="print weak guesses too (score under 0.45)")
    parser.add_argument("--json", action="store_true", help="one JSON object a name")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the links; returns 0, or 1 when no name had any.

    Raises ``UserError`` for an empty name or a limit below 1.
    """
    from verisim_tasks.language.icd import Link, link

    if args.limit < 1:
        raise UserError(f"-n {args.limit} shows nothing; give 1 or more")
    if args.term != "-" and not args.term.strip():
        raise UserError('the name is empty; try: verisim icd "heart attack"')

    def show(term: str, links: list[Link]) -> None:
        if args.json:
            print(json.dumps({"term": term, "links": [asdict(x) for x in links]}, ensure_ascii=False))
            return
        if args.term == "-":
            print(term)
        for found in links:
            print(f"{found.code:<8} {found.score:.2f}  {found.rule:<11} {found.title}")
        if not links:
            print("no code found")

    any_found = False
    for term in _terms(args.term):
        links = [found for found in link(term, args.limit) if args.all or found.score >= WEAK]
        any_found = any_found or bool(links)
        show(term, links)
    return 0 if any_found else 1


def _terms(argument: str) -> Iterable[str]:
    if argument != "-":
        return [argument.strip()]
    return (line.strip() for line in sys.stdin if line.strip())
