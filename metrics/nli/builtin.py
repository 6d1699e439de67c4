"""The built-in model: a small cross-encoder on MiniLM with hand features, trained on our own pairs; needs no hub."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import numpy as np

from verisim_metrics.nli import guards
from verisim_metrics.nli.features import differs_anywhere
from verisim_metrics.nli.model import CONTRADICTION, Pair, Probabilities
from verisim_metrics.nli.network import MAX_TOKENS, PairNetwork, load_base, probabilities, unpack_into
from verisim_metrics.nli.reading import read
from verisim_metrics.nli.running import CachedScores
from verisim_tasks.errors import UserError
from verisim_tasks.language.embedding import MODEL_NAME, MODEL_REVISION

NAME = "minilm-hybrid"
BATCH = 64

PRIOR = 0.7
"""Odds of a contradiction in interviews against those of the training pairs: patients mostly tell what is so."""
UNFOUNDED = 0.3
"""The same where both texts share words and nothing on their face tells them apart."""
SHARE = 0.3
"""Share of the sentence's content words that the item holds, from which they count as sharing words."""


class BuiltinNli:
    """MiniLM fine-tuned as a cross-encoder, hand features in its head, guards over it.

    Small and meant for short record items against single sentences; a large NLI model knows more of the world.
    """

    name = NAME

    def __init__(self, *, guarded: bool = True, weights: bytes | None = None) -> None:
        data = weights if weights is not None else _shipped()
        self._digest = hashlib.sha256(data).hexdigest()[:16]
        self._guarded = guarded
        self._tokenizer, body = load_base()
        self._network = PairNetwork(body)
        unpack_into(self._network, _arrays(data))
        self._network.eval()
        self._scores = CachedScores(self._tokenizer, MAX_TOKENS, BATCH, self._score, guarded)

    def predict(self, pairs: Sequence[Pair]) -> Probabilities:
        """Probabilities of shape ``(len(pairs), 3)`` in the order of ``LABELS``."""
        return self._scores.predict(pairs)

    def describe(self) -> dict[str, Any]:
        """Name, digest of the weights, the base they sit on, and guards."""
        return {
            "nli": self.name,
            "weights": self._digest,
            "base": f"{MODEL_NAME}@{MODEL_REVISION}",
            "guards": guards.fingerprint() if self._guarded else None,
        }

    def _score(self, pairs: Sequence[Pair]) -> Probabilities:
        rows = probabilities(self._tokenizer, self._network, pairs, BATCH)
        rows[:, CONTRADICTION] *= [PRIOR * (UNFOUNDED if _unfounded(*pair) else 1.0) for pair in pairs]
        scaled: Probabilities = rows / rows.sum(axis=1, keepdims=True)
        return scaled


def _unfounded(premise: str, hypothesis: str) -> bool:
    left, right = read(premise), read(hypothesis)
    alike = len(left.stems & right.stems) >= SHARE * max(1, len(right.stems))
    return alike and not differs_anywhere(left, right)


def _shipped() -> bytes:
    file = files("verisim_fixtures") / "nli" / "weights.npz"
    try:
        return file.read_bytes()
    except OSError as error:
        raise UserError(
            "the built-in NLI weights are missing; run 'python scripts/train_nli.py' to make them"
        ) from error


def _arrays(data: bytes) -> dict[str, Any]:
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (OSError, ValueError) as error:
        raise UserError(
            "the built-in NLI weights cannot be read; run 'python scripts/train_nli.py' to make them"
        ) from error
