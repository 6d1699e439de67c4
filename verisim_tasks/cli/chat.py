"""``verisim chat``: a person plays the doctor and feels the noise."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from verisim_tasks.cli._patient_options import add_patient_options, noise_of

if TYPE_CHECKING:
    from rich.console import Console

    from verisim_tasks.patient.conversation import Conversation
    from verisim_tasks.records.transcript import Turn

HELP = "Ask in plain words. /facts shows what was told so far, /quit ends."


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the ``chat`` subcommand."""
    parser = subparsers.add_parser(
        "chat",
        help="interview a patient in the terminal",
        description="You are the doctor. End with Ctrl-D or /quit, or conclude with 'Final Diagnosis: ...'.",
    )
    add_patient_options(parser)
    parser.add_argument(
        "--show-facts", action="store_true", help="after each answer show the facts told and withheld, and the noise"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Hold the conversation."""
    noise = noise_of(args)

    from rich.console import Console
    from rich.markup import escape

    from verisim_tasks.cases.bank import find_case
    from verisim_tasks.patient.base import PatientSetting
    from verisim_tasks.patient.conversation import Conversation
    from verisim_tasks.patient.scripted import ScriptedPatient

    console = Console(highlight=False)
    setting = PatientSetting(find_case(args.case), noise, args.seed, args.repeat)
    conversation = Conversation(ScriptedPatient(), setting)
    console.print(f"[dim]{escape(args.case)}, noise: {noise}. {HELP}[/dim]")
    console.print(f"[bold]{_speaker(setting.case.informant)}:[/bold] {escape(conversation.opening)}")
    while (message := _read(console)) is not None:
        if message.strip() == "/facts":
            _show_told(conversation, console)
            continue
        if message.strip().lower().lstrip("*# ").startswith("final diagnosis"):
            _reveal(conversation, message, console)
            return 0
        answer = conversation.say(message)
        console.print(f"[bold]{_speaker(setting.case.informant)}:[/bold] {escape(answer.text)}")
        if args.show_facts:
            _show_turn(conversation, answer, console)
    return 0


def _speaker(informant: object) -> str:
    relation = getattr(informant, "relation", None)
    return f"Patient's {relation}" if relation else "Patient"


def _read(console: Console) -> str | None:
    try:
        message = console.input("[bold cyan]Doctor:[/bold cyan] ")
    except EOFError:
        console.print()
        return None
    return None if message.strip() in ("/quit", "/exit", "/q") else message


def _show_turn(conversation: Conversation, answer: Turn, console: Console) -> None:
    case = conversation.setting.case
    for label, ids in (("told", [d.fact_id for d in answer.disclosed]), ("withheld", list(answer.withheld))):
        for fact_id in ids:
            console.print(f"  {label} {fact_id}: {case.fact(fact_id).statement}", style="dim", markup=False)
    for denial in answer.denials:
        console.print(f"  denied ({denial.kind}): {denial.concept}", style="dim", markup=False)
    for event in answer.events:
        console.print(f"  noise {event.dimension} {event.level}: {event.device}", style="dim", markup=False)


def _show_told(conversation: Conversation, console: Console) -> None:
    told = {d.fact_id for t in conversation.turns for d in t.disclosed}
    case = conversation.setting.case
    console.print(f"Told {len(told)} of {len(case.facts)} facts.", style="dim")
    for fact in case.facts:
        if fact.id in told:
            console.print(f"  {fact.id}: {fact.statement}", style="dim", markup=False)


def _reveal(conversation: Conversation, message: str, console: Console) -> None:
    case = conversation.setting.case
    if case.diagnosis is None:
        console.print("This case has no reference diagnosis.", style="dim")
        return
    from verisim_metrics.matching import match_diagnosis

    match = match_diagnosis(message, case.diagnosis.name, case.diagnosis.synonyms, case.diagnosis.accepted_codes)
    verdict = "Right" if match.match else "Not quite"
    turns = sum(t.speaker == "doctor" for t in conversation.turns) + 1
    console.print(f"{verdict}: the case is {case.diagnosis.name} ({turns} turns).", markup=False)
