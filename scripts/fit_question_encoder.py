"""Tunes MiniLM on how doctors ask, so that a question lies by the facts that answer it, and writes its weights.

Every step takes one case. Its facts are what a question may be about: each is asked for by some of its own questions
and stands there by some of its other texts; a question about what the case does not record has no answer. The labelled
questions of the tests are not learned from: ``fit_understanding.py`` fits on them and needs unseen ones.

python scripts/fit_question_encoder.py [--passes 5] [--score tests/data/doctor_questions_fifth.jsonl ...]
"""

from __future__ import annotations

import argparse
import functools
import io
import json
import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.metrics import roc_auc_score

from verisim_metrics.nli.network import load_base, one_thread
from verisim_tasks.cases.bank import load_cases
from verisim_tasks.language.lexicon import load_yaml
from verisim_tasks.language.packed_weights import pack
from verisim_tasks.language.question_encoder import BASE, QuestionEncoder
from verisim_tasks.patient.case_index import fact_documents
from verisim_tasks.patient.questions import read_message
from verisim_tasks.records.case import Case

TARGET = Path(__file__).parent.parent / "fixtures" / "patient" / "question_encoder.npz"
RATE = 1e-4
NO_ANSWER_RATE = 1e-2
WARM_UP = 30
SCALE = 20.0
"""Similarities are multiplied by this before the softmax."""
TEXTS = 3
"""Texts that stand for a fact in one step."""
ASKED = 2
"""Questions to each fact in one step."""
MAX_TOKENS = 64
BATCH = 64


@dataclass(frozen=True)
class Question:
    """One question with one clause, and the ids of the facts that answer it; none where nothing is recorded."""

    text: str
    right: frozenset[str]


ByCase = Mapping[str, Sequence[Question]]


def unrecorded() -> ByCase:
    """Questions about what a case neither states nor denies."""
    table = load_yaml("patient", "unrecorded.yaml")
    return {case: [Question(core(text), frozenset()) for text in texts] for case, texts in table.items()}


@functools.cache
def core(text: str) -> str:
    """What of a question is compared with the facts, without its preface; all of it where it has several clauses."""
    clauses = read_message(text).clauses
    return clauses[0].core if len(clauses) == 1 else text


def labelled(path: Path) -> ByCase:
    """Labelled questions by case; open ones and those whose parts do not match their clauses are left out."""
    found: dict[str, list[Question]] = defaultdict(list)
    for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        clauses = read_message(row["question"]).clauses
        if row["kind"] == "open" or len(clauses) != max(1, len(row["expect"])):
            continue
        parts = row["expect"] or [[]]
        found[row["case"]] += [Question(c.core, frozenset(part)) for c, part in zip(clauses, parts, strict=True)]
    return found


class Tuner:
    """MiniLM with one further parameter: the similarity below which nothing in the case answers."""

    def __init__(self, steps: int, rate: float) -> None:
        self.tokenizer, self.body = load_base()
        self.body.embeddings.requires_grad_(False)
        self.no_answer = torch.nn.Parameter(torch.tensor(0.5))
        groups = [
            {"params": [p for p in self.body.parameters() if p.requires_grad], "lr": rate},
            {"params": [self.no_answer], "lr": NO_ANSWER_RATE},
        ]
        self.optimiser = torch.optim.AdamW(groups, weight_decay=0.01)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(
            self.optimiser, lambda step: min(1.0, (step + 1) / WARM_UP) * max(0.0, 1.0 - step / steps)
        )

    def encode(self, texts: Sequence[str]) -> torch.Tensor:
        """Unit vectors ``(n, 384)``, like lengths together."""
        order = sorted(range(len(texts)), key=lambda i: (len(texts[i]), i))
        parts = [self._encode([texts[i] for i in order[s : s + BATCH]]) for s in range(0, len(order), BATCH)]
        return torch.cat(parts)[torch.tensor(np.argsort(order))]

    def _encode(self, texts: list[str]) -> torch.Tensor:
        batch = self.tokenizer(texts, padding=True, truncation=True, max_length=MAX_TOKENS, return_tensors="pt")
        with torch.autocast("cpu", dtype=torch.bfloat16):
            states = self.body(**batch).last_hidden_state
        mask = batch["attention_mask"].unsqueeze(-1).float()
        return torch.nn.functional.normalize((states.float() * mask).sum(1) / mask.sum(1), dim=-1)

    def step(self, case: Case, questions: Sequence[Question], texts: Sequence[tuple[str, str]]) -> float:
        """One step on the questions of a case; ``texts`` are (fact id, text). The loss."""
        ids = [fact.id for fact in case.facts]
        vectors = self.encode([*(q.text for q in questions), *(text for _, text in texts)])
        near = vectors[: len(questions)] @ vectors[len(questions) :].T
        owner = torch.tensor([ids.index(fact_id) for fact_id, _ in texts])
        best = torch.stack([near[:, owner == i].max(1).values for i in range(len(ids))], 1)
        logits = torch.cat([best, self.no_answer.expand(len(questions), 1)], 1) * SCALE
        right = torch.tensor([[i in q.right for i in ids] + [not q.right] for q in questions])
        loss = -torch.logsumexp(torch.log_softmax(logits, 1).masked_fill(~right, -1e9), 1).mean()
        self.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.body.parameters(), 1.0)
        self.optimiser.step()
        self.schedule.step()
        return float(loss.detach())


def tune(
    cases: Sequence[Case],
    absent: ByCase,
    passes: int,
    seed: int,
    rate: float = RATE,
    report: Callable[[str], None] = print,
) -> Any:
    """MiniLM's body after ``passes`` over the cases, on one thread, seeded."""
    rng = random.Random(seed)
    losses: list[float] = []
    start = time.monotonic()
    with one_thread(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        tuner = Tuner(passes * len(cases), rate)
        tuner.body.train()
        for turn in range(passes):
            for case in rng.sample(list(cases), len(cases)):
                losses.append(tuner.step(case, *practice(case, absent.get(case.id, ()), rng)))
            report(f"pass {turn + 1}: loss {np.mean(losses[-len(cases) :]):.3f}, {time.monotonic() - start:.0f} s")
    return tuner.body.eval()


def practice(
    case: Case, absent: Sequence[Question], rng: random.Random
) -> tuple[list[Question], list[tuple[str, str]]]:
    """Some questions to every fact, half of those without an answer, and the texts by which the facts stand there."""
    questions: list[Question] = []
    texts: list[tuple[str, str]] = []
    for fact in case.facts:
        asked = rng.sample(fact.asked, min(ASKED, len(fact.asked)))
        questions += [Question(core(text), frozenset({fact.id})) for text in asked]
        rest = [t for t in (*fact_documents(fact), *fact.asked) if t not in asked]
        texts += [(fact.id, t) for t in rng.sample(rest, min(TEXTS, len(rest)))]
    return [*questions, *rng.sample(absent, len(absent) // 2)], texts


def score(encoder: QuestionEncoder, cases: Sequence[Case], questions: ByCase) -> str:
    """By nearness alone: right fact nearest, and how well what is recorded is told from what is not."""
    rows = [row for case in cases for row in _nearest(encoder, case, questions.get(case.id, ()))]
    near = np.array([nearness for nearness, _, _ in rows])
    recorded = np.array([bool(q.right) for _, _, q in rows])
    right = np.array([fact_id in q.right for _, fact_id, q in rows])
    least = np.quantile(near[~recorded], 0.95)
    return (
        f"right fact nearest {right[recorded].mean():.1%} of {recorded.sum()}; area under the curve of recorded "
        f"against not {roc_auc_score(recorded, near):.3f}; right where 5% of {(~recorded).sum()} others pass "
        f"{(right & (near > least))[recorded].mean():.1%}"
    )


def _nearest(
    encoder: QuestionEncoder, case: Case, questions: Sequence[Question]
) -> Iterator[tuple[float, str, Question]]:
    texts = [(f.id, t) for f in case.facts for t in (*fact_documents(f), *f.asked)]
    if questions:
        near = encoder.encode([q.text for q in questions]) @ encoder.encode([t for _, t in texts]).T
        for row, question in zip(near, questions, strict=True):
            yield float(row.max()), texts[int(row.argmax())][0], question


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "questions", type=Path, nargs="*", help="labelled questions to learn from beside the bank's own"
    )
    parser.add_argument("--passes", type=int, default=5, help="how often each case is seen")
    parser.add_argument("--rate", type=float, default=RATE, help="learning rate at its height")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=TARGET)
    parser.add_argument("--score", type=Path, nargs="+", default=[], help="labelled questions to score the result on")
    args = parser.parse_args()
    cases = load_cases("bank")
    if args.passes:
        body = tune(cases, unrecorded(), args.passes, args.seed, args.rate)
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **pack({n: t.detach().numpy() for n, t in body.state_dict().items()}, BASE))
        args.out.write_bytes(buffer.getvalue())
        print(f"{args.out.name}: {args.out.stat().st_size / 1e6:.1f} MB")
    for path in args.score:
        print(path.name, score(QuestionEncoder(args.out.read_bytes()), cases, labelled(path)))


if __name__ == "__main__":
    main()
