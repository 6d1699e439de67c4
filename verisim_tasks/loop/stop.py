"""A user's mistake inside a plain ``lm_eval`` run: one sentence, exit code 2, no traceback."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

from verisim_tasks.errors import EXIT_USER_ERROR, UserError


class StoppedRunError(UserError, SystemExit):
    """A ``UserError`` that ends the process with exit code 2 when nobody catches it.

    lm-eval lets what a task raises pass to the interpreter, which would print a traceback and exit with 1.
    """

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.code = EXIT_USER_ERROR


@contextlib.contextmanager
def stops_the_run() -> Iterator[None]:
    """Say a ``UserError`` on standard error and let it end the run."""
    try:
        yield
    except StoppedRunError:
        raise
    except UserError as error:
        print(f"verisim: {error}", file=sys.stderr)
        raise StoppedRunError(str(error)) from None
