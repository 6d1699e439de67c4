"""Errors that a user can mend."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

EXIT_USER_ERROR = 2
EXIT_INCOMPLETE = 3
"""Consultations ended in an error; all else is kept."""
EXIT_INTERRUPTED = 130


class UserError(ValueError):
    """A user's mistake: one sentence that names the thing and the remedy. The command line exits with 2."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``"; did you mean 'x'?"`` for a near miss, else the list of what is known."""
    names = list(known)
    near = difflib.get_close_matches(word, names, n=1)
    if near:
        return f"; did you mean {near[0]!r}?"
    return f"; known: {', '.join(name if name.isprintable() else repr(name) for name in names)}"
