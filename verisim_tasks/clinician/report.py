"""The clinician's written report: its findings, the results it heard, its ranking and why, and a plan."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from verisim_tasks.clinician.assessment import Assessment
from verisim_tasks.clinician.beliefs import Finding
from verisim_tasks.clinician.care import care_of
from verisim_tasks.clinician.consult import Clinician
from verisim_tasks.clinician.dialogue import Dialogue, Role
from verisim_tasks.clinician.knowledge import Knowledge
from verisim_tasks.clinician.papers import Papers, record_lines
from verisim_tasks.clinician.signs import telling, weigh

MOST_REASONS = 8
"""Findings named for the diagnosis."""
MOST_AGAINST = 2
HISTORY = ("Present illness", "Past history", "Life")
"""Headings of a record whose lines are taken in as if a patient had told them."""
FINDINGS = ("Vital signs", "Physical examination", "Tests")


def write_report(clinician: Clinician, papers: Papers) -> str:
    """All five parts, from one consultation."""
    state = clinician.assess(papers.prompt.dialogue, papers.prompt.preamble)
    opening = next((text for role, text in papers.prompt.dialogue if role == "patient"), "")
    return compose(clinician.knowledge, state, opening, papers.results)


def write_record_report(clinician: Clinician, papers: Papers) -> str:
    """The three parts that follow from a whole record."""
    lines = record_lines(papers.record, HISTORY)
    state = clinician.assess(as_dialogue(lines), _about(papers.record))
    results = record_lines(papers.record, FINDINGS)
    return joined(conclusions(clinician.knowledge, state, results))


def compose(knowledge: Knowledge, state: Assessment, opening: str, results: Sequence[str]) -> str:
    """A report from what was told and what was found."""
    examined = "\n".join(f"- {line}" for line in results) or "None: nothing was examined."
    parts = [("Symptoms", symptoms(knowledge, state, opening)), ("Examinations", examined)]
    return joined([*parts, *conclusions(knowledge, state, results)])


def symptoms(knowledge: Knowledge, state: Assessment, opening: str) -> str:
    """What was told and what was denied, complaint first, one finding a line."""
    who = " ".join(filter(None, (f"{state.age:g} years old" if state.age is not None else "", state.sex or "")))
    told = [name for name, f in state.findings.items() if f.state == "present"]
    denied = [name for name, f in state.findings.items() if f.state == "absent"]
    lines = [f"Patient: {who}"] if who else []
    lines += [f"Complaint: {opening}"] if opening else []
    told.sort(key=lambda n: not state.findings[n].complaint)
    lines += [knowledge.feature(n).name.capitalize() for n in told]
    lines += [f"No {knowledge.feature(n).name}" for n in denied]
    return "\n".join(f"- {line}" for line in lines) or "- Nothing was told."


def as_dialogue(lines: Sequence[str]) -> Dialogue:
    """Lines of a record as a patient's answers, the first one as the opening."""
    turns: list[tuple[Role, str]] = []
    for line in lines:
        turns += [("doctor", "What else?"), ("patient", line)] if turns else [("patient", line)]
    return tuple(turns)


def _about(record: str) -> str:
    return next((line for line in record.splitlines() if line.startswith("Age and sex:")), "")


def conclusions(knowledge: Knowledge, state: Assessment, results: Sequence[str]) -> list[tuple[str, str]]:
    """Diagnosis, rationale and treatment, after weighing the results."""
    weighed = weigh(knowledge, state, results)
    name = weighed.ranking[0][0]
    reasons = "\n".join(f"- {line}" for line in _reasons(knowledge, weighed, results))
    plan = "\n".join(f"- {line}" for line in care_of(name).treatment)
    return [("Diagnosis", name), ("Rationale", reasons), ("Treatment", plan)]


def joined(parts: Sequence[tuple[str, str]], empty: str = "") -> str:
    """A text with these headings; ``empty`` stands where a part says nothing."""
    return "\n".join(f"{heading}:\n{text or empty}" for heading, text in parts)


def _reasons(knowledge: Knowledge, state: Assessment, results: Sequence[str]) -> Iterator[str]:
    """Findings that speak for the diagnosis, those that speak against the next one, and the results it rests on."""
    (name, _), *others = state.ranking
    for_it = speaking_for(knowledge, state, name)
    if for_it:
        yield f"{_listed(knowledge, state, for_it)} speak for {name}"
    for other, _ in others[:MOST_AGAINST]:
        against = [n for n in for_it if _weight(knowledge, other, n, state.findings[n]) < 0]
        if against:
            yield f"{_listed(knowledge, state, against[:3])} speak against {other}"
    yield from telling(results, name)


def speaking_for(knowledge: Knowledge, state: Assessment, disease: str) -> list[str]:
    """The findings that raise this disease most, strongest first."""
    heard = {n: f for n, f in state.findings.items() if f.state in ("present", "absent")}
    weights = {n: round(_weight(knowledge, disease, n, f), 6) for n, f in heard.items()}
    return sorted((n for n, w in weights.items() if w > 0), key=lambda n: (-weights[n], n))[:MOST_REASONS]


def _weight(knowledge: Knowledge, disease: str, feature: str, finding: Finding) -> float:
    """Log-likelihood ratio of the finding, disease against no disease of that kind."""
    column = knowledge.index[feature]
    row = next(i for i, d in enumerate(knowledge.diseases) if d.name == disease)
    with_it, base = float(knowledge.probability[row, column]), float(knowledge.base[column])
    if finding.state == "absent":
        with_it, base = 1 - with_it, 1 - base
    return math.log(max(with_it, 1e-3) / max(base, 1e-3)) * finding.weight


def _listed(knowledge: Knowledge, state: Assessment, names: Sequence[str]) -> str:
    words = [("no " if state.findings[n].state == "absent" else "") + knowledge.feature(n).name for n in names]
    text = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
    return text[0].upper() + text[1:]
