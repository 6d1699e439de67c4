"""Transcripts of cases under a data-use agreement: what may leave the run's own folder."""

from __future__ import annotations

from verisim_tasks.records.transcript import Transcript, Turn

WITHHELD = "[restricted]"


def without_text(transcript: Transcript) -> Transcript:
    """The transcript with everything that was said taken out; what is scored by ids and by the diagnosis stays."""
    return transcript.model_copy(
        update={"turns": tuple(_bare(t) for t in transcript.turns), "report": None, "persona": None}
    )


def _bare(turn: Turn) -> Turn:
    return turn.model_copy(
        update={
            "text": WITHHELD,
            "raw": None,
            "segments": (),
            "verification": None,
            "events": tuple(e.model_copy(update={"detail": None}) for e in turn.events),
            "denials": tuple(d.model_copy(update={"concept": WITHHELD}) for d in turn.denials),
        }
    )
