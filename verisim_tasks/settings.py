"""The suite's settings: everything that stands under the one key ``verisim`` of lm-eval's task metadata.

Other metadata keys are never read: lm-eval mixes model arguments (tokens included) into the same mapping.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from verisim_metrics.patientsim.personas import find_persona
from verisim_tasks.errors import UserError, did_you_mean

TABLE = "table"
"""As ``persona``: the stored, balanced assignment."""
JUDGE = "judge"
"""As ``nli``: the judge model, with PatientSim's own steps."""

KEY = "verisim"
"""The metadata key, as in ``--metadata '{"verisim": {"max_turns": 10}}'``."""


class RoleModel(BaseModel):
    """A model that plays a role, named as on lm-eval's command line: ``{"model": "hf", "model_args": {...}}``."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    model: Annotated[str, StringConstraints(min_length=1)]
    model_args: dict[str, Any] | str = {}


class PatientModel(RoleModel):
    """A model that plays the patient: the part from the whole record, or rewording what the scripted patient says."""

    style: Literal["act", "reword"] = "act"


class ExaminerOptions(BaseModel):
    """What the examiner says of a test that the case does not hold."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    absent_tests: Literal["not_recorded", "normal"] = "not_recorded"
    """``not_recorded`` says so; ``normal`` is the published "no abnormality found", which may be untrue."""


class CollaborationOptions(BaseModel):
    """How several doctors find a diagnosis together (task ``verisim_mvme_collab``)."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    doctors: Literal[2, 3] | Annotated[list[Literal["same"] | RoleModel], Field(min_length=2, max_length=3)] = 3
    """How many roles the model under test plays, or the models of the doctors."""
    central: Literal["same"] | RoleModel = "same"
    """The Central Agent, who never sees a record."""
    rounds: Annotated[int, Field(ge=1, le=4)] = 4
    """Rounds of revision at most."""
    dispute_resolution: bool = True
    """Whether disputed facts are asked again of patient and examiner."""


class Settings(BaseModel):
    """How consultations are run. Values are strict: ``"20"`` is not a number, ``true`` is not 1."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    patient: Literal["scripted", "same"] | PatientModel = "scripted"
    """Who plays the patient: rules and data alone, the model under test (flagged in every result), or another model."""
    judge: Literal["same"] | RoleModel | None = None
    """A model that extracts the claims of a played patient's drafts and gives the judged scores; without one, rules
    extract, and judged scores are null."""
    nli: Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)] | None = "builtin"
    """What says whether a patient's sentence follows from the record: ``builtin``, a Hugging Face cross-encoder by name
    or folder, ``judge``, or null for no truth scores of the patient's side."""
    persona: str | dict[str, Any] | None = None
    """Who the patient is: axes such as ``{"personality": "verbose", "cefr": "B", "recall": "low"}``, the name of a
    persona, or ``table`` for the stored balanced assignment, which ``verisim_patientsim`` uses anyway."""
    interviewer: Literal["clinician", "same"] | RoleModel = "clinician"
    """Who asks in ``verisim_patientsim``: the built-in clinician, the model under test (flagged), or another model."""
    cases: Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)] = "bank"
    """``bank``, or a file, folder or importer that ``verisim_tasks.cases.bank.load_cases`` understands; with ``#3/8``
    behind it, every eighth case from the third (``verisim run --shard 3/8``)."""
    max_turns: Annotated[int, Field(ge=1, le=200)] = 20
    """Doctor messages per consultation; the last one is forced to conclude."""
    seed: Annotated[int, Field(ge=0, le=2**63 - 1)] = 1234
    """Seed of every draw the patient makes."""
    repeats: Annotated[int, Field(ge=1, le=100)] = 1
    """Consultations per case and variant, averaged within the case."""
    max_reply_tokens: Annotated[int, Field(ge=1, le=1_000_000)] = 256
    """Longest doctor message, in tokens."""
    report: bool = True
    """Whether the doctor writes the five-part report after the diagnosis: one more generation per consultation."""
    max_report_tokens: Annotated[int, Field(ge=1, le=1_000_000)] = 768
    """Longest report, in tokens."""
    examiner: bool | ExaminerOptions = False
    """Whether examinations can be ordered; ``verisim_mvme`` and ``verisim_mvme_collab`` always have an examiner."""
    collaboration: CollaborationOptions = CollaborationOptions()
    """Read by ``verisim_mvme_collab`` alone."""
    run_dir: Annotated[str, StringConstraints(min_length=1)] | None = None
    """Folder for ``transcripts.jsonl``; null lets the suite choose and log one."""
    cache: bool | Annotated[str, StringConstraints(min_length=1)] = False
    """Keep what judge, NLI, patient's model, interviewer and colleagues answer between runs: true for the folder
    that ``verisim cache`` names, or another one. The model under test has lm-eval's own ``--use_cache``."""
    keep_restricted_text: bool = False
    """Write what is said in cases under a data-use agreement into the transcripts; by default it is left out."""

    @field_validator("nli")
    @classmethod
    def _judge_is_there(cls, nli: str | None, info: ValidationInfo) -> str | None:
        if nli == JUDGE and info.data.get("judge") is None:
            raise ValueError('"judge" needs a judge; set judge too, or use "builtin"')
        return nli

    @field_validator("persona")
    @classmethod
    def _persona_is_known(cls, persona: str | dict[str, Any] | None) -> str | dict[str, Any] | None:
        if persona is not None and persona != TABLE:
            find_persona(persona)
        return persona


def read_settings(metadata: Mapping[str, Any] | None) -> Settings:
    """The settings in lm-eval task metadata, defaults where nothing is said.

    Raises ``UserError`` for an unknown key or a wrong value.
    """
    given = (metadata or {}).get(KEY)
    if given is None:
        return Settings()
    if not isinstance(given, Mapping):
        raise UserError(
            f'metadata.{KEY} is {given!r}, not a mapping; write it as --metadata \'{{"{KEY}": {{"max_turns": 20}}}}\''
        )
    known = tuple(Settings.model_fields)
    for key in given:
        if key not in known:
            raise UserError(f"unknown setting {key!r} in metadata.{KEY}{did_you_mean(str(key), known)}")
    try:
        return Settings(**given)
    except ValidationError as error:
        first = max(error.errors(), key=lambda e: len(e["loc"]))  # of a choice of forms, the one that fits best
        name = first["loc"][0]
        said = first["msg"].removeprefix("Value error, ")
        reason = said[0].lower() + said[1:]
        raise UserError(f"setting {name!r} in metadata.{KEY} is {given[name]!r}: {reason}") from None
