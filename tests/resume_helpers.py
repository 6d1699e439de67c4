"""Runs that are stopped and gone on with, in one process and without a language model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import yaml
from lm_eval.api.instance import Instance
from loop_helpers import ScriptLM, doctor_turns, make_case

from verisim_tasks.loop.request import REQUEST_TYPE, Circumstances, ConsultRequest, cases_by_id, consult, request_text
from verisim_tasks.settings import Settings

CASES = ("card-901", "card-902", "card-903")
NOISE: tuple[dict[str, int], ...] = ({}, {"memory_recall": 2})


class Killed(BaseException):
    """Ends a run as a kill would: nothing catches it."""


class MortalLM(ScriptLM):
    """Dies when it is called for the ``dies_at``-th time (from 0), before it answers."""

    def __init__(
        self,
        answer: Callable[[str], str] | None = None,
        *,
        dies_at: int | None = None,
        death: type[BaseException] = Killed,
    ) -> None:
        super().__init__(answer or talk)
        self.dies_at = dies_at
        self.death = death

    def generate_until(self, requests: Any, disable_tqdm: bool = False) -> list[str]:
        if self.dies_at == len(self.calls):
            raise self.death
        return super().generate_until(requests, disable_tqdm)


def talk(prompt: str) -> str:
    """A doctor whose words follow from the prompt, who asks twice and whose report has a heading."""
    if "REPORT" in prompt.upper().split("<USER>")[-1] or "report" in prompt[-400:]:
        return "Diagnosis: Flu\nTreatment: Rest"
    return (
        ["Do you smoke?", "Does it hurt?"][doctor_turns(prompt)] if doctor_turns(prompt) < 2 else "Final Diagnosis: Flu"
    )


def make_bank(folder: Path, **changes: dict[str, Any]) -> Path:
    """A folder of three cases; ``changes`` by case id with ``_`` for ``-``."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in CASES:
        case = make_case(name, **changes.get(name.replace("-", "_"), {}))
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(case.model_dump(mode="json")))
    cases_by_id.cache_clear()
    return folder


def requests(
    bank: Path,
    run_dir: Path | None,
    *,
    cases: Sequence[str] = CASES,
    repeats: int = 1,
    circumstances: dict[str, Any] | None = None,
    **settings: Any,
) -> list[Instance]:
    """Clean and noisy consultations of these cases."""
    given = {"cases": str(bank), "run_dir": str(run_dir) if run_dir else None, "max_turns": 4, **settings}
    shared = Circumstances(**{"settings": Settings(**given), "chat": True, **(circumstances or {})})
    made = []
    for noise in NOISE:
        for name in cases:
            for repeat in range(repeats):
                request = ConsultRequest(
                    task="verisim_test",
                    variant="memory_recall_l2" if noise else "clean",
                    case_id=name,
                    noise=noise,
                    repeat=repeat,
                    circumstances=shared,
                )
                made.append(
                    Instance(REQUEST_TYPE, {"case_id": name}, (request_text(request),), repeat, ("verisim_test", 0, 1))
                )
    return made


def run(lm: Any, wanted: Sequence[Instance], run_dir: Path) -> bytes:
    """Run to the end; the transcripts as they stand in the file."""
    consult(lm, wanted)
    return (run_dir / "transcripts.jsonl").read_bytes()


def asked_twice(*models: ScriptLM) -> list[str]:
    """Prompts that were put to any of these models more than once in all."""
    counts = Counter(prompt for lm in models for prompt in lm.prompts)
    return [prompt for prompt, n in counts.items() if n > 1]
