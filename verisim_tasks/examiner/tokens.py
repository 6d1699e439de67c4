"""Words of a message with their places, in one form for British, American, plural and hyphenated spellings."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from verisim_tasks._yaml import parse_yaml
from verisim_tasks.language.words import american, fold, singular

_WORD = re.compile(r"[^\W_]+(?:['\u2019][a-z]+)?|&|\+", re.IGNORECASE)
_BREAK = re.compile(r"[.,;:!?\n()\[\]/|\u2022\u2013\u2014]|\s-\s")
_POSSESSIVE = re.compile(r"(?<=[a-z])'s?$")
_WORDS_OF_SIGNS = str.maketrans({"α": "alpha", "β": "beta", "γ": "gamma", "µ": "u", "μ": "u"})
_SPELLINGS = (
    (re.compile(r"oesoph"), "esoph"),
    (re.compile(r"faec"), "fec"),
    (re.compile(r"leuco"), "leuko"),
    (re.compile(r"caeru"), "ceru"),
    (re.compile(r"coeli"), "celi"),
    (re.compile(r"foet"), "fet"),
    (re.compile(r"sulph"), "sulf"),
    (re.compile(r"goitre"), "goiter"),
    (re.compile(r"fibre"), "fiber"),
    (re.compile(r"manoeuvre"), "maneuver"),
    (re.compile(r"behaviour"), "behavior"),
    (re.compile(r"litre"), "liter"),
    (re.compile(r"aemoglob"), "emoglob"),
)
_POINTERS = frozenset(
    [
        "the",
        "a",
        "an",
        "your",
        "his",
        "her",
        "their",
        "my",
        "our",
        "its",
        "this",
        "that",
        "these",
        "those",
        "some",
        "patient's",
    ]
)
"""Words that point at a thing and are no part of its name."""
_KEPT_PLURALS = frozenset(["pulses", "bloods", "labs"])
"""Plurals that mean another thing than their singular: the pulse is a rate, the pulses are felt, bloods are tests."""
_BEFORE_LETTER_A = frozenset(["hepatitis", "hep", "group", "influenza", "vitamin", "strep", "immunoglobulin"])


@dataclass(frozen=True)
class Token:
    """One word of a message."""

    word: str
    """Lower case, accents folded."""
    form: str
    """The form in which names are compared; empty for a word that only points ("the")."""
    start: int
    end: int
    broken: str
    """Punctuation between the word before and this one; empty where they stand in one run."""
    lower: bool
    """Whether the word is written in small letters throughout."""


def tokenise(text: str) -> tuple[Token, ...]:
    """The words of a text in order; never raises."""
    found: list[Token] = []
    cursor = 0
    for match in _WORD.finditer(text):
        raw = match.group()
        word = fold(raw.translate(_WORDS_OF_SIGNS)) if raw not in "&+" else "and"
        word = _short_words()["typed"].get(word, word)
        if not word:
            continue
        between = "".join(_BREAK.findall(text[cursor : match.start()])) if found else ""
        if between == "." and len(found[-1].word) == 1 and not text[cursor : match.start()].endswith("\n"):
            between = ""  # "C. diff"
        if between == ":" and text[cursor : match.start()] == ":":
            between = ""  # "protein:creatinine"
        form = _short_words()["capitals"].get(raw) or _form(word, found)
        found.append(Token(word, form, match.start(), match.end(), between, raw == raw.lower()))
        cursor = match.end()
    return _join_x_ray(found)


@functools.lru_cache(maxsize=20_000)
def forms(text: str) -> tuple[str, ...]:
    """The comparable words of a name."""
    return tuple(t.form for t in tokenise(text) if t.form)


def phrase(tokens: Sequence[Token]) -> str:
    """The words joined by single spaces, for patterns."""
    return " ".join(t.word for t in tokens)


def _form(word: str, before: Sequence[Token]) -> str:
    if word in _POINTERS and not (word == "a" and before and before[-1].word in _BEFORE_LETTER_A):
        return ""
    return _spelt(word)


@functools.lru_cache(maxsize=20_000)
def _spelt(word: str) -> str:
    bare = american(_POSSESSIVE.sub("", word))
    for pattern, replacement in _SPELLINGS:
        bare = pattern.sub(replacement, bare)
    form = bare if bare in _KEPT_PLURALS else singular(bare) or bare
    return _short_words()["words"].get(form, form)


@functools.cache
def _short_words() -> dict[str, dict[str, str]]:
    """Short words and what they stand for, from ``fixtures/examiner/short.yaml``."""
    text = (files("verisim_fixtures") / "examiner" / "short.yaml").read_text(encoding="utf-8")
    read: dict[str, dict[str, str]] = parse_yaml(text)
    return {section: {k: str(v) for k, v in pairs.items()} for section, pairs in read.items()}


def _join_x_ray(tokens: Sequence[Token]) -> tuple[Token, ...]:
    """``x`` and ``ray`` are one word."""
    joined: list[Token] = []
    for token in tokens:
        last = joined[-1] if joined else None
        if last is not None and last.word == "x" and token.word in ("ray", "rays") and not token.broken.strip("\n"):
            joined[-1] = Token("xray", "xray", last.start, token.end, last.broken, last.lower)
        else:
            joined.append(token)
    return tuple(joined)
