"""Ready-made sentence vectors of the diagnosis names, so that a search need not encode thousands of them.

``python -m verisim_tasks.language.icd_vectors`` writes the file anew; do so after a change of the terminology file.
Names that the file lacks (a later ICD-10-CM release, say) are encoded on the spot.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np
import numpy.typing as npt

from verisim_tasks.language.embedding import MODEL_REVISION, Vectors, default_encoder
from verisim_tasks.language.icd_names import spoken_names

FILE = "diagnosis_vectors.npz"
_SCALE = 127.0
"""Vectors are stored as whole numbers of 1/127 of the largest entry; similarities change by less than 0.01."""


@functools.cache
def name_vectors() -> Vectors:
    """Unit vectors of ``spoken_names()``, in their order."""
    texts = [n.text.lower() for n in spoken_names()]
    stored = stored_vectors()
    missing = [t for t in texts if t not in stored]
    fresh = dict(zip(missing, _unit(_whole(default_encoder().encode(missing))), strict=True)) if missing else {}
    return np.stack([stored[t] if t in stored else fresh[t] for t in texts])


@functools.cache
def stored_vectors() -> Mapping[str, npt.NDArray[np.float32]]:
    """The vectors of the file by text; none when it is missing or was made by another model."""
    with as_file(files("verisim_fixtures") / "lexicon" / FILE) as path:
        if not path.is_file():
            return {}
        with np.load(path, allow_pickle=False) as data:
            if str(data["model"]) != MODEL_REVISION:
                return {}
            return dict(zip(data["texts"].tolist(), _unit(data["vectors"]), strict=True))


def write_vectors() -> Path:
    """Encode the names and replace the file."""
    texts = sorted({n.text.lower() for n in spoken_names()})
    vectors = _whole(default_encoder().encode(texts))
    with as_file(files("verisim_fixtures") / "lexicon" / FILE) as path:
        temporary = path.with_suffix(".tmp.npz")
        try:
            np.savez_compressed(temporary, vectors=vectors, texts=np.array(texts), model=np.array(MODEL_REVISION))
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
        return path


def _whole(vectors: Vectors) -> npt.NDArray[np.int8]:
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    return np.asarray(np.round(vectors / largest * _SCALE), dtype=np.int8)


def _unit(whole: npt.NDArray[np.int8]) -> Vectors:
    vectors = whole.astype(np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


if __name__ == "__main__":
    print(write_vectors())
