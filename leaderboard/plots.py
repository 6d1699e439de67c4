"""An entry as PNG plots. Drawn without matplotlib's global state; the same entry gives the same picture."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from verisim_leaderboard.record import Curve, Entry, Score
from verisim_leaderboard.scores import LEVELS
from verisim_tasks.errors import UserError

ACCURACY = "diagnostic_accuracy"
INK, ACCENT, BAND = "#222222", "#0b5394", "#9fc5e8"
_DPI = 144
_COLUMNS = 3


def write_plots(entry: Entry, folder: Path) -> list[Path]:
    """Write every plot that the entry has data for; returns the files.

    Raises:
        UserError: when the folder cannot be written.
    """
    drawn: list[tuple[str, Callable[[Entry], Figure]]] = []
    if entry.headline.mixed_accuracy.value is not None and entry.headline.clean_accuracy.value is not None:
        drawn.append(("clean_and_mixed.png", clean_and_mixed))
    if entry.curves:
        drawn += [("accuracy_by_level.png", accuracy_by_level), ("drop_heat_map.png", drop_heat_map)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, draw in drawn:
            draw(entry).savefig(folder / name, dpi=_DPI, metadata={"Software": None})
    except OSError as error:
        raise UserError(f"plots cannot be written to {folder} ({error.strerror}); choose another --out") from error
    return [folder / name for name, _ in drawn]


def accuracy_by_level(entry: Entry) -> Figure:
    """Accuracy over level with its 95% band, one panel a dimension; the dashed line is level 0."""
    rows = -(-len(entry.curves) // _COLUMNS)
    figure = Figure(figsize=(9.6, 2.8 * rows + 0.6), layout="constrained")
    axes = figure.subplots(rows, _COLUMNS, sharex=True, sharey=True, squeeze=False).ravel()
    for axis, curve in zip(axes, entry.curves, strict=False):
        _curve(axis, curve)
    for axis in axes[len(entry.curves) :]:
        axis.set_visible(False)
    figure.supxlabel("noise level")
    figure.supylabel("accuracy, %")
    figure.suptitle(f"{_plain(entry.model.canonical_name)}: accuracy by noise level (95% intervals)", color=INK)
    return figure


def drop_heat_map(entry: Entry) -> Figure:
    """Accuracy lost, in points, by dimension and level."""
    figure = Figure(figsize=(7.2, 0.6 * len(entry.curves) + 1.6), layout="constrained")
    axis = figure.subplots()
    drops = [[point.scores["accuracy_drop"].value for point in curve.points if point.level] for curve in entry.curves]
    known = [abs(v) for row in drops for v in row if v is not None]
    reach = max([*known, 10.0])
    shade = [[float("nan") if v is None else v for v in row] for row in drops]
    image = axis.imshow(shade, cmap="RdBu_r", vmin=-reach, vmax=reach, aspect="auto")
    for y, row in enumerate(drops):
        for x, value in enumerate(row):
            dark = value is not None and abs(value) > 0.6 * reach
            text = "-" if value is None else str(round(value))
            axis.text(x, y, text, ha="center", va="center", color="white" if dark else INK)
    axis.set_xticks(range(len(LEVELS)), [f"level {level}" for level in LEVELS])
    axis.set_yticks(range(len(entry.curves)), [_label(curve.dimension) for curve in entry.curves])
    figure.colorbar(image, ax=axis, label="accuracy lost, points")
    axis.set_title(_plain(entry.model.canonical_name), color=INK)
    return figure


def clean_and_mixed(entry: Entry) -> Figure:
    """Clean against mixed accuracy, with intervals."""
    figure = Figure(figsize=(4.2, 4.0), layout="constrained")
    axis = figure.subplots()
    scores = (entry.headline.clean_accuracy, entry.headline.mixed_accuracy)
    values = [100 * (score.value or 0.0) for score in scores]
    axis.errorbar((0, 1), values, yerr=_reach(scores), color=ACCENT, marker="o", capsize=5, linewidth=2)
    axis.set_xticks((0, 1), ("clean", "mixed noise"))
    axis.set_xlim(-0.35, 1.35)
    axis.set_ylim(0, 100)
    axis.set_ylabel("accuracy, %")
    axis.grid(axis="y", alpha=0.3)
    axis.set_title(_plain(entry.model.canonical_name), color=INK)
    return figure


def _curve(axis: Axes, curve: Curve) -> None:
    points = [(p.level, p.scores[ACCURACY]) for p in curve.points if p.scores[ACCURACY].value is not None]
    levels = [level for level, _ in points]
    values = [100 * (score.value or 0.0) for _, score in points]
    low = [100 * _end(score, score.low) for _, score in points]
    high = [100 * _end(score, score.high) for _, score in points]
    axis.fill_between(levels, low, high, color=BAND, alpha=0.5, linewidth=0)
    axis.plot(levels, values, color=ACCENT, marker="o", markersize=4)
    if points and points[0][0] == 0:
        axis.axhline(values[0], color=INK, linestyle="--", linewidth=0.8)
    axis.set_title(_label(curve.dimension), fontsize=10)
    axis.set_xticks((0, *LEVELS))
    axis.set_ylim(0, 100)
    axis.grid(alpha=0.25)


def _reach(scores: tuple[Score, ...]) -> list[list[float]]:
    values = [score.value or 0.0 for score in scores]
    return [
        [100 * max(0.0, v - _end(s, s.low)) for v, s in zip(values, scores, strict=True)],
        [100 * max(0.0, _end(s, s.high) - v) for v, s in zip(values, scores, strict=True)],
    ]


def _end(score: Score, end: float | None) -> float:
    return end if end is not None else score.value or 0.0


def _label(dimension: str) -> str:
    return dimension.replace("_", " ")


def _plain(name: str) -> str:
    """A model's name without matplotlib's mathematics: a dollar sign is a dollar sign."""
    return name.replace("$", r"\$")
