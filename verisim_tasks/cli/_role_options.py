"""Options that name a model for a role, as JSON: ``--judge`` and ``--patient``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from verisim_tasks.errors import UserError

if TYPE_CHECKING:
    from verisim_metrics.judging import Judge
    from verisim_tasks.settings import Settings


def settings_with(role: str, text: str) -> Settings:
    """The settings in which ``--<role>`` names who plays the role. Raises ``UserError`` for what names nobody."""
    from verisim_tasks.settings import KEY, read_settings

    try:
        given = json.loads(text)
    except json.JSONDecodeError:
        raise UserError(f'--{role} is not JSON: {text!r}; write \'{{"model": "hf", ...}}\'') from None
    return read_settings({KEY: {role: given}})


def judge_of(text: str | None) -> Judge | None:
    """The judge that a command line names, if any. Raises ``UserError`` for what names none."""
    from verisim_tasks.loop.roles import make_judge

    return None if text is None else make_judge(settings_with("judge", text))
