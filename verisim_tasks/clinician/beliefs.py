"""From findings to how likely each disease is, and what a question would teach."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from verisim_tasks.clinician.knowledge import Array, Disease, Knowledge
from verisim_tasks.clinician.measures import Sex

HEARD = 0.9
"""Chance that a patient who has a feature says so in a way that is understood."""
FALSE_ALARM = 0.01
"""Chance that a feature is heard although it is not there."""
TEMPER = 0.8
"""Weight of every finding below 1, because findings of one patient are not independent."""
RARELY_COMPLAINED_OF = 0.2
"""Share of a feature's usual frequency at which it is the complaint of a disease that has nothing to do with it."""
PRIOR_STEP = 0.7
"""One step of prior (1-4) on the natural-log scale."""
OUTSIDE_AGE = -5.0
"""Log-likelihood beyond the earliest or latest age."""
EDGE_AGE = -2.0
"""Log-likelihood at the earliest or latest age, rising to 0 at the typical range."""
AGE_BANDS = (0.7, 4.0, 9.0, 15.0, 25.0, 40.0, 55.0, 70.0, 85.0)
"""Ages (years) that stand for the age groups when the worth of asking the age is reckoned."""
DECIMALS = 9
"""Scores are rounded to this before they are compared, so that float noise cannot decide."""


@dataclass(frozen=True)
class Finding:
    """What is held true of one feature."""

    state: Literal["present", "absent", "unknown"]
    weight: float = 1.0
    """0-1, how much it counts."""
    complaint: bool = False
    """It is what the patient came for."""


class Beliefs:
    """The arithmetic over one body of knowledge; keeps nothing about any patient."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge
        said = knowledge.probability * HEARD + (1 - knowledge.probability) * FALSE_ALARM
        said_base = knowledge.base * HEARD + (1 - knowledge.base) * FALSE_ALARM
        self._said: Array = said
        self._if_present: Array = np.ascontiguousarray(np.log(said / said_base).T)
        self._if_absent: Array = np.ascontiguousarray(np.log((1 - said) / (1 - said_base)).T)
        came_for = np.where(knowledge.listed, knowledge.probability, RARELY_COMPLAINED_OF * knowledge.base)
        came_for = came_for * HEARD + (1 - came_for) * RARELY_COMPLAINED_OF * FALSE_ALARM
        self._if_complaint: Array = np.ascontiguousarray(np.log(came_for / said_base).T)
        self._noise: Array = _entropy(said)
        self._prior: Array = np.array([PRIOR_STEP * d.prior for d in knowledge.diseases])
        self._bands: Array = np.stack([self._age(a) for a in AGE_BANDS])
        self._sexes: dict[Sex, Array] = {s: self._sex(s) for s in ("female", "male")}
        self._before = functools.lru_cache(maxsize=1024)(self._before_asking)

    def posterior(self, findings: Mapping[str, Finding], age: float | None, sex: Sex | None) -> Array:
        """Probability of every disease (in the order of ``knowledge.diseases``); sums to 1."""
        index = self.knowledge.index
        heard = [(index[n], f) for n, f in findings.items() if n in index and f.state != "unknown"]
        score: Array = self._before(age, sex)
        for state, table in (("present", self._if_present), ("absent", self._if_absent), ("came", self._if_complaint)):
            rows = [i for i, f in heard if state == ("came" if f.complaint else f.state)]
            weights = np.array([f.weight for _, f in heard if state == ("came" if f.complaint else f.state)])
            score = score + TEMPER * (weights @ table[rows])
        odds: Array = np.exp(score - score.max())
        return np.asarray(odds / odds.sum())

    def gains(self, posterior: Array) -> Array:
        """Expected information (nats) about the disease from each feature's answer."""
        return np.round(_entropy(posterior @ self._said) - posterior @ self._noise, DECIMALS)

    def age_gain(self, posterior: Array) -> float:
        """Expected information (nats) from the age."""
        return _information(posterior, np.exp(self._bands))

    def sex_gain(self, posterior: Array) -> float:
        """Expected information (nats) from the sex."""
        return _information(posterior, np.exp(np.stack([self._sexes["female"], self._sexes["male"]])))

    def _before_asking(self, age: float | None, sex: Sex | None) -> Array:
        score = self._prior.copy()
        if age is not None:
            score += self._age(age)
        if sex is not None:
            score += self._sexes[sex]
        return np.asarray(score)

    def _age(self, age: float) -> Array:
        return np.array([_age_fit(d, age) for d in self.knowledge.diseases])

    def _sex(self, sex: Sex) -> Array:
        return np.array([_sex_fit(d, sex) for d in self.knowledge.diseases])


def _entropy(p: Array) -> Array:
    p = np.clip(p, 1e-9, 1 - 1e-9)
    return np.asarray(-(p * np.log(p) + (1 - p) * np.log(1 - p)))


def _information(posterior: Array, likelihood: Array) -> float:
    joint = likelihood / likelihood.sum(axis=0) * posterior
    answer = joint.sum(axis=1, keepdims=True)
    ratio = np.log(np.clip(joint, 1e-12, None)) - np.log(np.clip(answer * posterior, 1e-12, None))
    return float(np.round((joint * ratio).sum(), DECIMALS))


def _age_fit(disease: Disease, age: float) -> float:
    first, last, earliest, latest = disease.age
    if first <= age <= last:
        return 0.0
    if age < earliest or age > latest:
        return OUTSIDE_AGE
    gap, room = (first - age, first - earliest) if age < first else (age - last, latest - last)
    return EDGE_AGE * gap / max(room, 1e-9)


def _sex_fit(disease: Disease, sex: Sex) -> float:
    if disease.sex != "any":
        return 0.0 if disease.sex == sex else OUTSIDE_AGE
    share = disease.sex_ratio / (1 + disease.sex_ratio)
    return float(np.log(2 * (share if sex == "male" else 1 - share)))
