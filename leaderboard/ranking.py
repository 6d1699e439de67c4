"""Who stands where: entries of one fingerprint, by mixed accuracy, tied where their intervals overlap."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from verisim_leaderboard.record import Cleanness, Entry, Score
from verisim_leaderboard.statistics import SizeEffect, SizePoint, degradation_by_size

_WORST_FIRST: tuple[Cleanness, ...] = ("contaminated", "unknown", "clean")


@dataclass(frozen=True)
class ContaminationStatus:
    """What holds of a model after its parents are asked."""

    status: Cleanness
    inherited_from: str | None
    """The ancestor that decided it; null when the model's own declaration did."""


@dataclass(frozen=True)
class Placing:
    """One entry on its board."""

    entry: Entry
    rank: int | None
    """1 + the number of ranked entries whose interval lies wholly above; null for entries that are not ranked."""
    unranked: str | None
    """Why there is no rank."""
    contamination: ContaminationStatus


@dataclass(frozen=True)
class Board:
    """All entries that were measured with one instrument."""

    fingerprint: str
    placings: tuple[Placing, ...]
    """Ranked ones first, by rank, accuracy and name; then the others by accuracy and name."""


def boards(entries: Iterable[Entry]) -> tuple[Board, ...]:
    """One board for each fingerprint, the one with most ranked entries first."""
    found = list(entries)
    status = contamination_of(found)
    by_print: dict[str, list[Entry]] = {}
    for entry in found:
        by_print.setdefault(entry.instrument.fingerprint, []).append(entry)
    made = [Board(fingerprint, _placings(group, status)) for fingerprint, group in by_print.items()]
    return tuple(sorted(made, key=lambda b: (-sum(p.rank is not None for p in b.placings), b.fingerprint)))


def size_effect(board: Board) -> SizeEffect:
    """Do small models of a board lose more than large ones? Over ranked entries whose size and drop are known."""
    points = [
        SizePoint(place.entry.model.canonical_name, place.entry.model.parameters, drop)
        for place in board.placings
        if place.rank is not None
        and place.entry.model.parameters is not None
        and (drop := place.entry.headline.accuracy_drop.value) is not None
    ]
    return degradation_by_size(points)


def contamination_of(entries: Sequence[Entry]) -> dict[str, ContaminationStatus]:
    """The status of every model by canonical name: the worst of its own and all its ancestors' declarations.

    Several entries of one model count by the worst. A parent without an entry of its own is ``unknown``.
    """
    own: dict[str, Cleanness] = {}
    parents: dict[str, set[str]] = {}
    for entry in entries:
        name = entry.model.canonical_name
        own[name] = _worse(own.get(name, "clean"), entry.contamination.declared)
        parents.setdefault(name, set()).update(entry.contamination.parents)
    return {name: _status(name, own, parents) for name in sorted(own)}


def _status(name: str, own: Mapping[str, Cleanness], parents: Mapping[str, set[str]]) -> ContaminationStatus:
    worst, source = own[name], None
    seen, waiting = {name}, sorted(parents[name])
    while waiting:
        ancestor = waiting.pop(0)
        if ancestor in seen:
            continue
        seen.add(ancestor)
        status: Cleanness = own.get(ancestor, "unknown")
        if _WORST_FIRST.index(status) < _WORST_FIRST.index(worst):
            worst, source = status, ancestor
        waiting.extend(sorted(parents.get(ancestor, ())))
    return ContaminationStatus(worst, source)


def _worse(first: Cleanness, second: Cleanness) -> Cleanness:
    return min(first, second, key=_WORST_FIRST.index)


def _placings(entries: Sequence[Entry], status: Mapping[str, ContaminationStatus]) -> tuple[Placing, ...]:
    reasons = [_why_unranked(entry, status[entry.model.canonical_name]) for entry in entries]
    ranked = [entry.headline.mixed_accuracy for entry, reason in zip(entries, reasons, strict=True) if reason is None]
    placings = [
        Placing(
            entry,
            _rank(entry.headline.mixed_accuracy, ranked) if reason is None else None,
            reason,
            status[entry.model.canonical_name],
        )
        for entry, reason in zip(entries, reasons, strict=True)
    ]
    return tuple(sorted(placings, key=_order))


def _why_unranked(entry: Entry, status: ContaminationStatus) -> str | None:
    if entry.kind == "custom":
        return "custom run: " + ", ".join(d.setting for d in entry.differences)
    if entry.headline.mixed_accuracy.value is None:
        return "no mixed accuracy"
    if status.status == "contaminated":
        return "the cases were in the training data" + (f" of {status.inherited_from}" if status.inherited_from else "")
    return None


def _rank(score: Score, ranked: Sequence[Score]) -> int:
    top = _end(score, score.high)
    return 1 + sum(_end(other, other.low) > top for other in ranked)


def _end(score: Score, end: float | None) -> float:
    """An end of the interval; the value itself where there is none."""
    found = score.value if end is None else end
    return 0.0 if found is None else found


def _order(placing: Placing) -> tuple[bool, int, float, str, str]:
    value = placing.entry.headline.mixed_accuracy.value
    return (
        placing.rank is None,
        placing.rank or 0,
        -(value if value is not None else -1.0),
        placing.entry.model.canonical_name,
        placing.entry.date or "",
    )
