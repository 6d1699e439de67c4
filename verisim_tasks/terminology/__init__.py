"""What the symptoms, medicines and conditions of the cases are called, by whom, and what they are near to."""

from __future__ import annotations

from pathlib import Path

from verisim_tasks.terminology.records import Code, Context, Related, Term
from verisim_tasks.terminology.store import load, shipped_folder

__all__ = ["Code", "Context", "Related", "Term", "context_for"]


def context_for(concept: str, folder: Path | None = None) -> Context | None:
    """The terminology context of a concept by any of its names, or None when it is unknown.

    Args:
        concept: name of a symptom, medicine or condition; British or American, singular or plural.
        folder: contexts built with ``verisim context build``; those that ship with the suite when left out.
    """
    return load(folder or shipped_folder()).find(concept)
