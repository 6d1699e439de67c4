"""Parts of the body, so that a question about one is not answered with another."""

from __future__ import annotations

import functools
import re

from verisim_tasks.language.lexicon import load_yaml
from verisim_tasks.language.words import stems

_FIGURES = re.compile(
    r"\b(?:lie|lies|lying|lay|sleep\w*|slept|flat|roll\w*|stand\w*|get\w*|up) (?:flat )?on(?:to)?"
    r" (?:your|his|her|my|the|one|either) (?:back|side|front|feet)\b|\bon (?:your|my|his|her) mind\b"
    r"|\bback (?:to|from|home|at|in|into|then|when|and forth|on your feet)\b"
    r"|\b(?:came?|coming|comes|go|goes|going|went|get|gets|got|look\w*|turn\w*|bring\w*|brought"
    r"|hold\w*|cut|way|keep\w*|think\w*|call\w*|date\w*|while|years|months|weeks|days|time) back\b"
    r"|\b(?:at|on the other|second) hand\b|\bby (?:mouth|heart)\b"
    r"|\bheading (?:to|for)\b|\bhead off\b|\beye.openers?\b|\bface (?:up|to)\b|\bcold feet\b"
    r"|\bchest infections?\b|\bon the whole\b"
)
"""Figures of speech that name no part of the body."""


_BETWEEN_LEGS = re.compile(r"\bbetween (?:my|your|his|her|the|their) legs\b")


@functools.lru_cache(maxsize=50_000)
def sites(text: str) -> frozenset[str]:
    """The regions of the body that a text names, each with the regions it is part of."""
    table = _regions()
    literal = _FIGURES.sub(" ", _BETWEEN_LEGS.sub("crotch", text.lower()))
    return frozenset(region for s in stems(literal) for region in table.get(s, ()))


@functools.cache
def _regions() -> dict[str, frozenset[str]]:
    regions: dict[str, set[str]] = {}
    for region, names in load_yaml("lexicon", "body.yaml").items():
        for name in names:
            regions.setdefault(stems(name)[0], set()).add(region)
    return {name: frozenset(found) for name, found in regions.items()}
