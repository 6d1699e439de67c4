"""How a model gets to see the dialogue: through its chat template, as a message list, or as plain text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from verisim_tasks.loop.prompts import Conversation, Message, Role

ChatMessage = dict[str, str]

PLAIN_STOPS: tuple[str, ...] = ("\nPatient:", "\nDoctor:")
"""Where a base model's message ends: the next speaker's name."""

_NAMES: dict[Role, str] = {"user": "Patient", "assistant": "Doctor"}
_PROBE = "probe-7f3a"


@dataclass(frozen=True)
class Channel:
    """Renders prompts for one model.

    ``kind`` is ``chat`` (the model's own ``apply_chat_template``, which yields a text, or for API models the message
    list itself) or ``plain`` (a script with speaker names, for models without a template).
    """

    kind: Literal["chat", "plain"]
    fold_system: bool = False
    """The template knows no system role: the contract goes before the first words of the patient."""

    @property
    def stops(self) -> list[str]:
        """Where generation ends, apart from the model's own end of text. lm-eval's default would cut replies."""
        return list(PLAIN_STOPS) if self.kind == "plain" else []

    def render(self, lm: Any, prompt: Conversation) -> Any:
        """The prompt as the model takes it: a text, or what its ``apply_chat_template`` returns."""
        if self.kind == "plain":
            return plain_text(prompt)
        return lm.apply_chat_template(chat_messages(prompt, fold_system=self.fold_system))


def choose_channel(lm: Any, *, chat: bool) -> Channel:
    """The channel for a model; ``chat`` is what ``--apply_chat_template`` said.

    Chat-completion models take nothing but messages and get them in any case.
    """
    if not (chat or _takes_messages_only(lm)):
        return Channel("plain")
    return Channel("chat", fold_system=not _knows_system_role(lm))


def chat_messages(prompt: Conversation, *, fold_system: bool = False) -> list[ChatMessage]:
    """The prompt in chat roles: never two messages of one role in a row, the first after the system a user's."""
    merged: list[ChatMessage] = []
    for message in prompt:
        role = "user" if message.role == "note" or (message.role == "system" and fold_system) else message.role
        if merged and merged[-1]["role"] == role:
            merged[-1]["content"] += f"\n\n{message.content}"
        else:
            merged.append({"role": role, "content": message.content})
    return merged


def plain_text(prompt: Conversation) -> str:
    """The prompt as a script that ends with ``Doctor:``; every message stands on one line."""
    system = [m.content for m in prompt if m.role == "system"]
    lines = [_script_line(m) for m in prompt if m.role != "system"]
    return "\n\n".join([*system, "\n".join([*lines, "Doctor:"])])


def _script_line(message: Message) -> str:
    text = " ".join(message.content.split())
    return f"({text})" if message.role == "note" else f"{_NAMES[message.role]}: {text}"


def prompt_key(rendered: Any) -> str:
    """What makes two rendered prompts identical."""
    return rendered if isinstance(rendered, str) else json.dumps(rendered, ensure_ascii=False)


def _takes_messages_only(lm: Any) -> bool:
    names = {cls.__name__ for cls in type(lm).__mro__}
    return bool(names & {"LocalChatCompletion", "LiteLLMChatCompletion", "AnthropicChat"})


def _knows_system_role(lm: Any) -> bool:
    """Whether the template keeps a system message. lm-eval's ``hf`` drops one that the template refuses."""
    probe = [{"role": "system", "content": _PROBE}, {"role": "user", "content": "Hello."}]
    try:
        return _PROBE in prompt_key(lm.apply_chat_template(probe))
    except Exception:
        return False


def count_tokens(lm: Any, rendered: Any) -> int | None:
    """Tokens of a rendered prompt, or None where the model has no tokenizer to ask."""
    encode = getattr(lm, "tok_encode", None)
    if encode is None or not isinstance(rendered, str):
        return None
    tokens = encode(rendered)
    countable = isinstance(tokens, Sequence) and not isinstance(tokens, str)
    return len(tokens) if countable and all(isinstance(t, int) for t in tokens) else None


API_DEFAULT_MAX_LENGTH = 2047
"""What lm-eval's API models report when nobody told them their context length."""
CHARACTERS_PER_TOKEN = 3.0
"""A cautious guess (English runs at about four) for models without a tokenizer."""


def measure(lm: Any, rendered: Any, max_gen_toks: int) -> tuple[int, int] | None:
    """``(tokens of the prompt, tokens it may have)``, or None where the model's context is not known."""
    max_length = getattr(lm, "max_length", None)
    if isinstance(max_length, bool) or not isinstance(max_length, int):
        return None
    tokens = count_tokens(lm, rendered)
    if tokens is None:
        if not hasattr(lm, "base_url") or max_length == API_DEFAULT_MAX_LENGTH:
            return None
        tokens = int(len(prompt_key(rendered)) / CHARACTERS_PER_TOKEN)
    return tokens, max_length - max_gen_toks
