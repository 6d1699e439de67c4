"""Reading a doctor's message: clauses, what each asks about in general, and what else the message does."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass

from verisim_tasks.language.lexicon import load_yaml
from verisim_tasks.language.phrases import PhraseIndex
from verisim_tasks.language.spelling import mend
from verisim_tasks.language.words import STOPWORDS, sentences, words
from verisim_tasks.patient.listening import YES_NO, Part, asked_parts, expand

MAX_CHARACTERS = 4000
MAX_CLAUSES = 12
"""A person stops listening; what lies beyond is not heard."""

_POLITE = re.compile(
    r"^.*?\b(?:tell me|let me know|wondering|know|ask(?: you)?|say)\s+(?:if|whether)\s+(?=\w+ \w)"
    r"|^.*?\bhelp (?:me|us) (?:to )?understand\s+(?=\w+ \w)"
    r"|^(?:can|could|would|will) you (?:please )?(?:tell me|describe|explain)(?: about)?\s+(?=\w+ \w)"
)


@dataclass(frozen=True)
class Clause:
    """One thing asked."""

    text: str
    yes_no: bool
    open: bool
    items: tuple[str, ...]
    """Profile items asked about as a whole."""
    aspects: tuple[str, ...]
    probe: bool
    """Asks for the answer, or to step out of the role."""
    opener: bool = False
    """Asks what the patient came for; such a clause is open."""
    excluded: str = ""
    """What it leaves out: "apart from your knee"."""
    topics: tuple[str, ...] = ()
    """Turns that a question may take: the reason for something, keeping to treatment, other people."""

    @property
    def core(self) -> str:
        """The clause without its polite wrapping."""
        return _POLITE.sub("", self.text)


@dataclass(frozen=True)
class Message:
    """A doctor's message as the patient hears it."""

    text: str
    clauses: tuple[Clause, ...]
    acts: frozenset[str]
    """greeting, thanks, goodbye, reassurance, empathy, normalise, privacy, reason."""
    longest: int
    """Words in the longest question."""
    jargon: tuple[tuple[str, int], ...]
    """Clinicians' words in it, with their level (1 moderately technical, 2 technical)."""

    @property
    def compound(self) -> bool:
        """Asks more than one thing."""
        return len(self.clauses) > 1

    @property
    def is_blank(self) -> bool:
        """Nothing that a person could hear."""
        return not words(self.text)


@functools.lru_cache(maxsize=20_000)
def read_message(text: str) -> Message:
    """What a doctor's message asks and does, whoever the patient is."""
    heard = mend(text[:MAX_CHARACTERS])
    cues = _cues()
    written_out = mend(expand(text[:MAX_CHARACTERS]))
    clauses = tuple(_clause(part, cues) for part in asked_parts(written_out, cues.indirect, cues.probe)[:MAX_CLAUSES])
    return Message(
        text=heard,
        clauses=clauses,
        acts=frozenset(v for hit in cues.acts.find(heard) for v in hit.values),
        longest=max((len(words(s)) for s in sentences(heard) if "?" in s), default=len(words(heard))),
        jargon=jargon_in(heard),
    )


@dataclass(frozen=True)
class _Cues:
    items: PhraseIndex[str]
    unless: Mapping[str, re.Pattern[str]]
    """What keeps words for an item from asking for it ("drink enough water")."""
    aspects: PhraseIndex[str]
    open: PhraseIndex[str]
    opener: PhraseIndex[str]
    acts: PhraseIndex[str]
    indirect: re.Pattern[str]
    probe: re.Pattern[str]
    topics: tuple[tuple[str, re.Pattern[str]], ...]


def jargon_in(text: str) -> tuple[tuple[str, int], ...]:
    """Clinicians' words in a text, as they stand there, with their level (1 moderately technical, 2 technical)."""
    said = f" {' '.join(words(text))} "
    found = [(said.index(f" {term} "), term, level) for term, level in _jargon() if f" {term} " in said]
    longest = [f for f in found if not any(f[1] in other[1] and f[1] != other[1] for other in found)]
    return tuple((term, level) for _, term, level in sorted(longest))


@functools.cache
def _jargon() -> tuple[tuple[str, int], ...]:
    rows = load_yaml("lexicon", "jargon.yaml")
    return tuple((" ".join(words(row["term"])), int(row["level"])) for row in rows)


def is_generic(term: str) -> bool:
    """The term only names a side of a complaint ("how long", "what brings you in"), not the complaint."""
    content = {w for w in words(term) if w not in STOPWORDS}
    return content <= frozenset(load_yaml("lexicon", "questions.yaml")["generic"])


@functools.cache
def _cues() -> _Cues:
    data = load_yaml("lexicon", "questions.yaml")

    def index(groups: dict[str, list[str]]) -> PhraseIndex[str]:
        return PhraseIndex(((p, name) for name, ps in groups.items() for p in ps), literal=True)

    return _Cues(
        items=index(data["items"]),
        unless={item: re.compile(rf"\b(?:{'|'.join(p)})\b") for item, p in data["unless"].items()},
        aspects=index(data["aspects"]),
        open=index({"open": data["open"]}),
        opener=index({"opener": data["opener"]}),
        acts=index(data["acts"]),
        indirect=re.compile(rf"\b(?:{'|'.join(data['indirect'])})\b"),
        probe=re.compile(rf"\b(?:{'|'.join(data['probe'])})\b"),
        topics=tuple((name, re.compile(rf"\b(?:{'|'.join(row['asks'])})\b")) for name, row in data["topics"].items()),
    )


def _clause(part: Part, cues: _Cues) -> Clause:
    text = part.text
    opener = bool(cues.opener.find(text))
    return Clause(
        text=text,
        yes_no=bool(YES_NO.match(part.own)),
        open=opener or bool(cues.open.find(text)),
        items=tuple(i for i in _names(cues.items, text) if i not in cues.unless or not cues.unless[i].search(text)),
        aspects=() if opener else _names(cues.aspects, _POLITE.sub("", text)),
        opener=opener,
        probe=bool(cues.probe.search(text)),
        excluded=part.excluded,
        topics=tuple(name for name, asks in cues.topics if asks.search(text)),
    )


def _names(index: PhraseIndex[str], text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(v for hit in index.find(text) for v in hit.values))
