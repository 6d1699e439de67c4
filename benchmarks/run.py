"""How fast the suite is beside the model: growth, in step against one by one, full scoring, the whole group.

    python benchmarks/run.py --out results/bench                                   everything, as `make bench` does
    python benchmarks/run.py --sizes 50 --warm-up 50 --group 2 --smollm2 2 --rounds 1 --tokens 4      a quick look
    python benchmarks/run.py --sizes 1000 10000 --group 0 --smollm2 0              growth alone

Growth: an instant doctor asks three questions and concludes; what is measured is all the rest, with log and
transcripts on a disk, each size in a process of its own. In step: the same consultations with SmolLM2, all at once and
one after the other, alternating. Full scoring: an evaluation by lm-eval with SmolLM2, reports and NLI. Group: all 26
variants with the built-in clinician, no NLI. Results go to ``bench.json`` and ``growth.png``; the last lines say what
they come to.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from growth import WARM_UP, flatness, growth, in_own_process
from in_step import in_step
from through_lm_eval import group_time, outside_model

from verisim_tasks._files import write_atomically


def main() -> None:
    """Measure, write JSON and a plot, say what it comes to."""
    args = _arguments()
    if args.one_size:
        print(json.dumps(growth(args.one_size, args.warm_up)))
        return
    found: dict[str, Any] = {"machine": machine(), "growth": []}
    for size in args.sizes:
        found["growth"].append(in_own_process(size, args.warm_up))
        print(json.dumps(found["growth"][-1]), file=sys.stderr)
    found["flatness"] = flatness(found["growth"])
    if args.group:
        found["group"] = group_time(args.group)
        print(json.dumps(found["group"]), file=sys.stderr)
    if args.smollm2:
        found["in_step"] = in_step(args.smollm2, args.rounds)
        print(json.dumps(found["in_step"]), file=sys.stderr)
        tasks = ["verisim_clean", "verisim_memory_recall_l3"]
        found["full_scoring"] = outside_model(max(1, args.smollm2 // 2), tasks, args.tokens, args.turns)
    write_atomically(args.out / "bench.json", json.dumps(found, indent=2) + "\n")
    plot(found["growth"], args.out / "growth.png")
    print(json.dumps(found, indent=2))
    print("\n".join(summary(found)))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1000, 10000], help="consultations in one call")
    parser.add_argument("--warm-up", type=int, default=WARM_UP, help="consultations before the clock starts")
    parser.add_argument("--group", type=int, default=72, metavar="CASES", help="the whole group; 0 leaves it out")
    parser.add_argument("--smollm2", type=int, default=16, metavar="N", help="consultations in step; 0 leaves it out")
    parser.add_argument("--rounds", type=int, default=5, help="alternating rounds with SmolLM2")
    parser.add_argument(
        "--tokens", type=int, default=64, help="of a message in full scoring; a report has twice as many"
    )
    parser.add_argument("--turns", type=int, default=6, help="at most, in full scoring")
    parser.add_argument("--out", type=Path, default=Path("results/bench"))
    parser.add_argument("--one-size", type=int, help=argparse.SUPPRESS)
    return parser.parse_args()


def machine() -> dict[str, Any]:
    """What it ran on."""
    return {
        "cpus": os.cpu_count(),
        "processor": platform.processor() or platform.machine(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "torch": torch.__version__,
    }


def summary(found: dict[str, Any]) -> Iterator[str]:
    """The results in a few lines."""
    if "in_step" in found:
        row = found["in_step"]
        seconds = row["median_seconds"]
        yield (
            f"in step: {row['speedup']}x one by one with SmolLM2, {row['consultations']} consultations, medians of "
            f"{row['rounds']} alternating rounds {seconds['in_step']} s and {seconds['one_by_one']} s, "
            f"identical transcripts {row['identical']}"
        )
    if "full_scoring" in found:
        row = found["full_scoring"]
        yield (
            f"outside the model, full scoring on: {100 * row['share_outside_model']:.1f}% of {row['seconds']} s, "
            f"{row['consultations']} consultations with SmolLM2"
        )
    if "group" in found:
        row = found["group"]
        yield (
            f"group verisim, built-in clinician, {row['cases']} cases, NLI off: {row['consultations']} consultations "
            f"in {row['seconds']} s after lm-eval's start; {row['patients_scored_per_s']} patients a second with NLI"
        )
    for row in found["growth"]:
        yield (
            f"{row['consultations']} consultations: {row['ms_per_consultation']} ms and "
            f"{row['mb_per_consultation']} MB each, beside {row['start_mb']} MB of the start; peak {row['peak_mb']} MB"
        )
    for name, apart in found["flatness"].items():
        yield f"{name} from 1000 consultations on: within {100 * apart:.1f}% of that at the first of these sizes"


def plot(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Time and memory per consultation over their number."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure, left = pyplot.subplots(figsize=(6, 3.5))
    sizes = [row["consultations"] for row in rows]
    left.plot(sizes, [row["ms_per_consultation"] for row in rows], "o-", color="tab:blue")
    left.set(xscale="log", xlabel="consultations in one call", ylabel="ms per consultation, without the model", ylim=0)
    right = left.twinx()
    right.plot(sizes, [1000 * row["mb_per_consultation"] for row in rows], "s--", color="tab:orange")
    right.set_ylabel("kB per consultation, beside the start")
    right.set_ylim(0)
    figure.tight_layout()
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
