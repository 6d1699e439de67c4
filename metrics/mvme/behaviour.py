"""Behaviour checks of AI Hospital's appendices, read off transcripts: patient, examiner, and the doctor's report.

Where the paper asks people, rules count. A *relevant* answer tells or denies something that was asked about; it is
judged where the suite recognised what was asked. An *honest* answer holds no false denial (``justified``) and no claim
that a verifier found unsupported. The examiner's results are compared with the case, word for word. A report is
*consistent* with the dialogue where its clauses were said in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from verisim_metrics.aggregate import mean
from verisim_metrics.consultation import is_excluded
from verisim_metrics.matching import match_diagnosis
from verisim_metrics.mvme.analysis import Failure, Regression, count_failures, failure_class, regress
from verisim_metrics.mvme.compare import matches, read
from verisim_metrics.mvme.coverage import PartCoverage, coverage
from verisim_metrics.mvme.linking import icd_codes
from verisim_tasks.language.sentences import split_sentences
from verisim_tasks.records.case import Case
from verisim_tasks.records.transcript import Report, Transcript, Turn


@dataclass(frozen=True)
class Share:
    """A share and what it is of."""

    hits: int
    of: int

    @property
    def value(self) -> float | None:
        """0-1; ``None`` where there was nothing to count."""
        return self.hits / self.of if self.of else None


@dataclass(frozen=True)
class Average:
    """A mean over reports."""

    value: float | None
    n: int
    of: int
    """Reports looked at; those without a value are left out of the mean."""


@dataclass(frozen=True)
class Behaviour:
    """What many transcripts show."""

    relevant_answers: Share
    honest_answers: Share
    orders_understood: Share
    """Doctor messages that reached the examiner and brought at least one result."""
    ordered_items_recorded: Share
    """Ordered examinations that the case holds."""
    results_verbatim: Share
    """Results that stand in the examiner's words as they stand in the case."""
    symptoms_said: Average
    """Share of the clauses on symptoms that were said in the dialogue."""
    examinations_seen: Average
    """Share of the clauses on examinations that the examiner reported."""
    diagnosis_kept: Share
    """Reports whose diagnosis is the one that ended the consultation."""
    regression: Regression
    """Of the mark of the diagnosis on those of symptoms and examinations (``coverage_*``)."""
    failures: Mapping[str, int] = field(default_factory=dict)
    """Why wrong diagnoses are wrong."""


SHARES: Mapping[str, str] = MappingProxyType(
    {
        "relevant_answers": "relevant answers",
        "honest_answers": "honest answers",
        "orders_understood": "orders that brought a result",
        "ordered_items_recorded": "ordered items that the case holds",
        "results_verbatim": "results word for word",
        "symptoms_said": "report: symptoms said in the dialogue",
        "examinations_seen": "report: examinations seen in the dialogue",
        "diagnosis_kept": "report: the diagnosis that was concluded",
    }
)
"""The shares and averages with their labels, in the order they are shown."""


def observe(transcripts: Sequence[Transcript], cases: Mapping[str, Case]) -> Behaviour:
    """All checks over these transcripts; those that ended in an error are left out."""
    used = [t for t in transcripts if not is_excluded(t)]
    answers = [turn for t in used for turn in t.patient_turns() if turn.index > 0]
    examined = [(cases[t.case_id], turn) for t in used for turn in t.turns if turn.speaker == "examiner" and turn.index]
    reported = [t for t in used if t.report is not None]
    parts = [(t, coverage(cases[t.case_id], t.report)) for t in reported]
    classes = [_failure(t, cases[t.case_id], found) for t, found in parts]
    return Behaviour(
        relevant_answers=_count(_is_relevant(turn) for turn in answers if turn.asked),
        honest_answers=_count(_is_honest(turn) for turn in answers),
        orders_understood=_count(bool(turn.disclosed) for _, turn in examined),
        ordered_items_recorded=Share(
            sum(len(_recorded(turn)) for _, turn in examined), sum(len(turn.asked) for _, turn in examined)
        ),
        results_verbatim=_count(v for case, turn in examined for v in _verbatim(case, turn)),
        symptoms_said=_average([_symptoms_said(t, cases[t.case_id]) for t in reported]),
        examinations_seen=_average([_examinations_seen(t) for t in reported]),
        diagnosis_kept=_count(v for t in reported if (v := _keeps_diagnosis(t)) is not None),
        regression=regress([{part: value.mark for part, value in found.items()} for _, found in parts]),
        failures=count_failures(classes),
    )


def _failure(transcript: Transcript, case: Case, parts: Mapping[str, PartCoverage]) -> Failure | None:
    """Why a diagnosis is wrong; where the whole record was handed over, nothing can have been omitted."""
    found = failure_class(case, transcript.report or Report(), parts)
    handed_over = any(turn.speaker == "examiner" and turn.index == 0 for turn in transcript.turns)
    return "erroneous_judgement" if handed_over and found == "examination_omitted" else found


def _count(values: Iterator[bool]) -> Share:
    seen = list(values)
    return Share(sum(seen), len(seen))


def _average(values: Sequence[float | None]) -> Average:
    value, n = mean(values)
    return Average(value, n, len(values))


def _is_relevant(turn: Turn) -> bool:
    return any(d.asked for d in turn.disclosed) or bool(turn.denials)


def _is_honest(turn: Turn) -> bool:
    claims = turn.verification.claims if turn.verification else ()
    false = any(d.kind == "justified" and not d.retracted for d in turn.denials)
    return not false and not any(c.verdict in ("unsupported", "contradicted") for c in claims)


def _recorded(turn: Turn) -> list[str]:
    """The ordered items that are not among those said to be missing."""
    lines = [line.casefold() for line in turn.text.splitlines()]
    absent = {line.partition(":")[0] for line in lines if line.endswith((": not recorded", ": no abnormality found"))}
    return [item for item in turn.asked if item.casefold() not in absent]


def _verbatim(case: Case, turn: Turn) -> Iterator[bool]:
    """For each result that is a finding or a test of the case, whether its words stand in the turn."""
    held = {**{f.id: f.result for f in case.examination}, **{t.id: t.result for t in case.tests}}
    yield from (held[d.fact_id] in turn.text for d in turn.disclosed if d.fact_id in held)


def _symptoms_said(transcript: Transcript, case: Case) -> float | None:
    """Share of the report's clauses that the patient said, in own words or as the fact behind them."""
    if transcript.report is None or transcript.report.symptoms is None or case.language != "en":
        return None
    told = {d.fact_id for turn in transcript.patient_turns() for d in turn.disclosed}
    told |= {d.fact_id for turn in transcript.patient_turns() for d in turn.denials if d.fact_id}
    facts = [f.statement for f in case.facts if f.id in told or f.id == case.opening.id]
    words = [s for turn in transcript.patient_turns() for s in split_sentences(turn.text)]
    return _share_said(transcript.report.symptoms, [*facts, *words, *_asked_and_denied(transcript)])


def _asked_and_denied(transcript: Transcript) -> Iterator[str]:
    """Denials name no symptom of their own: ``no`` and the concept they are about."""
    yield from (f"No {d.concept}" for turn in transcript.patient_turns() for d in turn.denials)


def _examinations_seen(transcript: Transcript) -> float | None:
    lines = [line for t in transcript.turns if t.speaker == "examiner" for line in t.text.splitlines()]
    report = transcript.report
    if not lines or report is None or report.examinations is None:
        return None
    return _share_said(report.examinations, lines)


def _share_said(text: str, pool: Sequence[str]) -> float | None:
    clauses = read(text)
    claims = [place for place, words in enumerate(clauses.words) if words]
    if not claims:
        return None
    said = {place for places in matches(pool, clauses, "symptoms") for place in places}
    spoken = "\n".join(pool).casefold()
    said |= {place for place in claims if clauses.clauses[place].casefold() in spoken}
    return sum(place in said for place in claims) / len(claims)


def _keeps_diagnosis(transcript: Transcript) -> bool | None:
    """Whether report and conclusion name the same disease; ``None`` where one names none."""
    concluded, report = transcript.outcome.diagnosis, transcript.report
    if concluded is None or report is None or report.diagnosis is None or transcript.collaboration is not None:
        return None
    pairs = ((report.diagnosis, concluded), (concluded, report.diagnosis))
    return any(match_diagnosis(a, b, (), icd_codes(b)).match for a, b in pairs)
