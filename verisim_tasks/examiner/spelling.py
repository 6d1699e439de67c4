"""Misspelt words of an order: read as the one word of the vocabulary that is near, and never away from a real word."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from rapidfuzz import process
from rapidfuzz.distance import DamerauLevenshtein
from spellchecker import SpellChecker

from verisim_tasks.examiner.tokens import Token
from verisim_tasks.language.lexicon import default_lexicon
from verisim_tasks.language.words import words

MIN_LENGTH = 5
"""Shorter words are not mended: too much is near them."""
LONG = 8
"""From this length on two slips are mended, below it one."""


class OrderSpeller:
    """Mends the words in which names are compared. Built once; pure.

    Args:
        known: The words as written that names are made of, and the comparable form of each.
        drug: Matches words that are built like names of drugs; they stay as they are.
    """

    def __init__(self, known: Mapping[str, str], drug: re.Pattern[str]) -> None:
        self._forms = {w: f for w, f in known.items() if len(w) >= MIN_LENGTH - 1 and w.isalpha()}
        self._choices = list(self._forms)
        self._known = frozenset(known) | frozenset(known.values())
        self._drug = drug

    def mend(self, tokens: Iterable[Token], own: Iterable[tuple[str, ...]]) -> tuple[Token, ...]:
        """The tokens, misspelt ones with the form of the word meant; the words as written stay.

        Args:
            tokens: The words of a message.
            own: Comparable words of the case's own names, which are right as they are.
        """
        spared = {word for name in own for word in name}
        return tuple(t if t.form in spared else self._mended(t) for t in tokens)

    def _mended(self, token: Token) -> Token:
        form = self._nearest(token.word, token.form)
        return token if form == token.form else replace(token, form=form)

    @functools.lru_cache(maxsize=20_000)  # noqa: B019 - one speller lives as long as the process
    def _nearest(self, word: str, form: str) -> str:
        if len(form) < MIN_LENGTH or not form.isalpha() or self._is_word(word) or self._is_word(form):
            return form
        allowed = 2 if len(form) >= LONG else 1
        near = process.extract(
            form, self._choices, scorer=DamerauLevenshtein.distance, score_cutoff=allowed, limit=None
        )
        least = min((distance for _, distance, _ in near), default=0)
        meant = {self._forms[known] for known, distance, _ in near if distance == least}
        return meant.pop() if len(meant) == 1 else form

    def _is_word(self, word: str) -> bool:
        return word in self._known or bool(self._drug.search(word)) or word in _english() or word in _lexicon_words()


@functools.cache
def _english() -> frozenset[str]:
    return frozenset(SpellChecker(language="en").word_frequency.words())


@functools.cache
def _lexicon_words() -> frozenset[str]:
    """Words of what patients tell of, the names of their drugs among them."""
    return frozenset(w for c in default_lexicon().concepts.values() for t in c.terms for w in words(t))
