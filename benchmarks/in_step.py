"""The same consultations with SmolLM2, all in step and one after the other, in alternating rounds."""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from doctors import Clock, requests, smollm2

from verisim_tasks.loop.request import consult
from verisim_tasks.tasks.consultation import ready_patient

TOKENS = 64
"""Of a message at most: a question or two in a small model's words. With half of it reading prompts, which no batch
makes cheaper, weighs more, and the gain is smaller (2.5 times with 24 tokens and six turns, 2.9 with 48
and three)."""
TURNS = 2


def in_step(count: int, rounds: int) -> dict[str, Any]:
    """Medians over the rounds, and how many transcripts are the same (padding may move a model's floats)."""
    ready_patient()
    lm = smollm2(count)
    inside = Clock(lm)
    times: dict[str, list[float]] = {"in_step": [], "one_by_one": []}
    outside: list[float] = []
    said: dict[str, list[str]] = {}
    for _ in range(rounds):
        for name in times:
            with tempfile.TemporaryDirectory() as folder:
                wanted = requests(count, Path(folder), TURNS, tokens=TOKENS, noisy=False)
                inside.seconds, began = 0.0, time.perf_counter()
                groups = [wanted] if name == "in_step" else [[one] for one in wanted]
                said[name] = [_words(a) for group in groups for a in consult(lm, group)]
                times[name].append(time.perf_counter() - began)
                if name == "in_step":
                    outside.append(1 - inside.seconds / times[name][-1])
    medians = {name: statistics.median(values) for name, values in times.items()}
    return {
        "consultations": count,
        "rounds": rounds,
        "turns": TURNS,
        "tokens": TOKENS,
        "seconds": {name: [round(v, 2) for v in values] for name, values in times.items()},
        "median_seconds": {name: round(v, 2) for name, v in medians.items()},
        "speedup": round(medians["one_by_one"] / medians["in_step"], 2),
        "share_outside_model": round(statistics.median(outside), 4),
        "identical": f"{sum(a == b for a, b in zip(said['in_step'], said['one_by_one'], strict=True))} of {count}",
    }


def _words(answer: str) -> str:
    """All that was said in a consultation."""
    return json.dumps([t["text"] for t in json.loads(answer)["turns"]])
