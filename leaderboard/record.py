"""The leaderboard entry: everything one run of one model says, as one strict JSON record.

No text of any case or conversation is in it: ids, counts and scores only.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

ENTRY_SCHEMA_VERSION = 1

Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]


class EntryRecord(BaseModel):
    """Base of the entry's records: unknown fields are errors, and no number is infinite or NaN."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Score(EntryRecord):
    """One score with what it rests on."""

    value: float | None
    """Null where it cannot be defined."""
    n: Count
    """Cases with a defined value."""
    coverage: Share | None
    """Share of the variant's cases that have a defined value; null without cases."""
    low: float | None
    """Lower end of the 95% paired bootstrap interval over cases; null with fewer than two cases."""
    high: float | None
    note: str | None = None
    """Why there is no value, e.g. that a drop is hidden."""


class ScoreTable(EntryRecord):
    """All scores of one variant, or of a group of them. Repeats are averaged within a case first."""

    diagnostic_accuracy: Score
    """Share of right final diagnoses, 0-1."""
    diagnostic_category: Score
    """Share of final diagnoses in the right three-character ICD category, 0-1."""
    clean_accuracy: Score
    """Accuracy of the clean twins, 0-1."""
    accuracy_drop: Score
    """Clean minus noisy over pairs, in points (-100 to 100)."""
    accuracy_drop_relative: Score
    """1 - noisy / clean accuracy over pairs, as a share."""
    turns: Score
    """Doctor messages a consultation."""
    clean_turns: Score
    """Doctor messages of the clean twin."""
    turn_inflation: Score
    """Sum of noisy turns / sum of clean turns - 1: 0.4 is 40% more."""
    censored: Score
    """Share of pairs in which either half reached the turn limit, 0-1."""
    diagnosed_before_limit: Score
    """Share of consultations in which the doctor concluded unforced, 0-1."""
    key_facts: Score
    """Share of the key facts told after a question, 0-1."""
    key_facts_recognisable: Score
    """The same, of facts whose clinical concept survived in the words, 0-1."""
    key_facts_per_turn: Score
    """Turn-weighted: sum of key_facts over sum of turns."""
    key_facts_recognisable_per_turn: Score
    """Turn-weighted: sum of key_facts_recognisable over sum of turns."""
    sensitive_facts: Score
    """Share of the case's present sensitive facts told after a question, 0-1."""
    asked_facts: Score
    """Facts told after a question, a count."""
    volunteered_facts: Score
    """Facts told unasked and never asked for, a count."""
    hallucination_rate_draft: Score
    """Share of patient turns whose first draft held an unsupported claim, 0-1; undefined for a scripted patient."""
    hallucination_rate: Score
    """The same of what was said."""
    fallback_rate: Score
    """Share of patient turns that the scripted patient had to answer, 0-1."""


class Counts(EntryRecord):
    """How consultations ended."""

    cases: Count
    consultations: Count
    errors: Count
    """Consultations that ended in an error."""
    excluded: Count
    """Consultations left out of every score: they, or their clean twin, ended in an error."""
    censored: Count
    """Scored consultations that reached the turn limit, or whose clean twin did."""
    context_limits: Count
    """Consultations whose prompt no longer fitted the model's context; scored as wrong."""


class VariantEntry(EntryRecord):
    """One variant (task) of the suite."""

    variant: str
    task: str
    dimension: str | None
    """Null for the clean, the mixed and custom variants."""
    level: Annotated[int, Field(ge=0, le=4)] | None
    counts: Counts
    scores: ScoreTable


class GroupEntry(EntryRecord):
    """Several variants together."""

    group: str
    variants: tuple[str, ...]
    missing: tuple[str, ...]
    """Variants of the group that were not run."""
    counts: Counts
    micro: ScoreTable
    """Every consultation weighs the same; ratios are of pooled sums."""
    macro: ScoreTable
    """Means of the variants' own scores."""


class CurvePoint(EntryRecord):
    """One level of one dimension; level 0 is the clean consultations of the same cases."""

    level: Annotated[int, Field(ge=0, le=4)]
    variant: str
    cases: Count
    """0 when the level was not run; then every value is null."""
    diagnostic_accuracy: Score
    accuracy_drop: Score
    turns: Score
    turn_inflation: Score
    key_facts: Score
    key_facts_recognisable: Score
    key_facts_per_turn: Score
    sensitive_facts: Score


class Curve(EntryRecord):
    """What one dimension does from level 0 to 4."""

    dimension: str
    points: tuple[CurvePoint, ...]


class Headline(EntryRecord):
    """The few numbers a model is compared by; drop and inflation are of the mixed protocol."""

    clean_accuracy: Score
    mixed_accuracy: Score
    accuracy_drop: Score
    accuracy_drop_relative: Score
    turn_inflation: Score
    censored: Score


class ModelInfo(EntryRecord):
    """The model under test."""

    name: str
    kind: str | None
    """lm-eval's model type, e.g. ``hf``."""
    args: dict[str, Any]
    """lm-eval's model arguments; secrets are removed and local paths shortened to their last part."""
    parameters: int | None = None
    dtype: str | None = None
    revision: str | None = None


class RunSettings(EntryRecord):
    """How the consultations were run."""

    suite: dict[str, Any]
    """The suite's own settings (``metadata.verisim``)."""
    patient: str
    """Who played the patient."""
    patient_is_doctor: bool
    """The model under test also played the patient."""
    seeds: tuple[int, ...]
    repeats: Count
    limit: float | None
    batch_size: str | None
    gen_kwargs: dict[str, Any]
    chat_template: bool
    system_instruction: bool
    """A system instruction of the user's own stood before the doctor's contract."""


class Instrument(EntryRecord):
    """What the model was measured with; only entries with equal fingerprints are comparable."""

    fingerprint: str
    parts: dict[str, Any]


class TranscriptFile(EntryRecord):
    """The transcripts that the entry was computed from."""

    file: str
    """File name, without its folder."""
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    consultations: Count


class Entry(EntryRecord):
    """One leaderboard entry."""

    schema_version: Literal[1] = 1
    model: ModelInfo
    date: str | None
    """When the run started, ISO 8601 in UTC, from lm-eval's results."""
    versions: dict[str, str]
    """Of the libraries the run used, beside the instrument."""
    scored_with: str
    """Version of verisim-tasks that computed this entry."""
    instrument: Instrument
    settings: RunSettings
    headline: Headline
    counts: Counts
    variants: tuple[VariantEntry, ...]
    groups: tuple[GroupEntry, ...]
    """One for each dimension, one for each level, and ``noisy``."""
    curves: tuple[Curve, ...]
    transcripts: TranscriptFile
    warnings: tuple[str, ...] = ()
