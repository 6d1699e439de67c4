"""The built-in clinician as a model of lm-evaluation-harness: ``--model verisim-clinician``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NoReturn

import lm_eval.models  # noqa: F401  (first: registering a model before it hides the stock ones)
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model
from tqdm import tqdm

from verisim_tasks.clinician import colleague
from verisim_tasks.clinician.care import care_digest
from verisim_tasks.clinician.consult import Clinician, default_clinician, fingerprint
from verisim_tasks.clinician.orders import with_examinations
from verisim_tasks.clinician.papers import Papers, read_papers
from verisim_tasks.clinician.policy import find_policy
from verisim_tasks.clinician.report import write_record_report, write_report
from verisim_tasks.errors import UserError

NAME = "verisim-clinician"


@register_model(NAME)
class ClinicianLM(LM):  # type: ignore[misc]
    """The rule-based doctor behind the interface of a language model. Only generates.

    Args:
        policy: the way of asking: ``default``, ``broad`` or ``focused``.
        model: any name; lm-eval names its result folder by it.
        clinician: for tests; the shipped one otherwise.
        **ignored: what lm-eval passes to every model (``batch_size``, ``device``, ...).

    Raises:
        UserError: unknown policy.
    """

    def __init__(
        self, policy: str = "default", model: str = NAME, clinician: Clinician | None = None, **ignored: Any
    ) -> None:
        super().__init__()
        self.model = model
        self.policy = find_policy(str(policy))
        self._given = clinician

    @property
    def clinician(self) -> Clinician:
        """Loaded on first use."""
        return self._given or default_clinician()

    @property
    def tokenizer_name(self) -> str:
        """Names the chat format; the clinician has no tokenizer."""
        return NAME

    def chat_template(self, chat_template: bool | str = False) -> str:
        """Messages travel as JSON, whatever template is asked for."""
        return "json"

    def apply_chat_template(self, chat_history: list[dict[str, Any]], add_generation_prompt: bool = True) -> str:
        """The message list as JSON."""
        return json.dumps(chat_history, ensure_ascii=False)

    def get_model_info(self) -> dict[str, Any]:
        """What lm-eval stores about the model beside the results."""
        return {
            "model": NAME,
            "policy": self.policy.name,
            "clinician": fingerprint(self.clinician, self.policy),
            "care": care_digest(),
        }

    def generate_until(self, requests: Sequence[Any], disable_tqdm: bool = False) -> list[str]:
        """One doctor message for each request, cut at its stop strings like any generation."""
        prompts = [read_papers(request.args[0]) for request in requests]
        self.clinician.prepare(p.prompt.dialogue for p in prompts)
        answers: list[str] = []
        for request, prompt in tqdm(
            list(zip(requests, prompts, strict=True)), disable=disable_tqdm or len(requests) < 2, desc=NAME
        ):
            text = colleague.answer(self.clinician, request.args[0]) or self._write(prompt)
            text = _cut(text, request.args[1].get("until") if len(request.args) > 1 else None)
            self.cache_hook.add_partial("generate_until", request.args, text)
            answers.append(text)
        return answers

    def _write(self, papers: Papers) -> str:
        """The message, the order or the report that the prompt calls for."""
        if papers.task == "record":
            return write_record_report(self.clinician, papers)
        if papers.task == "report":
            return write_report(self.clinician, papers)
        prompt = papers.prompt
        text = self.clinician.next_message(prompt.dialogue, self.policy, prompt.forced, prompt.preamble)
        return with_examinations(self.clinician, papers, text) if papers.has_examiner else text

    def loglikelihood(self, requests: Any, disable_tqdm: bool = False) -> NoReturn:
        """Refused: rules have no token probabilities."""
        self._refuse("loglikelihood")

    def loglikelihood_rolling(self, requests: Any, disable_tqdm: bool = False) -> NoReturn:
        """Refused: rules have no token probabilities."""
        self._refuse("loglikelihood_rolling")

    def _refuse(self, request_type: str) -> NoReturn:
        raise UserError(
            f"the model {NAME!r} only generates and cannot answer {request_type!r} tasks; use it with verisim tasks"
        )


def _cut(text: str, until: Any) -> str:
    stops = [until] if isinstance(until, str) else list(until or ())
    ends = [text.find(stop) for stop in stops if stop and stop in text]
    return text[: min(ends)].strip() if ends else text
