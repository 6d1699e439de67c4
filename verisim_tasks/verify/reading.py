"""Reading one clause: what it names, of whom, whether it is there or not, where, when and how much."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from verisim_tasks.language.body import sites
from verisim_tasks.language.words import STOPWORDS, content_stems, fold, stem, words
from verisim_tasks.verify.quantities import Quantity, quantities
from verisim_tasks.verify.vocabulary import (
    ClinicalTerms,
    events,
    is_drug_word,
    kin_words,
    pattern,
    tables,
    word_groups,
)

AtomKind = Literal["concept", "drug", "event", "group"]
Subject = Literal["self", "family", "other"]

_SIDE = re.compile(
    r"(?P<lead>\b(?:on|to|in|at|of) (?:the|my|his|her|your) (?:\w+ )?)?\b(?P<side>left"
    r"|right)\b(?P<after>(?:[\s-]+\w+){0,2})"
)
_SIDED = frozenset(("side", "hand", "sided", "half", "one", "lower", "upper"))
_LEFT_VERB = re.compile(
    r"\b(?:was|were|been|i|she|he|have|has|had|they|is|are) left\b|\bleft (?:it|me|him|her|with|over"
    r"|alone|the|my|school|work|home)\b"
)
_ABOUT_ME = re.compile(r"\b(?:about|with|at|for|of|noticed|says|said|thinks) (?:that )?(?:my|me|i|his|her|patient)\b")
_RIGHT_THERE = re.compile(
    r"(?<!the )(?<!my )(?<!his )(?<!her )\bright (?=(?:in|into|to|through|across|between|at|round|down|up|under|over"
    r"|where|there|here|now|away|back|after|before|off|on top|behind|below|above)\b)"
)
_BOTH = re.compile(
    r"\b(?:both (?=(?:my |his |her |the )?(?:\w+ )?\w+)(?!of us|of them|parents)"
    r"|bilateral|each side|either side|on both sides)\b"
)
_PAST = re.compile(
    r"\b(?:used to|was|were|had|did|ago|in the past|previously|last|before|once|\w{2,}ed|went|took"
    r"|got|gave|felt|came|began|stopped)\b"
)


@dataclass(frozen=True)
class Atom:
    """One clinical thing that a clause says."""

    kind: AtomKind
    values: tuple[str, ...]
    """What it may be: lexicon ids or ``term:`` names; ``family:name`` for groups; the event's name."""
    text: str
    negated: bool
    stems: frozenset[str]
    image: bool = False
    """Known only as a way to ask for a concept, not as its name: weak evidence that it is meant."""

    @property
    def family(self) -> str:
        """The family of a group: ``direction`` of ``direction:worse``."""
        return self.values[0].split(":")[0]

    @property
    def label(self) -> str:
        """How it is named in evidence and feedback."""
        return self.text or self.values[0]


@dataclass(frozen=True)
class Reading:
    """What one clause says."""

    text: str
    subject: Subject
    kin: frozenset[str]
    atoms: tuple[Atom, ...]
    quantities: tuple[Quantity, ...]
    sites: frozenset[str]
    sides: frozenset[str]
    stems: frozenset[str]
    past: bool
    negated: bool
    """Holds a negation at all."""

    def of(self, *kinds: AtomKind) -> tuple[Atom, ...]:
        """Its atoms of these kinds."""
        return tuple(a for a in self.atoms if a.kind in kinds)

    @property
    def is_clinical(self) -> bool:
        """Says something about health."""
        return bool(self.of("concept", "drug", "event"))


class Reader:
    """Reads clauses with one vocabulary."""

    def __init__(self, terms: ClinicalTerms, *, strictly: bool = False) -> None:
        self.terms = terms
        self._strictly = strictly
        """Only names of concepts count, as fits a record."""

    @functools.lru_cache(maxsize=50_000)  # noqa: B019 - one reader lives as long as the process
    def read(self, text: str) -> Reading:
        """What the clause says. Never fails, whatever the text."""
        folded = re.sub(r"\s+", " ", fold(text)).strip()
        said = words(folded)
        plain_text = pattern("not_clinical_phrases").sub(" ", folded)
        kin = frozenset(kin_words()[w] for w in said if w in kin_words())
        negated = negated_words(folded)
        concepts = tuple(self._concepts(plain_text))
        groups = tuple(_groups(_without_times(plain_text)))
        concepts = _without_circumstances(concepts, groups)
        groups = tuple(g for g in groups if not any(g.stems <= c.stems for c in concepts))
        atoms = (*concepts, *_drugs(plain_text, concepts), *_events(plain_text), *groups)
        return Reading(
            text=text.strip(),
            subject=_subject(said, folded, kin),
            kin=kin,
            atoms=atoms,
            quantities=quantities(plain_text),
            sites=sites(folded),
            sides=_sides(folded),
            stems=frozenset(content_stems(folded)),
            past=bool(_PAST.search(folded)),
            negated=bool(negated),
        )

    def _concepts(self, text: str) -> Iterator[Atom]:
        said = words(text)
        turned = negated_words(text)
        for hit in self.terms.find(text, strictly=self._strictly):
            if self.terms.is_image(hit) and {self.terms.kind(v) for v in hit.values} <= {"exposure"}:
                continue
            covered = " ".join(said[p] for p in hit.positions)
            outside = [p for p in hit.positions if not _denies(said[p])]
            own_negation = len(outside) < len(hit.positions)
            is_negated = any(p in turned for p in outside) and not own_negation
            if own_negation:
                is_negated = _before_negated(hit.positions[0], turned, said)
            phrase_denies = any(_denies(w) for w in words(hit.phrase)) and not own_negation
            if phrase_denies:
                is_negated = not turned
            elif self.terms.is_inverted(hit):
                is_negated = not is_negated
            stems = frozenset(stem(said[p]) for p in hit.positions if said[p] not in STOPWORDS)
            yield Atom("concept", hit.values, covered, is_negated, stems, self.terms.is_image(hit))


_NEXT_CLAUSE = re.compile(
    r",\s*(?:(?:and|so)\s+)?(?=(?:i|i'm|i've|i'd|he|he's|she|she's|it|it's|we|we're|they|they're|that's)\s)"
    r"|,\s*and\s+(?=(?:the|my|his|her|our|\w+'s)\s)"
)
"""Where another clause begins behind a comma: "she didn't choke, I was watching"."""


def _denies(word: str) -> bool:
    """A word by which a name itself is a negation: "not eating much", "can't sleep"."""
    return word in ("no", "not", "never", "cannot") or word.endswith("n't")


def _before_negated(first: int, negated: frozenset[int], said: Sequence[str]) -> bool:
    """A phrase that holds its own negation ("can't sleep") is denied only by one before it."""
    return first > 0 and (first - 1) in negated


@functools.lru_cache(maxsize=50_000)
def negated_words(text: str, *, afterwards: bool = True) -> frozenset[int]:
    """Positions of the words that a negation turns round, up to the end of its scope.

    ``afterwards``: also those before one that turns the whole clause ("it does nothing").
    """
    said = words(text)
    spans = _word_spans(text)
    blocked = [m.span() for m in pattern_words("not_negations").finditer(text)]
    ends = [m.start() for m in re.finditer(r"[.;:!?]", text)]
    stops = [m.start() for m in (*pattern_words("negation_ends").finditer(text), *_NEXT_CLAUSE.finditer(text))]
    if afterwards and pattern("post_negations").search(text):
        return frozenset(range(len(said)))
    found: set[int] = set()
    for match in pattern_words("negations").finditer(text):
        if any(a <= match.start() < b for a, b in blocked):
            continue
        if match[0] == "no" and re.match(r"\s*[,.!-]", text[match.end() :]):
            continue
        limit = min((e for e in (*ends, *stops) if e > match.end()), default=len(text) + 1)
        found.update(i for i, (a, _) in enumerate(spans) if match.start() < a < limit)
    return frozenset(i for i in found if i < len(said))


@functools.cache
def pattern_words(name: str) -> re.Pattern[str]:
    """The alternatives of one list as whole words."""
    return re.compile(rf"\b(?:{'|'.join(tables()[name])})\b(?!-)")


def _word_spans(text: str) -> list[tuple[int, int]]:
    return [m.span() for m in re.finditer(r"[a-z0-9]+(?:'[a-z]+)?", text)]


def _drugs(text: str, concepts: Sequence[Atom]) -> Iterator[Atom]:
    known = {w for a in concepts for w in words(a.text)}
    turned = negated_words(text)
    for place, word in enumerate(words(text)):
        if word not in known and is_drug_word(word):
            yield Atom("drug", (word,), word, place in turned, frozenset({stem(word)}))


def _events(text: str) -> Iterator[Atom]:
    turned, spans = negated_words(text), _word_spans(text)
    for name, found in events():
        match = found.search(text)
        if match is not None:
            place = next((i for i, (a, _) in enumerate(spans) if a >= match.start()), 0)
            stems = frozenset(content_stems(match[0]))
            last = next((i for i, (_, b) in enumerate(spans) if b >= match.end()), place)
            yield Atom("event", (name,), match[0], place in turned or last in turned, stems)


def _groups(text: str) -> Iterator[Atom]:
    turned, spans = negated_words(text), _word_spans(text)
    for group in word_groups():
        match = group.found.search(text)
        if match is not None:
            place = next((i for i, (a, _) in enumerate(spans) if a >= match.start()), 0)
            yield Atom(
                "group",
                (f"{group.family}:{group.name}",),
                match[0],
                place in turned,
                frozenset(content_stems(match[0])),
            )


def _without_times(text: str) -> str:
    """The text without times that are read as quantities ("last night"), at equal length."""
    for quantity in quantities(text):
        if quantity.kind == "time" or quantity.text.startswith(("every ", "each ")):
            text = text.replace(quantity.text, "_" * len(quantity.text), 1)
    return text


def _without_circumstances(concepts: tuple[Atom, ...], groups: tuple[Atom, ...]) -> tuple[Atom, ...]:
    """Without names that here only say when it is worse or better ("worse when I take a deep breath")."""
    families = {g.values[0].split(":")[0] for g in groups}
    if "direction" not in families:
        return concepts
    circumstances = [g for g in groups if g.values[0].startswith("circumstance:")]
    return tuple(c for c in concepts if not any(g.stems and g.stems < c.stems for g in circumstances))


def _subject(said: Sequence[str], text: str, kin: frozenset[str]) -> Subject:
    """Whose it is: of a relative where one is the first to be named as a subject, of others, else the patient's."""
    blood = set(tables()["blood"])
    first_kin = next((i for i, w in enumerate(said) if kin_words().get(w) in blood), None)
    if first_kin is not None and not _is_own(said, first_kin):
        return "family"
    if set(said) & set(tables()["others"]) or "spouse" in kin:
        return "self" if _is_own_verb(said) or _ABOUT_ME.search(text) else "other"
    return "self"


_COMPANY = frozenset(("with", "tell", "told", "to", "from", "for", "of", "by", "than", "at", "says", "see"))


def _is_own(said: Sequence[str], place: int) -> bool:
    """The relative is only in the company of what the patient does: "I live with my mum"."""
    before = said[max(0, place - 3) : place]
    return bool(set(before) & (_COMPANY - {"from", "of"})) and _is_own_verb(said[:place])


def _is_own_verb(said: Sequence[str]) -> bool:
    return bool(set(said) & {"i", "i'm", "i've", "i'd", "i'll", "he", "she", "he's", "she's", "we", "me"})


def _sides(text: str) -> frozenset[str]:
    """Left and right where they stand beside a part of the body."""
    bare = _RIGHT_THERE.sub(" ", _LEFT_VERB.sub(" ", text))
    found = set()
    for match in _SIDE.finditer(bare):
        after = words(match["after"])
        if match["lead"] or any(w in _SIDED or sites(w) for w in after):
            found.add(match["side"])
    paired = any(_is_paired(text[m.end() :]) for m in _BOTH.finditer(text))
    return frozenset(found | ({"left", "right", "both"} if paired else set()))


def _is_paired(after: str) -> bool:
    """What stands behind "both" is a part of the body, or nothing that says otherwise."""
    following = words(after)[:4]
    return not following or any(sites(w) or w in _SIDED or w == "sides" for w in following)


def without_echo(atoms: Sequence[Atom]) -> list[Atom]:
    """Without events whose words are a concept's already, or that only report what is named beside them."""
    named = [a for a in atoms if a.kind in ("concept", "drug")]
    reporting = tables()["reporting_events"] if named else ()
    events = [a for a in atoms if a.kind == "event" and a.values[0] not in reporting]
    return [*named, *(a for a in events if not any(a.stems <= c.stems for c in named))]
