"""The clinician among colleagues: merging reports as the Central Agent, revising its own, and deciding at the end.

It reads message lists only, which the collaboration sends it in any case.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from verisim_tasks.clinician.assessment import Assessment
from verisim_tasks.clinician.beliefs import Finding
from verisim_tasks.clinician.care import care_of
from verisim_tasks.clinician.consult import Clinician
from verisim_tasks.clinician.dialogue import Role, read_prompt
from verisim_tasks.clinician.knowledge import Knowledge
from verisim_tasks.clinician.papers import contents, split_results
from verisim_tasks.clinician.report import conclusions, joined
from verisim_tasks.clinician.signs import ranked

REVISE = "Revise your report now"
MERGE = "Merge now what the doctors collected"
DISAGREE = "List now the points on which the doctors disagree"
DECIDE = "Give your own synthesis now"
"""Phrases of the suite's instructions by which the clinician knows what is wanted of it."""

OPINION = 0.7
"""What one colleague's diagnosis weighs, on the natural-log scale."""
SECOND_HAND = 0.8
"""What a finding weighs that a colleague heard."""

_NOTE = "Other doctors saw the same patient"
_HEADING = re.compile(r"^(Symptoms|Examinations|Asked again|What each of you thinks|Points of disagreement|Revise).*$")
_THINKS = re.compile(r"^(?P<doctor>.+?) thinks of: (?P<name>.+)$", re.MULTILINE)
_DOCTOR = re.compile(r"^Doctor \d+$", re.MULTILINE)


def answer(clinician: Clinician, text: str) -> str | None:
    """What the clinician writes for its colleagues; ``None`` when the prompt is about something else."""
    *before, last = contents(text) or [""]
    if REVISE in last:
        return revise(clinician, text)
    write = next((write for mark, write in _TASKS.items() if mark in last), None)
    return write(clinician, "\n\n".join(before)) if write else None


def merge(clinician: Clinician, briefing: str) -> str:
    """What several reports say, each point once, and what they contradict each other about."""
    sides = [_sections(block) for block in _DOCTOR.split(briefing)[1:]]
    symptoms = _union(side.get("Symptoms", ()) for side in sides)
    results = _union(side.get("Examinations", ()) for side in sides)
    names = {f.name.casefold(): f for f in clinician.knowledge.features}
    told = {line.casefold() for line in symptoms}
    disputed = [n for n in names if n in told and f"no {n}" in told]
    unclear = _differing(results)
    kept = [line for line in symptoms if line.casefold().removeprefix("no ") not in disputed]
    questions = [names[n].ask for n in disputed] + [f"Order: {name}" for name in unclear]
    return joined(
        [("Symptoms", _list(kept)), ("Examinations", _list(results)), ("Disputed", _list(questions))], empty="none"
    )


def _differing(results: Sequence[str]) -> list[str]:
    """Names of examinations that come with more than one result."""
    found: dict[str, set[str]] = {}
    for line in results:
        name, _, result = line.partition(":")
        if result:
            found.setdefault(name, set()).add(result.strip())
    return [name for name, values in found.items() if len(values) > 1]


def disagreements(clinician: Clinician, briefing: str) -> str:
    """Who thinks of what, in one line for each two that differ."""
    held = [(m["doctor"], m["name"].strip()) for m in _THINKS.finditer(briefing)]
    (first, name), *others = held or [("", "")]
    lines = [f"{first} thinks of {name}, {other} of {theirs}" for other, theirs in others if theirs != name]
    return _list(lines) or "none"


def revise(clinician: Clinician, text: str) -> str:
    """The three concluding parts after hearing the others: their findings, what was asked again, what they think."""
    prompt = read_prompt(text)
    note = prompt.dialogue[-1][1]
    sections = _sections(note[note.find(_NOTE) :])
    turns: list[tuple[Role, str]] = []
    results: list[str] = []
    for role, said in (*prompt.dialogue[:-1], ("patient", note[: note.find(_NOTE)]), *_asked_again(sections)):
        words, found = split_results(said)
        results += found
        if words:
            turns.append(("doctor" if role == "doctor" else "patient", words))
    state = clinician.assess(turns, prompt.preamble)
    _take_over(clinician, state, sections.get("Symptoms", ()))
    results += [line for line in sections.get("Examinations", ()) if ":" in line]
    opinions = Counter(m["name"].strip() for m in _THINKS.finditer(note))
    _listen_to(clinician.knowledge, state, opinions)
    return joined(conclusions(clinician.knowledge, state, results))


def _asked_again(sections: Mapping[str, Sequence[str]]) -> list[tuple[Role, str]]:
    turns: list[tuple[Role, str]] = []
    for line in sections.get("Asked again", ()):
        who, _, said = line.partition(": ")
        if who == "Question":
            turns.append(("doctor", said))
        else:
            turns.append(("patient", said if who == "Patient" else f"Examination results:\n{said}"))
    return turns


def _take_over(clinician: Clinician, state: Assessment, lines: Sequence[str]) -> None:
    """Findings that only colleagues have heard of."""
    names = {f.name.casefold(): f.id for f in clinician.knowledge.features}
    for line in lines:
        plain = line.casefold()
        feature = names.get(plain) or names.get(plain.removeprefix("no "))
        if feature and feature not in state.findings:
            state.findings[feature] = Finding("present" if plain in names else "absent", SECOND_HAND)
    state.posterior = clinician.beliefs.posterior(state.findings, state.age, state.sex)


def _listen_to(knowledge: Knowledge, state: Assessment, opinions: Mapping[str, int]) -> None:
    bonus = np.array([OPINION * opinions.get(d.name, 0) for d in knowledge.diseases])
    odds = state.posterior * np.exp(bonus)
    state.posterior = odds / odds.sum()
    state.ranking = ranked(knowledge, state.posterior)


def decide(clinician: Clinician, briefing: str) -> str:
    """What most doctors think of, the first of equals, with the reasons given for it."""
    held = list(_THINKS.finditer(briefing))
    counts = Counter(m["name"].strip() for m in held)
    name = max(counts, key=lambda n: counts[n]) if counts else clinician.knowledge.diseases[0].name
    chosen = next((m for m in held if m["name"].strip() == name), None)
    rest = briefing[chosen.end() :] if chosen else ""
    own = _THINKS.split(rest, maxsplit=1)[0].partition("Reasons:")[2].partition("\n\n")[0]
    return joined([("Diagnosis", name), ("Rationale", own.strip() or "As the doctors gave it."), plan_for(name)])


def plan_for(name: str) -> tuple[str, str]:
    """The treatment part."""
    return "Treatment", _list(care_of(name).treatment)


def _sections(text: str) -> dict[str, list[str]]:
    """Lines below each heading, without marks."""
    found: dict[str, list[str]] = {}
    current: list[str] = []
    for line in text.splitlines():
        heading = _HEADING.match(line.strip())
        if heading:
            current = found.setdefault(heading.group(1), [])
        elif line.strip() and line.strip() != "none":
            current.append(line.strip().removeprefix("- "))
    return found


def _union(groups: Iterable[Sequence[str]]) -> list[str]:
    return list(dict.fromkeys(line for group in groups for line in group))


def _list(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


_TASKS: Mapping[str, Callable[[Clinician, str], str]] = MappingProxyType(
    {MERGE: merge, DISAGREE: disagreements, DECIDE: decide}
)
