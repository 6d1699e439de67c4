"""The entry as tables for the terminal. Everything is printed as plain text, never as markup."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from verisim_leaderboard.record import Entry, Score, VariantEntry

PUBLISHED_DROP = "15-25%"
"""Accuracy drop published for VeriSim (arXiv 2604.10441); it does not say whether absolute or relative."""
PUBLISHED_INFLATION = "34-55%"
"""Turn inflation published for VeriSim (arXiv 2604.10441)."""
_MISSING = "-"
_COLUMNS: tuple[str, ...] = (
    "variant",
    "cases",
    "accuracy % [95%]",
    "drop, points [95%]",
    "turns",
    "inflation % [95%]",
    "key facts",
    "recogn.",
    "sensitive",
    "censored",
    "errors",
)


def print_entry(entry: Entry, console: Console | None = None) -> None:
    """Print one row a variant, the headline beside the published figures, and the warnings."""
    target = console or Console()
    if not target.is_terminal and console is None:
        target = Console(width=160)
    target.print(Group(*_parts(entry)))


def _parts(entry: Entry) -> list[RenderableType]:
    c = entry.counts
    parts: list[RenderableType] = [
        Text(
            f"{entry.model.name}: {c.consultations} consultations over {c.cases} cases, instrument "
            f"{entry.instrument.fingerprint[:12]}"
        ),
        _variants(entry),
        headline_table(entry),
        Text(f"errors {c.errors}, left out {c.excluded}, censored {c.censored}, context limit {c.context_limits}"),
    ]
    return [*parts, *(Text(f"warning: {warning}", style="yellow") for warning in entry.warnings)]


def _variants(entry: Entry) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column(Text(_COLUMNS[0]), no_wrap=True, min_width=max(len(v.variant) for v in entry.variants))
    for name in _COLUMNS[1:]:
        table.add_column(Text(name), justify="right")
    for variant in entry.variants:
        table.add_row(*(Text(cell) for cell in _row(variant)))
    return table


def _row(variant: VariantEntry) -> list[str]:
    s = variant.scores
    clean = variant.level == 0
    return [
        variant.variant,
        str(variant.counts.cases),
        with_interval(s["diagnostic_accuracy"], 100),
        _drop(s["accuracy_drop"], clean),
        plain(s["turns"]),
        _MISSING if clean else with_interval(s["turn_inflation"], 100),
        plain(s["key_facts"], digits=2),
        plain(s["key_facts_recognisable"], digits=2),
        plain(s["sensitive_facts"], digits=2),
        str(variant.counts.censored),
        str(variant.counts.errors),
    ]


def _drop(score: Score, clean: bool) -> str:
    if clean:
        return _MISSING  # nothing to lose against itself
    return score.note.partition(":")[0] if score.note else with_interval(score)


def headline_table(entry: Entry) -> Table:
    """The headline beside the published figures."""
    h = entry.headline
    table = Table("headline", box=SIMPLE_HEAD)
    for name in ("value [95%]", "published", "cases"):
        table.add_column(Text(name), justify="right")
    rows: tuple[tuple[str, Score, float, str], ...] = (
        ("clean accuracy %", h.clean_accuracy, 100, ""),
        ("mixed accuracy %", h.mixed_accuracy, 100, ""),
        ("drop, points", h.accuracy_drop, 1, PUBLISHED_DROP),
        ("drop, relative %", h.accuracy_drop_relative, 100, PUBLISHED_DROP),
        ("turn inflation %", h.turn_inflation, 100, PUBLISHED_INFLATION),
        ("censored pairs %", h.censored, 100, ""),
    )
    for name, score, scale, published in rows:
        table.add_row(*(Text(cell) for cell in (name, with_interval(score, scale), published, str(score.n))))
    return table


def with_interval(score: Score, scale: float = 1) -> str:
    """``12.5 [3.1, 21.9]``; a dash where there is no value, with its reason when it has one."""
    if score.value is None:
        return f"{_MISSING} ({score.note})" if score.note else _MISSING
    if score.low is None or score.high is None:
        return f"{scale * score.value:.1f}"
    return f"{scale * score.value:.1f} [{scale * score.low:.1f}, {scale * score.high:.1f}]"


def plain(score: Score, digits: int = 1) -> str:
    """The value alone, or a dash."""
    return _MISSING if score.value is None else f"{score.value:.{digits}f}"
