"""Any Hugging Face sequence classification model trained on natural language inference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer
from transformers.utils.logging import disable_progress_bar

from verisim_metrics.nli import guards
from verisim_metrics.nli.labels import label_order
from verisim_metrics.nli.model import LABELS, Pair, Probabilities
from verisim_metrics.nli.running import CachedScores
from verisim_metrics.nli.windows import OVERLAP
from verisim_tasks.errors import UserError

MAX_TOKENS = 512
"""No window is longer, whatever a tokenizer claims."""
BATCH = 16

SELF_TEST: tuple[tuple[str, str, str], ...] = (
    ("The patient has had a cough for three weeks.", "The patient has a cough.", "entailment"),
    ("The patient has never smoked.", "The patient smokes every day.", "contradiction"),
    ("The patient lives with her husband.", "The patient is allergic to penicillin.", "neutral"),
    ("The patient takes no medicines.", "The patient takes no medicines.", "entailment"),
    ("The patient has no fever.", "The patient has a high fever.", "contradiction"),
)
"""Pairs that any NLI model gets right."""
SELF_TEST_LEAST = 4
"""Right answers below which a model is refused."""


class CrossEncoderNli:
    """A cross-encoder by name or path.

    The order of its outputs is read from its ``id2label``. Premises longer than the model reads go in overlapping
    windows.
    Raises ``UserError`` when it cannot be loaded, its labels are not those of NLI, or it fails the self-test.
    """

    def __init__(self, name: str, *, device: str | None = None, guarded: bool = True, self_test: bool = True) -> None:
        self.name = name
        self._device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        self._guarded = guarded
        self._tokenizer, self._model = _load(name)
        self._order = label_order(getattr(self._model.config, "id2label", None), name)
        self._model.to(self._device).eval()
        self._budget = _budget(self._tokenizer, self._model.config)
        self._scores = CachedScores(self._tokenizer, self._budget, BATCH, self._score, guarded)
        if self_test:
            self._check()

    def predict(self, pairs: Sequence[Pair]) -> Probabilities:
        """Probabilities of shape ``(len(pairs), 3)`` in the order of ``LABELS``."""
        return self._scores.predict(pairs)

    def describe(self) -> dict[str, Any]:
        """Name, revision where the hub gave one, windows and guards."""
        return {
            "nli": self.name,
            "revision": getattr(self._model.config, "_commit_hash", None),
            "window_tokens": self._budget,
            "window_overlap": OVERLAP,
            "guards": guards.fingerprint() if self._guarded else None,
        }

    def _score(self, pairs: Sequence[Pair]) -> Probabilities:
        batch = self._tokenizer(
            [p for p, _ in pairs],
            [h for _, h in pairs],
            padding=True,
            truncation="longest_first",
            max_length=self._budget,
            return_tensors="pt",
        ).to(self._device)
        with torch.inference_mode():
            logits = self._model(**batch).logits.double()
        rows: Probabilities = torch.softmax(logits, dim=-1)[:, list(self._order)].cpu().numpy()
        return rows

    def _check(self) -> None:
        """Without guards: it is the model that must know."""
        bare = CachedScores(self._tokenizer, self._budget, BATCH, self._score, guarded=False)
        rows = bare.predict([(p, h) for p, h, _ in SELF_TEST])
        right = sum(LABELS[int(row.argmax())] == label for row, (_, _, label) in zip(rows, SELF_TEST, strict=True))
        if right < SELF_TEST_LEAST:
            raise UserError(
                f"the NLI model {self.name} gets {right} of {len(SELF_TEST)} plain pairs right; give a model trained "
                "on natural language inference, or 'builtin'"
            )


def _load(name: str) -> tuple[Any, Any]:
    disable_progress_bar()
    try:
        return AutoTokenizer.from_pretrained(name), AutoModelForSequenceClassification.from_pretrained(name)
    except Exception as error:
        raise UserError(
            f"the NLI model {name!r} cannot be loaded ({type(error).__name__}); give 'builtin', a folder, or the name "
            "of a sequence classification model on the hub"
        ) from error


def _budget(tokenizer: Any, config: Any) -> int:
    """Tokens of one window: what tokenizer and position table both allow."""
    positions = getattr(config, "max_position_embeddings", None)
    pads = int(getattr(config, "pad_token_id", 0) or 0) + 1 if getattr(config, "model_type", "") in _SHIFTED else 0
    limits = [MAX_TOKENS, int(tokenizer.model_max_length)]
    if isinstance(positions, int) and positions > 0:
        limits.append(positions - pads)
    return min(limits)


_SHIFTED = frozenset(["roberta", "xlm-roberta", "camembert", "longformer"])
"""Model types whose position table starts behind the padding token."""
