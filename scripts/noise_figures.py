"""Prints what the noise does to a doctor, from an entry: per dimension and level, and the mixed protocol.

python scripts/noise_figures.py ENTRY.json
"""

from __future__ import annotations

import argparse
import sys
from itertools import pairwise
from pathlib import Path

from verisim_leaderboard.record import Curve, CurvePoint, Entry, Score

TOLERANCE = 0.01
"""How much mean key facts per turn may rise from one level to the next."""
LEAST_FALL = 0.20
"""Relative fall from level 0 to 4 that counts."""
LEAST_INFLATION = 0.25
"""Turn inflation at level 4 that counts."""
COLUMNS = (
    "diagnostic_accuracy",
    "turns",
    "turn_inflation",
    "key_facts",
    "key_facts_recognisable",
    "sensitive_facts",
    "key_facts_per_turn",
)
WHAT_FALLS = {"health_literacy": "key_facts_recognisable", "social_cultural": "sensitive_facts"}


def text(score: Score, scale: float = 1.0, unit: str = "") -> str:
    if score.value is None:
        return f"null ({score.note or f'n={score.n}'})"
    if score.low is None or score.high is None:
        return f"{score.value * scale:.1f}{unit} (n={score.n})"
    return f"{score.value * scale:.1f}{unit} [{score.low * scale:.1f}, {score.high * scale:.1f}] (n={score.n})"


def value(score: Score) -> float:
    return float("nan") if score.value is None else score.value


def line(point: CurvePoint) -> str:
    return f"  L{point.level}  " + "  ".join(f"{value(point.scores[name]):8.3f}" for name in COLUMNS)


def judge(curve: Curve) -> tuple[bool, bool, bool]:
    """Never rises a turn; falls enough; costs enough turns."""
    points = sorted(curve.points, key=lambda p: p.level)
    per_turn = [value(p.scores["key_facts_per_turn"]) for p in points]
    falls = WHAT_FALLS.get(curve.dimension, "key_facts")
    first, last = value(points[0].scores[falls]), value(points[-1].scores[falls])
    fall = 1 - last / first if first else float("nan")
    steady = all(b <= a + TOLERANCE for a, b in pairwise(per_turn))
    inflation = value(points[-1].scores["turn_inflation"])
    print(
        f"{curve.dimension}: {falls} falls {fall:.1%}; inflation at L4 {inflation:.1%}; per turn never rises: {steady}"
    )
    print("      accuracy     turns  inflation  key_facts  recognis.  sensitive  per turn")
    for point in points:
        print(line(point))
    return steady, fall >= LEAST_FALL, inflation >= LEAST_INFLATION


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("entry", type=Path)
    entry = Entry.model_validate_json(parser.parse_args().entry.read_text(encoding="utf-8"))
    verdicts = [judge(curve) for curve in entry.curves]
    steady, falls, costs = (sum(column) for column in zip(*verdicts, strict=True))
    print(
        f"\nper turn never rises: {steady} of {len(verdicts)}; falls >= 20%: {falls}; inflation >= 25% at L4: {costs}"
    )
    head = entry.headline
    print(f"clean accuracy {text(head.clean_accuracy, 100, '%')}")
    print(f"mixed accuracy {text(head.mixed_accuracy, 100, '%')}")
    relative = text(head.accuracy_drop_relative, 100, "%")
    print(f"mixed drop {text(head.accuracy_drop)} points, relative {relative}; published 15-25%")
    print(f"mixed turn inflation {text(head.turn_inflation, 100, '%')}; published 34-55%")
    return 0 if steady == len(verdicts) and falls >= 5 and costs >= 4 else 1


if __name__ == "__main__":
    sys.exit(main())
