"""From the prompt a model receives to the dialogue so far."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

Role = Literal["doctor", "patient"]
Dialogue = Sequence[tuple[Role, str]]

CONCLUDE = "conclude now"
"""In the prompt's last message: the consultation has to end with this answer."""

_CONCLUDE = re.compile(re.escape(CONCLUDE), re.IGNORECASE)
_SPEAKER = re.compile(r"^[ \t]*(?:\*\*)?(doctor|patient)(?:\*\*)?[ \t]*:(?:\*\*)?[ \t]*", re.IGNORECASE | re.MULTILINE)
_INSTRUCTION = re.compile(
    r"final diagnosis|conclude|one (?:focused )?question|you are (?:a|the) (?:doctor|physician|clinician)"
    r"|your (?:task|role|job|reply)|the patient(?:'s)? (?:says|opens|opening|begins|complaint)"
    r"|interview(?:ing)? (?:a|the) patient|ask (?:exactly )?one|respond with|reply with"
    r"|your own words|at most \d+ messages",
    re.IGNORECASE,
)
_PARAGRAPH = re.compile(r"\n\s*\n")
_SENTENCE = re.compile(r"(?<=[.!?:])\s+|\n+")


@dataclass(frozen=True)
class Prompt:
    """A prompt, understood."""

    dialogue: tuple[tuple[Role, str], ...]
    """The patient's opening first, then turn about."""
    forced: bool
    """This answer has to be the conclusion."""
    preamble: str = ""
    """Instructions before the dialogue; may say who the patient is."""


def read_prompt(text: str) -> Prompt:
    """A prompt in either form: a JSON list of chat messages, or plain ``Doctor:`` / ``Patient:`` lines.

    Never raises: a text of neither form is taken as the patient's opening.
    """
    messages = _messages(text)
    return _plain(text) if messages is None else _chat(messages)


def _messages(text: str) -> list[tuple[str, str]] | None:
    if not text.lstrip().startswith("["):
        return None
    try:
        loaded = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(loaded, list) or not all(isinstance(m, dict) and "role" in m for m in loaded):
        return None
    return [(str(m["role"]), _content(m.get("content"))) for m in loaded]


def _content(content: Any) -> str:
    if isinstance(content, list):
        return " ".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return "" if content is None else str(content)


def _chat(messages: Sequence[tuple[str, str]]) -> Prompt:
    preamble = "\n".join(content for role, content in messages if role == "system")
    spoken = [(role, content) for role, content in messages if role != "system"]
    forced = bool(messages) and bool(_CONCLUDE.search(messages[-1][1])) and messages[-1][0] != "assistant"
    turns: list[tuple[Role, str]] = []
    for role, content in spoken:
        if role == "assistant":
            turns.append(("doctor", content))
            continue
        if not turns:
            before, content = _opening(content)
            preamble = f"{preamble}\n{before}"
        turns.append(("patient", _without_command(content)))
    return Prompt(tuple(turns), forced, preamble)


def _plain(text: str) -> Prompt:
    marks = list(_SPEAKER.finditer(text))
    if not marks:
        before, opening = _opening(text)
        return Prompt((("patient", _without_command(opening)),), bool(_CONCLUDE.search(text)), before)
    turns: list[tuple[Role, str]] = []
    first_patient = next((i for i, m in enumerate(marks) if m.group(1).lower() == "patient"), 0)
    for i in range(first_patient, len(marks)):
        mark = marks[i]
        end = marks[i + 1].start() if i + 1 < len(marks) else len(text)
        role: Role = "doctor" if mark.group(1).lower() == "doctor" else "patient"
        turns.append((role, text[mark.end() : end].strip()))
    if turns and turns[-1] == ("doctor", ""):
        turns.pop()
    forced = bool(turns) and bool(_CONCLUDE.search(turns[-1][1])) and turns[-1][0] == "patient"
    spoken = tuple((r, _without_command(t) if r == "patient" else t) for r, t in turns)
    return Prompt(spoken, forced, text[: marks[first_patient].start()])


def _opening(content: str) -> tuple[str, str]:
    """Instructions and the patient's words of a first message that may hold both."""
    marks = [m for m in _SPEAKER.finditer(content) if m.group(1).lower() == "patient"]
    if marks:
        return content[: marks[-1].start()], content[marks[-1].end() :].strip()
    for splitter, glue in ((_PARAGRAPH, "\n\n"), (_SENTENCE, " ")):
        parts = [p for p in splitter.split(content) if p.strip()]
        last = max((i for i, p in enumerate(parts) if _INSTRUCTION.search(p)), default=-1)
        if last + 1 < len(parts):
            return glue.join(parts[: last + 1]), glue.join(parts[last + 1 :]).strip().strip('"')
    return content, ""


def _without_command(text: str) -> str:
    """The patient's words without an instruction to conclude and what follows it on its line."""
    if not _CONCLUDE.search(text):
        return text
    kept: list[str] = []
    for line in text.split("\n"):
        sentences = [p for p in _SENTENCE.split(line) if p.strip()]
        stop = next((i for i, p in enumerate(sentences) if _CONCLUDE.search(p)), len(sentences))
        kept.append(" ".join(sentences[:stop]))
    return "\n".join(kept).strip()
