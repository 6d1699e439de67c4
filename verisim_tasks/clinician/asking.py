"""Choosing the next question: what teaches most about the disease, without hopping about."""

from __future__ import annotations

import functools

import numpy as np
import numpy.typing as npt

from verisim_tasks._stable import draw
from verisim_tasks.clinician.assessment import Assessment
from verisim_tasks.clinician.beliefs import DECIMALS, Beliefs
from verisim_tasks.clinician.context import ONSETS
from verisim_tasks.clinician.knowledge import Array, Feature, Knowledge
from verisim_tasks.clinician.measures import Sex
from verisim_tasks.clinician.policy import Policy
from verisim_tasks.clinician.questions import Question, Questions
from verisim_tasks.clinician.script import OPEN_QUESTIONS, OpenQuestion

GROWN = 26.0
"""Who may be asked questions that end at an earlier age (years) is settled only once the age is known."""
DEMOGRAPHIC_FACTOR = 1.5
"""Age and sex help to understand everything else, so they are worth more than they teach at once."""
OPEN_CAP = 0.5
"""Most (nats) that an open question is expected to teach."""
NEARLY_EQUAL = 0.02
"""Share by which a policy's seed may tip the scales."""

Mask = npt.NDArray[np.bool_]


class Asking:
    """Chooses questions over one body of knowledge. All vectors run over the features, then the open questions."""

    def __init__(self, knowledge: Knowledge, beliefs: Beliefs, questions: Questions) -> None:
        self._knowledge = knowledge
        self._beliefs = beliefs
        self._questions = questions
        self._names = [*(f.id for f in knowledge.features), *(f"open:{q}" for q in OPEN_QUESTIONS)]
        self._place = {n: i for i, n in enumerate(self._names)}
        topics = [questions.all[n].topic for n in self._names]
        self._topic = np.array([sorted(set(topics)).index(t) for t in topics])
        self._parent = np.array([knowledge.index.get(knowledge.parent.get(f.id, ""), -1) for f in knowledge.features])
        self._order = np.argsort(np.array(self._names), kind="stable")
        self._covers = np.array(
            [[f.group in q.groups or f.id in q.ids for f in knowledge.features] for q in _harvests()]
        )
        self._fits = functools.lru_cache(maxsize=1024)(self._fit_mask)
        self._tilt = functools.lru_cache(maxsize=16)(self._tilts)

    def choose(self, state: Assessment, policy: Policy) -> Question | None:
        """The next question, or None when nothing is worth asking."""
        for name in policy.opening:
            question = self._questions.all[f"open:{name}"]
            if question.id not in state.asked and not (name == "onset" and set(ONSETS.values()) & set(state.findings)):
                return question
        values = self._values(state, policy)
        if values.max() < policy.least_gain:
            return self._routine(state, policy)
        weighed = np.round(values * self._flow(state, policy) * self._tilt(policy.order_seed), DECIMALS)
        best = self._order[np.argmax(weighed[self._order])]
        return self._questions.all[self._names[best]]

    def _routine(self, state: Assessment, policy: Policy) -> Question | None:
        if state.answered >= policy.min_questions:
            return None
        left = [f"open:{n}" for n in policy.routine if f"open:{n}" not in state.asked]
        return self._questions.all[left[0]] if left else None

    def _values(self, state: Assessment, policy: Policy) -> Array:
        """Expected information (nats) of every question that may be put now, 0 for the others."""
        closed = np.where(self._askable(state), self._beliefs.gains(state.posterior), 0.0)
        values = np.concatenate([closed, np.zeros(len(OPEN_QUESTIONS))])
        if state.age is None:
            values[self._place["open:age"]] = DEMOGRAPHIC_FACTOR * self._beliefs.age_gain(state.posterior)
        if state.sex is None:
            values[self._place["open:sex"]] = DEMOGRAPHIC_FACTOR * self._beliefs.sex_gain(state.posterior)
        for q, total in zip(_harvests(), self._covers @ closed, strict=True):
            values[self._place[f"open:{q.id}"]] = policy.openness * min(q.capture * float(total), OPEN_CAP)
        values[[self._place[n] for n in state.asked]] = 0.0
        return np.round(values, DECIMALS)

    def _askable(self, state: Assessment) -> Mask:
        present = np.zeros(len(self._knowledge.features) + 1, dtype=bool)
        present[-1] = True
        known = np.zeros(len(self._knowledge.features), dtype=bool)
        for name, finding in state.findings.items():
            known[self._place[name]] = True
            present[self._place[name]] = finding.state == "present"
        return np.asarray(~known & present[self._parent] & self._fits(state.age, state.sex))

    def _fit_mask(self, age: float | None, sex: Sex | None) -> Mask:
        return np.array(
            [may_be_asked(f, age, sex) and f.id not in ONSETS.values() for f in self._knowledge.features], dtype=bool
        )

    def _flow(self, state: Assessment, policy: Policy) -> Array:
        """Staying with a topic is worth something, coming back to one less."""
        factor = np.ones(len(self._names))
        topics = [self._topic[self._place[n]] for n in state.asked]
        if topics:
            factor[np.isin(self._topic, topics)] = policy.left_topic
            factor[self._topic == topics[-1]] = policy.same_topic
        return factor

    def _tilts(self, seed: int) -> Array:
        return np.array([1 + NEARLY_EQUAL * draw("tilt", seed, n) for n in self._names])


def _harvests() -> list[OpenQuestion]:
    """The open questions that bring features."""
    return [q for q in OPEN_QUESTIONS.values() if q.capture]


def may_have(f: Feature, age: float | None, sex: Sex | None) -> bool:
    """Whether somebody of this age and sex can have it; what is not known rules nothing out."""
    return f.sex in ("any", sex or f.sex) and (age is None or f.age[0] <= age <= f.age[1])


def may_be_asked(f: Feature, age: float | None, sex: Sex | None) -> bool:
    """Whether this can be asked of somebody of this age and sex without absurdity."""
    return may_have(f, age, sex) and (f.sex == "any" or sex is not None) and (age is not None or f.age[1] >= GROWN)
