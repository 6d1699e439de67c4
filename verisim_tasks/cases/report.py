"""How hard the cases are, and whether the first sentence gives them away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Literal

from verisim_metrics.matching import match_diagnosis
from verisim_tasks.clinician.consult import next_message
from verisim_tasks.clinician.dialogue import Role
from verisim_tasks.clinician.knowledge import default_knowledge
from verisim_tasks.clinician.policy import POLICIES
from verisim_tasks.clinician.script import OPEN_QUESTIONS
from verisim_tasks.noise.markup import plain
from verisim_tasks.records.case import SPOKEN_ITEMS, Case, Fact

Difficulty = Literal["easy", "medium", "hard"]
Dialogue = tuple[tuple[Role, str], ...]
Doctor = Callable[[Dialogue], str]
"""From the dialogue so far to the final diagnosis text."""

EASY_UP_TO = 2
"""A case is easy when this many key facts beside the opening are enough."""
MEDIUM_UP_TO = 4
_MARK = "Final Diagnosis:"


@dataclass(frozen=True)
class CaseReport:
    """What can be said about one case without a language model under test."""

    id: str
    specialty: str
    age: float
    sex: str
    informant: str
    difficulty: Difficulty | None
    """The label in the case file."""
    facts: int
    key_facts: int
    sensitive_facts: int
    sensitive_key_facts: int
    first_guess: str | None
    """The clinician's diagnosis from the opening alone; None when the case has no reference diagnosis."""
    guessed_from_opening: bool | None
    last_guess: str | None
    """The clinician's diagnosis when every fact was told."""
    found_with_everything: bool | None
    in_knowledge: bool | None
    """Whether the built-in clinician knows the disease at all."""
    key_facts_needed: int | None
    """Key facts told in case order, the opening aside, before the diagnosis is right; None when it never is."""
    computed_difficulty: Difficulty | None


@dataclass(frozen=True)
class BankReport:
    """The report on all cases of a source."""

    cases: tuple[CaseReport, ...]
    facts_per_item: dict[str, int]
    """Facts of all cases for each profile item, in profile order."""

    def count(self, field: str) -> dict[str, int]:
        """How often each value of a field of the cases occurs, sorted by value; a missing one is ``none``."""
        found = Counter(str(getattr(c, field)) if getattr(c, field) is not None else "none" for c in self.cases)
        return dict(sorted(found.items()))

    @property
    def leaked(self) -> tuple[CaseReport, ...]:
        """Cases whose diagnosis follows from the opening alone."""
        return tuple(c for c in self.cases if c.guessed_from_opening)

    @property
    def unsolved(self) -> tuple[CaseReport, ...]:
        """Cases whose diagnosis the clinician misses with every fact told."""
        return tuple(c for c in self.cases if c.found_with_everything is False)

    @property
    def mislabelled(self) -> tuple[CaseReport, ...]:
        """Cases whose label and computed difficulty are both known and differ."""
        return tuple(c for c in self.cases if None not in (c.difficulty, c.computed_difficulty) and _differ(c))

    @property
    def mean_facts(self) -> float | None:
        """Mean number of facts of a case, None without cases."""
        return mean(c.facts for c in self.cases) if self.cases else None


def report(cases: Iterable[Case], doctor: Doctor | None = None) -> BankReport:
    """The report on these cases, in their order. ``doctor`` is the built-in clinician when left out."""
    found = tuple(cases)
    items = Counter(f.category for case in found for f in case.facts)
    order = (*SPOKEN_ITEMS, "other")
    asked = doctor or forced_conclusion
    return BankReport(tuple(report_case(c, asked) for c in found), {i: items[i] for i in order if items[i]})  # type: ignore[index]


def report_case(case: Case, doctor: Doctor) -> CaseReport:
    """The report on one case."""
    first = last = None
    needed = None
    right_first = right_last = None
    if case.diagnosis is not None:
        first, last = doctor(told(case, ())), doctor(told(case, _others(case)))
        right_first, right_last = is_right(case, first), is_right(case, last)
        needed = key_facts_needed(case, doctor)
    return CaseReport(
        id=case.id,
        specialty=case.specialty,
        age=case.demographics.age,
        sex=case.demographics.sex,
        informant=case.informant.relation or "patient",
        difficulty=case.difficulty,
        facts=len(case.facts),
        key_facts=len(case.key_facts),
        sensitive_facts=sum(f.sensitive for f in case.facts),
        sensitive_key_facts=sum(f.sensitive and f.key for f in case.facts),
        first_guess=first,
        guessed_from_opening=right_first,
        last_guess=last,
        found_with_everything=right_last,
        in_knowledge=None if case.diagnosis is None else any(is_right(case, name) for name in known_diseases()),
        key_facts_needed=needed,
        computed_difficulty=None if case.diagnosis is None else difficulty_of(needed),
    )


def told(case: Case, facts: Sequence[Fact]) -> Dialogue:
    """The opening, then each fact as the answer to an open question."""
    question = OPEN_QUESTIONS["others"].ask
    turns: list[tuple[Role, str]] = [("patient", plain(case.opening.lay))]
    for fact in facts:
        turns += [("doctor", question), ("patient", plain(fact.lay))]
    return tuple(turns)


def forced_conclusion(dialogue: Dialogue) -> str:
    """What the built-in clinician concludes when it has to."""
    message = next_message(dialogue, POLICIES["default"], forced=True)
    return message.partition(_MARK)[2].split("\n")[0].strip()


def is_right(case: Case, guess: str) -> bool:
    """Whether a diagnosis counts as the case's."""
    known = case.diagnosis
    return known is not None and match_diagnosis(guess, known.name, known.synonyms, known.accepted_codes).match


def known_diseases() -> tuple[str, ...]:
    """The diseases that the built-in clinician can name."""
    return tuple(disease.name for disease in default_knowledge().diseases)


def key_facts_needed(case: Case, doctor: Doctor) -> int | None:
    """How many key facts, told in case order after the opening, first make the diagnosis right; None when never."""
    key = [f for f in case.key_facts if f.id != case.opening.id]
    for count in range(len(key) + 1):
        if is_right(case, doctor(told(case, key[:count]))):
            return count
    return None


def difficulty_of(needed: int | None) -> Difficulty:
    """The difficulty of a case that needs this many key facts; one that they never solve is hard."""
    if needed is None or needed > MEDIUM_UP_TO:
        return "hard"
    return "easy" if needed <= EASY_UP_TO else "medium"


def _others(case: Case) -> tuple[Fact, ...]:
    return tuple(f for f in case.facts if f.id != case.opening.id)


def _differ(case: CaseReport) -> bool:
    return case.difficulty != case.computed_difficulty
