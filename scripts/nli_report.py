"""Print the confusion matrix of an NLI on labelled pairs, and draw how far its probabilities can be believed.

Lines are {"premise": ..., "hypothesis": ..., "label": "entailment" | "neutral" | "contradiction"}.
Needs matplotlib (pip install matplotlib).

    python scripts/nli_report.py tests/data/nli_pairs.jsonl --plot reliability.png
    python scripts/nli_report.py FILE --nli cross-encoder/nli-deberta-v3-base
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib import pyplot as plt

from verisim_metrics.nli import LABELS, label_of, make_nli
from verisim_tasks._jsonl import read_objects
from verisim_tasks.errors import UserError

BINS = 10
COLOURS = ("#1b7f79", "#7a7a7a", "#c1432e")
"""Of entailment, neutral and contradiction."""

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Bin:
    """Predictions of like probability."""

    probability: float
    """Mean."""
    share: float
    """How many of them were so."""
    n: int


def read_pairs(path: str) -> tuple[list[tuple[str, str]], list[str]]:
    """Pairs and labels; raises UserError naming the line of a bad one."""
    pairs, labels = [], []
    for place, row in read_objects(path):
        if (
            not all(isinstance(row.get(key), str) for key in ("premise", "hypothesis"))
            or row.get("label") not in LABELS
        ):
            raise UserError(f'{place}: give "premise", "hypothesis" and a "label" out of {", ".join(LABELS)}')
        pairs.append((row["premise"], row["hypothesis"]))
        labels.append(row["label"])
    return pairs, labels


def confusion(truth: list[str], said: list[str]) -> npt.NDArray[np.int64]:
    """Counts, shape (3, 3): rows are true labels, columns what was said."""
    table = np.zeros((len(LABELS), len(LABELS)), dtype=np.int64)
    for right, found in zip(truth, said, strict=True):
        table[LABELS.index(right), LABELS.index(found)] += 1
    return table


def bins_of(probabilities: Numbers, is_so: npt.NDArray[np.bool_]) -> list[Bin]:
    """Predictions in bins of equal width, empty ones left out."""
    places = np.minimum((probabilities * BINS).astype(int), BINS - 1)
    chosen = [places == place for place in range(BINS)]
    return [Bin(float(probabilities[c].mean()), float(is_so[c].mean()), int(c.sum())) for c in chosen if c.any()]


def calibration_error(bins: list[Bin]) -> float:
    """Mean distance of probability and share, weighted by number: 0 is perfect."""
    return sum(b.n * abs(b.probability - b.share) for b in bins) / sum(b.n for b in bins)


def show(table: npt.NDArray[np.int64]) -> None:
    print("true \\ said      " + "".join(f"{label:>15}" for label in LABELS) + "         recall")
    for label, row in zip(LABELS, table, strict=True):
        recall = f"{row[LABELS.index(label)] / row.sum():.1%}" if row.sum() else "-"
        print(f"{label:<17}" + "".join(f"{n:>15}" for n in row) + f"{recall:>15}")
    precision = [f"{table[k, k] / table[:, k].sum():.1%}" if table[:, k].sum() else "-" for k in range(len(LABELS))]
    print("precision        " + "".join(f"{p:>15}" for p in precision))
    print(f"accuracy         {np.trace(table) / table.sum():>15.1%} of {table.sum()}")


def draw(top: list[Bin], by_label: dict[str, list[Bin]], title: str, path: Path) -> None:
    """The reliability diagram: what was said with a probability, against how often it was so."""
    mpl.use("Agg")
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5.2), constrained_layout=True)
    for axis in (left, right):
        axis.plot([0, 1], [0, 1], color="#bbbbbb", linestyle="--", linewidth=1, label="perfect")
        axis.set(xlim=(0, 1.03), ylim=(0, 1.08), xlabel="probability given", ylabel="share that was so")
        axis.set_axisbelow(True)
        axis.grid(color="#eeeeee")
    left.bar([b.probability for b in top], [b.share for b in top], width=0.06, color="#4c78a8", label="label given")
    for b in top:
        left.annotate(str(b.n), (b.probability, b.share), (0, 3), textcoords="offset points", ha="center", fontsize=8)
    left.set_title(f"The label given (calibration error {calibration_error(top):.3f})", fontsize=11)
    for (label, found), colour in zip(by_label.items(), COLOURS, strict=True):
        name = f"{label} ({calibration_error(found):.3f})"
        right.plot([b.probability for b in found], [b.share for b in found], "o-", color=colour, label=name)
    right.set_title("Each label", fontsize=11)
    left.legend(loc="upper left", fontsize=9)
    right.legend(loc="lower right", fontsize=9, title="calibration error", title_fontsize=9)
    figure.suptitle(title)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="labelled pairs as JSON lines")
    parser.add_argument("--nli", default="builtin", help="'builtin' (default), or a Hugging Face NLI model")
    parser.add_argument("--plot", type=Path, default=Path("nli_reliability.png"), help="where the picture goes")
    args = parser.parse_args()
    try:
        pairs, labels = read_pairs(args.file)
        rows = np.asarray(make_nli(args.nli).predict(pairs), dtype=np.float64)
    except UserError as error:
        parser.exit(2, f"nli_report: {error}\n")
    said = [label_of(row) for row in rows]
    show(confusion(labels, said))
    hits = np.asarray([right == found for right, found in zip(labels, said, strict=True)])
    top = bins_of(rows.max(axis=1), hits)
    by_label = {
        label: bins_of(rows[:, k], np.asarray([right == label for right in labels])) for k, label in enumerate(LABELS)
    }
    print(f"calibration error{calibration_error(top):>15.3f} of the label given, {BINS} bins")
    draw(top, by_label, f"{args.nli} on {Path(args.file).name}, {len(pairs)} pairs", args.plot)
    print(f"reliability diagram written to {args.plot}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
