"""Fits the weights of question understanding on labelled doctor questions; prints accuracy on cases held out.

python scripts/fit_understanding.py tests/data/doctor_questions.jsonl tests/data/doctor_questions_more.jsonl [--write]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from verisim_tasks.cases.bank import find_case
from verisim_tasks.patient.grounding import asked_of
from verisim_tasks.patient.questions import read_message
from verisim_tasks.patient.ranking import features_of
from verisim_tasks.patient.scripted import ScriptedPatient

TARGET = Path(__file__).parent.parent / "fixtures" / "lexicon" / "understanding.yaml"


def examples(path: Path) -> list[dict[str, Any]]:
    """One row a question with one clause: its case, the feature table of all facts, and which facts are right."""
    patient = ScriptedPatient()
    rows: list[dict[str, Any]] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        clauses = read_message(row["question"]).clauses
        if row["kind"] == "open" or len(clauses) != max(1, len(row["expect"])):
            continue
        index = patient.index_of(find_case(row["case"]))
        for clause, right in zip(clauses, row["expect"] or [[]], strict=True):
            table = features_of(asked_of(clause, index, None), index)
            names = list(table[0][1])
            rows.append(
                {
                    "case": row["case"],
                    "names": names,
                    "features": np.array([[values[n] for n in names] for _, values in table]),
                    "right": np.array([fact.id in right for fact, _ in table]),
                }
            )
    return rows


def fit(rows: list[dict[str, Any]]) -> LogisticRegression:
    """Logistic regression of "this fact answers" on the features, facts that are not answers weighing less."""
    model = LogisticRegression(C=3.0, max_iter=2000, class_weight={0: 1.0, 1: 4.0})
    model.fit(np.vstack([r["features"] for r in rows]), np.concatenate([r["right"] for r in rows]))
    return model


def judge(model: LogisticRegression, rows: list[dict[str, Any]]) -> list[tuple[float, bool, bool]]:
    """For each question: best log-odds, whether the best fact is right, whether anything is right."""
    judged = []
    for row in rows:
        scores = model.decision_function(row["features"])
        best = int(np.argmax(scores))
        judged.append((float(scores[best]), bool(row["right"][best]), bool(row["right"].any())))
    return judged


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", type=Path, nargs="+")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    rows = [row for path in args.questions for row in examples(path)]
    held_out = []
    for case in sorted({r["case"] for r in rows}):
        model = fit([r for r in rows if r["case"] != case])
        held_out += judge(model, [r for r in rows if r["case"] == case])
    present = [right for _, right, known in held_out if known]
    print(f"{len(rows)} clauses; on cases held out the best fact is right for {np.mean(present):.1%} of {len(present)}")
    model = fit(rows)
    weights = {n: round(float(w), 2) for n, w in zip(rows[0]["names"], model.coef_[0], strict=True)}
    weights["intercept"] = round(float(model.intercept_[0]), 2)
    print(json.dumps(weights))
    if args.write:
        head = TARGET.read_text(encoding="utf-8").splitlines()[0]
        listed = ", ".join(f"{k}: {v}" for k, v in weights.items())
        TARGET.write_text(
            f"{head}\n# Written by scripts/fit_understanding.py.\nweights: {{{listed}}}\n"
            + "\n".join(
                line for line in TARGET.read_text(encoding="utf-8").splitlines() if line.startswith("thresholds")
            )
            + "\n",
            encoding="utf-8",
        )


if __name__ == "__main__":
    main()
