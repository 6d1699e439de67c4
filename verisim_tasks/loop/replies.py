"""What comes back when something is asked: an answer, or a reason why there is none."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from verisim_tasks.errors import UserError

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")

log = logging.getLogger("lm_eval.verisim")  # below lm-eval's own, so that its level and handler hold


@dataclass(frozen=True)
class TooLong:
    """The prompt no longer fits the model's context; nothing was asked."""

    tokens: int
    limit: int


@dataclass(frozen=True)
class Failed:
    """Asking failed, alone too."""

    error: str


def ask_apart(ask: Callable[[Sequence[Asked]], Sequence[Answer]], items: Sequence[Asked]) -> list[Answer | Failed]:
    """Ask all at once; where that raises, ask one by one, so that one fault costs one answer and not all.

    A ``UserError`` passes through: it is about the run, not about one item.
    """
    if not items:
        return []
    try:
        answers = list(ask(items))
        if len(answers) != len(items):
            raise RuntimeError(f"{len(items)} were asked and {len(answers)} answered")
        return list(answers)
    except UserError:
        raise
    except Exception as error:
        if len(items) == 1:
            log.warning("asking failed: %s", describe_error(error), exc_info=error)
            return [Failed(describe_error(error))]
        log.warning("asking %d at once failed (%s); asking one by one", len(items), describe_error(error))
    return [answer for item in items for answer in ask_apart(ask, [item])]


def describe_error(error: BaseException) -> str:
    """Type and first line of an error, short enough for a record."""
    first = (str(error).strip().splitlines() or [""])[0][:300]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__
