"""What can be ordered: items with their names, panels and the words of imaging, read from ``fixtures/examiner``."""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from verisim_tasks._stable import digest
from verisim_tasks._yaml import parse_yaml
from verisim_tasks.examiner.tokens import forms

FILES: tuple[str, ...] = (
    "short",
    "blood",
    "specimens",
    "procedures",
    "imaging",
    "examination",
    "other_names",
    "lay",
    "requests",
)
"""Data files, in the order of their digest."""

ItemKind = Literal["vital", "group", "examination", "test"]
_EXAM_NOUNS = ("exam", "examination")
_BLOODS = ("bloods", "blood", "blood test", "blood tests", "blood work", "bloodwork", "labs", "blood sample")
_SPECIMENS = ("urine", "stool", "sputum", "csf", "serum", "synovial fluid", "joint fluid", "faecal", "blood")
_METHODS = (
    "pcr",
    "naat",
    "serology",
    "culture",
    "antibodies",
    "test",
    "swab",
    "antigen",
    "smear",
    "film",
    "microscopy",
)


class Item(BaseModel):
    """One thing that can be ordered. The fields are told in the head of ``blood.yaml`` and ``examination.yaml``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    kind: ItemKind
    names: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    mention: tuple[str, ...] = ()
    blood_for: tuple[str, ...] = ()
    """Organs: "blood tests for the kidneys" orders it."""
    fields: tuple[str, ...] = ()
    form: str = ""
    single: bool = False
    strict: bool = False
    umbrella: bool = False
    """Gives way where what it is for is named right behind: "STI screen: chlamydia", "allergy tests for wheat"."""
    covers: Literal["", "blood", "examination"] = ""
    """Gives way where the message orders anything of that section: "some blood tests, including a ferritin"."""
    first: bool = False
    """Of its kinds only the first that the case holds answers."""
    apart: bool = False
    """A panel of a sample of its own: what the case counts with it answers for no other panel."""
    section: str = ""
    """Where in the data it stands; set when read."""
    all_findings: bool = False


class Name(BaseModel):
    """A name that leads to an item."""

    model_config = ConfigDict(frozen=True)

    item: str
    explicit: bool
    """Whether it means an examination wherever it stands; else a verb of examining or an order line must go before."""


class Vocabulary:
    """All items, and the index of their names by comparable words."""

    def __init__(self) -> None:
        raw = {name: _read(name) for name in FILES}
        self.digest: str = digest(raw)
        self.requests: dict[str, Any] = raw["requests"]
        self.imaging: dict[str, Any] = raw["imaging"]
        self.lay: dict[str, Any] = raw["lay"]
        self.items: dict[str, Item] = {item.name: item for item in _items(raw)}
        self._needs_verb = frozenset(forms(n) for n in self.requests["needs_verb"])
        self.names: dict[tuple[str, ...], tuple[Name, ...]] = self._index()
        self.words: dict[str, str] = self._spelt_words(raw["short"]["words"])
        """Words that names are made of, and the comparable form of each."""
        self.samples: dict[tuple[str, ...], tuple[tuple[str, ...], ...]] = {
            forms(word): tuple(forms(n) for n in sample["names"])
            for sample in raw["specimens"]["samples"]
            for word in sample["words"]
        }
        """Words for a sample, and what names of tests on it begin with."""
        self.samples_end = frozenset(raw["specimens"]["samples_end"])
        self._check_links()
        self._wider: dict[str, dict[str, list[str]]] = self._upward()

    def below(self, name: str, relations: tuple[str, ...] = ("kinds", "members")) -> frozenset[str]:
        """The item and all that answer for it, down the given relations."""
        return self._below[name] if relations == ("kinds", "members") else self._descend(name, relations)

    def wider(self, name: str, relation: str) -> tuple[str, ...]:
        """Items that hold this one directly by that relation."""
        return tuple(self._wider[relation].get(name, ()))

    @functools.cached_property
    def _below(self) -> Mapping[str, frozenset[str]]:
        return {name: self._descend(name, ("kinds", "members")) for name in self.items}

    def _descend(self, name: str, relations: tuple[str, ...]) -> frozenset[str]:
        found: set[str] = set()
        waiting = [name]
        while waiting:
            current = waiting.pop()
            if current in found:
                continue
            found.add(current)
            waiting.extend(other for relation in relations for other in getattr(self.items[current], relation))
        return frozenset(found)

    def _index(self) -> dict[tuple[str, ...], tuple[Name, ...]]:
        index: dict[tuple[str, ...], dict[str, bool]] = defaultdict(dict)
        for item in self.items.values():
            for text, explicit in _spoken(item):
                key = forms(text)
                if key:
                    sure = explicit and key not in self._needs_verb
                    index[key][item.name] = index[key].get(item.name, False) or sure
        return {k: tuple(Name(item=i, explicit=e) for i, e in sorted(v.items())) for k, v in index.items()}

    def _spelt_words(self, short: Mapping[str, Any]) -> dict[str, str]:
        sites, modalities = self.imaging["sites"], self.imaging["modalities"]
        studies = [n for k, v in (*sites.items(), *modalities.items()) for n in (k, *v.get("names", ()))]
        found = {w for key in self.names for w in key} | {w for name in studies for w in forms(name)}
        return {w: w for w in sorted(found)} | {str(k): str(v) for k, v in short.items()}

    def _upward(self) -> dict[str, dict[str, list[str]]]:
        wider: dict[str, dict[str, list[str]]] = {r: defaultdict(list) for r in ("kinds", "members", "parts")}
        for item in self.items.values():
            for relation, holders in wider.items():
                for other in getattr(item, relation):
                    holders[other].append(item.name)
        return wider

    def _check_links(self) -> None:
        for item in self.items.values():
            missing = [o for r in ("kinds", "members", "parts") for o in getattr(item, r) if o not in self.items]
            if missing:
                raise ValueError(f"fixtures/examiner: {item.name!r} holds unknown items {missing}")


@functools.cache
def default_vocabulary() -> Vocabulary:
    """The vocabulary that ships with the suite, read once."""
    return Vocabulary()


def _read(name: str) -> Any:
    text = (files("verisim_fixtures") / "examiner" / f"{name}.yaml").read_text(encoding="utf-8")
    return parse_yaml(text)


def _items(raw: Mapping[str, Any]) -> Iterable[Item]:
    sections: tuple[tuple[ItemKind, str, Mapping[str, Any]], ...] = (
        ("vital", "vitals", raw["examination"]["vitals"]),
        ("group", "groups", raw["examination"]["groups"]),
        ("examination", "examination", raw["examination"]["items"]),
        *(("test", name, raw[name]["items"]) for name in ("blood", "specimens", "procedures", "imaging")),
    )
    seen: set[str] = set()
    others = raw["other_names"]
    for kind, title, section in sections:
        for name, value in section.items():
            if name in seen:
                raise ValueError(f"fixtures/examiner: item {name!r} stands twice; give it one place")
            seen.add(name)
            fields = dict(value) if isinstance(value, dict) else {"names": value}
            for more in ("names", "words"):
                fields[more] = [*fields.get(more, ()), *others[more].get(name, ())]
            yield Item(name=name, kind=kind, section=title, **fields)
    strange = [n for section in others.values() for n in section if n not in seen]
    if strange:
        raise ValueError(f"fixtures/examiner/other_names.yaml: unknown items {strange}")


def _spoken(item: Item) -> Iterable[tuple[str, bool]]:
    """Every name of an item, and whether it is explicit."""
    lone_region = item.kind == "examination" and item.name in item.words
    yield item.name, not lone_region and item.name not in item.words
    yield from ((name, True) for name in item.names)
    if item.kind == "test":
        yield from ((turned, True) for name in (item.name, *item.names) for turned in (*_turned(name), *_timed(name)))
    yield from ((f"{blood} for {organ}", True) for organ in item.blood_for for blood in _BLOODS)
    for word in item.words:
        yield word, False
        if word.startswith("skin of "):
            yield from ((f"skin {where} {word[8:]}", False) for where in ("around", "at", "in", "on", "over"))
        if item.kind == "examination":
            yield f"signs of {word}", False
            yield from ((f"{word} {noun}", True) for noun in _EXAM_NOUNS)
            yield from ((f"{noun} of {word}", True) for noun in _EXAM_NOUNS)


def _timed(name: str) -> Iterable[str]:
    """A collection over a day as it is written: "24 h urinary calcium"."""
    if re.search(r"\b24[ -]hour\b", name):
        for hours in ("24 hour", "24 h", "24h"):
            timed = re.sub(r"\b24[ -]hour\b", hours, name)
            yield from (timed, timed.replace("urine", "urinary"))


def _turned(name: str) -> Iterable[str]:
    """A name the other way round: "urine cytology" is "urine for cytology", "dengue serology" "serology for dengue"."""
    for specimen in _SPECIMENS:
        if name.startswith(f"{specimen} "):
            for purpose in ("for", "tested for", "sent for", "checked for"):
                yield f"{'stool' if specimen == 'faecal' else specimen} {purpose} {name[len(specimen) + 1 :]}"
    rest, _, last = name.rpartition(" ")
    if rest and last in _METHODS:
        yield f"{last} for {rest}"
