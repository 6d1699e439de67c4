"""The data of the site as files: the boards as JSON and CSV, and every score of every task as CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from verisim_leaderboard.record import Headline
from verisim_leaderboard.site.columns import Place, weights

FORMAT_VERSION = 1
"""Of ``leaderboard.json``; it grows when a field changes its meaning or goes."""
_HEADLINE: tuple[str, ...] = tuple(Headline.model_fields)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_BOARD_HEADS: tuple[str, ...] = (
    *("instrument", "rank", "unranked", "model", "submitter", "kind", "parameters", "open_weights", "licence"),
    *("revision", "contamination", "date", "cases", "consultations", "turns", "doctor_tokens", "seconds"),
)
_SCORE_HEADS: tuple[str, ...] = (
    *("entry", "model", "instrument", "task", "score", "value", "low", "high", "n", "coverage"),
)


def boards_json(boards: Iterable[Sequence[Place]]) -> str:
    """Every board with its entries, in the order of the page; null where a value is missing."""
    data = {"format_version": FORMAT_VERSION, "boards": [_board(places) for places in boards]}
    return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def boards_csv(boards: Iterable[Sequence[Place]]) -> str:
    """One row an entry: who, and the headline scores with their intervals; empty where a value is missing."""
    heads = [*_BOARD_HEADS, *(f"{name}{part}" for name in _HEADLINE for part in ("", "_low", "_high", "_n"))]
    return _csv(heads, (_board_row(place) for places in boards for place in places))


def scores_csv(places: Iterable[Place]) -> str:
    """One row a score of a task of an entry."""
    return _csv(_SCORE_HEADS, (row for place in places for row in _score_rows(place)))


def _board(places: Sequence[Place]) -> dict[str, Any]:
    return {"instrument": places[0].entry.instrument.fingerprint, "entries": [_described(p) for p in places]}


def _described(place: Place) -> dict[str, Any]:
    entry, placing = place.entry, place.placing
    return {
        "entry": f"models/{place.folder}/entry.json",
        "rank": placing.rank,
        "unranked": placing.unranked,
        "kind": entry.kind,
        "model": entry.model.model_dump(mode="json", exclude={"args"}),
        "submitter": entry.submitter,
        "date": entry.date,
        "contamination": {"status": placing.contamination.status, "from": placing.contamination.inherited_from},
        "headline": entry.headline.model_dump(mode="json"),
        "cost": entry.cost.model_dump(mode="json"),
    }


def _board_row(place: Place) -> list[object]:
    entry, placing = place.entry, place.placing
    model, cost = entry.model, entry.cost
    scores = [getattr(entry.headline, name) for name in _HEADLINE]
    return [
        *(entry.instrument.fingerprint, placing.rank, placing.unranked, model.canonical_name, entry.submitter),
        *(entry.kind, model.parameters, weights(entry), model.licence, model.revision or model.weights_sha256),
        *(placing.contamination.status, entry.date, entry.counts.cases, entry.counts.consultations),
        *(cost.turns, cost.doctor_tokens, cost.seconds),
        *(cell for score in scores for cell in (score.value, score.low, score.high, score.n)),
    ]


def _score_rows(place: Place) -> Iterator[list[object]]:
    entry = place.entry
    head = [place.folder, entry.model.canonical_name, entry.instrument.fingerprint]
    for variant in entry.variants:
        for name, score in variant.scores.items():
            yield [*head, variant.task, name, score.value, score.low, score.high, score.n, score.coverage]


def _csv(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    target = io.StringIO(newline="")
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows([_inert(cell) for cell in row] for row in rows)
    return target.getvalue()


def _inert(cell: object) -> object:
    """Text that a spreadsheet would run as a formula gets an apostrophe before it."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell
