"""``verisim verify``: hold patients to their record, in finished transcripts or in single claims."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verisim_tasks._jsonl import read_objects
from verisim_tasks.errors import UserError

if TYPE_CHECKING:
    from verisim_tasks.verify.audit import Audit

MAX_SHOWN = 40


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser(
        "verify",
        help="find what patients say that their record does not hold",
        description=(
            "Audit a file of transcripts (ours, or the published VeriSim format) and print the hallucination rate, the "
            "kinds of violation and the offending sentences; or, with --claims, read lines "
            '{"patient_id": ..., "claim": ...} and print each back with "verdict" and "evidence".'
        ),
    )
    parser.add_argument("file", nargs="?", metavar="TRANSCRIPTS", help="a JSON-lines or JSON file of transcripts")
    parser.add_argument("--claims", metavar="FILE", help="a JSON-lines file of single claims, or '-'")
    parser.add_argument(
        "--profiles",
        metavar="DIR",
        help="published profiles (*.json) or case files; the bank when left out; FORMAT:PATH as for --cases",
    )
    parser.add_argument("--json", action="store_true", help="print the audit as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Audit transcripts or judge claims. Raises ``UserError`` naming file and line of a bad one."""
    if bool(args.file) == bool(args.claims):
        raise UserError("give either a file of transcripts or --claims FILE")
    return _claims(args) if args.claims else _transcripts(args)


def _transcripts(args: argparse.Namespace) -> int:
    from verisim_tasks.verify.audit import audit, load_profiles, read_transcripts
    from verisim_tasks.verify.verifier import Verifier

    dialogues = read_transcripts(Path(args.file))
    found = audit(dialogues, load_profiles(args.profiles), Verifier())
    if args.json:
        print(json.dumps(found.as_json(), ensure_ascii=False, indent=1))
    else:
        _show(found)
    return 0


def _show(found: Audit) -> None:
    rate = found.hallucination_rate
    share = "not defined (no patient turn)" if rate is None else f"{rate:.1%}"
    print(f"{found.dialogues} conversations, {found.patient_turns} patient turns")
    print(f"hallucination rate: {share} ({found.hallucinated_turns} turns with an unsupported or contradicted claim)")
    print("claims: " + (", ".join(f"{k} {n}" for k, n in sorted(found.claims.items())) or "none"))
    print("problems: " + (", ".join(f"{k} {n}" for k, n in sorted(found.problems.items())) or "none"))
    for offence in found.offences[:MAX_SHOWN]:
        line = f"- {offence.case_id}, turn {offence.turn}, {offence.kind}: {offence.sentence!r} ({offence.detail})"
        print(line.encode("utf-8", "replace").decode("utf-8"))
    if len(found.offences) > MAX_SHOWN:
        print(f"... and {len(found.offences) - MAX_SHOWN} more; --json prints all")


def _claims(args: argparse.Namespace) -> int:
    from verisim_tasks.verify.audit import judge_rows, load_profiles
    from verisim_tasks.verify.verifier import Verifier

    rows = [_checked(row, place) for place, row in read_objects(args.claims)]
    for row in judge_rows(rows, load_profiles(args.profiles), Verifier()):
        print(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace").decode("utf-8"))
    return 0


def _checked(row: dict[str, Any], place: str) -> dict[str, Any]:
    for key in ("patient_id", "claim"):
        if not isinstance(row.get(key), str) or not row[key].strip():
            raise UserError(f'{place}: "{key}" must be a non-empty text; every line needs "patient_id" and "claim"')
    return row
