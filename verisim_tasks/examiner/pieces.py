"""Pieces of a sentence: cutting it as a list, and what of a piece counts."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from verisim_tasks.examiner.mentions import Mention
from verisim_tasks.examiner.tokens import Token
from verisim_tasks.examiner.vocabulary import Vocabulary
from verisim_tasks.examiner.wording import Wording, masked

LINKS = frozenset(["and", "then", "but", "also", "so", "or", "plus"])
_CUTS = LINKS | {"with", "before", "prior", "while", "whilst"}


class PieceReader:
    """Judges stretches of a sentence by the words in them. Pure."""

    def __init__(self, vocabulary: Vocabulary, wording: Wording) -> None:
        self._items = vocabulary.items
        self._wording = wording

    def plain_spans(self, mentions: Sequence[Mention]) -> list[tuple[int, int]]:
        """Mentions that name one definite thing: what they are made of is not read as words of the sentence."""
        return [(m.start, m.end) for m in mentions if m.explicit and not self.is_general(m)]

    def is_general(self, mention: Mention) -> bool:
        """Whether a mention needs a sentence without other matter ("blood test", "scan")."""
        if mention.study is not None:
            return not mention.study.sites and mention.study.modality in ("scan", "imaging")
        return any(self._items[n.item].strict or self._items[n.item].single for n in mention.items)

    def opens(self, mention: Mention) -> bool:
        """Whether what a test is for says what is ordered: "a blood test to check your thyroid"."""
        return any(self._items[n.item].covers or self._items[n.item].umbrella for n in mention.items)

    def is_body(self, mention: Mention) -> bool:
        """Whether a mention is a part of the body or a sign, not a test."""
        kinds = {self._items[n.item].kind for n in mention.items}
        return kinds == {"examination"} or any(e.startswith("finding:") for e in mention.entry)

    def is_substance(self, mention: Mention) -> bool:
        """Whether a mention is an ordinary substance as well ("potassium")."""
        return bool({n.item for n in (*mention.items, *mention.known)} & self._wording.substances)

    def is_light(self, tokens: Sequence[Token], mentions: Sequence[Mention], start: int, end: int) -> bool:
        """Whether nothing of weight stands in the span besides mentions."""
        inside = {p for m in mentions for p in range(m.start, m.end)}
        words = [tokens[p].word for p in range(start, end) if p not in inside]
        return all(w in self._wording.light or _COUNT.fullmatch(w) or w.endswith("'s") for w in words)

    def states(self, tokens: Sequence[Token], mentions: Sequence[Mention], start: int, end: int) -> bool:
        """Whether a piece of a list is a statement, with a verb or a verdict of its own."""
        if tokens[start].word in _ASIDE:
            return False
        inside = {p for m in mentions for p in range(m.start, m.end)}
        return any(tokens[p].word in self._wording.statement for p in range(start, end) if p not in inside)

    def fragments(self, tokens: Sequence[Token], mentions: Sequence[Mention], start: int, end: int) -> list[range]:
        """Pieces of a list; a mention is never cut."""
        inside = {p for m in mentions for p in range(m.start + 1, m.end)}
        cuts = [start]
        for place in range(start + 1, end):
            if place not in inside and (tokens[place].broken or tokens[place].word in _CUTS):
                cuts.append(place)
        return [range(a, b) for a, b in zip(cuts, [*cuts[1:], end], strict=True)]

    def shares_head(self, tokens: Sequence[Token], mentions: Sequence[Mention], mention: Mention) -> bool:
        """Whether a part of the body only tells where a test behind is done: "scalp and nail scrapings"."""
        following = next((m for m in mentions if m.start >= mention.end), None)
        if (
            following is None
            or not self.is_body(mention)
            or any(t.broken for t in tokens[mention.end : following.start + 1])
        ):
            return False
        if not self.is_body(following):
            return following.start == mention.end
        return [t.word for t in tokens[mention.end : following.start]] == ["and"] and self.shares_head(
            tokens, mentions, following
        )

    def is_source(self, tokens: Sequence[Token], named: Sequence[Mention], mention: Mention) -> bool:
        """Whether a part of the body only tells where a test comes from: "a biopsy from the elbow"."""
        head = next((m for m in named if m.end < mention.start <= m.end + 3 and not self.is_body(m)), None)
        return self.is_body(mention) and head is not None and tokens[head.end].word in _SOURCES

    def clean_mentions(
        self, tokens: Sequence[Token], mentions: Sequence[Mention], start: int, end: int
    ) -> list[Mention]:
        """Mentions in the span whose piece of the list is no treatment, dose, habit or denial."""
        kept: list[Mention] = []
        pieces = self.fragments(tokens, mentions, start, end)
        for number, piece in enumerate(pieces):
            mine = [m for m in mentions if m.start in piece]
            said = self.said(tokens, mine, piece)
            treats = self._wording.no_test.search(said) or self.treats_as_next(tokens, mentions, pieces, number)
            if mine and not treats and not self._wording.no_order.search(said):
                light = self.is_light(tokens, mine, piece.start, piece.stop)
                kept += [
                    m for m in mine if (light or not self.is_general(m)) and not self.announces(tokens, mentions, m)
                ]
        return kept

    def treats_as_next(
        self, tokens: Sequence[Token], mentions: Sequence[Mention], pieces: Sequence[range], number: int
    ) -> bool:
        """Whether a substance is given with what the piece behind names: "vitamin B12 and vitamin D tablets"."""
        taken = any(t.word in ("take", "taking") for t in tokens[: pieces[number].stop])
        for piece, behind in itertools.pairwise(pieces[number : number + _SHARED]):
            mine = [m for m in mentions if m.start in piece]
            apart = bool(tokens[behind.start].broken) and not taken
            if not mine or apart or not self.is_substance(mine[-1]):
                return False
            theirs = [m for m in mentions if m.start in behind]
            if theirs and self._wording.no_test.search(self.said(tokens, theirs, behind)):
                return True
        return False

    @staticmethod
    def said(tokens: Sequence[Token], mine: Sequence[Mention], piece: range) -> str:
        """The words of a piece, its mentions as ``item``."""
        spans = [(m.start - piece.start, min(m.end, piece.stop) - piece.start) for m in mine]
        return masked(tokens[piece.start : piece.stop], spans)

    def announces(self, tokens: Sequence[Token], mentions: Sequence[Mention], mention: Mention) -> bool:
        """Whether a general name only announces others: "some blood work: CBC and CRP", "bloods for calcium"."""
        following = next((m for m in mentions if m.start >= mention.end), None)
        umbrella = self.is_general(mention) or any(self._items[n.item].umbrella for n in mention.items)
        if following is None or not umbrella or following.start - mention.end > _NEAR:
            return False
        between = [t.word for t in tokens[mention.end : following.start]]
        return tokens[mention.end].broken.strip() in (":", "(", "-", "–", "—") or (
            bool(between) and between[0] in _ANNOUNCING
        )


_COUNT = re.compile(r"[qx]?\d+[a-z]{0,3}")
"""How often or which: "x2", "q4h", "3rd", "24h"."""
_ANNOUNCING = frozenset(["for", "such", "like", "namely", "specifically", "e", "eg"])
_SOURCES = frozenset(["from", "of", "off", "on"])
_NEAR = 4
_SHARED = 5
"""How many pieces of a list one word of treatment reaches over."""
_ASIDE = frozenset(["that", "before", "after", "once", "while", "whilst", "no", "not", "please"])
"""Words that begin an aside in a list: "that is", "before anything is given", "no CT for now"."""
