"""What ``verisim leaderboard`` prints, as plain text, never as markup."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from verisim_leaderboard.difference import VariantComparison
from verisim_leaderboard.flatten import Change
from verisim_leaderboard.ranking import Board
from verisim_leaderboard.statistics.size import PUBLISHED_EXCESS, SizeEffect
from verisim_leaderboard.table import with_interval

_LONGEST = 60


def settings_table(changed: Sequence[Change], first: str, second: str) -> Table:
    """One row for each setting that differs."""
    table = _table("settings that differ", ("setting", first, second))
    for change in changed:
        table.add_row(*(Text(visible(cell)) for cell in (change.path, _short(change.first), _short(change.second))))
    return table


def comparison_table(found: Sequence[VariantComparison]) -> Table:
    """One row for each variant that both models were run on."""
    heads = (
        "variant",
        "cases",
        "differ",
        "first - second, points [95%]",
        "p",
        "p, Holm",
        "effect r",
        "d",
        "detectable",
    )
    table = _table("accuracy, first minus second", heads)
    for row in found:
        t = row.test
        interval = "" if t.low is None or t.high is None else f" [{100 * t.low:.1f}, {100 * t.high:.1f}]"
        cells = (
            row.variant,
            str(t.n),
            str(t.changed),
            "-" if t.difference is None else f"{100 * t.difference:.1f}{interval}",
            p_value(t.p),
            p_value(row.p_holm),
            decimal(t.rank_biserial),
            decimal(t.cohens_d),
            "-" if row.detectable is None else f"{100 * row.detectable:.1f}",
        )
        table.add_row(*(Text(visible(cell)) for cell in cells))
    return table


def board_table(board: Board) -> Table:
    """A board as it is ranked."""
    heads = ("rank", "model", "size", "mixed accuracy % [95%]", "drop", "contamination", "why not ranked")
    table = _table(f"instrument {board.fingerprint[:12]}", heads)
    for place in board.placings:
        model, head = place.entry.model, place.entry.headline
        origin = f" (from {place.contamination.inherited_from})" if place.contamination.inherited_from else ""
        cells = (
            str(place.rank or "-"),
            model.canonical_name,
            size(model.parameters),
            with_interval(head.mixed_accuracy, 100),
            with_interval(head.accuracy_drop),
            place.contamination.status + origin,
            place.unranked or "",
        )
        table.add_row(*(Text(visible(cell)) for cell in cells))
    return table


def size_sentences(found: SizeEffect) -> str:
    """The published comparison and the line over size, in words; why, where they are undefined."""
    parts = []
    if found.excess is not None:
        parts.append(
            f"models below 10B lose {found.small:.1f} points ({found.n_small}), of 70B or more {found.large:.1f} "
            f"({found.n_large}): {100 * found.excess:.0f}% more (published: {100 * PUBLISHED_EXCESS:.0f}%)"
        )
    if found.regression is not None:
        line = found.regression
        parts.append(
            f"{line.slope:+.1f} points [{line.low:.1f}, {line.high:.1f}] for ten times the size "
            f"(n {line.n}, p {p_value(line.p)})"
        )
    return "drop by model size: " + "; ".join([*parts, *([found.note] if found.note else [])])


def size(parameters: int | None) -> str:
    """``7.6B``, ``135M``; a dash when not known."""
    if parameters is None:
        return "-"
    return f"{parameters / 1e9:.1f}B" if parameters >= 1e9 else f"{parameters / 1e6:.0f}M"


def p_value(p: float | None) -> str:
    """``0.031``; ``<0.001``; a dash where there is none."""
    if p is None:
        return "-"
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def decimal(value: float | None) -> str:
    """Two decimals, or a dash."""
    return "-" if value is None else f"{value:.2f}"


def _table(title: str, heads: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD)
    for head in heads:
        table.add_column(Text(head))
    return table


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def visible(text: str) -> str:
    """Text of others without what a terminal would obey: control characters become a replacement sign."""
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)
