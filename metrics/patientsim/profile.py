"""The profile of a case as PatientSim items: what a patient's sentences are held against."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from verisim_tasks.language.lexicon import load_yaml
from verisim_tasks.records.case import SPOKEN_ITEMS, Case, Fact

COMPLETE_ITEMS: tuple[str, ...] = ("allergies", "family_medical_history", "medical_device", "medication")
"""Items whose lists are complete: what is not in them is not so."""

_LABELLED = frozenset({"age", "gender", "race", "occupation", "insurance", "arrival_transport"})
"""Items whose statement may be a bare value."""

_MARKED = re.compile(r"\[([^\[\]|]+)\|[^\[\]]*\]")


@dataclass(frozen=True)
class Item:
    """One statement of the profile, under one of the 23 spoken categories (or ``other``)."""

    id: str
    """The fact's id, ``implied-<item>`` for demographics, ``closed-<item>`` for the end of a complete list."""
    category: str
    text: str
    """Label and clinical statement, e.g. ``Allergies: penicillin causes a rash``."""
    lay: str
    """How the informant says it, plainly; empty where no words are known."""
    terms: tuple[str, ...] = ()
    """Words by which a doctor asks for it."""
    statement: str = ""
    """The statement with the name of what it is about, without the label; empty where the text says it best."""

    @property
    def premise(self) -> str:
        """What NLI reads. Labels are left out, since "Denied in the present illness: Denies fever" denies twice."""
        return self.statement or self.text

    @property
    def is_closing(self) -> bool:
        """Whether it says that a list is complete."""
        return self.id.startswith("closed-")


def items_of(case: Case) -> tuple[Item, ...]:
    """Every statement of the case's profile: its facts, its demographics and the end of each complete list."""
    have = {fact.category for fact in case.facts}
    return (
        *(_fact_item(fact) for fact in case.facts),
        *(item for item in _demographic_items(case) if item.category not in have),
        *_closing_items(case),
    )


def categories_of(items: tuple[Item, ...]) -> tuple[str, ...]:
    """The spoken PatientSim items that the profile holds, in their fixed order; ``other`` is none of them."""
    have = {item.category for item in items}
    return tuple(name for name in SPOKEN_ITEMS if name in have)


def plain_words(marked: str) -> str:
    """A lay sentence without the marks of what memory may blur."""
    return _MARKED.sub(lambda m: m[1].strip(), marked)


def label_of(category: str) -> str:
    """The readable name of a profile item."""
    return str(_wording()["labels"].get(category, category.replace("_", " ").capitalize()))


def _fact_item(fact: Fact) -> Item:
    about = f" ({fact.concept}, {fact.aspect})" if fact.aspect else f" ({fact.concept})"
    known = f"{fact.statement} {label_of(fact.category)}".lower()
    named = fact.concept.lower() in known and fact.aspect is None
    details = "".join(f"; {detail}" for detail in _details(fact))
    text = f"{label_of(fact.category)}{'' if named else about}: {fact.statement}{details}"
    stated = (
        f"{fact.statement}{details}" if fact.aspect is None else f"{_capital(fact.concept)}: {fact.statement}{details}"
    )
    bare = fact.category in _LABELLED
    return Item(fact.id, fact.category, text, plain_words(fact.lay), fact.terms, "" if bare else stated)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _details(fact: Fact) -> Iterator[str]:
    said = fact.statement.lower()
    for name in ("onset", "duration", "severity", "frequency"):
        value = getattr(fact, name)
        if value and value.lower() not in said:
            yield f"{name} {value}"


def _demographic_items(case: Case) -> Iterator[Item]:
    who = case.demographics
    values = {"age": f"{who.age:g} years old", "gender": who.sex, "race": who.race, "occupation": who.occupation}
    for category, value in values.items():
        if value:
            yield Item(f"implied-{category}", category, f"{label_of(category)}: {value}", "")


def _closing_items(case: Case) -> Iterator[Item]:
    """What a complete list does not hold is not so: "no known allergies", "no allergy other than these"."""
    for category in COMPLETE_ITEMS:
        facts = [fact for fact in case.facts if fact.category == category]
        present = [fact.statement for fact in facts if fact.polarity == "present"]
        wording = _wording()["closing"][category]
        if present:
            text = wording["only"].replace("{list}", "; ".join(dict.fromkeys(present)))
            yield Item(f"closed-{category}", category, f"{label_of(category)}: {text}", "")
        elif not facts:
            yield Item(f"closed-{category}", category, f"{label_of(category)}: {wording['none']}", wording["lay"])


@functools.cache
def _wording() -> dict[str, dict[str, dict[str, str]]]:
    data: dict[str, dict[str, dict[str, str]]] = load_yaml("patientsim", "profile_items.yaml")
    return data
