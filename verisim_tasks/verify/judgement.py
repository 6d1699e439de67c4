"""The verdict on one claim as it comes about, part by part: the worst part decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from verisim_tasks.records.transcript import ClaimVerdict
from verisim_tasks.verify.claims import Claim
from verisim_tasks.verify.evidence import FactRecord

Outcome = Literal["supported", "unsupported", "contradicted", "justified_denial", "unrecorded_denial", "not_clinical"]

Part = tuple[Outcome, str, list[FactRecord], str | None]
"""What one atom comes to: verdict, reason, facts, and the concept where it is denied."""

NEVER = 2.0
"""A doubt that no probability clears."""

_ORDER: tuple[Outcome, ...] = (
    "not_clinical",
    "supported",
    "justified_denial",
    "unrecorded_denial",
    "unsupported",
    "contradicted",
)
"""From harmless to worst."""


@dataclass
class Judgement:
    """The verdict on one claim, with the facts and reasons it rests on."""

    claim: Claim
    verdict: Outcome = "not_clinical"
    facts: list[str] = field(default_factory=list)
    """Fact ids that support it, or that it contradicts."""
    reasons: list[str] = field(default_factory=list)
    denied: list[tuple[str, str | None]] = field(default_factory=list)
    """Concepts denied and the fact that denies them, None where the case says nothing."""
    doubt: float = 0.0
    """For a claim found unsupported: how surely a fact must entail it to be borne out after all; above 1 never."""

    def add(self, verdict: Outcome, reason: str, facts: Sequence[FactRecord] = (), *, doubt: float = NEVER) -> None:
        """One more part; the worst so far stands, and its reasons with it."""
        rank, current = _ORDER.index(verdict), _ORDER.index(self.verdict)
        if rank > current:
            self.doubt = 0.0
        if rank >= current:
            self.doubt = max(self.doubt, doubt)
        if rank > current and (rank > 1 or current > 1):
            self.reasons = []
            if rank > _ORDER.index("unrecorded_denial"):
                self.facts = []
        if rank >= current:
            self.verdict = verdict
            self.reasons += [reason] if reason and reason not in self.reasons else []
        if rank >= current or verdict == "supported":
            self.facts += [f.id for f in facts if f.id not in self.facts]

    @property
    def record(self) -> ClaimVerdict:
        """As it stands in a transcript."""
        return ClaimVerdict(text=self.claim.text, verdict=self.verdict, evidence=(*self.facts, *self.reasons))

    @property
    def is_wrong(self) -> bool:
        """Nothing that a truthful patient says."""
        return self.verdict in ("unsupported", "contradicted")


def worst(parts: Sequence[Judgement]) -> Judgement:
    """The worst of the verdicts on the parts of one claim; what the others rest on is kept where all are supported."""
    chosen = max(parts, key=lambda p: _ORDER.index(p.verdict))
    if chosen.verdict == "supported":
        chosen.facts = list(dict.fromkeys(i for p in parts for i in p.facts))
    return chosen
