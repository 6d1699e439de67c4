"""How a clause starts: what is said before its verb, the verb, and where the object begins."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from verisim_tasks.examiner.tokens import Token, phrase
from verisim_tasks.examiner.wording import Wording, count_words, longest_start


@dataclass(frozen=True)
class Opening:
    """How a clause starts: the place behind cue and verb, and what stands there."""

    place: int
    cue: str
    """``wish``, ``will``, ``inherited``, ``imperative``; empty for no order."""
    verb: str = ""
    """Class of the verb; empty for none."""
    words: tuple[str, ...] = ()
    """The verb."""


class OpeningReader:
    """Reads the start of clauses. Pure."""

    def __init__(self, wording: Wording) -> None:
        self._wording = wording

    def read(self, tokens: Sequence[Token], offset: int, before: str, starts: frozenset[int]) -> Opening:
        """The opening of one clause.

        Args:
            tokens: The words of the clause.
            offset: Its place in the sentence.
            before: The cue of the clauses before; empty for none.
            starts: Where names start: a verb there is part of a name.
        """
        place = self.skip_fillers(tokens, 0)
        said = phrase(tokens[place:])
        if _PERCEIVED.match(said) and tokens[0].word != "so":
            return Opening(offset + place, "")
        cue, length = self.cue(said)
        place += length
        politely = longest_start([t.word for t in tokens[place : place + 6]], SOFT)
        words = [t.word for t in tokens[place + politely :]]
        if cue == "will" and words:
            words[0] = self._wording.past.get(words[0], words[0])
        if cue or before:
            words = list(self._wording.base(words))
        kind, size = self._wording.verb(words)
        verb = self._wording.plain(words[:size])
        if offset + place + politely in starts:
            size = 0
        opening = Opening(offset + place + politely + size, cue or self._other_cue(kind, before), kind, verb)
        with_you = bool(_TO_YOU.match(said)) and verb not in self._wording.verbs["with_you"]
        lacking = cue == "will" and kind not in ("order", "examine", "handle")
        if kind in ("talk", "treat") or with_you or lacking or (words[:1] in (["you"], ["your"]) and cue == "will"):
            return Opening(opening.place, "", kind, verb)
        if words[:1] and words[0] in _NO_OBJECT:
            return Opening(opening.place, "")
        return opening

    def cue(self, said: str) -> tuple[str, int]:
        """The cue that a clause starts with and its length; one with a verb behind it goes before a longer one."""
        found: list[tuple[bool, int, str]] = []
        for name, pattern in (("wish", self._wording.wish), ("will", self._wording.will)):
            match = pattern.match(said)
            if match and match.group().strip():
                kind, size = self._wording.verb(said[match.end() :].split())
                found.append((size > 2 and kind in ("order", "examine"), count_words(match), name))
        _, length, cue = max(found, default=(False, 0, ""))
        return cue, length

    @staticmethod
    def _other_cue(kind: str, before: str) -> str:
        if kind == "handle":
            return before and "inherited"
        if kind not in ("order", "examine"):
            return ""
        return "inherited" if before else "imperative"

    def skip_fillers(self, tokens: Sequence[Token], place: int) -> int:
        """The place behind words like "now" and "all right"."""
        while place < len(tokens):
            step = longest_start([t.word for t in tokens[place : place + 6]], self._wording.fillers)
            if not step:
                return place
            place += step
        return place


SOFT = frozenset(
    (w,) for w in ["also", "please", "just", "now", "quickly", "briefly", "first", "kindly", "gently", "carefully"]
)
"""Words between cue and verb."""
_NO_OBJECT = frozenset(["you", "about", "to", "that", "how", "if", "whether"])
"""Words behind a cue that turn it to the patient."""
_TO_YOU = re.compile(r"(?:can|could|would|will) you (?!mind\b)")
_PERCEIVED = re.compile(r"(?:i|we) can (?:see|hear|feel)\b")
"""A remark, unless "so" stands before it."""
