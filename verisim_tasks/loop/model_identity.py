"""Which model that is, down to its weights: what a reply is kept under between runs."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from verisim_tasks.loop.run_header import describe_model

_NAMES = ("pretrained", "peft", "delta", "tokenizer", "model", "gguf_file")
"""Arguments and attributes of lm-eval's models that may name a file or folder of weights."""
_BLOCK = 1 << 20


def describe_weights(lm: Any, args: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What tells a loaded lm-eval model from every other, JSON-able.

    Local weights are named by their content, weights of the hub by their commit. Of a model behind a server nothing is
    known but its name and where it is.

    Args:
        lm: The model.
        args: What it was made with, where that is known.
    """
    return {
        **describe_model(lm),
        "server": getattr(lm, "base_url", None),
        "commits": sorted({c for c in map(_commit, _configs(lm)) if c}),
        "files": {str(name): weights_digest(Path(name)) for name in sorted(_local(lm, args or {}))},
    }


def weights_digest(path: Path) -> str:
    """A digest of a file, or of the files of a folder (not of its subfolders), by content; 1-2 GB a second."""
    files = [f for f in sorted(path.iterdir()) if f.is_file()] if path.is_dir() else [path]
    whole = hashlib.sha256()
    for file in files:
        about = file.stat()
        whole.update(f"{file.name} {_file_digest(file, about.st_size, about.st_mtime_ns)}\n".encode())
    return whole.hexdigest()


@functools.cache
def _file_digest(file: Path, size: int, changed: int) -> str:
    """Read once in a process, as long as size and time of change are the same."""
    found = hashlib.sha256()
    with file.open("rb") as data:
        while block := data.read(_BLOCK):
            found.update(block)
    return found.hexdigest()


def _local(lm: Any, args: Mapping[str, Any]) -> set[str]:
    """Files and folders that the model was made of."""
    own = getattr(lm, "model_args", None)
    named = [getattr(lm, name, None) for name in _NAMES]
    for given in (args, own if isinstance(own, Mapping) else {}):
        named += [given.get(name) for name in _NAMES]
    return {name for name in named if isinstance(name, str) and name and Path(name).exists()}


def _configs(lm: Any) -> Iterator[Any]:
    """The configurations of transformers that a model carries."""
    for holder in (lm, getattr(lm, "_model", None)):
        for name in ("_config", "config"):
            yield getattr(holder, name, None)


def _commit(config: Any) -> str | None:
    found = getattr(config, "_commit_hash", None)
    return found if isinstance(found, str) else None
