"""The leaderboard entry: everything one run of one model says, as one strict JSON record.

No text of any case or conversation is in it: ids, counts and scores only.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

ENTRY_SCHEMA_VERSION: Literal[2] = 2

_PRINTABLE = r"^[^\x00-\x1f\x7f-\x9f]*$"
Line = Annotated[str, Field(max_length=500, pattern=_PRINTABLE)]
"""One line of text without control characters: it will be shown in terminals and pages."""
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=_PRINTABLE)]
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


ScoreName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=80)]

ScoreTable = dict[ScoreName, Score]
"""All scores of one variant, or of a group of them, by name; repeats are averaged within a case first.

Any name may stand in it. Known ones come first and in the order of ``score_names.yaml``, which says of each what it
means, its unit and which way is better; see ``score_names.describe``.
"""


class Reported(EntryRecord):
    """A score that lm-eval reported and that transcripts and cases alone do not give, e.g. a judge's."""

    value: float | None
    """Null where lm-eval held no number."""
    n: Count | None
    """Cases with a defined value; null where it was not reported."""
    coverage: Share | None
    """Share of the task's cases that have a defined value; null where n is."""
    low: float | None
    """Lower end of the 95% interval, value - 1.96 standard errors within the score's range; null without one."""
    high: float | None
    stderr: float | None
    """Standard error over cases, as reported."""


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

    variant: Line
    task: Line
    dimension: str | None
    """Null for the clean, the mixed and custom variants."""
    level: Annotated[int, Field(ge=0, le=4)] | None
    counts: Counts
    scores: ScoreTable
    reported: dict[ScoreName, Reported] = {}
    """What only lm-eval's results hold: scores that need a judge or another model. ``rescore`` cannot check them."""


class OtherTask(EntryRecord):
    """A task with an instrument of its own (such as ``verisim_mvme``): its scores as lm-eval reported them."""

    task: str
    consultations: Count
    """Transcripts of it beside the others; 0 when there are none."""
    reported: dict[ScoreName, Reported]


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
    scores: ScoreTable


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


class VariantTest(EntryRecord):
    """Is the loss of one noisy variant more than chance? Accuracy of noisy against clean twins, over cases."""

    variant: str
    n: Count
    """Cases with both halves."""
    changed: Count
    """Cases whose accuracy differs between the halves."""
    statistic: float | None
    """Wilcoxon's signed-rank statistic: the smaller of the two rank sums; null when no case changed."""
    p: Share | None
    """Two-sided."""
    p_holm: Share | None
    """Corrected for the number of variants of this entry that could be tested (Holm)."""
    rank_biserial: Annotated[float, Field(ge=-1, le=1)] | None
    """Effect size: share of the ranks that speak for a loss minus the share against; 1 is every changed case lost."""
    cohens_d: float | None
    """Effect size: mean loss over its standard deviation across cases; null when the losses do not vary."""
    detectable_drop: float | None
    """Smallest true drop, in points, that this many pairs show with power 80% at 5%; null when losses do not vary,
    or when not even 100 points would show."""


class DimensionRobustness(EntryRecord):
    """How much accuracy one dimension leaves over its levels."""

    dimension: str
    area: Score
    """Area under accuracy over level 0-4 (trapezoids), divided by 4: a mean accuracy, 0-1."""
    retained: float | None
    """The area as a share of the clean accuracy of the same cases: 1 is nothing lost. Null below 20% clean accuracy."""


class Robustness(EntryRecord):
    """Areas under the curves of the dimensions that were run at all levels."""

    dimensions: tuple[DimensionRobustness, ...]
    worst: str | None
    """The dimension that retains least."""
    note: str | None = None
    """Why there is no worst dimension."""


class Cost(EntryRecord):
    """What the run took. What was not tracked is null, never 0."""

    turns: Count | None
    """Doctor messages of all consultations together."""
    doctor_tokens: Count | None
    """Tokens that the model under test wrote."""
    seconds: Annotated[float, Field(ge=0)] | None
    """Wall time of the whole lm-eval call, loading of the model included."""


Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Cleanness = Literal["clean", "unknown", "contaminated"]


class ModelInfo(EntryRecord):
    """The model under test."""

    name: Line
    """As lm-eval names it."""
    canonical_name: Name
    """The name by which entries of one model are known to belong together, e.g. ``Qwen/Qwen2.5-7B-Instruct``."""
    kind: str | None
    """lm-eval's model type, e.g. ``hf``."""
    args: dict[str, Any]
    """lm-eval's model arguments; secrets are removed and local paths shortened to their last part."""
    parameters: Annotated[int, Field(ge=1)] | None = None
    """Size; null when not known."""
    dtype: str | None = None
    revision: Line | None = None
    """The pinned revision, e.g. a commit of a model repository."""
    weights_sha256: Sha256 | None = None
    """Digest of the weights: of the one file, or of the names and digests of all weights files."""
    licence: Name | None = None
    open_weights: bool | None = None
    """Null when nobody said."""


class Contamination(EntryRecord):
    """What the submitter says about cases of the bank in the training data.

    What holds of the model is the worse of this and of its parents' own; see ``ranking.contamination_of``.
    """

    declared: Cleanness = "unknown"
    parents: tuple[Name, ...] = ()
    """Canonical names of the models that this one was trained from."""
    reason: Line | None = None


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
    sha256: Sha256
    """Of the uncompressed text."""
    consultations: Count


class Difference(EntryRecord):
    """One setting in which a run departs from the standard one."""

    setting: str
    """Dotted path, e.g. ``suite.max_turns`` or ``instrument.patient``."""
    standard: Any
    found: Any


class Entry(EntryRecord):
    """One leaderboard entry."""

    schema_version: Literal[2] = ENTRY_SCHEMA_VERSION
    kind: Literal["standard", "custom"]
    """``standard``: the whole bank, the scripted patient, no judge, every setting that bears on scores as delivered."""
    differences: tuple[Difference, ...]
    """What makes an entry custom; empty for a standard one."""
    model: ModelInfo
    contamination: Contamination = Contamination()
    submitter: Name | None = None
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
    cost: Cost
    variants: tuple[VariantEntry, ...]
    other_tasks: tuple[OtherTask, ...] = ()
    groups: tuple[GroupEntry, ...]
    """One for each dimension, one for each level, and ``noisy``."""
    curves: tuple[Curve, ...]
    tests: tuple[VariantTest, ...]
    """One for each noisy variant."""
    robustness: Robustness
    transcripts: TranscriptFile
    warnings: tuple[str, ...] = ()
