"""Any lm-eval model as the doctor, or in another role: asks it many prompts at once, and outlives its faults."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from lm_eval.api.instance import Instance
from lm_eval.api.model import hash_args

from verisim_tasks.errors import UserError
from verisim_tasks.loop.channel import Channel, choose_channel, measure, prompt_key
from verisim_tasks.loop.engine import Reply
from verisim_tasks.loop.labels import Label, label_of
from verisim_tasks.loop.prompts import Conversation
from verisim_tasks.loop.replies import Failed, TooLong, describe_error
from verisim_tasks.records.transcript import Role

log = logging.getLogger("lm_eval.verisim")  # below lm-eval's own, so that its level and handler hold

METHOD = "generate_until"
GIVE_UP_AFTER = 3
"""When the model has never answered and fails this often, asked alone, the run stops with one clear error."""
_LENGTH_ALIASES = ("max_new_tokens", "max_tokens", "max_completion_tokens")


def reply_kwargs(given: dict[str, Any], stops: Sequence[str], max_reply_tokens: int) -> dict[str, Any]:
    """The generation arguments of every message, in one canonical form (they are part of the cache key).

    Args:
        given: What the user passed as ``--gen_kwargs``.
        stops: The channel's own stop strings.
        max_reply_tokens: Used unless ``given`` sets a length.

    Raises:
        UserError: for ``seed``, which lm-eval's models do not take here.
    """
    rest = {k: v for k, v in given.items() if v is not None}
    if "seed" in rest:
        raise UserError("--gen_kwargs seed is not taken by lm-eval's models; use --seed, or metadata.verisim.seed")
    more = rest.pop("until", [])
    until = [*stops, *([more] if isinstance(more, str) else more)]
    lengths = [int(rest.pop(name)) for name in ("max_gen_toks", *_LENGTH_ALIASES) if name in rest]
    sampled = bool(rest.pop("do_sample", float(rest.get("temperature", 0.0)) > 0.0))
    return {
        "until": list(dict.fromkeys(until)),
        "max_gen_toks": lengths[0] if lengths else max_reply_tokens,
        "do_sample": sampled,
        **dict(sorted(rest.items())),
    }


class ReplyCache(Protocol):
    """Replies by key, as a dictionary has them."""

    def get(self, key: str, /) -> Any | None:
        """What is kept, or None."""

    def update(self, replies: Mapping[str, Any], /) -> None:
        """Keep replies."""


SlotOf = Callable[[Any, Mapping[str, Any], "Label | None"], "str | None"]
"""From a rendered prompt, the generation arguments and the message asked for to a key; None is not kept."""


def response_slot(text: Any, kwargs: Mapping[str, Any], label: Label | None) -> str | None:
    """The key of lm-eval's own response cache, which keeps greedy answers."""
    return None if kwargs["do_sample"] else str(hash_args(METHOD, (text, kwargs)))


class NeverAnsweredError(UserError):
    """The model has not answered once since the start of the run."""

    def __init__(self, requests: int, error: str) -> None:
        super().__init__(
            f"the model answered none of its first {requests} requests ({error}); "
            "check its model_args, or its server, and run again"
        )


class ModelSpeaker:
    """Speaks with an lm-eval model.

    Identical prompts of a greedy turn are asked once. Answers are read from and written to a cache: lm-eval's response
    cache for the doctor, the content cache for other roles. One failing request costs one consultation, not the run. An
    empty answer of an API model is asked again once: lm-eval makes one of an error body too.
    """

    def __init__(
        self,
        lm: Any,
        *,
        chat: bool,
        gen_kwargs: dict[str, Any],
        max_reply_tokens: int,
        cache: ReplyCache | None = None,
        slot_of: SlotOf = response_slot,
        who: str = "doctor",
    ) -> None:
        self._lm = lm
        self._who = who
        self.channel: Channel = choose_channel(lm, chat=chat)
        self.kwargs = reply_kwargs(gen_kwargs, self.channel.stops, max_reply_tokens)
        self._cache = cache
        self._slot_of = slot_of
        self._answered = False
        self._failures = 0
        self.asked = 0
        """Requests that went to the model itself."""
        _check_room(lm, self.kwargs["max_gen_toks"])
        quiet = "disable_tqdm" in inspect.signature(lm.generate_until).parameters
        self._options = {"disable_tqdm": True} if quiet else {}

    @property
    def greedy(self) -> bool:
        """Whether the same prompt gets the same answer."""
        return not self.kwargs["do_sample"]

    def role(self, name: str) -> Role:
        """How this speaker is named in transcripts; no model arguments, they may hold secrets."""
        return Role(
            model=name,
            settings={"channel": self.channel.kind, "fold_system": self.channel.fold_system, "gen_kwargs": self.kwargs},
        )

    def __call__(self, prompts: Sequence[Conversation]) -> list[Reply]:
        """One reply for each prompt, in order.

        Raises:
            UserError: when the model answers nothing at all from the start.
        """
        try:
            return self._reply(prompts)
        except NeverAnsweredError:
            if not self._is_api or self.channel.kind != "chat" or self.channel.fold_system:
                raise
        log.warning("the server refuses every prompt; trying again without a system message")
        self.channel = replace(self.channel, fold_system=True)
        self._failures = 0
        return self._reply(prompts)

    def _reply(self, prompts: Sequence[Conversation]) -> list[Reply]:
        replies: dict[int, Reply] = {}
        waiting: dict[str, list[int]] = {}
        rendered: dict[str, Any] = {}
        for position, prompt in enumerate(prompts):
            text = self.channel.render(self._lm, prompt)
            size = measure(self._lm, text, self.kwargs["max_gen_toks"])
            if size is not None and size[0] > size[1]:
                replies[position] = TooLong(tokens=size[0], limit=size[1])
                continue
            key = prompt_key(text) if self.greedy else f"{position}"
            rendered.setdefault(key, text)
            waiting.setdefault(key, []).append(position)
        slots = [self._slots(rendered[key], [prompts[i] for i in places]) for key, places in waiting.items()]
        answers = self._answer([rendered[key] for key in waiting], slots)
        for positions, answer in zip(waiting.values(), answers, strict=True):
            replies.update(dict.fromkeys(positions, answer))
        return [replies[position] for position in range(len(prompts))]

    def _answer(self, texts: list[Any], slots: list[list[str]]) -> list[str | Failed]:
        """Cached answers, and the model's own for the rest.

        Args:
            texts: Rendered prompts.
            slots: The keys of each in the cache: the same prompt may be asked for several messages.
        """
        known = [self._recall(own) for own in slots]
        missing = [i for i, answer in enumerate(known) if answer is None]
        fresh: list[str | Failed] = list(self._ask([texts[i] for i in missing]))
        failed = [answer for answer in fresh if isinstance(answer, Failed)]
        if failed and not self._answered and len(failed) == len(fresh):
            raise NeverAnsweredError(len(failed), failed[-1].error)
        if self._is_api:
            empty = [n for n, answer in enumerate(fresh) if answer == ""]
            again = self._ask([texts[missing[n]] for n in empty])
            for n, answer in zip(empty, again, strict=True):
                fresh[n] = "" if isinstance(answer, Failed) else answer
        merged: list[str | Failed] = ["" if answer is None else answer for answer in known]
        for i, new in zip(missing, fresh, strict=True):
            merged[i] = new
        unkept = [i for i, own in enumerate(slots) if known[i] is None or len(own) > 1]
        self._remember([slots[i] for i in unkept], [merged[i] for i in unkept])
        return merged

    def _ask(self, texts: list[Any]) -> list[str | Failed]:
        """All at once; where that raises, one by one."""
        if not texts:
            return []
        try:
            return list(self._generate(texts))
        except UserError:
            raise
        except NotImplementedError as error:
            raise _cannot_generate(self._lm, self._who) from error
        except Exception as error:
            if len(texts) == 1:
                return [self._failed(error)]
            log.warning(
                "asking the %s %d prompts at once failed (%s); asking one by one",
                self._who,
                len(texts),
                describe_error(error),
            )
        return [answer for text in texts for answer in self._ask([text])]

    def _generate(self, texts: list[Any]) -> list[str]:
        requests = [
            Instance(
                request_type=METHOD,
                doc={},
                arguments=(text, {**self.kwargs, "until": list(self.kwargs["until"])}),
                idx=i,
                metadata=(f"verisim_{self._who}", i, 1),
            )
            for i, text in enumerate(texts)
        ]
        self.asked += len(requests)
        answers = [_as_text(a) for a in self._lm.generate_until(requests, **self._options)]
        if len(answers) != len(texts):
            raise RuntimeError(f"the model was asked {len(texts)} prompts and answered {len(answers)}")
        self._answered = True
        return answers

    def _failed(self, error: Exception) -> Failed:
        self._failures += 1
        if not self._answered and self._failures >= GIVE_UP_AFTER:
            raise NeverAnsweredError(self._failures, describe_error(error)) from error
        log.warning("the %s model failed on one prompt: %s", self._who, describe_error(error))
        return Failed(describe_error(error))

    @property
    def _is_api(self) -> bool:
        return hasattr(self._lm, "base_url")

    def _slots(self, text: Any, prompts: Sequence[Conversation]) -> list[str]:
        """The keys of one rendered prompt, one for each message it is asked for."""
        if self._cache is None:
            return []
        slots = (self._slot_of(text, self.kwargs, label_of(prompt)) for prompt in prompts)
        return list(dict.fromkeys(slot for slot in slots if slot is not None))

    def _recall(self, slots: Sequence[str]) -> str | None:
        """The cached answer; an empty one of an API model is none."""
        if self._cache is None:
            return None
        for slot in slots:
            found = self._cache.get(slot)
            if found is not None and not (found == "" and self._is_api):
                self._answered = True
                return _as_text(found)
        return None

    def _remember(self, slots: Sequence[Sequence[str]], answers: Sequence[str | Failed]) -> None:
        """Keep answers under all their keys; an empty one of an API model is none."""
        kept: dict[str, str] = {}
        for own, answer in zip(slots, answers, strict=True):
            if isinstance(answer, str) and not (answer == "" and self._is_api):
                kept.update(dict.fromkeys(own, answer))
        if self._cache is not None and kept:
            self._cache.update(kept)


def _as_text(answer: Any) -> str:
    return answer if isinstance(answer, str) else ("" if answer is None else str(answer))


def _cannot_generate(lm: Any, who: str) -> UserError:
    return UserError(
        f"the model type {type(lm).__name__} cannot generate text, and a {who} has to; "
        "choose a model type with generate_until, such as hf or local-chat-completions"
    )


def _check_room(lm: Any, max_gen_toks: int) -> None:
    max_length = getattr(lm, "max_length", None)
    if isinstance(max_length, int) and not hasattr(lm, "base_url") and max_gen_toks >= max_length:
        raise UserError(
            f"a reply of {max_gen_toks} tokens leaves no room for a prompt in the model's context of {max_length}; "
            "lower max_reply_tokens in metadata.verisim"
        )
