"""Which words of a text carry a fact, and which words say the same."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass

from verisim_tasks.language.words import STOPWORDS, fold, stem, words
from verisim_tasks.verify.quantities import value_of
from verisim_tasks.verify.reading import negated_words
from verisim_tasks.verify.synonyms import listed, meanings, phrases

MIN_ADVERB = 6
"""Letters of the shortest adverb: shorter words in "ly" are mostly something else ("belly", "jelly")."""


@dataclass(frozen=True)
class Word:
    """One word as it stands in a text."""

    text: str
    stem: str
    negated: bool


@functools.lru_cache(maxsize=50_000)
def spoken(text: str) -> tuple[Word, ...]:
    """All words of a text, fixed phrases turned into one word; never fails."""
    plain = re.sub(r"\bnon-(?=\w)", "not ", fold(text))
    turned = negated_words(plain, afterwards=False) | _spared(plain)
    said = [Word(_bare(w), stem(_bare(w)), i in turned) for i, w in enumerate(words(plain))]
    changed = plain
    for found, word in phrases():
        changed = found.sub(word, changed)
    if changed == plain:
        return tuple(said)
    flags = {w.stem: w.negated for w in said}
    still = negated_words(changed, afterwards=False)
    return tuple(
        Word(_bare(w), stem(_bare(w)), flags.get(stem(_bare(w)), i in still)) for i, w in enumerate(words(changed))
    )


def _spared(text: str) -> frozenset[int]:
    """The word before "spared", and all before a last "never": what is not so."""
    said = words(text)
    if said and said[-1] == "never":
        return frozenset(range(len(said)))
    return frozenset(i for i, after in enumerate(said[1:]) if after == "spared")


def carries(word: Word) -> bool:
    """The word may carry a fact: no function word, no number, none of the harmless ones."""
    return not (
        word.text in STOPWORDS
        or word.stem in listed("harmless")
        or len(word.text) < 2
        or _is_adverb(word)
        or word.text.isdigit()
        or value_of(word.text) is not None
    )


def _is_adverb(word: Word) -> bool:
    """Says only in what way: "scarcely", "mercifully"; adverbs that stand in a row of like words mean something."""
    return word.text.endswith("ly") and len(word.text) >= MIN_ADVERB and meanings(word.stem) == {word.stem}


def all_meanings(found: Iterable[Word]) -> frozenset[str]:
    """Meanings of all the words."""
    return frozenset(m for w in found for m in meanings(w.stem))


def _bare(word: str) -> str:
    """Without a possessive or a contracted verb."""
    return re.sub(r"'(?:s|ve|re|d|ll|m)$", "", word)
