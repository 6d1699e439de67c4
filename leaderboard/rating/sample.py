"""Which transcripts are rated, in which order, under which numbers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from verisim_leaderboard.record import EntryRecord, Sha256
from verisim_tasks._stable import shuffled
from verisim_tasks.errors import UserError
from verisim_tasks.loop.restricted import WITHHELD
from verisim_tasks.records.transcript import Transcript

KEY_FILE = "key.json"


class KeyItem(EntryRecord):
    """What a number on the sheet stands for."""

    item: str
    variant: str
    case_id: str
    seed: int
    repeat: int
    noise: dict[str, int]

    def is_of(self, transcript: Transcript) -> bool:
        """Whether this is the transcript's number."""
        own = (self.variant, self.case_id, self.seed, self.repeat)
        return own == (transcript.variant, transcript.case_id, transcript.seed, transcript.repeat)


class Key(EntryRecord):
    """What raters must not see: which transcript each number is."""

    schema_version: Literal[1] = 1
    seed: int
    transcripts_sha256: Sha256
    items: tuple[KeyItem, ...]


@dataclass(frozen=True)
class Numbered:
    """A transcript and its number on the sheet."""

    item: str
    transcript: Transcript


def choose(transcripts: Iterable[Transcript], number: int | None, seed: int) -> list[Numbered]:
    """A blinded sample: as many of each variant as of any other, as few of one case as possible, in random order.

    Consultations that ended in an error, and those whose words are withheld, are left out.

    Args:
        transcripts: All there are.
        number: How many; all when left out or when there are fewer.
        seed: Of every draw; the same seed gives the same sheets.

    Raises:
        UserError: when nothing is left to rate.
    """
    usable = [t for t in transcripts if t.outcome.stop_reason != "error" and _has_words(t)]
    if not usable:
        raise UserError("no transcript to rate: all ended in an error, or their words are withheld; name others")
    chosen = _spread(shuffled(usable, "rate", seed), len(usable) if number is None else number)
    width = len(str(len(chosen)))
    return [Numbered(f"R{i:0{width}d}", t) for i, t in enumerate(shuffled(chosen, "order", seed), start=1)]


def make_key(items: Sequence[Numbered], seed: int, sha256: str) -> Key:
    """The key of a sample."""
    return Key(
        seed=seed,
        transcripts_sha256=sha256,
        items=tuple(
            KeyItem(
                item=one.item,
                variant=one.transcript.variant,
                case_id=one.transcript.case_id,
                seed=one.transcript.seed,
                repeat=one.transcript.repeat,
                noise=one.transcript.noise,
            )
            for one in items
        ),
    )


def key_text(key: Key) -> str:
    """The key as the text of its file."""
    return json.dumps(key.model_dump(mode="json"), indent=1, ensure_ascii=False) + "\n"


def read_key(path: Path) -> Key:
    """The key of a file or of the folder that ``export`` made. Raises ``UserError`` when it is none."""
    file = path / KEY_FILE if path.is_dir() else path
    try:
        return Key.model_validate_json(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"key {file} cannot be read ({error.strerror}); name the folder of 'rate export'") from error
    except (ValidationError, UnicodeDecodeError):
        raise UserError(f"{file} is not a key of 'verisim rate export'; name the folder that it made") from None


def _has_words(transcript: Transcript) -> bool:
    return any(t.speaker == "patient" and t.text != WITHHELD for t in transcript.turns)


def _spread(transcripts: list[Transcript], number: int) -> list[Transcript]:
    """Variants in turn; of each the first transcript whose case is used least so far."""
    waiting: dict[str, list[Transcript]] = {}
    for transcript in transcripts:
        waiting.setdefault(transcript.variant, []).append(transcript)
    used: Counter[str] = Counter()
    chosen: list[Transcript] = []
    while len(chosen) < number and any(waiting.values()):
        for group in waiting.values():
            if group and len(chosen) < number:
                best: Any = min(range(len(group)), key=lambda i, g=group: (used[g[i].case_id], i))  # type: ignore[misc]
                chosen.append(group.pop(best))
                used[chosen[-1].case_id] += 1
    return chosen
