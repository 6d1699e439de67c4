"""The page of one entry: headline, plots, heat map, moments, consultations, every score, and how it was run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from verisim_leaderboard.moments import Moment
from verisim_leaderboard.record import CurvePoint, Entry, Score
from verisim_leaderboard.report import SIGNIFICANT, sentences
from verisim_leaderboard.score_names import Unit, describe, ordered
from verisim_leaderboard.scores import CLEAN, LEVELS, MIXED
from verisim_leaderboard.site.columns import Place, weights
from verisim_leaderboard.site.render import page
from verisim_leaderboard.site.words import (
    MISSING,
    cleaned,
    dimension_label,
    interval,
    number,
    scaled,
    titled,
    variant_label,
)
from verisim_leaderboard.table import PUBLISHED_DROP, PUBLISHED_INFLATION

ACCURACY = "diagnostic_accuracy"
_HEADLINE: tuple[tuple[str, str, Unit, str], ...] = (
    ("clean_accuracy", "Clean accuracy, %", "share", ""),
    ("mixed_accuracy", "Mixed accuracy, %", "share", ""),
    ("accuracy_drop", "Drop, points", "points", PUBLISHED_DROP),
    ("accuracy_drop_relative", "Relative drop, %", "ratio", PUBLISHED_DROP),
    ("turn_inflation", "Turn inflation, %", "ratio", PUBLISHED_INFLATION),
    ("censored", "Pairs that reached the turn limit, %", "share", ""),
)
_STEPS: tuple[float, ...] = (3.0, 8.0, 15.0, 25.0)
"""Points lost at which the heat map grows darker."""
HEAT_KEY: tuple[tuple[str, str], ...] = (
    ("gain", "3 or more gained"),
    ("h0", "less than 3 either way"),
    ("h1", "3 to 8 lost"),
    ("h2", "8 to 15 lost"),
    ("h3", "15 to 25 lost"),
    ("h4", "25 or more lost"),
)


def model_page(place: Place, moments: Sequence[tuple[Moment, str]], cases: Sequence[Mapping[str, Any]]) -> str:
    """The page.

    Args:
        place: The entry on its board.
        moments: Telling moments, each with the file of its consultation.
        cases: One row a case: ``file``, ``id``, ``specialty`` and the outcomes; empty without transcripts.
    """
    entry = place.entry
    return page(
        "model.html.jinja",
        root="../../",
        current="",
        title=entry.model.canonical_name,
        entry=entry,
        place=place,
        weights=weights(entry),
        headline=list(_headline(entry)),
        sentences=list(sentences(entry)),
        heat=list(_heat(entry)),
        heat_key=HEAT_KEY,
        levels=LEVELS,
        scores=_score_table(entry),
        reported=list(_reported(entry)),
        tests=[(variant_label(t.variant), t) for t in entry.tests],
        moments=moments,
        cases=cases,
        data=cleaned(plot_data(place)),
    )


def plot_data(place: Place) -> dict[str, Any]:
    """What the page's script draws, in percent and points."""
    return {
        "curves": [
            {"label": dimension_label(curve.dimension), "points": [_point(p) for p in curve.points]}
            for curve in place.entry.curves
        ],
        "slopes": list(_slopes(place)),
        "intervals": list(_intervals(place.entry)),
    }


def _point(point: CurvePoint) -> dict[str, Any]:
    return {"level": point.level, "cases": point.cases, **_ends(point.scores.get(ACCURACY), "share")}


def _ends(score: Score | None, unit: Unit) -> dict[str, float | None]:
    if score is None or score.value is None:
        return {"value": None, "low": None, "high": None}
    known = score.low is not None and score.high is not None
    low, high = (score.low, score.high) if known else (None, None)
    return {"value": scaled(score.value, unit), "low": scaled(low, unit), "high": scaled(high, unit)}


def _slopes(place: Place) -> Iterator[dict[str, Any]]:
    pairs = [(dimension_label(c.dimension), _group_pair(place, c.dimension), False) for c in place.entry.curves]
    pairs.append((variant_label(MIXED), _variant_pair(place, MIXED), True))
    for label, (clean, noisy), main in pairs:
        if clean and noisy and clean.value is not None and noisy.value is not None:
            ends = {"clean": scaled(clean.value, "share"), "noisy": scaled(noisy.value, "share")}
            yield {"label": label, "n": noisy.n, "main": main, **ends}


def _group_pair(place: Place, group: str) -> tuple[Score | None, Score | None]:
    return place.of_group(group, "clean_accuracy"), place.of_group(group, ACCURACY)


def _variant_pair(place: Place, variant: str) -> tuple[Score | None, Score | None]:
    return place.of_variant(variant, "clean_accuracy"), place.of_variant(variant, ACCURACY)


def _intervals(entry: Entry) -> Iterator[dict[str, Any]]:
    corrected = {test.variant: test.p_holm for test in entry.tests}
    for variant in entry.variants:
        drop = variant.scores.get("accuracy_drop")
        if variant.variant == CLEAN or drop is None or drop.value is None:
            continue
        p = corrected.get(variant.variant)
        label = variant_label(variant.variant)
        ends = _ends(drop, "points")
        yield {"label": label, "n": drop.n, "shown": p is not None and p < SIGNIFICANT, **ends}


def _headline(entry: Entry) -> Iterator[tuple[str, str, str, int, str]]:
    for name, label, unit, published in _HEADLINE:
        score: Score = getattr(entry.headline, name)
        yield label, number(score.value, unit), score.note or interval(score, unit), score.n, published or MISSING


def _heat(entry: Entry) -> Iterator[tuple[str, list[tuple[str, str, str]]]]:
    for curve in entry.curves:
        points = {p.level: p for p in curve.points}
        yield dimension_label(curve.dimension), [_heat_cell(points.get(level)) for level in LEVELS]


def _heat_cell(point: CurvePoint | None) -> tuple[str, str, str]:
    """The style, the drop and the accuracy of one cell."""
    if point is None or not point.cases:
        return "", MISSING, "not run"
    drop, accuracy = point.scores.get("accuracy_drop"), point.scores.get(ACCURACY)
    right = number(accuracy.value if accuracy else None, "share")
    if drop is None or drop.value is None:
        return "", "hidden" if drop and drop.note else MISSING, f"{right}% right"
    return heat_class(drop.value), f"{drop.value:.1f}", f"{right}% right"


def heat_class(drop: float) -> str:
    """How dark a cell is: by points lost."""
    return "gain" if drop <= -_STEPS[0] else f"h{sum(drop >= step for step in _STEPS)}"


def _score_table(entry: Entry) -> dict[str, Any]:
    """Every score of every variant: heads, and rows of text."""
    names = ordered({name for variant in entry.variants for name in variant.scores})
    infos = {name: describe(name) for name in names}
    rows = []
    for variant in entry.variants:
        cells = []
        for name in names:
            score = variant.scores.get(name)
            unit = infos[name].unit
            detail = (interval(score, unit) or (score.note or "").partition(":")[0]) if score else ""
            cells.append((number(score.value if score else None, unit), detail))
        rows.append((variant_label(variant.variant), variant.counts, cells))
    return {"heads": [(titled(infos[name]), infos[name].text) for name in names], "rows": rows}


def _reported(entry: Entry) -> Iterator[tuple[str, str, str, int | None]]:
    """Scores that lm-eval alone reported, of variants and of other tasks."""
    tasks = [(variant_label(v.variant), v.reported) for v in entry.variants]
    tasks += [(other.task, other.reported) for other in entry.other_tasks]
    for task, scores in tasks:
        for name in ordered(scores):
            info = describe(name)
            yield task, titled(info), number(scores[name].value, info.unit), scores[name].n
