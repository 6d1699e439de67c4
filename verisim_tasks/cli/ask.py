"""``verisim ask``: put questions to one patient, for people and for pipes."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from typing import Any

from verisim_tasks.cli._patient_options import add_patient_options, noise_of


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the ``ask`` subcommand."""
    parser = subparsers.add_parser(
        "ask",
        help="ask a patient one question, or one a line from standard input",
        description="Answer one question as the patient of a case. With '-' as the question, every line of standard "
        "input is a question of one conversation.",
    )
    add_patient_options(parser)
    parser.add_argument("question", metavar="QUESTION", help="the doctor's words, or '-' to read one question a line")
    parser.add_argument("--fresh", action="store_true", help="with '-': each question starts a conversation of its own")
    parser.add_argument(
        "--json",
        action="store_true",
        help="print one JSON object a question: text, told (fact ids), withheld, denials, noise_events",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Answer the question or questions."""
    noise = noise_of(args)

    from verisim_tasks.cases.bank import find_case
    from verisim_tasks.patient.base import PatientSetting
    from verisim_tasks.patient.conversation import Conversation
    from verisim_tasks.patient.scripted import ScriptedPatient

    setting = PatientSetting(find_case(args.case), noise, args.seed, args.repeat)
    patient = ScriptedPatient()
    conversation = Conversation(patient, setting)
    for question in _questions(args.question):
        if args.fresh:
            conversation = Conversation(patient, setting)
        answer = conversation.say(question)
        line = json.dumps(answer_record(question, answer), ensure_ascii=False) if args.json else answer.text
        print(line, flush=True)
    return 0


def answer_record(question: str, answer: Any) -> dict[str, Any]:
    """What a patient's turn says, tells and withholds, as plain JSON."""
    return {
        "question": question,
        "text": answer.text,
        "told": [d.fact_id for d in answer.disclosed],
        "withheld": list(answer.withheld),
        "asked": list(answer.asked),
        "disclosed": [d.model_dump() for d in answer.disclosed],
        "denials": [d.model_dump() for d in answer.denials],
        "noise_events": [e.model_dump() for e in answer.events],
    }


def _questions(question: str) -> Iterable[str]:
    if question != "-":
        return [_readable(question)]
    return (_readable(line.rstrip("\r\n")) for line in sys.stdin)


def _readable(text: str) -> str:
    """Bytes that are no UTF-8 become question marks: a patient hears noise, not a crash."""
    return text.encode("utf-8", "replace").decode("utf-8")
