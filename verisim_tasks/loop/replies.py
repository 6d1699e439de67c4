"""What comes back when something is asked: an answer, or a reason why there is none."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from verisim_tasks.errors import UserError

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
"""Of an object in memory: another one in every run."""

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


EMPTY = "the server answered with nothing, twice"


def mark_empty(replies: Sequence[Answer]) -> list[Answer | Failed]:
    """Empty texts as failures: lm-eval's API models make one of an error body, so it is no answer of the model."""
    return [Failed(EMPTY) if reply == "" else reply for reply in replies]


def describe_error(error: BaseException) -> str:
    """Type and first line of an error, short enough for a record; of one given up after retries, the last one."""
    last = getattr(error, "last_attempt", None)  # tenacity's, whose own text holds nothing but an address
    cause = last.exception() if last is not None else None
    shown = cause if isinstance(cause, BaseException) else error
    first = _ADDRESS.sub("", (str(shown).strip().splitlines() or [""])[0])[:300]
    return f"{type(shown).__name__}: {first}" if first else type(shown).__name__
