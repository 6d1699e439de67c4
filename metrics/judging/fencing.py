"""Text of patients, doctors and models as data: it can neither end its block nor look like part of the prompt."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

from verisim_tasks._stable import digest

QUOTE = "| "
"""Stands before every line of data, so that no line of a text is a line of the prompt."""
_LINE_ENDS = re.compile(r"\r\n?|[\u0085\u2028\u2029\v\f]")
_DROPPED = frozenset({"Cc", "Cf", "Cs", "Co"})
_SPACED = (
    (re.compile(r"<(?=[<|/!?a-zA-Z\uff5c])"), "< "),
    (re.compile(r"(?<=[>|\uff5c])>"), " >"),
    (re.compile(r"\[(?=/?[A-Z_]{2,}\])"), "[ "),
    (re.compile(r"`(?=`)"), "` "),
    (re.compile(r"~(?=~)"), "~ "),
)
"""Fences, tags, and the special tokens of chat templates (``<|...|>``, ``[INST]``, ``<s>``) lose their form."""


def clean(text: str) -> str:
    """The text without control, format, surrogate and private characters; fences and chat tokens are spaced out.

    Comparisons such as ``BP < 90`` stay as they are.
    """
    lines = _LINE_ENDS.sub("\n", text).replace("\t", " ")
    kept = "".join(c for c in lines if c == "\n" or unicodedata.category(c) not in _DROPPED)
    for pattern, replacement in _SPACED:
        kept = pattern.sub(replacement, kept)
    return kept


def boundary(rubric: str, data: Mapping[str, str]) -> str:
    """A mark that the data cannot contain on purpose: it is a digest of the data itself."""
    return digest({"rubric": rubric, "data": dict(data)})[:16]


def begin(name: str, mark: str) -> str:
    """The line that opens a block."""
    return f"<<<DATA {name} {mark}>>>"


def end(name: str, mark: str) -> str:
    """The line that closes a block."""
    return f"<<<END {name} {mark}>>>"


def fence(name: str, text: str, mark: str) -> str:
    """The text as one block of data."""
    body = "\n".join(f"{QUOTE}{line}".rstrip() for line in clean(text).split("\n"))
    return f"{begin(name, mark)}\n{body}\n{end(name, mark)}"


def without_blocks(reply: str, mark: str) -> str:
    """A reply without the data blocks that it repeats, whole or cut off."""
    if mark not in reply:
        return reply
    start, stop = re.escape("<<<DATA "), re.escape("<<<END ")
    block = re.compile(rf"{start}[^\n]*{mark}.*?(?:{stop}[^\n]*{mark}[^\n]*|\Z)", re.DOTALL)
    return block.sub("", reply)
