"""Fits question understanding on labelled doctor questions and prints how it does on cases held out.

Two logistic regressions: which fact answers (``weights``), and whether the best one answers at all (``gate``).

python scripts/fit_understanding.py tests/data/doctor_questions*.jsonl [--write]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from verisim_tasks.cases.bank import find_case
from verisim_tasks.patient.asking import asked_of
from verisim_tasks.patient.case_index import CaseIndex
from verisim_tasks.patient.questions import read_message
from verisim_tasks.patient.ranking import Asked, Ranked, features_of, rank_facts
from verisim_tasks.patient.scripted import ScriptedPatient
from verisim_tasks.patient.targets import gate_features, is_barred, thresholds

TARGET = Path(__file__).parent.parent / "fixtures" / "lexicon" / "understanding.yaml"
FOLDS = 8

Table = dict[str, float]


@dataclass(frozen=True)
class Example:
    """One question with one clause, and the ids of the facts that answer it; none where nothing is recorded."""

    index: CaseIndex
    asked: Asked
    right: frozenset[str]

    @property
    def case(self) -> str:
        return self.index.case.id


def examples(path: Path, patient: ScriptedPatient) -> list[Example]:
    """The labelled questions of a file; open ones and those whose parts do not match its clauses are left out."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        clauses = read_message(row["question"]).clauses
        if row["kind"] == "open" or len(clauses) != max(1, len(row["expect"])):
            continue
        index = patient.index_of(find_case(row["case"]))
        for clause, right in zip(clauses, row["expect"] or [[]], strict=True):
            found.append(Example(index, asked_of(clause, index, None), frozenset(right)))
    return found


def fit_weights(rows: Sequence[Example]) -> Table:
    """Weights of "this fact answers", facts that are not answers weighing less."""
    tables = [(row, features_of(row.asked, row.index)) for row in rows]
    names = list(tables[0][1][0][1])
    x = [[features[n] for n in names] for _, table in tables for _, features in table]
    y = [fact.id in row.right for row, table in tables for fact, _ in table]
    model = LogisticRegression(C=3.0, max_iter=2000, class_weight={0: 1.0, 1: 4.0}).fit(x, y)
    return _table(names, model)


def fit_gate(rows: Sequence[Example], weights: Table) -> Table:
    """Weights of "the best fact answers at all"."""
    best = [(row, rank_facts(row.asked, row.index, weights)[0]) for row in rows]
    kept = [(row, rank) for row, rank in best if not is_barred(rank)]
    features = [gate_features(rank, row.asked) for row, rank in kept]
    names = list(features[0])
    model = LogisticRegression(C=0.3, max_iter=3000)
    model.fit([[f[n] for n in names] for f in features], [rank.fact.id in row.right for row, rank in kept])
    return _table(names, model)


def _table(names: Sequence[str], model: LogisticRegression) -> Table:
    weights = {n: round(float(w), 2) for n, w in zip(names, model.coef_[0], strict=True)}
    return {**weights, "intercept": round(float(model.intercept_[0]), 2)}


def passes(best: Ranked, asked: Asked, gate: Table) -> bool:
    """What ``is_answer`` decides, with this gate."""
    odds = gate["intercept"] + sum(gate[k] * v for k, v in gate_features(best, asked).items())
    return not is_barred(best) and odds >= thresholds()["answer"]


def held_out(rows: Sequence[Example]) -> tuple[list[bool], list[bool]]:
    """On cases not fitted on: right answers to what is recorded, answers to what is not."""
    cases = sorted({row.case for row in rows})
    right: list[bool] = []
    wrong: list[bool] = []
    for fold in range(FOLDS):
        apart = set(cases[fold::FOLDS])
        train = [row for row in rows if row.case not in apart]
        weights = fit_weights(train)
        gate = fit_gate(train, weights)
        for row in (r for r in rows if r.case in apart):
            best = rank_facts(row.asked, row.index, weights)[0]
            answered = passes(best, row.asked, gate)
            (right if row.right else wrong).append(answered and (best.fact.id in row.right or not row.right))
    return right, wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", type=Path, nargs="+")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    patient = ScriptedPatient()
    rows = [row for path in args.questions for row in examples(path, patient)]
    right, wrong = held_out(rows)
    print(f"{len(rows)} clauses, {FOLDS} folds of cases held out: right {np.mean(right):.1%} of {len(right)};", end=" ")
    print(f"a fact told where nothing is recorded {np.mean(wrong):.1%} of {len(wrong)}")
    weights = fit_weights(rows)
    gate = fit_gate(rows, weights)
    if args.write:
        _write(weights, gate)


def _write(weights: Table, gate: Table) -> None:
    lines = TARGET.read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if line.startswith(("# VERISIM", "thresholds"))]
    made = [
        f"{name}: {{{', '.join(f'{k}: {v}' for k, v in table.items())}}}"
        for name, table in (("weights", weights), ("gate", gate))
    ]
    text = "\n".join([kept[0], "# weights and gate are written by scripts/fit_understanding.py.", *made, kept[1]])
    TARGET.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
