"""Prompts to replies: each distinct prompt once, from the cache where it is known, with what it cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from verisim_metrics.judging.records import Cost, CountTokens, Failure, Generate, JudgePrompt, Replies
from verisim_tasks._stable import digest
from verisim_tasks.errors import UserError

AT_ONCE = 512
"""Different prompts that go to the backend in one call, so that a kill costs no more than their replies. Prompts whose
reply is known count too, so that a run that goes on asks the same prompts together."""


@dataclass(frozen=True)
class Asker:
    """Asks one backend."""

    generate: Generate
    identity: Mapping[str, Any]
    """Which model answers, JSON-able, without secrets: part of every cache key."""
    cache: Replies | None = None
    count: CountTokens | None = None

    def ask(self, prompts: Sequence[JudgePrompt], samples: Sequence[int]) -> list[tuple[str | Failure, Cost]]:
        """The reply to each prompt and its cost; of equal prompts the first one bears the cost.

        Args:
            prompts: The prompts of one round.
            samples: Number of the draw for each prompt. Greedy prompts have one draw, whatever the number.
        """
        keys = self._keys(prompts, samples)
        first = dict(reversed(list(zip(keys, prompts, strict=True))))
        order = list(dict.fromkeys(keys))
        replies: dict[str, str | Failure] = {}
        costs: dict[str, Cost] = {}
        for start in range(0, len(order), AT_ONCE):
            together = order[start : start + AT_ONCE]
            replies.update({key: known for key in together if (known := self._known(key)) is not None})
            missing = [key for key in together if key not in replies]
            fresh = dict(zip(missing, _ask_apart(self.generate, [first[key] for key in missing]), strict=True))
            costs.update({key: self._cost(first[key], reply) for key, reply in fresh.items()})
            replies.update(fresh)
            self._keep(fresh)
        return [(replies[key], costs.pop(key, Cost())) for key in keys]

    def _keys(self, prompts: Sequence[JudgePrompt], samples: Sequence[int]) -> list[str]:
        """The key of each prompt; equal sampled prompts (repeats that went alike) get draws of their own."""
        seen: Counter[str] = Counter()
        keys: list[str] = []
        for prompt, sample in zip(prompts, samples, strict=True):
            key = self._key(prompt, sample)
            keys.append(f"{key}.{seen[key]}" if prompt.temperature > 0 and seen[key] else key)
            seen[key] += 1
        return keys

    def _key(self, prompt: JudgePrompt, sample: int) -> str:
        return digest(
            {
                "model": self.identity,
                "messages": [dict(message) for message in prompt.messages],
                "schema": prompt.schema,
                "settings": [prompt.temperature, prompt.seed, prompt.max_reply_tokens],
                "sample": sample if prompt.temperature > 0 else 0,
            }
        )

    def _keep(self, replies: Mapping[str, str | Failure]) -> None:
        """Keep what holds text."""
        told = {key: reply for key, reply in replies.items() if isinstance(reply, str) and reply.strip()}
        if self.cache is not None and told:
            self.cache.update(told)

    def _known(self, key: str) -> str | None:
        found = None if self.cache is None else self.cache.get(key)
        return found if isinstance(found, str) else None

    def _cost(self, prompt: JudgePrompt, reply: str | Failure) -> Cost:
        said = reply if isinstance(reply, str) else ""
        asked = [message["content"] for message in prompt.messages]
        if self.count is not None:
            counts = [self.count(text) for text in (*asked, said)]
            known = [count for count in counts if count is not None]
            if len(known) == len(counts):
                return Cost(1, sum(known[:-1]), known[-1], "tokens")
        return Cost(1, sum(map(len, asked)), len(said), "characters")


def _ask_apart(generate: Generate, prompts: Sequence[JudgePrompt]) -> list[str | Failure]:
    """All at once; where that raises, one by one, so that one fault costs one reply."""
    if not prompts:
        return []
    try:
        replies = list(generate(prompts))
        if len(replies) != len(prompts):
            raise RuntimeError(f"{len(prompts)} prompts were asked and {len(replies)} answered")
        return replies
    except UserError:
        raise
    except Exception as error:
        if len(prompts) == 1:
            first = (str(error).strip().splitlines() or [""])[0][:300]
            return [Failure(f"{type(error).__name__}: {first}" if first else type(error).__name__)]
    return [reply for prompt in prompts for reply in _ask_apart(generate, [prompt])]
