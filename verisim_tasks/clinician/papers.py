"""What a prompt holds beside the dialogue: examination results, a call for a report, a whole record."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from verisim_tasks.clinician.dialogue import CONCLUDE, Prompt, Role, read_prompt

Task = Literal["message", "report", "record"]

WRITE = "Write your report now"
RECORD = "Below is the record of one patient"
EXAMINER = "An examiner carries out what you order"
"""Phrases of the suite's instructions by which the clinician knows what is wanted of it."""

_CALL = re.compile(rf"\(?(?:The consultation is over\. )?{WRITE}.*", re.DOTALL)
_RESULTS_CHAT = re.compile(r"(?:^|\n\n)Examination results:\n(?P<lines>[^\n]+(?:\n[^\n]+)*)")
_RESULTS_PLAIN = re.compile(r"^\(Examination results: (?P<lines>.*)\)$", re.MULTILINE)
_COMMAND = re.compile(rf"^\([^\n]*{CONCLUDE}[^\n]*\)$", re.MULTILINE)
_LINE = re.compile(r"(?:^|\s)- ")
_LIMIT = re.compile(r"at most (\d+) messages")


@dataclass(frozen=True)
class Papers:
    """One prompt, sorted."""

    task: Task
    prompt: Prompt
    """The dialogue alone, results and calls taken out."""
    results: tuple[str, ...] = ()
    """Examination results so far, one line each."""
    record: str = ""
    """The whole record, where one was handed over."""

    @property
    def has_examiner(self) -> bool:
        """Whether examinations can be ordered."""
        return EXAMINER in self.prompt.preamble

    @property
    def limit(self) -> int | None:
        """How many messages the doctor has in all, where it was told."""
        found = _LIMIT.search(self.prompt.preamble)
        return int(found.group(1)) if found else None


def read_papers(text: str) -> Papers:
    """Sort a prompt. Never raises: what is not understood is a message to be answered."""
    if RECORD in text and WRITE in text:
        whole = "\n\n".join(contents(text))
        return Papers("record", Prompt((), False, ""), record=whole[whole.find(RECORD) : whole.rfind(WRITE)])
    prompt = read_prompt(text)
    task: Task = "report" if prompt.dialogue and WRITE in prompt.dialogue[-1][1] else "message"
    if task == "message" and EXAMINER not in prompt.preamble:
        return Papers(task, prompt)
    results: list[str] = []
    turns: list[tuple[Role, str]] = []
    for role, said in prompt.dialogue:
        words, found = split_results(_CALL.sub("", said) if task == "report" else _COMMAND.sub("", said))
        results += found
        if words:
            turns.append((role, words))
    forced = prompt.forced or bool(prompt.dialogue and _COMMAND.search(prompt.dialogue[-1][1]))
    return Papers(task, Prompt(tuple(turns), forced, prompt.preamble), tuple(results))


def split_results(text: str) -> tuple[str, list[str]]:
    """What was said, and the examination results that stand beside it."""
    found: list[str] = []
    for pattern in (_RESULTS_CHAT, _RESULTS_PLAIN):
        found += [line for match in pattern.finditer(text) for line in _LINE.split(match["lines"])]
        text = pattern.sub("", text)
    return text.strip(), [line.strip() for line in found if line.strip()]


def contents(text: str) -> list[str]:
    """The words of each message of a prompt; a prompt that is no message list is one message."""
    try:
        return [str(message["content"]) for message in json.loads(text)]
    except (ValueError, TypeError, KeyError, RecursionError):
        return [text]


def record_lines(record: str, headings: Sequence[str]) -> list[str]:
    """The lines below these headings of a record, in order, without their marks."""
    kept: list[str] = []
    for block in record.split("\n\n"):
        first, *lines = block.strip().splitlines() or [""]
        if first.rstrip(":") in headings:
            kept += [line.removeprefix("- ") for line in lines]
    return kept
