"""Transcripts of cases under a data-use agreement: what may leave the run's own folder."""

from __future__ import annotations

from verisim_tasks.records.transcript import Collaboration, Opinion, RevisionRound, Transcript, Turn

WITHHELD = "[restricted]"


def without_text(transcript: Transcript) -> Transcript:
    """The transcript with everything that was said taken out; what is scored by ids and by the diagnosis stays."""
    shared = transcript.collaboration
    return transcript.model_copy(
        update={
            "turns": tuple(_bare(t) for t in transcript.turns),
            "report": None,
            "persona": None,
            "collaboration": _bare_collaboration(shared) if shared is not None else None,
        }
    )


def _bare_collaboration(shared: Collaboration) -> Collaboration:
    rounds = tuple(
        RevisionRound(opinions=tuple(_bare_opinion(o) for o in r.opinions), agreed=r.agreed) for r in shared.rounds
    )
    told = {"symptoms": None, "examinations": None, "disputed": (WITHHELD,) * len(shared.disputed)}
    return shared.model_copy(update={**told, "rounds": rounds})


def _bare_opinion(opinion: Opinion) -> Opinion:
    return opinion.model_copy(update={"text": None})


def _bare(turn: Turn) -> Turn:
    return turn.model_copy(
        update={
            "text": WITHHELD,
            "patient_heard": None,
            "raw": None,
            "segments": (),
            "verification": None,
            "events": tuple(e.model_copy(update={"detail": None}) for e in turn.events),
            "denials": tuple(d.model_copy(update={"concept": WITHHELD}) for d in turn.denials),
        }
    )
