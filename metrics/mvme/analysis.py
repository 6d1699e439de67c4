"""The paper's analyses: what diagnostic quality depends on, and how wrong diagnoses fail.

AI Hospital (arXiv 2402.09742) regresses the mark of the diagnosis on the marks of symptoms and examinations, and sorts
failures by hand into omitted examinations, complications named in place of the disease, and erroneous judgement. Here
the regression is ordinary least squares, and the classes are read off the coverage of a report by fixed rules.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import stats

from verisim_metrics.matching import match_diagnosis
from verisim_metrics.mvme.chief import Marks
from verisim_metrics.mvme.coverage import PartCoverage
from verisim_metrics.mvme.entities import entities
from verisim_tasks.records.case import Case
from verisim_tasks.records.transcript import Report

_Array = npt.NDArray[np.float64]
Failure = Literal["examination_omitted", "complication_only", "erroneous_judgement"]
FAILURES: tuple[Failure, ...] = ("examination_omitted", "complication_only", "erroneous_judgement")
PREDICTORS = ("symptoms", "examinations")
MIN_ROWS = 5
OMITTED_BELOW = 0.5
"""An examination counts as omitted when less than this weighted share of the case's results is in the report."""


@dataclass(frozen=True)
class Coefficient:
    """How many marks the outcome rises with one mark of the predictor."""

    name: str
    value: float
    standard_error: float
    p: float | None
    """Two-sided t-test against zero; undefined where the fit is exact."""


@dataclass(frozen=True)
class Regression:
    """Ordinary least squares of the mark of the diagnosis; the intercept comes first."""

    coefficients: tuple[Coefficient, ...]
    r_squared: float | None
    n: int
    left_out: int
    """Reports without all the marks."""
    reason: str | None = None
    """Why there are no coefficients."""


def regress(rows: Sequence[Marks], predictors: Sequence[str] = PREDICTORS, outcome: str = "diagnosis") -> Regression:
    """Regress the mark of the diagnosis on the completeness of symptoms and examinations.

    Rows that lack one of the marks are left out and counted. Undefined, with a reason, for fewer than ``MIN_ROWS`` rows
    or where the predictors do not vary on their own.
    """
    names = (*predictors, outcome)
    used = [[row[n] for n in names] for row in rows if all(row.get(n) is not None for n in names)]
    left_out = len(rows) - len(used)
    if len(used) < max(MIN_ROWS, len(predictors) + 2):
        return Regression((), None, len(used), left_out, "too few reports with all marks")
    table = np.array(used, dtype=np.float64)
    design = np.column_stack([np.ones(len(table)), table[:, :-1]])
    if np.linalg.matrix_rank(design) < design.shape[1]:
        return Regression((), None, len(used), left_out, "the predictors do not vary on their own")
    return _fit(design, table[:, -1], ("intercept", *predictors), left_out)


def _fit(design: _Array, outcome: _Array, names: Sequence[str], left_out: int) -> Regression:
    values = np.linalg.solve(design.T @ design, design.T @ outcome)
    residual = float(np.sum((outcome - design @ values) ** 2))
    total = float(np.sum((outcome - outcome.mean()) ** 2))
    freedom = len(outcome) - len(names)
    errors = np.sqrt(residual / freedom * np.diag(np.linalg.inv(design.T @ design)))
    found = tuple(
        Coefficient(name, float(value), float(error), _p_value(float(value), float(error), freedom))
        for name, value, error in zip(names, values, errors, strict=True)
    )
    return Regression(found, 1 - residual / total if total else None, len(outcome), left_out)


def _p_value(value: float, error: float, freedom: int) -> float | None:
    return float(2 * stats.t.sf(abs(value) / error, freedom)) if error > 1e-12 else None


def failure_class(case: Case, report: Report, parts: Mapping[str, PartCoverage]) -> Failure | None:
    """Why the diagnosis of a report is wrong; ``None`` when it is right or cannot be judged.

    In this order: ``complication_only``, it names something that belongs to the case (the same ICD category, or a
    condition that stands in its facts), but not the disease; ``examination_omitted``, less than half of the results
    that weigh are in the report; else ``erroneous_judgement``, the findings were there.
    """
    diagnosis = parts["diagnosis"]
    if diagnosis.mark is None or diagnosis.recall is None or diagnosis.recall > 0 or report.diagnosis is None:
        return None
    if _names_companion(case, report.diagnosis):
        return "complication_only"
    recall = parts["examinations"].recall
    return "examination_omitted" if recall is None or recall < OMITTED_BELOW else "erroneous_judgement"


def _names_companion(case: Case, diagnosis: str) -> bool:
    """Whether every disease named is one of the case's own present conditions, or of the reference's category."""
    known = [f.concept for f in case.facts if f.polarity == "present"]
    named = entities(diagnosis)
    return bool(named) and all(
        _same_category(case, name) or any(match_diagnosis(name, concept).match for concept in known) for name in named
    )


def _same_category(case: Case, name: str) -> bool:
    target = case.diagnosis
    return target is not None and bool(
        match_diagnosis(name, target.name, target.synonyms, target.accepted_codes).same_category
    )


def count_failures(classes: Sequence[Failure | None]) -> dict[str, int]:
    """How many reports fall into each class, zero included."""
    counted = Counter(c for c in classes if c is not None)
    return {name: counted[name] for name in FAILURES}


@dataclass(frozen=True)
class Agreement:
    """Rank correlation of two series."""

    spearman: float | None
    p: float | None
    n: int
    reason: str | None = None


def spearman(left: Sequence[float | None], right: Sequence[float | None]) -> Agreement:
    """Spearman's rank correlation over pairs defined in both, -1 to 1; undefined where one side does not vary."""
    pairs = [(a, b) for a, b in zip(left, right, strict=True) if a is not None and b is not None]
    if len(pairs) < MIN_ROWS:
        return Agreement(None, None, len(pairs), "too few pairs with both values")
    if any(len(set(side)) < 2 for side in zip(*pairs, strict=True)):
        return Agreement(None, None, len(pairs), "one side does not vary")
    result = stats.spearmanr(*zip(*pairs, strict=True))
    value, p = float(result.statistic), float(result.pvalue)
    return Agreement(value, None if math.isnan(p) else p, len(pairs))
