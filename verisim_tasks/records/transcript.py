"""The transcript: everything that was said in one consultation, and why it ended.

JSON in, JSON out, lossless. Scores are computed from transcripts and cases alone, so that they can be computed again
later, with another judge, without the model under test.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_validator

from verisim_tasks.records.case import Record
from verisim_tasks.records.noise import NoiseProfile

Speaker = Literal["doctor", "patient", "examiner"]
StopReason = Literal["diagnosed", "turn_limit", "context_limit", "error"]
Form = Literal["full", "blurred", "lay", "colloquial", "vague", "partial"]
DenialKind = Literal["recorded", "unrecorded", "justified"]
SettledBy = Literal["consensus", "central", "one_doctor", "first_doctor"]
SegmentKind = Literal["fact", "denial", "noise", "social"]


class NoiseEvent(Record):
    """One effect of noise on one turn."""

    dimension: str
    level: int
    device: str
    """What was done, e.g. ``blur_time``, ``withhold``, ``tangent``."""
    fact_id: str | None = None
    detail: str | None = None


class Disclosure(Record):
    """A fact told in this turn."""

    fact_id: str
    form: Form = "full"
    asked: bool = True
    """Told in answer to a question; false when volunteered."""
    recognisable: bool = True
    """The clinical concept survives in the words."""


class Denial(Record):
    """Something the patient said is not so."""

    kind: DenialKind
    """``recorded``: a denied fact of the case. ``unrecorded``: the case neither states nor denies it. ``justified``:
    a first denial of a present sensitive fact (social_cultural >= 3)."""
    concept: str
    fact_id: str | None = None
    retracted: bool = False
    """On the turn that admits it: this earlier justified denial no longer stands."""


class Segment(Record):
    """One stretch of a patient's turn and where its words come from; the turn's text is the segments joined."""

    text: str
    kind: SegmentKind
    fact_ids: tuple[str, ...] = ()
    device: str | None = None


class ClaimVerdict(Record):
    """The verifier's verdict on one claim of a draft."""

    text: str
    verdict: Literal[
        "supported", "unsupported", "contradicted", "justified_denial", "unrecorded_denial", "not_clinical"
    ]
    evidence: tuple[str, ...] = ()


class VerifiedDraft(Record):
    """One thing a patient model wanted to say, and what the verifier found in it."""

    text: str
    claims: tuple[ClaimVerdict, ...] = ()
    problems: tuple[str, ...] = ()
    """Kinds of violation beside the claims, e.g. ``leak``, ``machine_talk``, ``no_reply``."""

    @property
    def is_hallucinated(self) -> bool:
        """It claims what the record does not hold, or what the record excludes."""
        return any(c.verdict in ("unsupported", "contradicted") for c in self.claims)


class Verification(Record):
    """What the verifier did on one patient turn."""

    drafts: tuple[VerifiedDraft, ...]
    """In order; the last one was said, unless the scripted patient answered in its place."""
    fallback: bool = False

    @property
    def attempts(self) -> int:
        """How often the model was asked."""
        return len(self.drafts)

    @property
    def claims(self) -> tuple[ClaimVerdict, ...]:
        """The claims of what was said; none are made by a scripted answer."""
        return () if self.fallback or not self.drafts else self.drafts[-1].claims


class Turn(Record):
    """One message. Fields below ``text`` are empty for speakers they do not fit."""

    index: int
    """Counts doctor messages from 1; the patient's opening has index 0, a reply has its doctor message's index."""
    speaker: Speaker
    text: str
    heard_by: tuple[Speaker, ...] = ()
    patient_heard: str | None = None
    """What the patient heard of a doctor's message, where an order to the examiner stood beside it."""
    raw: str | None = None
    """What the model wrote, where it differs from what was heard."""
    flags: tuple[str, ...] = ()
    """What was unusual about the message, e.g. ``empty``, ``both_sides``, ``unclosed_think``, ``forced``."""
    asked: tuple[str, ...] = ()
    """Items (fact ids, or ``concept:<id>`` where the case holds no fact) that the doctor's message asked about."""
    disclosed: tuple[Disclosure, ...] = ()
    withheld: tuple[str, ...] = ()
    denials: tuple[Denial, ...] = ()
    events: tuple[NoiseEvent, ...] = ()
    segments: tuple[Segment, ...] = ()
    verification: Verification | None = None


class Outcome(Record):
    """How the consultation ended."""

    diagnosis: str | None
    differential: tuple[str, ...] = ()
    stop_reason: StopReason
    turns: int
    """Number of doctor messages."""
    error: str | None = None


class Report(Record):
    """The doctor's written report (AI Hospital, arXiv 2402.09742): five parts, a missing part is null."""

    symptoms: str | None = None
    examinations: str | None = None
    diagnosis: str | None = None
    rationale: str | None = None
    treatment: str | None = None
    raw: str | None = None


class Opinion(Record):
    """What one doctor of a collaboration holds."""

    doctor: str
    diagnosis: str | None
    text: str | None = None
    """The report or revision as written."""


class RevisionRound(Record):
    """The doctors' opinions at one time, and what they disagree about."""

    opinions: tuple[Opinion, ...]
    agreed: bool
    disagreements: tuple[str, ...] = ()
    """As the Central Agent listed them."""


class Collaboration(Record):
    """How several doctors came to one report (AI Hospital's collaborative diagnosis)."""

    doctors: tuple[str, ...]
    absent: dict[str, str] = Field(default_factory=dict)
    """Doctors whose own consultation did not come to its end, and why."""
    symptoms: str | None = None
    """What they collected, as the Central Agent merged it."""
    examinations: str | None = None
    disputed: tuple[str, ...] = ()
    """Facts on which their accounts contradict each other, as questions or orders."""
    asked_again: bool = False
    """Whether disputed facts were asked again; the answers are the transcript's turns."""
    rounds: tuple[RevisionRound, ...] = ()
    """The first is before any revision."""
    consensus: bool | None = None
    """Null where fewer than two doctors could confer."""
    settled_by: SettledBy | None = None
    """Whose the final diagnosis is; ``first_doctor`` when the Central Agent gave no synthesis, null without any."""

    @property
    def revisions(self) -> int:
        """How many rounds of revision there were."""
        return max(len(self.rounds) - 1, 0)


class Role(Record):
    """Which model, with which settings, played whom."""

    model: str
    settings: dict[str, Any] = Field(default_factory=dict)
    same_as_doctor: bool = False


class CleanTwin(Record):
    """What became of the same consultation without noise."""

    diagnosis: str | None
    stop_reason: StopReason
    turns: int


class Transcript(Record):
    """One consultation, whole."""

    schema_version: Literal[1] = 1
    task: str
    variant: str
    case_id: str
    noise: dict[str, int]
    persona: dict[str, str] | None = None
    seed: int
    repeat: int = 0
    roles: dict[str, Role]
    turns: tuple[Turn, ...]
    outcome: Outcome
    report: Report | None = None
    report_missing: str | None = None
    """Why there is no report."""
    collaboration: Collaboration | None = None
    """How several doctors worked together; null for a single doctor."""
    clean_twin: CleanTwin | None = None
    """Null on a clean consultation."""
    fingerprint: str
    """Hash of everything that makes the instrument; see ``instrument``."""
    instrument: dict[str, Any] = Field(default_factory=dict)

    @field_validator("noise")
    @classmethod
    def _noise_is_known(cls, noise: dict[str, int]) -> dict[str, int]:
        return dict(NoiseProfile(noise))

    @property
    def profile(self) -> NoiseProfile:
        """The noise as a profile."""
        return NoiseProfile(self.noise)

    def patient_turns(self) -> tuple[Turn, ...]:
        """The patient's turns, the opening included."""
        return tuple(t for t in self.turns if t.speaker == "patient")
