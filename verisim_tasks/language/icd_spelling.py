"""Mending misspelt medical words without turning one disease into another."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from typing import Literal

from rapidfuzz import process
from rapidfuzz.distance import OSA

_PREFIXES = (
    "hypo", "hyper", "macro", "micro", "pre", "post", "intra", "inter", "ante", "anti", "brady", "tachy",
    "peri", "para", "oligo", "poly", "endo", "epi", "ecto", "uni", "bi", "mono", "sub", "supra", "normo",
)  # fmt: skip
_SUFFIXES = (
    "itis", "osis", "iasis", "oma", "emia", "uria", "pathy", "algia", "plasia", "ectomy", "megaly", "rrhea", "rrhage",
    "ectasis", "penia", "cytosis", "plegia", "paresis", "phasia", "phagia", "pnea", "trophy", "malacia", "stomy",
    "tomy", "opia", "phobia", "mania", "cele", "lysis", "sclerosis", "stenosis", "dynia", "uresis", "phoria",
    "natremia", "kalemia", "calcemia", "glycemia", "thermia", "volemia", "tension", "thyroidism", "tropia",
)  # fmt: skip
_PAIRS = (
    ("ureter", "urethr"), ("ile", "ili"), ("perone", "peritone"), ("pyel", "myel"), ("prostat", "prostrat"),
    ("nephr", "neur"), ("dermat", "dermoid"), ("aden", "adren"), ("cholangi", "cholecyst"), ("salping", "pharyng"),
    ("pharyng", "laryng"), ("tubercul", "diverticul"), ("arter", "arthr"), ("arthr", "atheros"), ("call", "gall"),
    ("encephal", "cephal"), ("trache", "trachom"), ("gastr", "gest"), ("myos", "mios"), ("keratos", "ketos"),
    ("mastoid", "mast"), ("malari", "miliari"), ("rubell", "rubeol"), ("varicell", "varicocel"), ("cyst", "cyt"),
)  # fmt: skip
_SOUNDS = (
    (re.compile(r"^p(?=[ns])"), ""),
    (re.compile(r"^kn"), "n"),
    (re.compile(r"^(?:wr|rh)"), "r"),
    (re.compile(r"^x"), "z"),
    (re.compile(r"ph"), "f"),
    (re.compile(r"gh"), "g"),
    (re.compile(r"sch?(?=[ei])"), "s"),
    (re.compile(r"rh"), "r"),
    (re.compile(r"th"), "t"),
    (re.compile(r"ch|ck|qu?"), "k"),
    (re.compile(r"c(?=[eiy])"), "s"),
    (re.compile(r"c"), "k"),
    (re.compile(r"x"), "ks"),
    (re.compile(r"z"), "s"),
    (re.compile(r"[aeiou]*(?:y|ie|ei|ea|ee)"), "i"),
    (re.compile(r"ew|eu|ou|oo|ue|ow"), "u"),
    (re.compile(r"(.)\1+"), r"\1"),
)


def sound(word: str) -> str:
    """A rough phonetic form: what a hurried or unsure writer hears."""
    for pattern, replacement in _SOUNDS:
        word = pattern.sub(replacement, word)
    return word


def confusable(left: str, right: str) -> bool:
    """Whether two words look alike and mean different things (hypo/hyper, ureter/urethra, -itis/-osis)."""
    if left == right:
        return False
    if _affix(left, _PREFIXES, "start") != _affix(right, _PREFIXES, "start"):
        return True
    if _affix(left, _SUFFIXES, "end") != _affix(right, _SUFFIXES, "end"):
        return True
    return any((a in left and b in right) or (b in left and a in right) for a, b in _PAIRS)


def _affix(word: str, known: Iterable[str], side: Literal["start", "end"]) -> str:
    holds = str.startswith if side == "start" else str.endswith
    return max((a for a in known if holds(word, a) and len(word) > len(a) + 2), key=len, default="")


class Speller:
    """Finds the known word that a misspelt one meant; a known word is never changed."""

    def __init__(self, vocabulary: Mapping[str, int], short_forms: Container[str] = ()) -> None:
        """``vocabulary`` maps each known word to its weight: a greater one wins between equal distances.

        ``short_forms`` are known too, but no misspelt word is taken for one.
        """
        self._weights = dict(vocabulary)
        self._words = sorted(w for w in vocabulary if len(w) >= 4 and w.isalpha() and w not in short_forms)
        self._sounds = [sound(w) for w in self._words]
        self._mended: dict[str, str | None] = {}

    def __contains__(self, word: str) -> bool:
        return word in self._weights

    def mend(self, word: str) -> str | None:
        """The word itself when known, the one it meant, or ``None`` when none or two that differ in meaning fit."""
        if word in self._weights:
            return word
        if word not in self._mended:
            self._mended[word] = self._nearest(word) if len(word) >= 4 and word.isalpha() else None
        return self._mended[word]

    def _nearest(self, word: str) -> str | None:
        found: dict[str, float] = {}
        limit = allowed_errors(word)
        for known, distance, _ in process.extract(
            word, self._words, scorer=OSA.distance, score_cutoff=limit, limit=None
        ):
            found[known] = float(distance)
        heard = sound(word)
        if len(heard) >= 4:
            for _, distance, place in process.extract(
                heard, self._sounds, scorer=OSA.distance, score_cutoff=max(limit - 1, 1), limit=None
            ):
                known = self._words[place]
                found[known] = min(found.get(known, 99.0), distance + 0.5)
        if not found:
            return None
        ranked = sorted(found, key=lambda w: (found[w], w[0] != word[0], -self._weights[w], abs(len(w) - len(word)), w))
        best = ranked[0]
        rivals = [w for w in ranked[1:] if found[w] == found[best] and w[0] == best[0]]
        if any(_contradict(w, best) for w in rivals):
            return None
        return best


def allowed_errors(word: str) -> int:
    """How many letters of a word may be wrong: 1 up to six letters, 2 up to nine, then 3."""
    return 1 if len(word) <= 6 else 2 if len(word) <= 9 else 3


def _contradict(left: str, right: str) -> bool:
    """Whether two words differ by known affixes only, so that a slip could have meant either."""
    ends = {_affix(left, _SUFFIXES, "end"), _affix(right, _SUFFIXES, "end")}
    starts = {_affix(left, _PREFIXES, "start"), _affix(right, _PREFIXES, "start")}
    differ = any(len(affixes) == 2 and "" not in affixes for affixes in (ends, starts))
    return OSA.distance(left, right) <= 2 and differ
