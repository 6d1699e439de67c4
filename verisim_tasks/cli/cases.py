"""``verisim cases``: look at the case bank and check case files."""

from __future__ import annotations

import argparse
import sys
from importlib.resources import files
from pathlib import Path

from verisim_tasks.cli._cases_report import add_report
from verisim_tasks.errors import UserError

EXIT_PROBLEMS = 2


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the ``cases`` subcommand and its own subcommands."""
    parser = subparsers.add_parser("cases", help="list, show and validate patient cases")
    parts = parser.add_subparsers(dest="cases_command", metavar="COMMAND", required=True)
    listing = parts.add_parser("list", help="one line a case: id, specialty, age, sex, chief complaint")
    listing.add_argument("source", nargs="?", default="bank", help="'bank' (default), case file, folder or FORMAT:PATH")
    listing.set_defaults(run=run_list)
    validate = parts.add_parser(
        "validate",
        help="check case files against every rule a program can check",
        description="Prints one line a problem: file, field, reason. Exit code 2 when there is an error.",
    )
    validate.add_argument("paths", nargs="*", metavar="PATH", help="case files or folders (default: the bank)")
    validate.set_defaults(run=run_validate)
    _add_import(parts)
    add_report(parts)


def _add_import(parts: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    bring = parts.add_parser(
        "import",
        help="make case files from the formats that other suites use",
        description="Formats: agentclinic, mediq, craftmd, patientsim, verisim, aihospital, fhir. Prints where every "
        "sentence of the source went; the full account is OUT/import_report.json. Exit code 2 when a record is bad.",
    )
    bring.add_argument("--from", dest="format", metavar="FORMAT", required=True, help="the format of the source")
    bring.add_argument("path", metavar="PATH", help="the file to import, or a folder of such files")
    bring.add_argument("--out", metavar="DIR", required=True, help="folder for the case files")
    bring.add_argument("--split", help="only records of this split (PatientSim: persona_eval or factuality_eval)")
    bring.add_argument("--skip-bad", action="store_true", help="leave bad records out, each with a warning")
    bring.set_defaults(run=run_import)


def run_list(args: argparse.Namespace) -> int:
    """Print the cases, the diagnosis not among what is shown."""
    from verisim_tasks.cases.bank import load_cases

    for case in load_cases(args.source):
        who = case.demographics
        speaker = case.informant.relation or "patient"
        print(f"{case.id}\t{case.specialty}\t{who.age:g}\t{who.sex}\t{speaker}\t{case.chief_complaint}")
    return 0


def run_validate(args: argparse.Namespace) -> int:
    """Check the files and print what is wrong with them."""
    from verisim_tasks.cases.validate import validate_file

    bank = not args.paths
    paths = _case_files(args.paths or [str(files("verisim_fixtures") / "cases")])
    problems = [p for path in paths for p in validate_file(path, bank=bank)]
    ids = [path.stem for path in paths]
    for problem in problems:
        print(problem)
    errors = sum(p.severity == "error" for p in problems)
    print(f"{len(ids)} cases, {errors} errors, {len(problems) - errors} warnings")
    return EXIT_PROBLEMS if errors else 0


def run_import(args: argparse.Namespace) -> int:
    """Import, write, and print what became of every sentence."""
    from verisim_tasks.cases.importers import import_file
    from verisim_tasks.cases.importers.report import summary_line, total_lines
    from verisim_tasks.cases.importers.write import write_cases

    source = Path(args.path).expanduser()
    outcome = import_file(args.format, source, skip_bad=args.skip_bad, split=args.split)
    for error in outcome.bad:
        print(f"warning: {error}", file=sys.stderr)
    write_cases(outcome.imported, Path(args.out).expanduser())
    for one in outcome.imported:
        print(summary_line(one))
        for trace in one.account.traces:
            if trace.fate == "dropped":
                text = "(restricted text)" if one.case.provenance.restricted else trace.source
                print(f"  dropped, {trace.reason}: {text}")
    print("\n".join(total_lines(outcome.imported, len(outcome.bad))))
    return 0


def _case_files(paths: list[str]) -> list[Path]:
    found: list[Path] = []
    for name in paths:
        path = Path(name).expanduser()
        if path.is_dir():
            found += sorted(path.glob("*.yaml"))
        elif path.exists():
            found.append(path)
        else:
            raise UserError(f"{name} does not exist; give a case file or a folder of case files")
    if not found:
        raise UserError(f"no case file (*.yaml) in {', '.join(paths)}; give a case file or a folder of case files")
    return found
