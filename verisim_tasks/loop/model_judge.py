"""Any lm-eval model as the backend of the judge."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from verisim_metrics.judging import Failure, JudgePrompt
from verisim_tasks._stable import digest
from verisim_tasks.errors import UserError
from verisim_tasks.loop.channel import Channel, count_tokens
from verisim_tasks.loop.model import GIVE_UP_AFTER, ModelSpeaker, NeverAnsweredError
from verisim_tasks.loop.prompts import Conversation, Message
from verisim_tasks.loop.replies import Failed, TooLong, mark_empty
from verisim_tasks.loop.role_model import SAME, ModelSpec, chat_channel, create_model, name_of
from verisim_tasks.records.transcript import Role

log = logging.getLogger("lm_eval.verisim")

WHO = "judge"


def make_model_judge(
    given: Mapping[str, Any] | str, *, doctor: Any = None, doctor_spec: ModelSpec | None = None
) -> ModelJudge:
    """The judge's backend from the settings.

    Args:
        given: ``"same"``, or what ``ModelSpec.read`` takes.
        doctor: The model under test; reused where the judge is the same.
        doctor_spec: How the model under test was named, to see that the judge is the same.

    Raises:
        UserError: for a model that cannot be made, has no chat template, or ``"same"`` without a model under test.
    """
    if given == SAME:
        if doctor is None:
            raise UserError('the judge is "same", but there is no model under test here; name a model and model_args')
        identity = doctor_spec.identity if doctor_spec else {"model": SAME, "weights": name_of(doctor), "args": ""}
        return ModelJudge(doctor, identity=identity, same_as_doctor=True)
    if isinstance(given, str):
        raise UserError(f'the judge is {given!r}; write "same", or a model and its model_args')
    spec = ModelSpec.read(given, WHO)
    same = doctor_spec is not None and doctor_spec.identity == spec.identity
    model = doctor if same and doctor is not None else create_model(spec, WHO)
    return ModelJudge(model, identity=spec.identity, same_as_doctor=same)


class ModelJudge:
    """A ``Generate`` over an lm-eval model.

    Requests go through ``ModelSpeaker``, so that faults are kept apart, long prompts are refused and system messages
    folded just as for the doctor. API models are asked for structured output (``response_format``, which lm-eval hands
    on to the server); where a server refuses it, the same prompts go without. lm-eval makes one call of unequal
    schemas, so each schema is a call of its own.
    """

    def __init__(self, lm: Any, *, identity: Mapping[str, Any], same_as_doctor: bool = False) -> None:
        self.lm = lm
        self.identity = dict(identity)
        self.same_as_doctor = same_as_doctor
        self.channel: Channel = chat_channel(lm, WHO)
        self._may_structure = hasattr(lm, "base_url")
        self._taken: set[str] = set()
        self._refused: set[str] = set()

    @property
    def role(self) -> Role:
        """How this judge is named beside the transcripts; no model arguments, they may hold secrets."""
        weights = str(self.identity.get("weights", ""))
        name = ":".join(filter(None, (str(self.identity.get("model", "")), weights)))
        return Role(model=name, settings=dict(self.identity), same_as_doctor=self.same_as_doctor)

    def count_tokens(self, text: str) -> int | None:
        """Tokens of a text, None where the model has no tokenizer here."""
        return count_tokens(self.lm, text)

    def __call__(self, prompts: Sequence[JudgePrompt]) -> list[str | Failure]:
        """One reply or failure for each prompt, in order; raises only ``UserError`` about the model itself."""
        groups: dict[str, list[int]] = {}
        for position, prompt in enumerate(prompts):
            settings = [prompt.schema, prompt.temperature, prompt.max_reply_tokens]
            groups.setdefault(digest(settings), []).append(position)
        replies: dict[int, str | Failure] = {}
        for positions in groups.values():
            replies.update(zip(positions, self._group([prompts[i] for i in positions]), strict=True))
        return [replies[position] for position in range(len(prompts))]

    def _group(self, prompts: Sequence[JudgePrompt]) -> list[str | Failure]:
        """Prompts of one schema: with structured output, and without where that is refused."""
        schema = prompts[0].schema
        key = digest(schema)
        if schema is None or not self._may_structure or key in self._refused:
            return self._ask(prompts, None)
        replies = self._ask(prompts, schema)
        if any(isinstance(reply, str) for reply in replies):
            self._taken.add(key)
            return replies
        if key in self._taken:
            return replies
        plain = self._ask(prompts, None)
        if any(isinstance(reply, str) for reply in plain):
            log.warning("the judge's server takes no response_format; asking without it")
            self._refused.add(key)
            self._may_structure = bool(self._taken)
        return plain

    def _ask(self, prompts: Sequence[JudgePrompt], schema: Mapping[str, Any] | None) -> list[str | Failure]:
        settings: dict[str, Any] = {}
        if prompts[0].temperature > 0:
            settings.update(do_sample=True, temperature=prompts[0].temperature)
        if schema is not None:
            settings["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "verdict", "strict": True, "schema": schema},
            }
        asker = ModelSpeaker(
            self.lm, chat=True, gen_kwargs=settings, max_reply_tokens=prompts[0].max_reply_tokens, who=WHO
        )
        asker.channel = self.channel
        try:
            replies = asker([_conversation(prompt) for prompt in prompts])
        except NeverAnsweredError as error:
            failure = Failure(str(error).partition("; ")[0])
            known = schema is None or digest(schema) in self._taken
            return (
                self._from_the_end(prompts, schema, failure) if known and len(prompts) > 1 else [failure] * len(prompts)
            )
        if any(isinstance(reply, str) for reply in replies):
            self.channel = asker.channel
        told = mark_empty(replies) if hasattr(self.lm, "base_url") else replies  # an error body becomes an empty text
        return [_reply(reply) for reply in told]

    def _from_the_end(
        self, prompts: Sequence[JudgePrompt], schema: Mapping[str, Any] | None, failure: Failure
    ) -> list[str | Failure]:
        """After the first ones all failed: one by one from the other end, until as many fail there too.

        So a few prompts that a server refuses do not cost the others, and a dead server costs few requests.
        """
        replies: list[str | Failure] = [failure] * len(prompts)
        for tried, i in enumerate(reversed(range(len(prompts)))):
            if tried >= GIVE_UP_AFTER and not any(isinstance(reply, str) for reply in replies):
                break
            replies[i] = self._ask([prompts[i]], schema)[0]
        return replies


def _conversation(prompt: JudgePrompt) -> Conversation:
    return tuple(
        Message("system" if message["role"] == "system" else "user", message["content"]) for message in prompt.messages
    )


def _reply(reply: str | TooLong | Failed) -> str | Failure:
    if isinstance(reply, TooLong):
        return Failure(f"the prompt has {reply.tokens} tokens and the judge has room for {reply.limit}", lasting=True)
    return Failure(reply.error) if isinstance(reply, Failed) else reply
