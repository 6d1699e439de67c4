"""Whether a draft says aloud what the model was told to do: small models do so with the last words of a prompt."""

from __future__ import annotations

import functools
import re

from verisim_tasks._templates import source
from verisim_tasks.language.words import words
from verisim_tasks.patient.played.prompts import PACKAGE, TEMPLATES

LEAST = 5
"""Words from which on a stretch of an instruction is told from ordinary talk."""
_TAG = re.compile(r"\{\{.*?\}\}|\{%.*?%\}")
_END = re.compile(r"[.:;,!?()\n]")


def echoes(text: str, feedback: str = "") -> bool:
    """Whether the text holds a stretch of the templates, or of the feedback that stood in this prompt.

    Args:
        text: What is heard of a draft.
        feedback: What the model was told of its last draft; it may quote the draft, so only whole sentences count.
    """
    said = f" {' '.join(words(text))} "
    told = [" ".join(words(part)) for part in re.split(r"[.!?]\s+|[.!?]$", feedback)]
    return any(f" {part} " in said for part in (*_stretches(), *told) if part.count(" ") >= LEAST - 1)


@functools.cache
def _stretches() -> tuple[str, ...]:
    """The fixed words of every template, cut at marks and where something is filled in."""
    texts = (_TAG.sub("\n", source(PACKAGE, f"{name}.jinja")) for name in TEMPLATES)
    parts = (" ".join(words(part)) for text in texts for part in _END.split(text))
    return tuple(sorted({part for part in parts if part.count(" ") >= LEAST - 1}))
