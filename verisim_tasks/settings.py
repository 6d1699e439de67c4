"""The suite's settings: everything that stands under the one key ``verisim`` of lm-eval's task metadata.

Other metadata keys are never read: lm-eval mixes model arguments (tokens included) into the same mapping.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from verisim_tasks.errors import UserError, did_you_mean

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


class Settings(BaseModel):
    """How consultations are run. Values are strict: ``"20"`` is not a number, ``true`` is not 1."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    patient: Literal["scripted", "same"] | PatientModel = "scripted"
    """Who plays the patient: rules and data alone, the model under test (flagged in every result), or another model."""
    judge: Literal["same"] | RoleModel | None = None
    """A model that extracts the claims of a played patient's drafts; without one, rules do."""
    cases: Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)] = "bank"
    """``bank``, or a file, folder or importer that ``verisim_tasks.cases.bank.load_cases`` understands."""
    max_turns: Annotated[int, Field(ge=1, le=200)] = 20
    """Doctor messages per consultation; the last one is forced to conclude."""
    seed: Annotated[int, Field(ge=0, le=2**63 - 1)] = 1234
    """Seed of every draw the patient makes."""
    repeats: Annotated[int, Field(ge=1, le=100)] = 1
    """Consultations per case and variant, averaged within the case."""
    max_reply_tokens: Annotated[int, Field(ge=1, le=1_000_000)] = 256
    """Longest doctor message, in tokens."""
    run_dir: Annotated[str, StringConstraints(min_length=1)] | None = None
    """Folder for ``transcripts.jsonl``; null lets the suite choose and log one."""
    keep_restricted_text: bool = False
    """Write what is said in cases under a data-use agreement into the transcripts; by default it is left out."""


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
        first = error.errors()[0]
        name = first["loc"][0]
        reason = first["msg"][0].lower() + first["msg"][1:]
        raise UserError(f"setting {name!r} in metadata.{KEY} is {given[name]!r}: {reason}") from None
