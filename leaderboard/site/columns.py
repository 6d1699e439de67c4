"""The columns of the ranked table: what each shows, and where it is found in an entry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from verisim_leaderboard.ranking import Placing
from verisim_leaderboard.record import Entry, GroupEntry, Score, VariantEntry
from verisim_leaderboard.score_names import Unit, describe
from verisim_leaderboard.scores import LEVELS, MIXED, ORDER
from verisim_leaderboard.site.words import MISSING, dimension_label, interval, number, scaled, titled, variant_label
from verisim_leaderboard.tables import size
from verisim_tasks.records.noise import DIMENSIONS

GROUPS: Mapping[str, str] = {
    "main": "Result",
    "dimensions": "Drop by dimension, points (levels 1-4 together)",
    "levels": "Drop by level, points (all dimensions)",
    "variants": "Accuracy by task, % (never ranked)",
    "talk": "The interview, mixed noise",
    "about": "About the run",
}
"""Groups of columns and their headings."""
SWITCHES: Mapping[str, str] = {
    "dimensions": "Dimensions",
    "levels": "Levels",
    "variants": "Single tasks",
    "talk": "Interview",
    "about": "Run",
}
"""The groups that can be switched on and off."""
_TALK: tuple[str, ...] = (
    *("key_facts", "key_facts_recognisable", "sensitive_facts", "turns", "diagnosed_before_limit"),
)


@dataclass(frozen=True)
class Place:
    """One entry on its board, with its scores at hand."""

    placing: Placing
    folder: str
    """Of its pages, below ``models/``."""

    @property
    def entry(self) -> Entry:
        """The entry."""
        return self.placing.entry

    @cached_property
    def variants(self) -> Mapping[str, VariantEntry]:
        """Its variants by name."""
        return {v.variant: v for v in self.entry.variants}

    @cached_property
    def groups(self) -> Mapping[str, GroupEntry]:
        """Its groups by name."""
        return {g.group: g for g in self.entry.groups}

    def of_variant(self, variant: str, name: str) -> Score | None:
        """A score of a variant; null where the variant was not run."""
        found = self.variants.get(variant)
        return found.scores.get(name) if found else None

    def of_group(self, group: str, name: str) -> Score | None:
        """A score of a group, every consultation weighing the same; null where it lacks a variant."""
        found = self.groups.get(group)
        return found.micro.get(name) if found and not found.missing else None


@dataclass(frozen=True)
class Cell:
    """One value: as it is sorted by, and as it is read."""

    value: float | str | None
    text: str
    detail: str = ""
    """In small print: the interval, or why there is no value."""


@dataclass(frozen=True)
class Column:
    """One column."""

    id: str
    group: str
    label: str
    hint: str
    cell: Callable[[Place], Cell]
    text: bool = False
    """It holds words, not numbers."""
    down: bool = False
    """A first click puts the largest on top."""


def columns() -> tuple[Column, ...]:
    """All columns, group by group."""
    return (*_main(), *_dimensions(), *_levels(), *_variants(), *_talk(), *_about())


def _main() -> tuple[Column, ...]:
    heads = (
        ("mixed_accuracy", "Mixed accuracy, %", "Right diagnoses under mixed noise. Ranked by this."),
        ("clean_accuracy", "Clean accuracy, %", "Right diagnoses without noise."),
        ("accuracy_drop", "Drop, points", "Clean minus mixed accuracy of the same cases."),
        ("turn_inflation", "Turn inflation, %", "How many more turns mixed noise takes."),
    )
    units: Mapping[str, Unit] = {"accuracy_drop": "points", "turn_inflation": "ratio"}
    return (
        Column("rank", "main", "Rank", "1 + the number of entries whose interval lies wholly above.", _rank),
        Column("model", "main", "Model", "Canonical name and submitter.", _model, text=True),
        *(
            Column(n, "main", label, hint, _headline(n, units.get(n, "share")), down=n.endswith("accuracy"))
            for n, label, hint in heads
        ),
        Column("size", "main", "Size", "Number of parameters.", _size, down=True),
        Column("weights", "main", "Weights", "Open or closed.", _weights, text=True),
    )


def _dimensions() -> tuple[Column, ...]:
    hint = "Accuracy lost over levels 1 to 4, every consultation weighing the same."
    return tuple(_of_group(d, "dimensions", dimension_label(d), hint) for d in DIMENSIONS)


def _levels() -> tuple[Column, ...]:
    hint = "Accuracy lost over the six dimensions at this level."
    return tuple(_of_group(f"level_{level}", "levels", f"Level {level}", hint) for level in LEVELS)


def _variants() -> tuple[Column, ...]:
    return tuple(_accuracy(variant) for variant in ORDER)


def _talk() -> tuple[Column, ...]:
    return tuple(_of_mixed(name) for name in _TALK)


def _about() -> tuple[Column, ...]:
    return (
        Column("kind", "about", "Run", "Standard or custom.", lambda p: _words(p.entry.kind), text=True),
        Column("contamination", "about", "Cases in training data", "As declared, or inherited.", _seen, text=True),
        Column("licence", "about", "Licence", "Of the model.", lambda p: _words(p.entry.model.licence), text=True),
        Column(
            "date", "about", "Date", "When the run started.", lambda p: _words((p.entry.date or "")[:10]), text=True
        ),
        Column("seconds", "about", "Hours", "Wall time of the whole run.", _hours, down=True),
        Column("tokens", "about", "Tokens", "Written by the model.", _tokens, down=True),
    )


def _scored(score: Score | None, unit: Unit) -> Cell:
    if score is None:
        return Cell(None, MISSING)
    if score.value is None:
        return Cell(None, MISSING, (score.note or "").partition(":")[0])
    return Cell(scaled(score.value, unit), number(score.value, unit), interval(score, unit))


def _words(text: str | None) -> Cell:
    return Cell(text.lower() if text else None, text or MISSING)


def _headline(name: str, unit: Unit) -> Callable[[Place], Cell]:
    return lambda place: _scored(getattr(place.entry.headline, name), unit)


def _of_group(group: str, block: str, label: str, hint: str) -> Column:
    return Column(f"drop_{group}", block, label, hint, lambda p: _scored(p.of_group(group, "accuracy_drop"), "points"))


def _accuracy(variant: str) -> Column:
    def cell(place: Place) -> Cell:
        return _scored(place.of_variant(variant, "diagnostic_accuracy"), "share")

    hint = "A single task is not ranked: 72 cases give about 13 points to either side."
    return Column(f"task_{variant}", "variants", variant_label(variant), hint, cell, down=True)


def _of_mixed(name: str) -> Column:
    info = describe(name)

    def cell(place: Place) -> Cell:
        return _scored(place.of_variant(MIXED, name), info.unit)

    return Column(f"mixed_{name}", "talk", titled(info), info.text, cell, down=info.better == "higher")


def _rank(place: Place) -> Cell:
    rank = place.placing.rank
    return Cell(rank, MISSING) if rank is None else Cell(rank, str(rank))


def _model(place: Place) -> Cell:
    model = place.entry.model
    return Cell(model.canonical_name.lower(), model.canonical_name, place.entry.submitter or "")


def _size(place: Place) -> Cell:
    parameters = place.entry.model.parameters
    return Cell(parameters, MISSING if parameters is None else size(parameters))


def weights(entry: Entry) -> str:
    """``open``, ``closed`` or ``unknown``."""
    return {True: "open", False: "closed", None: "unknown"}[entry.model.open_weights]


def _weights(place: Place) -> Cell:
    return _words(weights(place.entry))


def _seen(place: Place) -> Cell:
    found = place.placing.contamination
    return Cell(found.status, found.status, f"from {found.inherited_from}" if found.inherited_from else "")


def _hours(place: Place) -> Cell:
    seconds = place.entry.cost.seconds
    return Cell(seconds, MISSING if seconds is None else f"{seconds / 3600:.2f}")


def _tokens(place: Place) -> Cell:
    tokens = place.entry.cost.doctor_tokens
    return Cell(tokens, MISSING if tokens is None else f"{tokens:,}")
