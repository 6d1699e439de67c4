"""Which part of the body lies on which side: "my right knee", "the left side of my chest", "both elbows"."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from verisim_tasks.language.body import sites
from verisim_tasks.language.words import fold, stem
from verisim_tasks.verify.vocabulary import tables

Sided = tuple[str, str]
"""Side (left, right, both) and the stem of the part of the body."""

_AHEAD = re.compile(
    r"\b(?P<side>left|right|both|each)\b(?:[ -](?:side|hand|lower|upper|of|my|the|his|her|our|big|half|sided|joints?))*"
    r"[ -](?P<part>[a-z]+)"
)
_BEHIND = re.compile(
    r"\b(?P<part>[a-z]+)(?: (?:pain|hurts?|is|are|was|it's|its|down|low|just|only|mostly|all|swollen|sore|side))*"
    r",? (?:on|to|at) (?:the|my|his|her) (?P<side>left|right|both)\b(?! (?!side|hand)[a-z]+)"
    r"|\b(?P<part2>[a-z]+)(?: \w+)?,? (?:on|in) (?P<side2>both) (?:sides|of)\b"
)


@functools.lru_cache(maxsize=20_000)
def sided(text: str) -> frozenset[Sided]:
    """All parts of the body with the side a text gives them; ``each`` is both."""
    found: set[Sided] = set()
    for match in (*_AHEAD.finditer(fold(text)), *_BEHIND.finditer(fold(text))):
        groups = match.groupdict()
        part, side = groups.get("part") or groups.get("part2") or "", groups.get("side") or groups.get("side2") or ""
        if sites(part) and (side != "each" or part in tables()["paired_parts"]):
            found.add(("both" if side == "each" else side, stem(re.sub(r"s$", "", part))))
    return frozenset(found)


def wrong_side(claimed: Iterable[Sided], held: Iterable[Sided]) -> Sided | None:
    """The first part that the record has, but not on that side; None where all agree or nothing can be compared."""
    known = sorted(held)
    for side, part in sorted(claimed):
        sides = {s for s, p in known if p == part}
        if sides and side not in sides and not (side == "both" and sides >= {"left", "right"}):
            return side, part
    return None


def agrees(claimed: Iterable[Sided], held: Iterable[Sided]) -> bool:
    """Every part claimed stands in the record on that side."""
    known = set(held)
    return bool(set(claimed)) and all(
        one in known or (one[0] == "both" and {("left", one[1]), ("right", one[1])} <= known) for one in claimed
    )
