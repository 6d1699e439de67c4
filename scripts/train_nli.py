"""Train the built-in NLI and write its weights; by default on 24 cases, so that the other 48 stay unseen.

    python scripts/train_nli.py                 # the shipped weights (cases *-001 and *-002, lexicon, handwritten)
    python scripts/train_nli.py --cases all     # on all cases, for use on other banks
    python scripts/train_nli.py --score-only    # score the shipped weights on the dev pairs and on the cases left out

The same machine, seed and library versions give the same weights; other machines differ in the last digits.
"""

from __future__ import annotations

import argparse
import io
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from verisim_metrics.nli.builtin import BuiltinNli
from verisim_metrics.nli.fit import fit
from verisim_metrics.nli.model import LABELS
from verisim_metrics.nli.network import packed
from verisim_metrics.nli.pairs import Example, from_cases, from_lexicon, handwritten, with_small_talk
from verisim_tasks.cases.bank import read_case
from verisim_tasks.records.case import Case

ROOT = Path(__file__).resolve().parents[1]
WEIGHTS = ROOT / "fixtures" / "nli" / "weights.npz"
SEEN = ("-001", "-002")
HANDWRITTEN_TIMES = 3
"""How often an epoch shows each handwritten pair."""
EPOCHS = 2
SEED = 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", choices=("24", "all"), default="24", help="cases to train on")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    parser.add_argument("--score-only", action="store_true", help="train nothing, score the weights at --out")
    args = parser.parse_args()
    seen, unseen = split_cases()
    if not args.score_only:
        train(seen if args.cases == "24" else [*seen, *unseen], args.epochs, args.seed, args.out)
    score(args.out.read_bytes(), unseen)


def split_cases() -> tuple[list[Case], list[Case]]:
    """The cases to train on, and those to score on."""
    found = sorted((ROOT / "fixtures" / "cases").glob("*.yaml"))
    seen = [read_case(f) for f in found if f.stem.endswith(SEEN)]
    return seen, [read_case(f) for f in found if not f.stem.endswith(SEEN)]


def train(cases: Sequence[Case], epochs: int, seed: int, out: Path) -> None:
    generated = with_small_talk([*from_cases(cases), *from_lexicon()])
    examples = [*generated, *handwritten("train") * HANDWRITTEN_TIMES]
    print(f"{len(cases)} cases, {len(generated)} generated pairs, {len(handwritten('train'))} handwritten")
    start = time.monotonic()
    network = fit(examples, epochs=epochs, seed=seed)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **packed(network))
    out.write_bytes(buffer.getvalue())
    print(f"trained in {time.monotonic() - start:.0f} s; {out} holds {out.stat().st_size / 1e6:.1f} MB")


def score(weights: bytes, unseen: Sequence[Case]) -> None:
    for guarded in (False, True):
        nli = BuiltinNli(guarded=guarded, weights=weights)
        title = "with guards" if guarded else "without guards"
        report(f"dev, {title}", handwritten("dev"), nli)
        report(f"generated from the {len(unseen)} cases left out, {title}", from_cases(unseen), nli)


def report(title: str, examples: Sequence[Example], nli: BuiltinNli) -> None:
    guessed = nli.predict([(e.premise, e.hypothesis) for e in examples]).argmax(axis=1)
    table = np.zeros((3, 3), dtype=int)
    np.add.at(table, ([e.label for e in examples], guessed), 1)
    print(f"{title}: accuracy {table.trace() / table.sum():.3f} of {table.sum()}")
    for label, row in zip(LABELS, table, strict=True):
        print(f"  {label:14} {row.tolist()} recall {row[LABELS.index(label)] / max(1, row.sum()):.3f}")


if __name__ == "__main__":
    main()
