"""Small actors for tests of the loop: a case, patients, doctors and language models that follow a script."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from lm_eval.api.model import LM

from verisim_tasks.loop.plan import Plan
from verisim_tasks.loop.prompts import Conversation
from verisim_tasks.patient.base import Exchange, PatientSetting
from verisim_tasks.records.case import Case
from verisim_tasks.records.noise import NoiseProfile
from verisim_tasks.records.transcript import Turn
from verisim_tasks.settings import Settings

OPENING = "My chest has hurt since this morning."


def make_case(case_id: str = "card-901", **changes: Any) -> Case:
    return Case.model_validate(
        {
            "canary": "test",
            "id": case_id,
            "specialty": "cardiology",
            "provenance": {"source": "test", "licence": "MIT"},
            "demographics": {"age": 50, "sex": "male"},
            "chief_complaint": "Chest pain",
            "facts": [
                {"id": "f01", "category": "chief_complaint", "concept": "chest pain", "statement": "x", "lay": OPENING},
                {
                    "id": "f02",
                    "category": "tobacco",
                    "concept": "smoking",
                    "statement": "Smokes",
                    "lay": "I smoke.",
                    "key": True,
                },
            ],
            "diagnosis": {"name": "zebrapox of the heart", "accepted_codes": ["I21"]},
            **changes,
        }
    )


def make_plan(case: Case | None = None, noise: dict[str, int] | None = None, **changes: Any) -> Plan:
    profile = NoiseProfile(noise or {})
    name = "clean" if profile.is_clean else "_".join(f"{d}_l{n}" for d, n in profile.items())
    return Plan(
        **{"task": f"verisim_{name}", "variant": name, "case": case or make_case(), "noise": profile, **changes}
    )


class EchoPatient:
    """Says what it heard and how noisy it is."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.batches: list[int] = []

    def open(self, setting: PatientSetting) -> Turn:
        return Turn(index=0, speaker="patient", text=setting.case.opening.lay, heard_by=("doctor",))

    def reply(self, exchanges: Sequence[Exchange]) -> list[Turn]:
        self.batches.append(len(exchanges))
        self.heard += [e.message for e in exchanges]
        return [
            Turn(
                index=e.index,
                speaker="patient",
                text=f"Answer {e.index} ({e.setting.noise}) to {len(e.message)} characters."
                if e.message
                else "Pardon?",
                heard_by=("doctor",),
            )
            for e in exchanges
        ]

    def describe(self) -> dict[str, Any]:
        return {"patient": "echo"}


def script(*replies: Any) -> Callable[[Sequence[Conversation]], list[Any]]:
    """A doctor who says these one after the other, the last one forever."""

    def speak(prompts: Sequence[Conversation]) -> list[Any]:
        return [replies[min(sum(m.role == "assistant" for m in p), len(replies) - 1)] for p in prompts]

    return speak


def by_turn(*replies: Any) -> Callable[[Sequence[Conversation]], list[Any]]:
    """Like ``script``, but counts calls, so that messages nobody hears count too."""
    calls = iter(range(10**6))

    def speak(prompts: Sequence[Conversation]) -> list[Any]:
        return [replies[min(next(calls), len(replies) - 1)]] * len(prompts)

    return speak


def quick(**changes: Any) -> Settings:
    return Settings(**{"max_turns": 5, **changes})


class ScriptLM(LM):
    """A language model that answers with a function of the prompt text, and remembers what it was asked."""

    def __init__(self, answer: Callable[[str], str] | None = None, *, tokenizer_name: str = "script") -> None:
        super().__init__()
        self.model = "script"
        self.answer = answer or (lambda prompt: "How long?")
        self.calls: list[list[str]] = []
        self.kwargs: list[dict[str, Any]] = []
        self._tokenizer_name = tokenizer_name

    @property
    def tokenizer_name(self) -> str:
        return self._tokenizer_name

    @property
    def prompts(self) -> list[str]:
        return [p for call in self.calls for p in call]

    def generate_until(self, requests: Any, disable_tqdm: bool = False) -> list[str]:
        texts = [r.args[0] if isinstance(r.args[0], str) else json.dumps(r.args[0]) for r in requests]
        self.calls.append(texts)
        self.kwargs += [r.args[1] for r in requests]
        answers = [self.answer(t) for t in texts]
        for request, answer in zip(requests, answers, strict=True):
            self.cache_hook.add_partial("generate_until", request.args, answer)
        return answers

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        return "".join(f"<{m['role']}>{m['content']}" for m in chat_history) + "<assistant>"

    def loglikelihood(self, requests: Any) -> Any:
        raise NotImplementedError

    def loglikelihood_rolling(self, requests: Any) -> Any:
        raise NotImplementedError


def doctor_turns(prompt: str) -> int:
    """How many messages of its own a model sees in its prompt (chat or plain)."""
    return prompt.count("<assistant>") - 1 if "<assistant>" in prompt else prompt.count("\nDoctor:") - 1
