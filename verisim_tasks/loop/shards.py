"""A part of the cases for one machine: ``bank#3/8`` is every eighth case of the bank from the third.

Cases are dealt out and not consultations, so that noisy consultations and their clean twins stay together.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from verisim_tasks.errors import UserError

Item = TypeVar("Item")

_SHARD = re.compile(r"(\d{1,6})/(\d{1,6})")
_SOURCE = re.compile(rf"(.+)#({_SHARD.pattern})")


@dataclass(frozen=True)
class Shard:
    """The ``number``-th of ``count`` parts, counted from 1."""

    number: int = 1
    count: int = 1

    @classmethod
    def read(cls, text: str) -> Shard:
        """From ``3/8``; raises ``UserError`` for anything else."""
        found = _SHARD.fullmatch(text.strip())
        number, count = (int(found[1]), int(found[2])) if found else (0, 0)
        if not 1 <= number <= count:
            raise UserError(f"shard {text!r} is none; write 3/8 for the third of eight, counted from 1")
        return cls(number, count)

    def part(self, items: Sequence[Item]) -> Sequence[Item]:
        """The items of this shard; raises ``UserError`` where there are fewer items than shards."""
        if len(items) < self.count:
            raise UserError(f"shard {self} of {len(items)} cases leaves some shards empty; use at most {len(items)}")
        return items[self.number - 1 :: self.count]

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"


WHOLE = Shard()


def split_source(source: str) -> tuple[str, Shard]:
    """A case source without its shard, and the shard; raises ``UserError`` for a shard that is none."""
    found = _SOURCE.fullmatch(source)
    return (found[1], Shard.read(found[2])) if found else (source, WHOLE)
