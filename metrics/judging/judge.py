"""The judge: questions in, judgements out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from verisim_metrics.judging.asking import Asker
from verisim_metrics.judging.fencing import boundary, clean
from verisim_metrics.judging.prompt import Layout, layouts, messages, prompt_digest, schema
from verisim_metrics.judging.reading import Reading, read_reply
from verisim_metrics.judging.records import (
    Answer,
    Cost,
    CountTokens,
    Failure,
    Generate,
    Judgement,
    JudgePrompt,
    Question,
    Replies,
    Settings,
    Vote,
)
from verisim_metrics.judging.reply_text import Echo
from verisim_metrics.judging.rubric import Rubric, load_rubric, rubrics_digest
from verisim_metrics.judging.votes import joined, turned_back, verdict


class Judge:
    """Scores questions with a language model that somebody else runs.

    All questions of a call go to the backend together, in at most ``1 + retries`` rounds. A question whose reply
    cannot be read, or which the backend fails, is null with its reason; the others do not notice.
    """

    def __init__(
        self,
        generate: Generate,
        *,
        identity: Mapping[str, Any],
        settings: Settings | None = None,
        cache: Replies | None = None,
        count_tokens: CountTokens | None = None,
    ) -> None:
        """Bind a backend.

        Args:
            generate: Answers a batch of prompts in order; a prompt it cannot answer gets a ``Failure``.
            identity: Which model that is, JSON-able and without secrets.
            settings: Votes, retries, seed, temperature, length of a reply.
            cache: Replies by content, kept by the caller; only replies that hold text go in.
            count_tokens: Counts tokens for the costs; without it, costs are in characters.
        """
        self.settings = settings or Settings()
        self.identity = dict(identity)
        self._asker = Asker(generate, self.identity, cache, count_tokens)
        self._spent: dict[str, Cost] = {}
        self.lost: Counter[str] = Counter()
        """Questions without an answer because the backend failed, by reason: asked again, they may have one."""

    def describe(self) -> dict[str, Any]:
        """The judge as JSON-able data, for the instrument fingerprint of judged scores."""
        return {
            "model": self.identity,
            "settings": dict(vars(self.settings)),
            "rubrics": rubrics_digest(),
            "prompts": prompt_digest(),
        }

    @property
    def spent(self) -> tuple[Cost, ...]:
        """What this judge has cost so far: one sum for each unit that was counted in."""
        return tuple(cost for _, cost in sorted(self._spent.items()) if cost.calls)

    def __call__(self, questions: Sequence[Question]) -> list[Judgement]:
        """One judgement for each question, in order.

        Raises:
            UserError: for an unknown rubric.
            ValueError: for data blocks that are not those of the rubric.
        """
        asks = [ask for n, question in enumerate(questions) for ask in self._asks(n, _Case.of(question))]
        waiting = asks
        for _ in range(self.settings.retries + 1):
            waiting = self._round(waiting)
        by_question: dict[int, list[_Ask]] = {}
        for ask in asks:
            by_question.setdefault(ask.question, []).append(ask)
            self._spent[ask.cost.unit] = self._spent.get(ask.cost.unit, Cost(unit=ask.cost.unit)) + ask.cost
        judgements = [_judgement(by_question[n]) for n in range(len(questions))]
        self._count_lost(judgements, by_question)
        return judgements

    def _count_lost(self, judgements: Sequence[Judgement], by_question: Mapping[int, Sequence[_Ask]]) -> None:
        for number, judgement in enumerate(judgements):
            failed = [ask.failure for ask in by_question[number] if ask.failure and not ask.lasting]
            if judgement.reason is not None and failed:
                self.lost[failed[0]] += 1

    def _asks(self, question: int, case: _Case) -> list[_Ask]:
        votes = 1 if case.rubric.kind in ("list", "fields") else self.settings.votes
        sides = (False, True) if case.rubric.compare else (False,)
        orders = layouts(case.rubric, votes, (self.settings.seed, case.mark))
        return [_Ask(question, case, vote, orders[vote], swapped) for vote in range(votes) for swapped in sides]

    def _round(self, asks: Sequence[_Ask]) -> list[_Ask]:
        """Ask once; the asks whose reply could not be read."""
        answers = self._asker.ask([self._prompt(ask) for ask in asks], [ask.vote for ask in asks])
        for ask, (reply, cost) in zip(asks, answers, strict=True):
            ask.take(reply, cost)
        return [ask for ask in asks if ask.reading is not None and ask.reading.answer is None]

    def _prompt(self, ask: _Ask) -> JudgePrompt:
        case, settings = ask.case, self.settings
        problem = ask.reading.problem if ask.reading else None
        again = (ask.attempts + 1, problem) if problem else None
        return JudgePrompt(
            messages=messages(case.rubric, case.data, case.mark, ask.order, swapped=ask.swapped, again=again),
            schema=schema(case.rubric),
            temperature=settings.temperature,
            seed=settings.seed,
            max_reply_tokens=settings.max_reply_tokens,
        )


@dataclass(frozen=True)
class _Case:
    """A question made ready."""

    rubric: Rubric
    data: Mapping[str, str]
    mark: str
    echo: Echo

    @classmethod
    def of(cls, question: Question) -> _Case:
        rubric = load_rubric(question.rubric) if isinstance(question.rubric, str) else question.rubric
        if set(question.data) != set(rubric.blocks):
            raise ValueError(
                f"rubric {rubric.id} takes the data blocks {', '.join(rubric.blocks)}; "
                f"it was given {', '.join(question.data) or 'none'}"
            )
        data = {name: clean(question.data[name]) for name in rubric.blocks}
        return cls(rubric, data, boundary(rubric.fingerprint, data), Echo(question.data.values()))


@dataclass
class _Ask:
    """One vote on one question on its way to an answer."""

    question: int
    case: _Case
    vote: int
    order: Layout
    swapped: bool
    attempts: int = 0
    reading: Reading | None = None
    failure: str | None = None
    lasting: bool = False
    cost: Cost = field(default_factory=Cost)

    def take(self, reply: str | Failure, cost: Cost) -> None:
        self.attempts += 1
        self.cost += cost
        if isinstance(reply, Failure):
            self.reading, self.failure = None, f"the judge's backend failed: {reply.reason}"
            self.lasting = reply.lasting
        else:
            self.reading = read_reply(reply, self.case.rubric, self.case.mark, self.case.echo)

    def result(self) -> Vote:
        reading = self.reading
        if reading is None or reading.answer is None:
            problem = reading.problem if reading else None
            times = f"no usable reply in {self.attempts} attempts: {problem}" if problem else None
            return Vote(None, None, self.failure or times or "the judge was not asked", attempts=self.attempts)
        answer = _cleaned(reading.answer)
        score = self.case.rubric.scale.values().get(answer) if isinstance(answer, str) else None
        why = clean(reading.justification) if reading.justification else None
        vote = Vote(answer, score, None, why, self.attempts)
        return turned_back(vote, self.case.rubric) if self.swapped else vote


def _cleaned(answer: Answer) -> Answer:
    if isinstance(answer, str):
        return answer
    if isinstance(answer, tuple):
        return tuple(clean(text) for text in answer)
    return {name: None if text is None else clean(text) for name, text in answer.items()}


def _judgement(asks: Sequence[_Ask]) -> Judgement:
    rubric = asks[0].case.rubric
    single = tuple(ask.result() for ask in asks)
    pairs = zip(single[::2], single[1::2], strict=True)
    votes = [joined(a, b, rubric) for a, b in pairs] if rubric.compare else single
    chosen = verdict(votes, rubric)
    cost = sum((ask.cost for ask in asks), Cost())
    return Judgement(
        score=chosen.score,
        reason=chosen.reason,
        answer=chosen.answer,
        votes=single,
        justification=chosen.justification,
        calls=cost.calls,
        tokens=cost,
    )
