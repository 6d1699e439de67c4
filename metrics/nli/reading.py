"""What a sentence says on its face: what it names and denies, of whom, when, on which side, how much."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from verisim_metrics.nli.quantities import Quantity, figures, quantities
from verisim_tasks.language.body import sites
from verisim_tasks.language.lexicon import default_lexicon, load_yaml
from verisim_tasks.language.phrases import Hit
from verisim_tasks.language.words import STOPWORDS, content_stems, fold, words

_CLAUSE = re.compile(
    r"[.;!?]+(?:\s+|$)|,? (?:but|although|though|whereas|except)\b"
    r"|,? and (?=(?:i|he|she|it|they|we|my|his|her|the|there|that)\b)|, (?=(?:i|he|she|it|they|we|my)\b)"
    r"|, (?=(?:no|not|without|never|hardly|none|nothing)\b)"
)
_OPENING = re.compile(
    r"^(?:(?:(?:no|nope)\b(?=[,.])|yes|yeah|yep|well|oh|um|uh|er|so|actually|honestly|i think|doctor|i mean"
    r"|to be honest)\b[,.]?\s*)+"
)
_ANSWER_NO = re.compile(r"^(?:well,? |um,? |oh,? )*(?:no|nope)\b(?=[,.])")
_SELF = re.compile(r"\b(?:i|i'm|i've|i'd|my|me|myself)\b")
_OWN_RELATIVE = re.compile(
    r"\b(?:my|our) (?:\w+ )?(?:mother|mum|mom|father|dad|brother|sister|gran\w*|aunt|uncle|cousin|family|parents?)s?\b"
    r"|\b(?:in|runs in) (?:the|my|our) family\b"
)
_REST = frozenset(["other", "others", "else", "more"])
"""Words by which a denial is of the rest only."""
_NO_SIDE = re.compile(
    r"\b(?:right (?:in|at|down|up|through|away|now|after|before|where|here|there|behind|across|round|over|then)"
    r"|right (?:out|along)"
    r"|(?:all|that's|feel|isn't|wasn't|quite) right|(?:i|he|she|they|we|has|have|had|is|what's) left"
    r"|left (?:over|with|it))\b"
)
"""Rights and lefts that are no side."""
_SIDES = {"left": ("left",), "right": ("right",), "both": ("both", "bilateral", "bilaterally"), "neither": ("neither",)}


@dataclass(frozen=True)
class Reading:
    """One text, read."""

    text: str
    """Lower case, opening words dropped, single spaces, no full stop."""
    asserted: frozenset[str]
    """Lexicon ids of what it affirms."""
    denied: frozenset[str]
    """Lexicon ids of what it denies."""
    plainly_asserted: frozenset[str]
    """Those of ``asserted`` in clauses that say no more than that they are there."""
    plainly_denied: frozenset[str]
    """Those of ``denied`` in clauses that say no more than that they are not there."""
    stems: frozenset[str]
    """Stems of its content words."""
    denies: bool
    """Some clause denies."""
    only_denies: bool
    """Every clause that names anything denies."""
    clauses: int
    family: frozenset[str]
    is_self: bool
    """The speaker speaks of "I" or "my"."""
    has_relative: bool
    """It speaks of "my" relative, whose caregiver the speaker is not: "my mum", not "Mum"."""
    past: bool
    present: bool
    sides: frozenset[str]
    sites: frozenset[str]
    poles: frozenset[tuple[int, int]]
    """(pair of opposites, which of the two)."""
    amounts: tuple[Quantity, ...]
    figures: tuple[tuple[float, float], ...]

    @property
    def concepts(self) -> frozenset[str]:
        """Everything it names."""
        return self.asserted | self.denied


@functools.lru_cache(maxsize=100_000)
def read(text: str) -> Reading:
    """Read a premise or a hypothesis; never raises on any text."""
    plain = " ".join(fold(text).split())
    bare = _OPENING.sub("", plain).rstrip(" .!") or plain.rstrip(" .!")
    clauses = [c for c in (part.strip(" ,") for part in _CLAUSE.split(bare)) if c] or [bare]
    signs = [is_denial(c) for c in clauses]
    named = [_named(c) for c in clauses]
    plain_ones = [_is_plain(c) for c in clauses]
    parts = list(zip(named, signs, plain_ones, strict=True))
    said = frozenset(words(bare))
    return Reading(
        text=bare,
        asserted=_union(n for n, no, _ in parts if not no),
        denied=_union(n for n, no, _ in parts if no),
        plainly_asserted=_union(n for n, no, only in parts if only and not no),
        plainly_denied=_union(n for n, no, only in parts if only and no),
        stems=frozenset(content_stems(bare)),
        denies=any(signs),
        only_denies=all(signs),
        clauses=len(clauses),
        family=frozenset(k for k, names in _data()["family"].items() if not said.isdisjoint(_with_possessives(names))),
        is_self=bool(_SELF.search(bare)),
        has_relative=bool(_OWN_RELATIVE.search(bare)),
        past=bool(_pattern("past").search(bare)),
        present=bool(_pattern("present").search(bare)),
        sides=_sides(bare),
        sites=sites(bare),
        poles=_poles(bare),
        amounts=quantities(bare),
        figures=figures(bare),
    )


def is_denial(clause: str) -> bool:
    """Whether a clause denies what it names; "no longer" and "can't sleep" deny nothing."""
    rest = _without_names(_pattern("not_negation").sub(" ", clause))
    return bool(_pattern("negation").search(rest))


def answers_no(text: str) -> bool:
    """Whether a text opens with a plain "No"."""
    return bool(_ANSWER_NO.match(fold(text)))


@functools.lru_cache(maxsize=100_000)
def kin(concept: str) -> frozenset[str]:
    """A lexicon concept and what it is a kind of."""
    return frozenset(default_lexicon().ancestors(concept))


def shared(left: frozenset[str], right: frozenset[str]) -> frozenset[str]:
    """The concepts of ``right`` that are, or are a kind of, or are the kind of, one of ``left``."""
    return frozenset(b for b in right if any(a in kin(b) or b in kin(a) for a in left))


@functools.lru_cache(maxsize=100_000)
def _hits(clause: str) -> tuple[Hit[str], ...]:
    return tuple(default_lexicon().index.find(clause))


def _named(clause: str) -> frozenset[str]:
    return frozenset(value for hit in _hits(clause) for value in hit.values)


@functools.lru_cache(maxsize=50_000)
def _without_names(clause: str) -> str:
    """The clause without names that are denials themselves, such as "no energy"."""
    said = words(clause)
    inside = {p for hit in _hits(clause) if hit.weight > 1 for p in hit.positions}
    return " ".join(w for p, w in enumerate(said) if p not in inside) if inside else clause


def _is_plain(clause: str) -> bool:
    """Whether the clause holds no word of weight besides names and what may stand beside them."""
    said, light = words(clause), _light()
    covered = {p for hit in _hits(clause) for p in hit.positions}
    loose = [w for p, w in enumerate(said) if p not in covered]
    return (
        bool(covered)
        and _REST.isdisjoint(said)
        and all(w in STOPWORDS or w in light or w.endswith("n't") for w in loose)
    )


@functools.cache
def _light() -> frozenset[str]:
    return frozenset(_data()["light"])


def _union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*sets)


def _with_possessives(names: list[str]) -> list[str]:
    return [*names, *(f"{n}'s" for n in names)]


@functools.cache
def _pattern(kind: str) -> re.Pattern[str]:
    return re.compile("|".join(_data()[kind]))


def _sides(text: str) -> frozenset[str]:
    said = words(_NO_SIDE.sub(" ", text))
    return frozenset(side for side, names in _SIDES.items() if not set(names).isdisjoint(said))


def _poles(text: str) -> frozenset[tuple[int, int]]:
    return frozenset(
        (pair, which) for pair, poles in enumerate(_pole_patterns()) for which in (0, 1) if poles[which].search(text)
    )


@functools.cache
def _pole_patterns() -> tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]:
    def one(names: list[str]) -> re.Pattern[str]:
        return re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b")

    return tuple((one(left), one(right)) for left, right in _data()["opposites"])


@functools.cache
def _data() -> dict[str, Any]:
    found: dict[str, Any] = load_yaml("nli", "words.yaml")
    return found
