"""The encoder of doctors' questions: MiniLM tuned so that a question lies by the facts that answer it."""

from __future__ import annotations

import functools
import io
from hashlib import sha256
from importlib.resources import files
from typing import Any

import numpy as np

from verisim_tasks.language.embedding import MODEL_NAME, MODEL_REVISION, SentenceEncoder
from verisim_tasks.language.packed_weights import unpack
from verisim_tasks.language.vector_store import VectorStore, cache_folder

BASE = ("embeddings.", "pooler.")
"""Frozen parts that are MiniLM's own, or unused."""


class QuestionEncoder(SentenceEncoder):
    """Unit vectors of shape ``(n, 384)``; made by ``scripts/fit_question_encoder.py``.

    Raises ``UserError`` when MiniLM or the tuned weights cannot be had.
    """

    def __init__(self, weights: bytes | None = None) -> None:
        self._weights = weights or shipped_weights()
        super().__init__(VectorStore(cache_folder(), f"{MODEL_NAME}@{MODEL_REVISION}+{digest_of(self._weights)}"))

    @functools.cached_property
    def _model(self) -> Any:
        import torch

        model = self._load()
        body = model[0].auto_model
        own = {name: tensor.detach().numpy() for name, tensor in body.state_dict().items()}
        with np.load(io.BytesIO(self._weights), allow_pickle=False) as packed:
            remedy = "run 'python scripts/fit_question_encoder.py' to make them anew"
            tuned = unpack(dict(packed), own, BASE, whose="the weights of the question encoder", remedy=remedy)
        body.load_state_dict({name: torch.from_numpy(value) for name, value in tuned.items()})
        return model


@functools.cache
def question_encoder() -> QuestionEncoder:
    """The encoder of the scripted patient; loaded on first use."""
    return QuestionEncoder()


@functools.cache
def shipped_weights() -> bytes:
    """The packed weights that ship with the suite."""
    return (files("verisim_fixtures") / "patient" / "question_encoder.npz").read_bytes()


def digest_of(weights: bytes) -> str:
    """What names the weights in a fingerprint."""
    return sha256(weights).hexdigest()[:16]
