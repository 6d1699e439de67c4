"""Words of one sentence with what negation does to them."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from verisim_tasks.language.words import fold, stem


def wordset(text: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(text.split())


NEGATION = "~"
"""Stands for any negating word."""
NUMBER = "#"
"""Stands for any number above one, in digits or words."""

MAX_TOKENS = 120
"""A longer sentence is cut here; nobody says this much in one breath."""

_TOKEN = re.compile(r"[a-z0-9]+(?:'[a-z]+)?|[,;:.!?()\u2013\u2014]|(?<=\s)-(?=\s)")
_NUMBER = re.compile(r"\d+(?:st|nd|rd|th)?$")
_NUMBER_WORDS = wordset(
    "two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty few several couple"
)
_NEGATORS = wordset("no not never without nor neither none nothing deny denies denied denying")
_INABILITY = frozenset({"cannot", "unable"})
_NOT_NEGATING_AFTER = wordset("only just doubt wonder sure certain joke kidding stop stopped matter")
_CANNOT_BUT = wordset("stop help shake wait get quit keep")
_END_OF_SCOPE = wordset(
    "but although though however except because since until unless while whereas which so then instead apart "
    "besides whenever when after before due thanks"
)
_STRONG = frozenset(";:.!?()\u2013\u2014-")
_SUBJECTS = wordset(
    "i i'm i've i'd my he she his her it it's its we our they their the there that this yes just only maybe "
    "sometimes he's she's and now"
)
_SCOPE = 8
"""Words a negation reaches, unless a list carries it on."""
_NEAR = 4
"""Words after a negation that form a negated phrase with it ("not sleeping", "cannot get warm")."""
_LEMMAS = {
    "threw": "throw", "thrown": "throw", "woke": "wake", "woken": "wake", "went": "go", "gone": "go", "came": "come",
    "felt": "feel", "lost": "lose", "losing": "lose", "took": "take", "fell": "fall", "fallen": "fall",
    "began": "begin", "begun": "begin", "broke": "break", "broken": "break", "ate": "eat", "eaten": "eat",
    "drank": "drink", "drunk": "drink", "slept": "sleep", "bled": "bleed", "swollen": "swell", "swelled": "swell",
    "stuck": "stick", "brought": "bring", "kept": "keep", "gave": "give", "got": "get", "gotten": "get", "ran": "run",
    "spat": "spit", "stood": "stand", "lay": "lie", "lying": "lie", "laying": "lie", "saw": "see", "seen": "see",
    "heard": "hear", "thought": "think", "shook": "shake", "shaken": "shake", "worst": "worse",
    "pee'd": "pee", "peed": "pee", "peeing": "pee", "tummy": "belly", "stomach": "belly", "abdomen": "belly",
    "abdominal": "belly", "breathing": "breath", "breathe": "breath", "breathes": "breath", "dizzy": "dizzi",
    "mum": "mother", "mom": "mother", "urine": "urin", "wee": "pee", "weeing": "pee", "lightheaded": "light-head",
    "itchy": "itch", "itching": "itch", "itches": "itch", "achy": "pain", "aching": "pain", "aches": "pain",
    "painful": "pain", "pains": "pain", "hurt": "pain", "hurts": "pain", "hurting": "pain", "ache": "pain",
    "sore": "pain", "soreness": "pain", "sores": "sores", "sweaty": "sweat", "sweats": "sweat", "swelling": "swell",
    "tiredness": "tire", "forgetful": "forget", "forgot": "forget", "forgetting": "forget", "sight": "vision",
}  # fmt: skip
_CONTRACTIONS = (
    (re.compile(r"\b(?:can't|cant|can not|couldn't|could not)\b"), "cannot"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"\b(?:dont|doesnt|didnt|isnt|wasnt|havent|hasnt|wont)\b"), "not"),
    (re.compile(r"\b(?:sort of|kind of)\b"), ""),
    (re.compile(r"\b(?:light)[ -]headed\b"), "lightheaded"),
    (re.compile(r"\bany more\b"), "anymore"),
    (re.compile(r"\bi'?m\b"), "i am"),
    (re.compile(r"\b(it|that|he|she|what|there|who|where)'s\b"), r"\1 is"),
    (re.compile(r"'ve\b"), " have"),
    (re.compile(r"'re\b"), " are"),
    (re.compile(r"'ll\b"), " will"),
    (re.compile(r"'d\b"), " would"),
)


@dataclass(frozen=True)
class Token:
    """One word."""

    word: str
    stem: str
    """Stem, ``~`` for a negating word or ``#`` for a number."""
    negated: bool
    """Inside the scope of a negation."""
    near_negation: bool
    """Shortly after a negating or disabling word."""
    segment: int
    """Number of the stretch between strong boundaries that it belongs to."""


@functools.lru_cache(maxsize=100_000)
def lemma(word: str) -> str:
    """Stem of a folded word; common irregular forms and lay synonyms of body words share one."""
    if _NUMBER.match(word) or word in _NUMBER_WORDS:
        return NUMBER
    if word in _NEGATORS or word in _INABILITY:
        return NEGATION
    word = word.split("'")[0]
    if word in _LEMMAS:
        return _LEMMAS[word]
    stemmed = stem(word)
    return _LEMMAS.get(stemmed, stemmed)


@functools.lru_cache(maxsize=100_000)
def expand(text: str) -> str:
    """Folded text with negative contractions written out."""
    text = fold(text)
    for pattern, replacement in _CONTRACTIONS:
        text = pattern.sub(replacement, text)
    return text


@functools.lru_cache(maxsize=50_000)
def tokenise(sentence: str) -> tuple[Token, ...]:
    """Tokens of a sentence, negation worked out. At most ``MAX_TOKENS`` are read."""
    raw = _TOKEN.findall(expand(sentence))[:MAX_TOKENS]
    tokens: list[Token] = []
    reach = near = segment = 0
    for i, word in enumerate(raw):
        following = raw[i + 1] if i + 1 < len(raw) else "."
        if word in _STRONG or word == ",":
            strong = word != "," or following in _SUBJECTS or following in _END_OF_SCOPE
            reach = 0 if strong else (_SCOPE if reach else 0)
            near = 0
            segment += 1 if word in _STRONG else 0
            continue
        if word in _END_OF_SCOPE or (word == "and" and following in _SUBJECTS):
            reach = near = 0
            segment += 1 if word in ("but", "although", "though", "however") else 0
        elif word == "or" and reach:
            reach = _SCOPE
        particle = word == "no" and (following == "," or following in _STRONG)
        tokens.append(Token(word, word if particle else lemma(word), reach > 0, near > 0, segment))
        reach, near = max(reach - 1, 0), max(near - 1, 0)
        if _negates(word, following):
            reach, near = (_SCOPE, _NEAR) if word in _NEGATORS else (reach, _NEAR)
    return tuple(tokens)


def _negates(word: str, following: str) -> bool:
    if word in _INABILITY:
        return following not in _CANNOT_BUT
    if word not in _NEGATORS:
        return False
    return following not in _NOT_NEGATING_AFTER and following not in _STRONG and following != ","
