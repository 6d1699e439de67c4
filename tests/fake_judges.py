"""Judges that follow a script, for tests of judged scores; no model and no network."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import Any

from verisim_metrics.judging import Failure, Judge, JudgePrompt, Settings

Reply = Any
"""A text, a ``Failure``, or an exception to raise."""


class FakeGenerate:
    """A backend that answers with a function of the prompt, and remembers its batches."""

    def __init__(self, answer: Callable[[JudgePrompt], Reply]) -> None:
        self.answer = answer
        self.batches: list[list[JudgePrompt]] = []

    @property
    def prompts(self) -> list[JudgePrompt]:
        return [prompt for batch in self.batches for prompt in batch]

    def __call__(self, prompts: Sequence[JudgePrompt]) -> list[str | Failure]:
        self.batches.append(list(prompts))
        replies = [self.answer(prompt) for prompt in prompts]
        for reply in replies:
            if isinstance(reply, Exception):
                raise reply
        return replies


def user_text(prompt: JudgePrompt) -> str:
    return prompt.messages[-1]["content"]


def in_turn(*replies: Reply) -> FakeGenerate:
    """Gives these replies one after the other, the last one forever."""
    count = iter(range(10**9))
    return FakeGenerate(lambda prompt: replies[min(next(count), len(replies) - 1)])


def by_word(table: dict[str, Reply], default: Reply = "no idea") -> FakeGenerate:
    """The reply of the first word that the prompt holds."""
    return FakeGenerate(lambda prompt: next((r for w, r in table.items() if w in user_text(prompt)), default))


def fake_judge(generate: Any, **changes: Any) -> Judge:
    """A judge over a fake backend; ``changes`` go to ``Settings``, ``cache`` and ``count_tokens`` to the judge."""
    own = {name: changes.pop(name) for name in ("cache", "count_tokens") if name in changes}
    return Judge(generate, identity={"model": "fake"}, settings=Settings(**changes), **own)


def constant_judge(answer: Any) -> Judge:
    """Gives every question the same answer, in the form its schema asks for; always in scale."""

    def reply(prompt: JudgePrompt) -> str:
        properties = prompt.schema["properties"] if prompt.schema else {}
        key = next(name for name in properties if name != "justification")
        return json.dumps({"justification": "As the rubric says.", key: answer})

    return fake_judge(FakeGenerate(reply))


def malformed_reply(seed: int) -> str:
    """One reply from a small grammar of everything that models and servers get wrong."""
    draw = random.Random(seed)
    return _PIECES[seed % len(_PIECES)](draw)


def _json(draw: random.Random) -> str:
    values = [1, 4, 3.5, 7, -1, None, True, "3", "D, Absent", "4 or 5", "A", [3], {"score": 2}, "\ud83d", 10**30, "NaN"]
    keys = ["score", "Score", "choice", "label", "rating", "justification", "note", "score ", "claims"]
    return json.dumps({draw.choice(keys): draw.choice(values) for _ in range(draw.randint(0, 4))})


def _prose(draw: random.Random) -> str:
    text = "the patient said 3 or maybe 4 out of 5 score: is A D, absent yes no between B and C 2/4 \u0664 ½ ３"
    words = text.split()
    return " ".join(draw.choice(words) for _ in range(draw.randint(0, 60)))


def _lines(draw: random.Random) -> str:
    starts = ["Score: ", "Final answer = ", "**Rating**: ", "# Choice: ", "", "- label: ", "[RESULT]: ", "Answer:\n"]
    ends = [
        "3",
        "3/4",
        "2/5",
        "3.5",
        "D, Absent",
        "4 or 5",
        "yes, no",
        "between B and C",
        "-2",
        "99999999999",
        "",
        "½",
        "\x00",
    ]
    return "\n".join(draw.choice(starts) + draw.choice(ends) for _ in range(draw.randint(1, 5)))


def _noise(draw: random.Random) -> str:
    alphabet = '{}[]":,<>/\\|`\n\t 0123456789.abcABCDyesno\u200b\u202e\U0001f600\ud800\x00é中'
    return "".join(draw.choice(alphabet) for _ in range(draw.randint(0, 400)))


_PIECES: tuple[Callable[[random.Random], str], ...] = (
    _json,
    lambda d: _json(d)[: d.randint(0, 30)],
    lambda d: f"```json\n{_json(d)}\n```\n{_prose(d)}",
    lambda d: f"{_prose(d)}\n{_json(d)}\n{_json(d)}",
    _prose,
    _lines,
    _noise,
    lambda d: f"<!DOCTYPE html><html><body><h1>{d.choice(['502 Bad Gateway', '429'])}</h1>{_prose(d)}</body></html>",
    lambda d: f"<think>{_json(d)}" + d.choice(["", "</think>", "</think></think>"]) + _lines(d),
    lambda d: d.choice(['{"score":', "[", "{", '{"a":[', "<think>"]) * d.randint(1, 3000),
    lambda d: _json(d) * d.randint(1, 300),
    lambda d: d.choice(["", " ", "\n\n", "\ufeff", "null", "[]", "{}", "...", "\U000e0041"]),
    lambda d: _json(d).replace('"', "'").replace(",", ",,"),
    lambda d: d.choice("3AD ") * d.randint(1, 60_000),
)
