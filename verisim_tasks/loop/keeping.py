"""Where the words of a run's models are kept: its own log, and the content cache that outlives it.

The key of the cache holds all that can change a reply: the model's identity down to its weights, the rendered prompt
(and so the chat template), the generation settings, the repeat of the consultation, and for a sampled reply the whole
label, so that no two consultations share a draw.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from verisim_tasks._stable import digest
from verisim_tasks.errors import UserError
from verisim_tasks.language.vector_store import CACHE_VARIABLE, cache_folder
from verisim_tasks.loop.content_cache import ContentCache, Kind, Shelf
from verisim_tasks.loop.labels import Label
from verisim_tasks.loop.model_identity import describe_weights
from verisim_tasks.loop.run_log import Line, Section
from verisim_tasks.loop.store import check_writable


class Memory(Protocol):
    """Replies by key, as a dictionary has them."""

    def get(self, key: str, /) -> Any | None:
        """What is kept, or None."""

    def update(self, replies: Mapping[str, Any], /) -> None:
        """Keep replies."""


@dataclass(frozen=True)
class Keeping:
    """What there is to keep replies in; nothing by default."""

    section: Section | None = None
    cache: ContentCache | None = None

    def shelf(self, kind: Kind) -> Shelf | None:
        """The content cache of one kind, if there is a cache."""
        return self.cache.shelf(kind) if self.cache else None

    def by_key(self, kind: Kind, lm: Any, args: Mapping[str, Any] | None = None) -> Memory:
        """A memory for one model whose caller makes keys of its own (the judge): log and cache, newest first."""
        layers: list[Memory] = [{}]
        if self.section is not None:
            layers.append(LoggedReplies(self.section, kind))
        shelf = self.shelf(kind)
        if shelf is not None:
            layers.append(_OfModel(shelf, digest(_plain(describe_weights(lm, args)))))
        return Layers(tuple(layers))

    def speaker_options(self, kind: Kind, lm: Any, args: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Options of a ``ModelSpeaker`` that make it read and write the content cache."""
        shelf = self.shelf(kind)
        if shelf is None:
            return {}
        return {"cache": shelf, "slot_of": ContentSlots(digest(_plain(describe_weights(lm, args))))}


NOWHERE = Keeping()


def open_cache(given: bool | str) -> ContentCache | None:
    """The cache that the setting ``cache`` asks for: true for the default folder, or a folder.

    Raises:
        UserError: for a folder that cannot be written to, or when the default one is switched off.
    """
    if given is False:
        return None
    folder = cache_folder() if given is True else Path(str(given)).expanduser()
    if folder is None:
        raise UserError(f"cache is true, but {CACHE_VARIABLE} is empty and switches the default folder off; name one")
    check_writable(folder, "cache in metadata.verisim")
    return ContentCache(folder)


@dataclass(frozen=True)
class ContentSlots:
    """Makes the keys of one model's replies."""

    identity: str

    def __call__(self, text: Any, kwargs: Mapping[str, Any], label: Label | None) -> str | None:
        """The key of a rendered prompt; None for a sampled reply that belongs to no consultation."""
        sampled = bool(kwargs["do_sample"])
        if sampled and label is None:
            return None
        draw = list(label) if sampled and label else [label.repeat if label else 0]
        return digest([self.identity, _plain(text), _plain(kwargs), draw])


@dataclass(frozen=True)
class Layers:
    """Several memories as one. What a lower one knows is told to those above it, so that the run's log is complete."""

    memories: tuple[Memory, ...]

    def get(self, key: str, /) -> Any | None:
        """What the first memory that knows it says."""
        for place, memory in enumerate(self.memories):
            found = memory.get(key)
            if found is not None:
                for above in self.memories[:place]:
                    above.update({key: found})
                return found
        return None

    def update(self, replies: Mapping[str, Any], /) -> None:
        """Keep replies everywhere."""
        for memory in self.memories:
            memory.update(replies)


@dataclass(frozen=True)
class LoggedReplies:
    """Replies in the run log, by key: a run that goes on does not ask for them again."""

    section: Section
    who: str
    _new: set[str] = field(default_factory=set)

    def get(self, key: str, /) -> Any | None:
        """What the log held when the run began."""
        return self.section.find((self.who, None, key, 0))

    def update(self, replies: Mapping[str, Any], /) -> None:
        """Append what the log does not hold."""
        new = {k: v for k, v in replies.items() if k not in self._new and self.get(k) is None}
        self._new.update(new)
        self.section.add([Line(self.who, None, key, 0, said) for key, said in new.items()])


@dataclass(frozen=True)
class _OfModel:
    """A shelf seen by one model."""

    shelf: Shelf
    identity: str

    def get(self, key: str, /) -> Any | None:
        return self.shelf.get(digest([self.identity, key]))

    def update(self, replies: Mapping[str, Any], /) -> None:
        self.shelf.update({digest([self.identity, key]): said for key, said in replies.items()})


def _plain(value: Any) -> Any:
    """As JSON has it; what JSON does not know as text. Lone surrogates stay apart from what they look like."""
    return json.dumps(value, sort_keys=True, default=str)
