"""A second look at claims that only words speak against: does a fact entail the claim as a whole?"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from verisim_metrics.nli import LABELS, Nli, make_nli
from verisim_tasks.verify.evidence import FactRecord, Nearness
from verisim_tasks.verify.judgement import Judgement
from verisim_tasks.verify.verdicts import Judge
from verisim_tasks.verify.vocabulary import tables

NEAREST = 3
"""Facts near to the claim in meaning that may entail it."""
TARGETS = 2
"""Facts asked for that may."""
ENTAILED, CONTRADICTED = LABELS.index("entailment"), LABELS.index("contradiction")


@dataclass(frozen=True)
class Doubtful:
    """A verdict that may be turned, with the judge who gave it and the facts that the question asked for."""

    judge: Judge
    judged: Judgement
    targets: Sequence[str] = ()


_TURNABLE = ("unsupported", "contradicted", "unrecorded_denial")


def _most(judged: Judgement) -> float:
    """How surely another fact may contradict it at most."""
    found = tables()["entailed"]
    return float(found["against" if judged.verdict != "contradicted" else "against_contradicted"])


@functools.cache
def _nli() -> Nli:
    return make_nli()


class SecondLook:
    """Looks again at unsupported claims, all of them in one batch. The model is loaded when first needed."""

    def __init__(self, nearness: Nearness) -> None:
        self._near = nearness

    def at(self, verdicts: Sequence[Doubtful]) -> list[Judgement]:
        """The verdicts in order, those turned that a fact bears out after all."""
        doubtful = [n for n, v in enumerate(verdicts) if v.judged.verdict in _TURNABLE and v.judged.doubt <= 1]
        facts = {n: found for n in doubtful if (found := self._facts(verdicts[n]))}
        pairs = [(f.fact.statement, verdicts[n].judged.claim.text) for n, found in facts.items() for f in found]
        scores = iter(_nli().predict(pairs).tolist() if pairs else ())
        settled = [v.judged for v in verdicts]
        for n, held in facts.items():
            rows: list[list[float]] = [next(scores) for _ in held]
            best = max(range(len(held)), key=lambda i: rows[i][ENTAILED])
            against = max(row[CONTRADICTED] for row in rows)
            if rows[best][ENTAILED] >= verdicts[n].judged.doubt and against <= _most(verdicts[n].judged):
                settled[n] = verdicts[n].judge.borne_out(verdicts[n].judged, held[best], verdicts[n].targets)
        return settled

    def _facts(self, verdict: Doubtful) -> list[FactRecord]:
        own = verdict.judge.bearing(verdict.judged.claim)
        close = self._near.of(verdict.judged.claim.text, own)
        least = (
            float(tables()["thresholds"]["topic"])
            if verdict.judged.doubt >= float(tables()["entailed"]["whatever"])
            else -1.0
        )
        ranked = sorted((f for f in own if close.get(f.id, -1.0) >= least), key=lambda f: (-close.get(f.id, 0.0), f.id))
        asked = [f for i in verdict.targets[:TARGETS] for f in own if f.id == i]
        return list(dict.fromkeys((*ranked[:NEAREST], *asked)))
