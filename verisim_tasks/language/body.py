"""Parts of the body, so that a question about one is not answered with another."""

from __future__ import annotations

import functools

from verisim_tasks.language.lexicon import load_yaml
from verisim_tasks.language.words import stems


@functools.lru_cache(maxsize=50_000)
def sites(text: str) -> frozenset[str]:
    """The regions of the body that a text names, each with the regions it is part of."""
    table = _regions()
    return frozenset(region for s in stems(text) for region in table.get(s, ()))


@functools.cache
def _regions() -> dict[str, frozenset[str]]:
    regions: dict[str, set[str]] = {}
    for region, names in load_yaml("lexicon", "body.yaml").items():
        for name in names:
            regions.setdefault(stems(name)[0], set()).add(region)
    return {name: frozenset(found) for name, found in regions.items()}
