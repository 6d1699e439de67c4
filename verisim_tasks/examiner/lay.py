"""Examinations in lay words: descriptions of a test, what the doctor does, what the patient is asked to do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from verisim_tasks.examiner.mentions import Mention
from verisim_tasks.examiner.tokens import Token, forms
from verisim_tasks.examiner.vocabulary import Item, Name

MAX_GAP = 3
"""How many words may stand between two slots of a row."""
MAX_SLOT = 24
"""Within how many words a list of words of one slot has to end; bounds the time for hostile text."""
Role = Literal["named", "done", "asked", "ready", "noted"]
ROLES: tuple[Role, ...] = ("named", "done", "asked", "ready", "noted")
_STOPS = frozenset(["and", "or", "then", "but", "plus", "not", "no", "never"])
"""Words that end a row: what is behind them is another thing."""
_FREE = frozenset(["of", "in", "on", "at", "over", "to", "with", "from", "for", "up", "down", "into"])
"""Words that do not count as standing between two slots."""
_LINKS = frozenset(["and", "or"])


@dataclass(frozen=True)
class _Row:
    role: Role
    slots: tuple[frozenset[str], ...]
    items: tuple[Name, ...]


class LayFinder:
    """Finds the rows of ``lay.yaml`` in words. Built once; pure."""

    def __init__(self, data: Mapping[str, Any], items: Mapping[str, Item]) -> None:
        groups = {name: _words(words) for name, words in data["groups"].items()}
        self._rows: dict[str, list[_Row]] = defaultdict(list)
        for key, section in data["items"].items():
            names = tuple(Name(item=name, explicit=True) for name in key.split(" + "))
            unknown = [n.item for n in names if n.item not in items] + [r for r in section if r not in ROLES]
            if unknown:
                raise ValueError(f"fixtures/examiner/lay.yaml: {key!r} names unknown items or roles {unknown}")
            for role, texts in section.items():
                for text in texts:
                    row = _Row(role, tuple(_slot(part, groups) for part in text.split()), names)
                    for word in sorted(row.slots[0]):
                        self._rows[word].append(row)
        for rows in self._rows.values():
            rows.sort(key=lambda r: -len(r.slots))

    def find(self, tokens: Sequence[Token], roles: Iterable[Role]) -> list[tuple[Role, Mention]]:
        """Rows of those roles in the words, overlapping ones too; at each place the more exact row first."""
        wanted = frozenset(roles)
        found: list[tuple[Role, Mention]] = []
        for start, token in enumerate(tokens):
            for row in self._rows.get(token.form, ()):
                end = _end(tokens, start, row.slots) if row.role in wanted else 0
                if end:
                    found.append((row.role, Mention(start, end, items=row.items)))
        return found


def _end(tokens: Sequence[Token], start: int, slots: Sequence[frozenset[str]]) -> int:
    """Where a row that starts at a place ends; 0 where it does not fit."""
    place = _members(tokens, start + 1, slots[0])
    for slot in slots[1:]:
        gap = 0
        while place < len(tokens) and not _breaks(tokens[place], slot) and tokens[place].form not in slot:
            gap += bool(tokens[place].form) and tokens[place].word not in _FREE
            if gap > MAX_GAP or tokens[place].word in _STOPS:
                return 0
            place += 1
        if place >= len(tokens) or _breaks(tokens[place], slot):
            return 0
        place = _members(tokens, place + 1, slot)
    return place


def _breaks(token: Token, slot: frozenset[str]) -> bool:
    """Whether a pause stands before a word; a comma before a link of the row is none: "lying, then standing"."""
    return bool(token.broken) and not (token.broken == "," and token.form in slot and token.word in _STOPS)


def _members(tokens: Sequence[Token], place: int, slot: frozenset[str]) -> int:
    """Where more words of the same slot end: "your knees and ankles"."""
    behind = place
    end = min(len(tokens), place + MAX_SLOT)
    linked = False
    while behind < end:
        linked = linked or tokens[behind].broken == "," or tokens[behind].word in _LINKS
        if tokens[behind].form in slot:
            if not linked or tokens[behind].broken not in ("", ","):
                break
            place, linked = behind + 1, False
        elif tokens[behind].form and tokens[behind].word not in _LINKS:
            break
        behind += 1
    return place


def _slot(part: str, groups: Mapping[str, frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*(groups[p.strip("<>")] if p.startswith("<") else _words([p]) for p in part.split("|")))


def _words(words: Iterable[str]) -> frozenset[str]:
    return frozenset(f for word in words for f in forms(word))
