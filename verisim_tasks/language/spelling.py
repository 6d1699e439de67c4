"""Mending misspelt words: only towards words that a medical interview uses, never away from a real word."""

from __future__ import annotations

import functools
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from rapidfuzz.distance import OSA
from spellchecker import SpellChecker

from verisim_tasks.language.lexicon import default_lexicon, load_yaml
from verisim_tasks.language.words import fold, words

_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")
SHORT = 4
"""Up to this length one slip is mended, beyond it two."""
MIN_LENGTH = 3


def mend(text: str) -> str:
    """The folded text with misspelt words mended where one interview word is clearly meant."""
    return _WORD.sub(lambda m: mend_word(m.group()), fold(text))


@functools.lru_cache(maxsize=50_000)
def mend_word(word: str) -> str:
    """The word itself when it is a word or nothing is near, else the nearest interview word."""
    if len(word) < MIN_LENGTH or word in _interview_words() or word in _english().word_frequency:
        return word
    allowed = 1 if len(word) <= SHORT else 2
    best: tuple[int, bool, int, str] | None = None
    for length in range(len(word) - allowed, len(word) + allowed + 1):
        for known in _by_length().get(length, ()):
            distance = OSA.distance(word, known, score_cutoff=allowed)
            if distance <= allowed:
                rank = (distance, known[0] != word[0], -_interview_words()[known], known)
                best = rank if best is None else min(best, rank)
    return best[3] if best else word


@functools.cache
def _english() -> SpellChecker:
    return SpellChecker(language="en")


@functools.cache
def _interview_words() -> Counter[str]:
    """Words of the interview with how often they stand in what is asked."""
    cues = load_yaml("lexicon", "questions.yaml")
    texts = [t for c in default_lexicon().concepts.values() for t in c.terms]
    texts += [p for group in (cues["items"], cues["aspects"]) for phrases in group.values() for p in phrases]
    return Counter(w for t in texts for w in words(t) if w.isalpha())


@functools.cache
def _by_length() -> Mapping[int, Sequence[str]]:
    groups: dict[int, list[str]] = defaultdict(list)
    for word in sorted(_interview_words()):
        if len(word) >= MIN_LENGTH:
            groups[len(word)].append(word)
    return groups
