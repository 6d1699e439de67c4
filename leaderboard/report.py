"""An entry for people who never open a web page: tables, sparklines and telling moments in the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from verisim_leaderboard.moments import Moment
from verisim_leaderboard.record import Curve, Entry
from verisim_leaderboard.table import headline_table, plain
from verisim_leaderboard.tables import p_value, visible

BARS = "▁▂▃▄▅▆▇█"
GAP = "·"
SIGNIFICANT = 0.05


def report(entry: Entry, moments: Sequence[Moment]) -> Group:
    """Everything the terminal shows."""
    return Group(*_parts(entry, moments))


def sparkline(values: Sequence[float | None], low: float, high: float) -> str:
    """One bar a value on a fixed scale, so that two lines can be compared; a dot where there is none."""
    return "".join(GAP if v is None else BARS[_step(v, low, high)] for v in values)


def _step(value: float, low: float, high: float) -> int:
    share = (value - low) / (high - low) if high > low else 0.0
    return max(0, min(len(BARS) - 1, int(share * len(BARS))))


def _parts(entry: Entry, moments: Sequence[Moment]) -> Iterator[RenderableType]:
    c = entry.counts
    yield Text(entry.model.canonical_name, style="bold")
    yield Text(
        f"{entry.kind} run of {entry.date or 'an unknown date'}: {c.consultations} consultations over {c.cases} cases, "
        f"instrument {entry.instrument.fingerprint[:12]}"
    )
    yield from (Text(visible(f"custom: {d.setting} is {d.found!r}, not {d.standard!r}")) for d in entry.differences)
    yield headline_table(entry)
    if entry.curves:
        yield _curves(entry)
    yield from (Text(sentence) for sentence in sentences(entry))
    yield from (_panel(moment) for moment in moments)
    yield from (Text(f"warning: {warning}", style="yellow") for warning in entry.warnings)


def _curves(entry: Entry) -> Table:
    table = Table(title="by dimension, level 0 to 4", title_justify="left", box=SIMPLE_HEAD)
    for head in ("dimension", "accuracy", "% by level", "retained", "turns", "by level", "largest loss (p, Holm)"):
        table.add_column(head, justify="left", no_wrap=head != "dimension")
    retained = {d.dimension: d.retained for d in entry.robustness.dimensions}
    limit = entry.instrument.parts.get("max_turns")
    most = float(limit) if isinstance(limit, int) else 20.0
    for curve in entry.curves:
        accuracy = [p.scores["diagnostic_accuracy"] for p in curve.points]
        turns = [p.scores["turns"] for p in curve.points]
        kept = retained.get(curve.dimension)
        cells = (
            curve.dimension.replace("_", " "),
            sparkline([s.value for s in accuracy], 0.0, 1.0),
            " ".join("-" if s.value is None else f"{100 * s.value:.0f}" for s in accuracy),
            "-" if kept is None else f"{100 * kept:.0f}%",
            sparkline([s.value for s in turns], 0.0, most),
            " ".join(plain(s, 0) for s in turns),
            _largest(entry, curve),
        )
        table.add_row(*(Text(cell) for cell in cells))
    return table


def _largest(entry: Entry, curve: Curve) -> str:
    """The level that loses most, and whether that is more than chance."""
    ps = {test.variant: test.p_holm for test in entry.tests}
    drops = [
        (drop, point)
        for point in curve.points
        if point.level and (drop := point.scores["accuracy_drop"].value) is not None
    ]
    if not drops:
        return "-"
    drop, point = max(drops, key=lambda pair: (pair[0], -pair[1].level))
    return f"{drop:.1f} at level {point.level} ({p_value(ps.get(point.variant))})"


def sentences(entry: Entry) -> Iterator[str]:
    """What the numbers say, in words."""
    robust = entry.robustness
    if robust.worst:
        kept = next(d.retained for d in robust.dimensions if d.dimension == robust.worst)
        share = "" if kept is None else f": {100 * kept:.0f}% of the clean accuracy is left on average over its levels"
        yield f"Worst dimension: {robust.worst.replace('_', ' ')}{share}."
    elif robust.note:
        yield f"No worst dimension: {robust.note}."
    tested = [test for test in entry.tests if test.p_holm is not None]
    lost = [t for t in tested if (t.p_holm or 0) < SIGNIFICANT and (t.rank_biserial or 0) > 0]
    if tested:
        names = f" ({', '.join(t.variant for t in lost)})" if lost else ""
        yield f"{len(lost)} of {len(tested)} noisy variants lose accuracy beyond chance (Wilcoxon, Holm){names}."
    mixed = next((t for t in entry.tests if t.variant == "mixed" and t.detectable_drop is not None), None)
    if mixed:
        drop = f"{mixed.detectable_drop:.0f} points"
        yield f"Under mixed noise, these {mixed.n} pairs would show a true drop of {drop} or more (power 80%)."
    c = entry.cost
    took = "an untracked time" if c.seconds is None else f"{c.seconds:.0f} s"
    tokens = "tokens untracked" if c.doctor_tokens is None else f"{c.doctor_tokens} tokens"
    yield f"Cost: {c.turns} doctor messages, {tokens}, {took}."


def _panel(moment: Moment) -> Panel:
    body = Text(visible(f"{moment.variant}, case {moment.case_id}: {moment.why}\n"), style="dim")
    for speaker, words in moment.lines:
        body.append(f"\n{speaker}: ", style="bold")
        body.append(visible(words))
    return Panel(body, title=Text(moment.title), title_align="left")
