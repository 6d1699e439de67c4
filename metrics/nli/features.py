"""Hand features of a pair: how what two texts say on their face compares."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from verisim_metrics.nli.model import Pair
from verisim_metrics.nli.quantities import agree
from verisim_metrics.nli.reading import Reading, answers_no, read, shared

NAMES = (
    "concept_same_sign",
    "concept_other_sign",
    "concept_share",
    "concept_new",
    "any_concept_premise",
    "any_concept_hypothesis",
    "stem_share_hypothesis",
    "stem_share_premise",
    "identical",
    "premise_denies",
    "premise_only_denies",
    "hypothesis_denies",
    "hypothesis_only_denies",
    "hypothesis_answers_no",
    "signs_differ",
    "amounts_agree",
    "amounts_differ",
    "amounts_new",
    "figures_unmatched",
    "family_shared",
    "family_new",
    "family_dropped",
    "past_premise",
    "past_hypothesis",
    "present_either",
    "side_differs",
    "side_same",
    "site_shared",
    "site_differs",
    "poles_same",
    "poles_opposed",
    "length_ratio",
)


def features(pairs: Sequence[Pair]) -> npt.NDArray[np.float32]:
    """Features of shape ``(n, len(NAMES))``, each about 0 to 2."""
    rows = [_row(read(p), read(h), answers_no(h)) for p, h in pairs]
    return np.asarray(rows, dtype=np.float32).reshape(-1, len(NAMES))


def _row(premise: Reading, hypothesis: Reading, no: bool) -> list[float]:
    return [
        *_concepts(premise, hypothesis),
        *_stems(premise, hypothesis),
        float(premise.denies),
        float(premise.only_denies),
        float(hypothesis.denies),
        float(hypothesis.only_denies),
        float(no),
        float(premise.only_denies != hypothesis.only_denies),
        *_amounts(premise, hypothesis),
        float(bool(premise.family & hypothesis.family)),
        float(bool(hypothesis.family - premise.family)),
        float(bool(premise.family) and not hypothesis.family),
        float(premise.past),
        float(hypothesis.past),
        float(premise.present or hypothesis.present),
        *_places(premise, hypothesis),
        float(bool(premise.poles & hypothesis.poles)),
        float(opposed(premise, hypothesis)),
        min(2.0, len(hypothesis.text) / max(1, len(premise.text))),
    ]


def _concepts(premise: Reading, hypothesis: Reading) -> list[float]:
    same = shared(premise.asserted, hypothesis.asserted) | shared(premise.denied, hypothesis.denied)
    other = shared(premise.asserted, hypothesis.denied) | shared(premise.denied, hypothesis.asserted)
    known = shared(premise.concepts, hypothesis.concepts)
    every = max(1, len(hypothesis.concepts))
    return [
        float(bool(same)),
        float(bool(other)),
        len(known) / every,
        len(hypothesis.concepts - known) / every,
        float(bool(premise.concepts)),
        float(bool(hypothesis.concepts)),
    ]


def _stems(premise: Reading, hypothesis: Reading) -> list[float]:
    both = len(premise.stems & hypothesis.stems)
    return [
        both / max(1, len(hypothesis.stems)),
        both / max(1, len(premise.stems)),
        float(premise.text == hypothesis.text),
    ]


def _amounts(premise: Reading, hypothesis: Reading) -> list[float]:
    kinds = {q.kind for q in premise.amounts}
    same = differ = new = 0
    for amount in hypothesis.amounts:
        rivals = [q for q in premise.amounts if q.kind == amount.kind]
        fits = any(agree(amount, q) for q in rivals)
        same, differ, new = same + fits, differ + (bool(rivals) and not fits), new + (amount.kind not in kinds)
    loose = [f for f in hypothesis.figures if not any(g[0] <= f[1] and f[0] <= g[1] for g in premise.figures)]
    unmatched = len(loose) / max(1, len(hypothesis.figures)) if premise.figures else 0.0
    return [min(2.0, float(same)), min(2.0, float(differ)), min(2.0, float(new)), unmatched]


def _places(premise: Reading, hypothesis: Reading) -> list[float]:
    return [
        float(side_differs(premise, hypothesis)),
        float(bool(premise.sides & hypothesis.sides)),
        float(bool(premise.sites & hypothesis.sites)),
        float(bool(premise.sites and hypothesis.sites) and not premise.sites & hypothesis.sites),
    ]


def differs_anywhere(premise: Reading, hypothesis: Reading) -> bool:
    """Whether anything on their face tells the texts apart: sign, amount, number, side, opposite."""
    _, differing, _, unmatched = _amounts(premise, hypothesis)
    crossed = shared(premise.asserted, hypothesis.denied) | shared(premise.denied, hypothesis.asserted)
    return bool(
        crossed
        or differing
        or unmatched
        or premise.only_denies != hypothesis.only_denies
        or side_differs(premise, hypothesis)
        or opposed(premise, hypothesis)
    )


def side_differs(premise: Reading, hypothesis: Reading) -> bool:
    """Left against right, or one side against both."""
    return bool(premise.sides and hypothesis.sides) and not premise.sides & hypothesis.sides


def opposed(premise: Reading, hypothesis: Reading) -> bool:
    """One text holds one pole of a pair of opposites, the other text only the other pole."""
    return any(
        (pair, 1 - which) in hypothesis.poles and (pair, which) not in hypothesis.poles for pair, which in premise.poles
    )
