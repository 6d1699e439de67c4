"""``coverage_*``: a deterministic stand-in for the Chief Physician, without a model.

Each part of the report is compared item by item with the case. Recall is the weighted share of the case's items that
the part says; precision the share of the part's clauses that say something of the case; the mark, 1-4, comes from
their F value with recall counting twice (``fixtures/mvme/coverage.yaml``). Rationale and treatment are no higher than
the mark of the diagnosis allows (``chief.CEILING``), as the Chief Physician is told to judge. It is not the Chief
Physician: it measures what is mentioned, not how well it is reasoned, and reads English only.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from verisim_metrics.matching import match_diagnosis
from verisim_metrics.mvme.chief import dependent
from verisim_metrics.mvme.compare import Text, matches, read, settings, telling_words
from verisim_metrics.mvme.entities import MAX_CHARACTERS, entities, is_chinese
from verisim_metrics.mvme.report import PARTS
from verisim_tasks.records.case import Case, Fact, Finding, TestResult
from verisim_tasks.records.transcript import Report

PRESENT_ILLNESS = ("chief_complaint", "pain", "present_illness_positive", "present_illness_negative")


@dataclass(frozen=True)
class PartCoverage:
    """How much of one part of the case the report covers."""

    mark: int | None
    """1-4; ``None`` when the part is missing or cannot be judged."""
    recall: float | None = None
    precision: float | None = None
    items: int = 0
    """Items of the case."""
    hits: tuple[str, ...] = ()
    """Ids, or texts where there are none, of the items that the report covers."""
    reason: str | None = None
    """Why there is no mark."""


@dataclass(frozen=True)
class _Item:
    name: str
    text: str
    weight: float
    denied: bool | None = None


def coverage(case: Case, report: Report | None) -> dict[str, PartCoverage]:
    """The five parts with their marks, in the order of the report. Never raises on any report text."""
    judges: Mapping[str, Callable[[Case, str], PartCoverage]] = {
        "symptoms": _symptoms,
        "examinations": _examinations,
        "diagnosis": _diagnosis,
        "rationale": lambda c, text: _lines("rationale", c.rationale, c, text),
        "treatment": lambda c, text: _lines("treatment", c.treatment, c, text),
    }
    found = {part: _judged(judges[part], case, getattr(report, part, None)) for part in PARTS}
    allowed = dependent({part: value.mark for part, value in found.items()})
    return {part: replace(value, mark=allowed[part]) for part, value in found.items()}


def coverage_scores(case: Case, report: Report | None) -> dict[str, float | None]:
    """``coverage_<part>`` with the marks alone, 1-4 or ``None``."""
    return {f"coverage_{part}": value.mark for part, value in coverage(case, report).items()}


def _judged(judge: Callable[[Case, str], PartCoverage], case: Case, text: str | None) -> PartCoverage:
    if text is None:
        return PartCoverage(None, reason="the report does not have this part")
    if case.language != "en" or is_chinese([text]):
        return PartCoverage(None, reason="not in English")
    return judge(case, text)


def _symptoms(case: Case, text: str) -> PartCoverage:
    told = [f for f in case.facts if f.category in PRESENT_ILLNESS or f.key]
    items = [_Item(f.id, f.statement, _fact_weight(f), f.polarity == "denied") for f in told]
    return _share("symptoms", items, [f.statement for f in case.facts], read(text))


def _fact_weight(fact: Fact) -> float:
    weights = settings()["weights"]
    return float(weights["key"] if fact.key else weights["denied" if fact.polarity == "denied" else "present"])


def _lines(part: str, lines: Sequence[str], case: Case, text: str) -> PartCoverage:
    points = [p.strip() for line in lines for p in line.split(";") if len(telling_words(p)) > 1]
    if not points:
        return PartCoverage(None, reason=f"the case holds no {part}")
    others = [] if part == "treatment" else [*(f.statement for f in case.facts), *map(_as_sentence, _results(case))]
    return _share(part, [_Item(p, p, 1.0) for p in points], [*points, *others], read(text))


def _share(part: str, items: Sequence[_Item], pool: Sequence[str], text: Text) -> PartCoverage:
    """Recall over the items; precision over the clauses, against everything of the case that belongs in this part."""
    denied = None if any(i.denied is None for i in items) else [bool(i.denied) for i in items]
    hits = [bool(m) for m in matches([i.text for i in items], text, part, denied)]
    told = {place for places in matches(pool, text, part) for place in places}
    claims = [p for p, words in enumerate(text.words) if words]
    precision = sum(p in told for p in claims) / len(claims) if claims else None
    return _marked(items, hits, precision)


def _marked(items: Sequence[_Item], hits: Sequence[bool], precision: float | None) -> PartCoverage:
    if not items:
        return PartCoverage(None, reason="the case holds nothing to compare with")
    recall = sum(i.weight for i, hit in zip(items, hits, strict=True) if hit) / sum(i.weight for i in items)
    names = tuple(i.name for i, hit in zip(items, hits, strict=True) if hit)
    return PartCoverage(mark_of(recall, precision), recall, precision, len(items), names)


def mark_of(recall: float, precision: float | None) -> int:
    """The mark of a recall and a precision, 0-1 each; without any claim there is no precision, and the mark is 1."""
    beta = float(settings()["recall_weight"]) ** 2
    below = beta * (precision or 0.0) + recall
    value = (1 + beta) * (precision or 0.0) * recall / below if below else 0.0
    return next((m for m, least in sorted(settings()["marks"].items(), reverse=True) if value >= least), 1)


def _results(case: Case) -> tuple[Finding | TestResult, ...]:
    return (*case.examination, *case.tests)


def _as_sentence(result: Finding | TestResult) -> str:
    return f"{result.name}: {result.result} {getattr(result, 'unit', None) or ''}".strip()


def _examinations(case: Case, text: str) -> PartCoverage:
    weights = settings()["weights"]
    results = _results(case)
    items = [_Item(r.id, r.name, weights["abnormal" if r.abnormal else "normal"]) for r in results]
    clauses = [c for c in read(text).clauses if not _pattern("not_done").search(c)]
    found = [{i for i, c in enumerate(clauses) if _reports(r, c)} for r in results]
    claims = [i for i, c in enumerate(clauses) if telling_words(c)]
    known = set().union(*found)
    precision = sum(i in known for i in claims) / len(claims) if claims else None
    return _marked(items, [bool(places) for places in found], precision)


def _reports(result: Finding | TestResult, clause: str) -> bool:
    """Whether the clause names the examination, and does not call an abnormal one normal."""
    plain = clause.casefold()
    if not _names_of(result).search(plain):
        return False
    wrong = result.abnormal and _pattern("said_normal").search(plain)
    return not (wrong and not telling_words(result.result) & telling_words(plain))


@functools.lru_cache(maxsize=20_000)
def _names_of(result: Finding | TestResult) -> re.Pattern[str]:
    names = {result.name, *result.terms, getattr(result, "panel", None) or result.name}
    names |= {n.split("(")[0].strip() for n in names}
    long = sorted((n.casefold() for n in names if len(n) >= int(settings()["short_term"])), key=lambda n: (-len(n), n))
    return re.compile(rf"(?<![a-z0-9])(?:{'|'.join(map(re.escape, long)) or '(?!)'})s?(?![a-z0-9])")


@functools.cache
def _pattern(key: str) -> re.Pattern[str]:
    return re.compile("".join(part.strip() for part in settings()[key].splitlines()).replace("| ", "|"), re.IGNORECASE)


def _diagnosis(case: Case, text: str) -> PartCoverage:
    if case.diagnosis is None:
        return PartCoverage(None, reason="the case holds no diagnosis")
    marks = settings()["diagnosis"]
    target = (case.diagnosis.name, case.diagnosis.synonyms, case.diagnosis.accepted_codes)
    named = entities(text)
    verdicts = [match_diagnosis(name, *target) for name in named]
    whole = match_diagnosis(text[:MAX_CHARACTERS], *target)
    place = next((i for i, v in enumerate(verdicts) if v.match), None)
    if whole.match or place == 0:
        rank = "first"
    elif place is not None:
        rank = "later"
    else:
        near = any(v.same_category for v in (whole, *verdicts))
        rank = "category" if near else "other"
    right = rank in ("first", "later")
    precision = (1.0 if right else 0.0) / max(len(named), 1)
    hits = (case.diagnosis.name,) if right else ()
    return PartCoverage(int(marks[rank]), float(right), precision if named or right else None, 1, hits)
