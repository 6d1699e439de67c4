"""A progress bar for consultations: turn, how many are open, and the rate."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from tqdm import tqdm


class ProgressBar:
    """One bar for a whole run; it counts doctor messages and shows the turn and the open consultations."""

    def __init__(self, max_turns: int, *, disabled: bool = False) -> None:
        self._max_turns = max_turns
        self._bar: tqdm[Any] = tqdm(
            desc="consultations", unit=" messages", disable=disabled, bar_format="{desc}: {n_fmt}{unit}, {rate_fmt}"
        )

    def __call__(self, *, turn: int, open_: int, closed: int, messages: int) -> None:
        """Show the state after a turn."""
        self._bar.set_description_str(
            f"consultations: turn {turn}/{self._max_turns}, {open_} open, {closed} closed", refresh=False
        )
        self._bar.update(messages - self._bar.n)

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._bar.close()
