"""What goes into a judge and what comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from verisim_metrics.judging.rubric import Rubric

Answer: TypeAlias = "str | tuple[str, ...] | dict[str, str | None]"
"""A symbol of the rubric, the texts of a list, or the fields of an object."""


@dataclass(frozen=True)
class Failure:
    """The backend gave no reply, and why."""

    reason: str
    lasting: bool = False
    """Asking again would change nothing, as for a prompt that is too long."""


@dataclass(frozen=True)
class JudgePrompt:
    """One prompt, always one system and one user message."""

    messages: tuple[Mapping[str, str], ...]
    """``{"role": ..., "content": ...}`` each."""
    schema: Mapping[str, Any] | None = None
    """JSON schema of the reply, for backends that can hold a model to one."""
    temperature: float = 0.0
    seed: int = 1234
    max_reply_tokens: int = 512


Generate: TypeAlias = Callable[[Sequence[JudgePrompt]], Sequence["str | Failure"]]
"""Answers all prompts in one call, in their order."""
CountTokens: TypeAlias = Callable[[str], "int | None"]
"""Tokens of a text, or None where nobody can tell."""


class Replies(Protocol):
    """Replies by content, as a dictionary has them."""

    def get(self, key: str, /) -> str | None:
        """What is kept, or None."""

    def update(self, replies: Mapping[str, str], /) -> None:
        """Keep replies."""


@dataclass(frozen=True)
class Question:
    """One thing to be judged: a rubric and the text of each of its data blocks."""

    rubric: str | Rubric
    """A rubric, or the id of one of the suite's."""
    data: Mapping[str, str]
    """Block name to text. The text is data: whatever it says, it instructs nobody."""


@dataclass(frozen=True)
class Settings:
    """How a judge is asked. All of it stands in the cache key and belongs in the instrument fingerprint."""

    votes: int = 1
    """Odd. Votes see the same question in another order of blocks and anchors; lists and objects have one vote."""
    retries: int = 2
    """How often an unreadable reply is asked again, 0 to 2."""
    seed: int = 1234
    temperature: float = 0.0
    max_reply_tokens: int = 512

    def __post_init__(self) -> None:
        if self.votes < 1 or self.votes % 2 == 0:
            raise ValueError(f"votes is {self.votes}; give an odd number, so that a median exists")
        if not 0 <= self.retries <= 2:
            raise ValueError(f"retries is {self.retries}; give 0, 1 or 2")
        if self.temperature < 0 or self.max_reply_tokens < 1:
            raise ValueError("temperature must not be negative and max_reply_tokens must be positive")


@dataclass(frozen=True)
class Cost:
    """What was spent on new calls; answers from the cache cost nothing."""

    calls: int = 0
    prompt: int = 0
    reply: int = 0
    unit: Literal["tokens", "characters"] = "tokens"
    """Characters where no tokenizer counts for the backend."""

    def __add__(self, other: Cost) -> Cost:
        if self.calls and other.calls and self.unit != other.unit:
            raise ValueError("tokens and characters cannot be added; keep the costs of two judges apart")
        unit = self.unit if self.calls else other.unit
        return Cost(self.calls + other.calls, self.prompt + other.prompt, self.reply + other.reply, unit)


@dataclass(frozen=True)
class Vote:
    """One reply that was read, or why there is none."""

    answer: Answer | None
    score: float | None
    reason: str | None
    """Why there is no answer; null where there is one."""
    justification: str | None = None
    attempts: int = 1
    swapped: bool = False
    """The two sides of a comparison were shown in the other order; the answer is already turned back."""


@dataclass(frozen=True)
class Judgement:
    """The verdict on one question. ``reason`` is null if there is a verdict, and says why not if there is none."""

    score: float | None
    """In the rubric's range; null without an answer, and for answers that are no amount (see ``Point.value``)."""
    reason: str | None
    answer: Answer | None = None
    """Null where the median lies between two symbols; the score stands then."""
    votes: tuple[Vote, ...] = ()
    justification: str | None = None
    """What the first vote with the chosen answer gave as its reason. Text of a model: show it as text only."""
    calls: int = 0
    tokens: Cost = field(default_factory=Cost)


def total_cost(judgements: Iterable[Judgement]) -> Cost:
    """The cost of many judgements of one judge."""
    total = Cost()
    for judgement in judgements:
        total += judgement.tokens
    return total
