"""Fits question understanding and prints how it does on cases held out.

Two logistic regressions: which fact answers (``weights``), and whether the best one answers at all (``gate``). They
learn from labelled doctor questions and from the bank itself: every fact carries the questions by which it is asked
for, each left out of its own case while it is practised on, and a question for what a case does not hold has no answer.

python scripts/fit_understanding.py tests/data/doctor_questions*.jsonl [--write]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from verisim_tasks._stable import draw
from verisim_tasks.cases.bank import find_case, load_cases
from verisim_tasks.patient.asking import asked_of
from verisim_tasks.patient.case_index import CaseIndex
from verisim_tasks.patient.questions import read_message
from verisim_tasks.patient.ranking import Asked, features_of, rank_facts
from verisim_tasks.patient.scripted import ScriptedPatient
from verisim_tasks.patient.targets import gate_features, is_answer, is_barred
from verisim_tasks.records.case import Case, Fact

TARGET = Path(__file__).parent.parent / "fixtures" / "lexicon" / "understanding.yaml"
FOLDS = 5
PRACTISED = 0.2
"""Share of the bank's own questions that are practised on."""
FOREIGN = 0.02
"""Share of the other cases' questions that are put to a case which does not hold what they ask for."""
PRACTICE_WEIGHT = 0.1
"""Weight of one of the bank's own questions in the gate, against one of a writer who had not seen the case's words."""
SYMPTOMS = ("present_illness_positive", "present_illness_negative")

Table = dict[str, float]


@dataclass(frozen=True)
class Example:
    """One question with one clause, and the ids of the facts that answer it; none where nothing is recorded."""

    index: CaseIndex
    asked: Asked
    right: frozenset[str]
    labelled: bool = True

    @property
    def case(self) -> str:
        return self.index.case.id


def labelled(path: Path, patient: ScriptedPatient) -> Iterator[Example]:
    """The labelled questions of a file; open ones and those whose parts do not match its clauses are left out."""
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        clauses = read_message(row["question"]).clauses
        if row["kind"] == "open" or len(clauses) != max(1, len(row["expect"])):
            continue
        index = patient.index_of(find_case(row["case"]))
        for clause, right in zip(clauses, row["expect"] or [[]], strict=True):
            yield Example(index, asked_of(clause, index, None), frozenset(right))


def practised(cases: Sequence[Case], patient: ScriptedPatient) -> Iterator[Example]:
    """The bank's own questions to their own cases and to cases without an answer."""
    for case in cases:
        index = patient.index_of(case)
        for other in cases:
            for fact in other.facts:
                for question in fact.asked:
                    own = other.id == case.id
                    if draw("practice", case.id, other.id, fact.id, question) >= (PRACTISED if own else FOREIGN):
                        continue
                    example = _own(question, fact, index) if own else _foreign(question, fact, other, index, patient)
                    if example is not None:
                        yield example


def _own(question: str, fact: Fact, index: CaseIndex) -> Example | None:
    clauses = read_message(question).clauses
    if len(clauses) != 1:
        return None
    blind = replace(index, questions=tuple(q for q in index.questions if q[1] != question))
    return Example(blind, asked_of(clauses[0], blind, None), frozenset({fact.id}), labelled=False)


def _foreign(question: str, fact: Fact, other: Case, index: CaseIndex, patient: ScriptedPatient) -> Example | None:
    """A question that names a symptom which this case neither holds nor holds a kind of."""
    concept = patient.index_of(other).concept_of[fact.id]
    clauses = read_message(question).clauses
    if fact.category not in SYMPTOMS or concept is None or len(clauses) != 1:
        return None
    own = {c for c in index.concept_of.values() if c is not None}
    lineage = {a for c in own for a in index.lexicon.ancestors(c)}
    held = {c for concepts in index.held_by.values() for c in concepts}
    asked = asked_of(clauses[0], index, None)
    if concept in own | lineage | held or own & index.lexicon.ancestors(concept):
        return None
    if asked.concept is None or asked.concept.id != concept:
        return None
    return Example(index, asked, frozenset(), labelled=False)


def fit_weights(rows: Sequence[Example]) -> Table:
    """Weights of "this fact answers", from the labelled questions; facts that are not answers weigh less."""
    tables = [(row, features_of(row.asked, row.index)) for row in rows if row.labelled]
    names = list(tables[0][1][0][1])
    x = [[features[n] for n in names] for _, table in tables for _, features in table]
    y = [fact.id in row.right for row, table in tables for fact, _ in table]
    return _fit(names, np.array(x), y, [4.0 if own else 1.0 for own in y], strength=3.0)


def fit_gate(rows: Sequence[Example]) -> Table:
    """Weights of "the best fact answers at all"; the best facts are those of weights fitted on other cases."""
    features, right, counts = [], [], []
    for train, apart in _folds(rows):
        weights = fit_weights(train)
        for row in apart:
            best = rank_facts(row.asked, row.index, weights)[0]
            if not is_barred(best):
                features.append(gate_features(best, row.asked))
                right.append(best.fact.id in row.right)
                counts.append(1.0 if row.labelled else PRACTICE_WEIGHT)
    names = list(features[0])
    return _fit(names, np.array([[f[n] for n in names] for f in features]), right, counts, strength=0.1)


def _folds(rows: Sequence[Example]) -> Iterator[tuple[list[Example], list[Example]]]:
    cases = sorted({row.case for row in rows})
    for fold in range(FOLDS):
        apart = set(cases[fold::FOLDS])
        yield [r for r in rows if r.case not in apart], [r for r in rows if r.case in apart]


def _fit(names: Sequence[str], x: np.ndarray, y: Sequence[bool], counts: Sequence[float], strength: float) -> Table:
    """A regularised fit on standardised features, written as weights of the features themselves."""
    scaler = StandardScaler().fit(x)
    model = LogisticRegression(C=strength, max_iter=3000).fit(scaler.transform(x), y, sample_weight=counts)
    weights = model.coef_[0] / scaler.scale_
    intercept = model.intercept_[0] - float(weights @ scaler.mean_)
    return {n: round(float(w), 3) for n, w in zip([*names, "intercept"], [*weights, intercept], strict=True)}


def held_out(rows: Sequence[Example]) -> tuple[list[bool], list[bool]]:
    """Labelled questions of cases not fitted on: right answers to what is recorded, answers to what is not."""
    right: list[bool] = []
    wrong: list[bool] = []
    for train, apart in _folds(rows):
        weights, gate = fit_weights(train), fit_gate(train)
        for row in (r for r in apart if r.labelled):
            best = rank_facts(row.asked, row.index, weights)[0]
            answered = is_answer(best, row.asked, gate)
            (right if row.right else wrong).append(answered and (best.fact.id in row.right or not row.right))
    return right, wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", type=Path, nargs="+")
    parser.add_argument("--write", action="store_true", help="store the fit; without it, only measure")
    args = parser.parse_args()
    patient = ScriptedPatient()
    rows = [row for path in args.questions for row in labelled(path, patient)]
    rows += practised(load_cases("bank"), patient)
    texts = {t for row in rows for t in (row.asked.text, row.asked.plain_text)}
    rows[0].index.encoder.encode(sorted(texts))
    print(
        f"{sum(r.labelled for r in rows)} labelled clauses, {sum(not r.labelled for r in rows)} practised", flush=True
    )
    if args.write:
        _write(fit_weights(rows), fit_gate(rows))
        return
    right, wrong = held_out(rows)
    print(f"{FOLDS} folds of cases held out: right {np.mean(right):.1%} of {len(right)};", end=" ")
    print(f"a fact told where nothing is recorded {np.mean(wrong):.1%} of {len(wrong)}")


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
