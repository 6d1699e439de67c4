"""Scoring the patient's side of a call: who judges, and with which NLI.

All transcripts of a call are scored together once the last consultation has ended.
"""

from __future__ import annotations

import functools
import itertools
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from verisim_metrics.judging import Judge
from verisim_metrics.nli import make_nli
from verisim_metrics.nli.model import Nli
from verisim_metrics.patientsim.judged import NAME, JudgeNli
from verisim_metrics.patientsim.simulator import PatientScores, Simulator
from verisim_tasks.errors import UserError
from verisim_tasks.loop.keeping import NOWHERE, Keeping
from verisim_tasks.loop.kept_nli import KeptNli
from verisim_tasks.loop.replies import describe_error
from verisim_tasks.loop.role_model import SAME
from verisim_tasks.records.case import Case
from verisim_tasks.records.transcript import Role, Transcript
from verisim_tasks.settings import Settings

log = logging.getLogger("lm_eval.verisim")  # below lm-eval's own, so that its level and handler hold

_NAMES: tuple[str, ...] = ("pretrained", "model", "tokenizer_name")
"""Where an lm-eval model says which weights it has."""


@dataclass(frozen=True)
class PatientSide:
    """What a task gets to know of one consultation beside its transcript."""

    scores: PatientScores
    scored_by: Mapping[str, Any]
    """NLI, judge and rubrics, with one fingerprint for each family of scores; ``error`` where scoring broke down."""
    same_models: tuple[str, ...] = ()
    """Roles that are one model though they should not be."""
    judge_cost: tuple[Mapping[str, Any], ...] = field(default=())
    """What the judge of the whole call has cost, by unit."""


@functools.cache
def ready_nli(name: str) -> Nli:
    """An NLI model by name, loaded once in a process; raises ``UserError`` when it cannot be had."""
    return make_nli(name)


def make_simulator(settings: Settings, judge: Judge | None, keeping: Keeping = NOWHERE) -> Simulator:
    """What the settings score patients with."""
    nli, shelf = find_nli(settings.nli, judge), keeping.shelf("nli")
    return Simulator(KeptNli(nli, shelf) if shelf and nli and not isinstance(nli, JudgeNli) else nli, judge)


def find_nli(name: str | None, judge: Judge | None) -> Nli | JudgeNli | None:
    """The NLI of a name; raises ``UserError`` for ``judge`` without one, and for a model that cannot be had."""
    if name is None:
        return None
    if name != NAME:
        return ready_nli(name)
    if judge is None:
        raise UserError('the NLI is "judge", but there is no judge; set judge, or use "builtin"')
    return JudgeNli(judge)


def score_patients(
    transcripts: Sequence[Transcript],
    cases: Mapping[str, Case],
    settings: Settings,
    judge: Judge | None,
    keeping: Keeping = NOWHERE,
) -> list[PatientSide]:
    """The patient's side of each transcript, in order.

    A fault of the instruments costs the scores and not the consultations: it is logged and stands in ``scored_by``.
    """
    try:
        simulator = make_simulator(settings, judge, keeping)
        scored_by = simulator.describe()
        scores = list(simulator.score(transcripts, cases))
    except Exception as error:
        log.error("the patients could not be scored; run 'verisim score' on the transcripts", exc_info=error)
        scored_by, scores = {"error": describe_error(error)}, [PatientScores()] * len(transcripts)
    cost = tuple(vars(spent) for spent in judge.spent) if judge else ()
    same = {i: same_models(t.roles) for i, t in enumerate(transcripts)}
    for sentence in dict.fromkeys(s for found in same.values() for s in found):
        log.warning("%s: their scores are not independent", sentence)
    return [PatientSide(s, scored_by, same[i], cost) for i, s in enumerate(scores)]


def judge_role(judge: Judge, doctor: Any) -> Role:
    """How the judge is named in transcripts."""
    identity = {str(k): str(v) for k, v in judge.identity.items()}
    name = ":".join(filter(None, (identity.get("model", ""), identity.get("weights", ""))))
    return Role(model=name, settings=identity, same_as_doctor=is_same(identity, doctor))


def is_same(identity: Mapping[str, Any], lm: Any) -> bool:
    """Whether a role is played by the model under test: said to be, or named by the same weights."""
    weights = identity.get("weights")
    return identity.get("model") == SAME or (bool(weights) and weights in {getattr(lm, n, None) for n in _NAMES})


def same_models(roles: Mapping[str, Role]) -> tuple[str, ...]:
    """One short sentence for each two roles that one model plays and that ought to be apart."""
    under_test = "doctor" if "interviewer" not in roles else "patient"
    others = [name for name in ("patient", "interviewer", "judge") if name in roles and name != under_test]
    found = [f"{name} is the model under test" for name in others if roles[name].same_as_doctor]
    pairs = itertools.combinations([n for n in others if not roles[n].same_as_doctor], 2)
    return (*found, *(f"{b} is the same model as {a}" for a, b in pairs if _key(roles[a]) == _key(roles[b])))


def _key(role: Role) -> tuple[str, str]:
    """What two roles have in common when one model plays both."""
    identity = role.settings.get("model")
    own = identity if isinstance(identity, Mapping) else role.settings
    return (role.model, str(own.get("args", "")))
