"""Training the built-in NLI: MiniLM's body and the head together, seeded, on processor alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from verisim_metrics.nli.features import features
from verisim_metrics.nli.network import PairNetwork, load_base, one_thread, tokenised
from verisim_metrics.nli.pairs import Example
from verisim_tasks._stable import shuffled

BATCH = 32
BODY_RATE = 1e-4
HEAD_RATE = 2e-3
SMOOTHING = 0.05
WARM_UP = 0.1
REPORT_EVERY = 100
_POOL = 32
"""Batches are cut from pools of this many batches sorted by length."""


def fit(examples: Sequence[Example], *, epochs: int, seed: int, report: Callable[[str], None] = print) -> PairNetwork:
    """A network trained on the examples; MiniLM's embeddings stay as they are.

    One thread: sums keep their order, and threads that wait for a busy core cost more than they give.
    """
    with one_thread(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        tokenizer, body = load_base()
        network = PairNetwork(body)
        body.embeddings.requires_grad_(False)
        steps = [batch for epoch in range(epochs) for batch in _batches(examples, (seed, epoch))]
        _train(network.train(), tokenizer, examples, steps, report)
        network.eval()
    return network


def _train(
    network: PairNetwork,
    tokenizer: Any,
    examples: Sequence[Example],
    steps: Sequence[list[int]],
    report: Callable[[str], None],
) -> None:
    optimiser = _optimiser(network)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: _rate(step, len(steps)))
    loss_of = torch.nn.CrossEntropyLoss(label_smoothing=SMOOTHING)
    hand = torch.from_numpy(features([(e.premise, e.hypothesis) for e in examples]))
    recent: list[float] = []
    for step, batch in enumerate(steps, start=1):
        chosen = [examples[i] for i in batch]
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = network(tokenised(tokenizer, [(e.premise, e.hypothesis) for e in chosen]), hand[batch])
        loss = loss_of(logits.float(), torch.tensor([e.label for e in chosen]))
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        recent.append(float(loss.detach()))
        if step % REPORT_EVERY == 0:
            report(f"step {step} of {len(steps)}, loss {np.mean(recent[-REPORT_EVERY:]):.3f}")


def _optimiser(network: PairNetwork) -> torch.optim.Optimizer:
    groups = [
        {"params": [p for p in network.body.parameters() if p.requires_grad], "lr": BODY_RATE},
        {"params": list(network.head.parameters()), "lr": HEAD_RATE},
    ]
    return torch.optim.AdamW(groups, weight_decay=0.01)


def _batches(examples: Sequence[Example], key: tuple[int, int]) -> list[list[int]]:
    """All places once, in seeded order, like lengths together."""
    order = np.random.default_rng(list(key)).permutation(len(examples)).tolist()
    batches = []
    for start in range(0, len(order), BATCH * _POOL):
        pool = sorted(
            order[start : start + BATCH * _POOL],
            key=lambda i: (len(examples[i].premise) + len(examples[i].hypothesis), i),
        )
        batches += [pool[i : i + BATCH] for i in range(0, len(pool), BATCH)]
    return shuffled(batches, *key)


def _rate(step: int, steps: int) -> float:
    """Linear warm-up, then linear decay to nothing."""
    warm = max(1.0, WARM_UP * steps)
    return (
        min(1.0, (step + 1) / warm) * max(0.0, (steps - step) / (steps - warm)) if step >= warm else (step + 1) / warm
    )
