"""What a case holds for the examiner: vital signs, findings and test results, each with what its name means."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from verisim_tasks.examiner.imaging import Study
from verisim_tasks.examiner.mentions import MentionFinder
from verisim_tasks.examiner.tokens import forms, tokenise
from verisim_tasks.examiner.vocabulary import Item, Vocabulary
from verisim_tasks.records.case import Case, Finding, TestResult

EntryKind = Literal["vital", "finding", "test"]


@dataclass(frozen=True)
class Entry:
    """One thing the case holds."""

    kind: EntryKind
    id: str
    """The id in the case; for a vital sign its fields joined by ``+``."""
    name: str
    text: str
    """The result verbatim with unit and reference."""
    items: frozenset[str] = frozenset()
    """Items that its name means."""
    panels: frozenset[str] = frozenset()
    """Items that the name of its panel means."""
    studies: tuple[Study, ...] = ()
    sides: frozenset[str] = frozenset()
    known_as: tuple[tuple[str, ...], ...] = ()
    """Comparable words of its name and terms."""
    says: tuple[str, ...] = ()
    """Comparable words of its result."""


@dataclass(frozen=True)
class Holdings:
    """All entries of a case, vital signs first, then findings, then tests, in case order."""

    entries: tuple[Entry, ...]
    own: dict[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)
    """Entry keys by the comparable words of their names."""

    def of(self, keys: Iterable[str]) -> tuple[Entry, ...]:
        """The entries with those keys, in case order."""
        wanted = set(keys)
        return tuple(e for e in self.entries if key_of(e) in wanted)


def key_of(entry: Entry) -> str:
    """What tells entries of one case apart: kind and id."""
    return f"{entry.kind}:{entry.id}"


def holdings(case: Case, vocabulary: Vocabulary, finder: MentionFinder) -> Holdings:
    """Read a case's vital signs, examination and tests."""
    entries = (
        *_vitals(case, vocabulary),
        *(_finding(f, finder) for f in case.examination),
        *(_test(t, finder) for t in case.tests),
    )
    own: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for entry in entries:
        if entry.kind != "vital" and (words := forms(entry.name)):
            own[words].append(key_of(entry))
    return Holdings(entries, {words: tuple(keys) for words, keys in own.items()})


def _vitals(case: Case, vocabulary: Vocabulary) -> Iterable[Entry]:
    for item in vocabulary.items.values():
        if item.kind != "vital":
            continue
        values = {f: getattr(case.vitals, f) for f in item.fields}
        held = [f for f, v in values.items() if v is not None]
        if not held:
            continue
        shown = {f: "?" if v is None else f"{v:g}" for f, v in values.items()}
        yield Entry("vital", "+".join(held), item.name, item.form.format(**shown), frozenset([item.name]))


def _finding(finding: Finding, finder: MentionFinder) -> Entry:
    return _named("finding", finding.id, finding.name, finding.result, None, finding.terms, finding.result, finder)


def _test(test: TestResult, finder: MentionFinder) -> Entry:
    unit = f" {test.unit}" if test.unit and test.unit not in test.result else ""
    reference = f" (reference {test.reference})" if test.reference else ""
    text = f"{test.result}{unit}{reference}"
    return _named("test", test.id, test.name, text, test.panel, test.terms, test.result, finder)


def _named(
    kind: EntryKind,
    id_: str,
    name: str,
    text: str,
    panel: str | None,
    terms: Sequence[str],
    result: str,
    finder: MentionFinder,
) -> Entry:
    tokens = tokenise(name)
    found = finder.named_in(tokens)
    return Entry(
        kind=kind,
        id=id_,
        name=name,
        text=text,
        items=_meant(kind, [n.item for m in found for n in m.items], finder.items),
        panels=frozenset(n.item for m in finder.named_in(tokenise(panel)) for n in m.items) if panel else frozenset(),
        studies=tuple(m.study for m in found if m.study is not None),
        sides=finder.sides(tokens),
        known_as=tuple(w for w in (forms(name), *map(forms, terms)) if w),
        says=forms(result),
    )


def _meant(kind: EntryKind, names: Sequence[str], items: Mapping[str, Item]) -> frozenset[str]:
    """A test is no body part, and neither test nor finding is a vital sign, unless its name says nothing else."""
    foreign = ("vital", "examination") if kind == "test" else ("vital",)
    own = [n for n in names if items[n].kind not in foreign]
    return frozenset(own or names)
