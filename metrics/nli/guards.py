"""Rules where words decide for certain, laid over what a model says: the same for every model.

A guard gives a verdict or none. A verdict that only corrects (``unless``) stands back where the model already gives a
label that the rule allows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from verisim_metrics.nli.features import side_differs
from verisim_metrics.nli.model import CONTRADICTION, ENTAILMENT, NEUTRAL, Pair, Probabilities
from verisim_metrics.nli.quantities import agree
from verisim_metrics.nli.reading import Reading, kin, read, shared
from verisim_tasks._stable import digest
from verisim_tasks.language.lexicon import default_lexicon, load_yaml

CERTAIN = 0.9
"""The least probability of the label that a verdict gives."""
VERSION = 1

_PASTABLE = ("drug", "habit")
_KIN = frozenset(["mother", "father", "brother", "sister", "grandparent", "aunt", "any"])


class Verdict(NamedTuple):
    """What a rule says of a pair."""

    rule: str
    label: int
    """Place in ``LABELS``."""
    unless: tuple[int, ...] = ()
    """Labels of the model that the rule leaves alone."""


def fingerprint() -> str:
    """Version of the rules and digest of the words they know."""
    return f"{VERSION}-{digest(load_yaml('nli', 'words.yaml'))[:12]}"


def verdict(premise: str, hypothesis: str) -> Verdict | None:
    """The first rule that decides the pair; None where no rule is certain."""
    left, right = read(premise), read(hypothesis)
    return next((found for guard in GUARDS if (found := guard(left, right)) is not None), None)


def apply_guards(pairs: Sequence[Pair], rows: Probabilities) -> Probabilities:
    """The rows of a model, shape ``(n, 3)``, with the verdicts of the guards laid over them."""
    guarded = np.array(rows, dtype=np.float64)
    for place, pair in enumerate(pairs):
        found = verdict(*pair)
        if found is not None and int(guarded[place].argmax()) not in (found.label, *found.unless):
            guarded[place] = (1 - CERTAIN) * guarded[place]
            guarded[place, found.label] += CERTAIN
    return guarded


def identical(premise: Reading, hypothesis: Reading) -> Verdict | None:
    """The same words: entailment."""
    return Verdict("identical", ENTAILMENT) if premise.text and premise.text == hypothesis.text else None


def of_family(premise: Reading, hypothesis: Reading) -> Verdict | None:
    """What a relative has says nothing of the patient, and the other way round."""
    mine, theirs = premise.family & _KIN, hypothesis.family & _KIN
    if not shared(premise.concepts, hypothesis.concepts):
        return None
    if mine and not hypothesis.family and hypothesis.is_self and hypothesis.plainly_asserted:
        return Verdict("family", NEUTRAL)
    if theirs and hypothesis.has_relative and not premise.family and hypothesis.clauses == 1:
        return Verdict("family", NEUTRAL)
    return None


def opposite_sign(premise: Reading, hypothesis: Reading) -> Verdict | None:
    """One says plainly that a thing is there, the other that it is not: contradiction."""
    if premise.family != hypothesis.family or premise.past or hypothesis.past:
        return None
    lost = any(b in kin(a) for a in premise.plainly_asserted - premise.denied for b in hypothesis.plainly_denied)
    found = any(a in kin(b) for a in premise.plainly_denied for b in hypothesis.plainly_asserted)
    return Verdict("polarity", CONTRADICTION) if lost or found else None


def same_sign(premise: Reading, hypothesis: Reading) -> Verdict | None:
    """Both say no more than that the same things are there, or are not: entailment."""
    if premise.family != hypothesis.family or premise.past or hypothesis.past or hypothesis.amounts:
        return None
    if hypothesis.clauses != 1 or hypothesis.sides - premise.sides:
        return None
    there = hypothesis.plainly_asserted
    gone = hypothesis.plainly_denied
    if there and all(any(b in kin(a) for a in premise.plainly_asserted) for b in there):
        return Verdict("same", ENTAILMENT)
    if gone and all(any(a in kin(b) for a in premise.plainly_denied) for b in gone):
        return Verdict("same", ENTAILMENT)
    return None


def amounts(premise: Reading, hypothesis: Reading) -> Verdict | None:
    """One amount of a kind in each, of the same thing, that cannot be one amount: contradiction."""
    known = bool(shared(premise.concepts, hypothesis.concepts))
    if len(_medicines(premise)) > 1 or len(_medicines(hypothesis)) > 1:
        return None
    for kind in sorted({q.kind for q in premise.amounts} & {q.kind for q in hypothesis.amounts}):
        mine = [q for q in premise.amounts if q.kind == kind]
        theirs = [q for q in hypothesis.amounts if q.kind == kind]
        if len(mine) == len(theirs) == 1 and not agree(mine[0], theirs[0]):
            return Verdict("amount", CONTRADICTION, () if known else (NEUTRAL,))
    return None


def _medicines(reading: Reading) -> list[str]:
    return [c for c in reading.concepts if default_lexicon().concepts[c].kind == "drug"]


def past_or_present(premise: Reading, hypothesis: Reading) -> Verdict | None:
    """A medicine or habit that was given up against one that goes on: contradiction where the model sees support."""
    same = shared(premise.concepts, hypothesis.concepts)
    if not any(default_lexicon().concepts[c].kind in _PASTABLE for c in same) or premise.family != hypothesis.family:
        return None
    goes_on = premise.past and not premise.present and not hypothesis.past and not hypothesis.denies
    given_up = hypothesis.past and not hypothesis.present and not premise.past and not premise.denies
    return Verdict("past", CONTRADICTION, (NEUTRAL,)) if goes_on or given_up else None


def other_side(premise: Reading, hypothesis: Reading) -> Verdict | None:
    """Left against right of the same part: contradiction."""
    same_part = premise.sites & hypothesis.sites or shared(premise.concepts, hypothesis.concepts)
    return Verdict("side", CONTRADICTION) if same_part and side_differs(premise, hypothesis) else None


GUARDS: tuple[Callable[[Reading, Reading], Verdict | None], ...] = (
    identical,
    of_family,
    amounts,
    other_side,
    past_or_present,
    opposite_sign,
    same_sign,
)
