"""Models that speak beside the one under test, with their words kept: one seam for patient, interviewer, colleagues."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from verisim_tasks.clinician.model import ClinicianLM
from verisim_tasks.loop.content_cache import Kind
from verisim_tasks.loop.keeping import NOWHERE, Keeping
from verisim_tasks.loop.logged import LoggedSpeaker


def role_speaker(
    lm: Any, kind: Kind, keeping: Keeping, *, args: Mapping[str, Any] | None = None, name: str | None, **options: Any
) -> LoggedSpeaker:
    """A model in a role.

    Args:
        lm: The model.
        kind: The role, in messages and in the content cache.
        keeping: What there is to keep replies in. The built-in clinician's are not kept: asking again costs nothing.
        args: What the model was made with, where that is known.
        name: Names the speaker in the run log, apart from every other model; None keeps its words out of the log.
        **options: As ``ModelSpeaker`` takes them.
    """
    own = NOWHERE if isinstance(lm, ClinicianLM) else keeping
    section = own.section if name is not None else None
    more = own.speaker_options(kind, lm, args)
    return LoggedSpeaker(lm, section=section, logged_as=name or kind, who=kind, **more, **options)
