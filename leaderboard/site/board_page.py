"""The ranked table as a page, and what its script sorts and filters by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from verisim_leaderboard.ranking import Board, size_effect
from verisim_leaderboard.record import Entry
from verisim_leaderboard.site.columns import GROUPS, SWITCHES, Cell, Column, Place, columns, weights
from verisim_leaderboard.site.render import page
from verisim_leaderboard.site.words import cleaned, shown
from verisim_leaderboard.statistics.size import LARGE_FROM, SMALL_UP_TO
from verisim_leaderboard.tables import size_sentences

BANDS: Mapping[str, str] = {
    "small": "below 10B",
    "middle": "10B to 70B",
    "large": "70B and more",
    "unknown": "size not known",
}
"""Size classes of the filter; the bounds are those of the comparison by size."""
FILTERS: Mapping[str, Mapping[str, str]] = {
    "band": BANDS,
    "open": {"open": "open weights", "closed": "closed weights", "unknown": "not said"},
    "standing": {"ranked": "ranked", "unranked": "not ranked"},
}
"""Filters, the values they know and their labels."""


def board_page(board: Board, places: Sequence[Place], links: Sequence[Mapping[str, str]], current: str) -> str:
    """The page of one board.

    Args:
        board: Who stands where.
        places: The same entries, with the folders of their pages.
        links: The pages of all boards: ``file`` and ``label``.
        current: The file of this one.
    """
    shape = columns()
    table = [[column.cell(place) for column in shape] for place in places]
    return page(
        "board.html.jinja",
        root="",
        current="board",
        title="Leaderboard",
        board=board,
        links=links,
        file=current,
        columns=shape,
        groups={name: [c for c in shape if c.group == name] for name in GROUPS},
        group_labels=GROUPS,
        switches=SWITCHES,
        filters=FILTERS,
        rows=list(zip(places, table, strict=True)),
        ranked=sum(place.placing.rank is not None for place in places),
        size_effect=size_sentences(size_effect(board)),
        data=_script_data(shape, places, table),
    )


def band(entry: Entry) -> str:
    """The size class of an entry."""
    parameters = entry.model.parameters
    if parameters is None:
        return "unknown"
    return "small" if parameters < SMALL_UP_TO else "large" if parameters >= LARGE_FROM else "middle"


def _script_data(shape: Sequence[Column], places: Sequence[Place], table: Sequence[Sequence[Cell]]) -> dict[str, Any]:
    return {
        "columns": [{"id": c.id, "text": c.text, "down": c.down} for c in shape],
        "filters": list(FILTERS),
        "rows": [_row(shape, place, cells) for place, cells in zip(places, table, strict=True)],
    }


def _row(shape: Sequence[Column], place: Place, cells: Sequence[Cell]) -> dict[str, Any]:
    entry = place.entry
    values = {c.id: cleaned(cell.value) for c, cell in zip(shape, cells, strict=True) if cell.value is not None}
    searched = (entry.model.canonical_name, entry.model.name, entry.submitter or "", entry.model.licence or "")
    return {
        **values,
        "band": band(entry),
        "open": weights(entry),
        "standing": "unranked" if place.placing.rank is None else "ranked",
        "search": shown(" ".join(searched)).lower(),
    }
