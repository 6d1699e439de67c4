"""Examinations that no verb of ordering reaches: notes ("Right knee: effusion, ROM") and hands at work."""

from __future__ import annotations

from collections.abc import Sequence

from verisim_tasks.examiner.mentions import Mention
from verisim_tasks.examiner.pieces import LINKS, PieceReader
from verisim_tasks.examiner.tokens import Token, phrase
from verisim_tasks.examiner.vocabulary import Name
from verisim_tasks.examiner.wording import QUESTION_WORDS, Wording

_HEADING = frozenset(":-–—")
"""Marks behind which a note tells what is looked for in the part before."""
_NOTE = 14
"""Words of the longest note."""
_TURNS = frozenset(["first", "next", "second", "last"])
_REACH = 6
"""Within how many words behind the verb the part of the body stands: "press a finger into the notch above ..."."""


class ExaminingReader:
    """Reads examinations in a sentence of which nothing else is ordered. Pure."""

    def __init__(self, wording: Wording, pieces: PieceReader) -> None:
        self._wording = wording
        self._pieces = pieces

    def noted(self, tokens: Sequence[Token], mentions: Sequence[Mention], *, question: bool) -> list[Mention]:
        """Parts of a clinical note without a verb; none where a patient could answer ("Scalp tenderness, rash?")."""
        body = [m for m in mentions if self._pieces.is_body(m)]
        if not body or len(tokens) > _NOTE or self._bars(tokens, body) or not self._opens(tokens, body[0]):
            return []
        heading = next((p for p, t in enumerate(tokens) if p and _HEADING & set(t.broken)), len(tokens))
        clear = bool(self._wording.unaskable.search(phrase(tokens)))
        if not clear and not question:
            clear = heading < len(tokens) or any(t.form in self._wording.clinical for t in tokens)
            clear = clear or self._is_listed(tokens, body)
        heads = [m for m in body if m.end <= heading] or body
        told = [m for m in heads[1:] if all(t.form in self._wording.looked_for for t in tokens[m.start : m.end])]
        return [m for m in heads if m not in told] if clear else []

    def in_turn(self, tokens: Sequence[Token], mentions: Sequence[Mention]) -> list[Mention]:
        """Parts at the start whose turn it is: "Skin and joints first, then push against me"."""
        body = [m for m in mentions if self._pieces.is_body(m)]
        if not body or not self._pieces.is_light(tokens, [], 0, body[0].start):
            return []
        turn = self._linked(tokens, body)
        if not _is_turn(tokens, turn[-1]):
            return []
        return [*turn, *(m for m in body if m not in turn and _is_turn(tokens, m))]

    def handled(self, tokens: Sequence[Token], mentions: Sequence[Mention], taken: Sequence[Mention]) -> list[Mention]:
        """Parts that the doctor says he is at: "I'm looking closely at the skin of your foot"."""
        said = phrase(tokens)
        found: list[Mention] = []
        for match in self._wording.hands_on.finditer(said):
            start = len(said[: match.end()].split())
            end = next((p for p in range(start, len(tokens)) if tokens[p].broken), len(tokens))
            if self._wording.no_order.search(self._wording.harmless.sub(" ", phrase(tokens[start:end]))):
                continue
            mine = [m for m in mentions if start <= m.start and m.end <= end and self._pieces.is_body(m)]
            if mine and mine[0].start - start <= _REACH and not any(_over(m, t) for m in mine for t in taken):
                found += self._linked(tokens, mine)
        return found

    def whole(self, tokens: Sequence[Token]) -> list[Mention]:
        """The patient as a whole: "let me simply see how you look in general"."""
        said = phrase(tokens)
        match = self._wording.seen_whole.search(said)
        if match is None or self._wording.no_order.search(self._wording.harmless.sub(" ", match.group())):
            return []
        start = len(said[: match.start()].split())
        end = start + len(match.group().split())
        return [Mention(start, end, items=(Name(item="general appearance", explicit=True),))]

    def _is_listed(self, tokens: Sequence[Token], body: Sequence[Mention]) -> bool:
        """Whether several words are parts and words of notes and nothing else: "Renal angles, both sides"."""
        inside = {p for m in body for p in range(m.start, m.end)}
        return len(tokens) > 1 and all(p in inside or self._is_note(t) for p, t in enumerate(tokens))

    @staticmethod
    def _linked(tokens: Sequence[Token], mine: Sequence[Mention]) -> list[Mention]:
        """The first part and those joined to it: "your heart and lungs"."""
        kept = [mine[0]]
        for mention in mine[1:]:
            between = [t for t in tokens[kept[-1].end : mention.start] if t.form]
            if not all(t.word in LINKS or t.word in ("both", "left", "right") for t in between):
                break
            kept.append(mention)
        return kept

    def _opens(self, tokens: Sequence[Token], first: Mention) -> bool:
        return self._pieces.is_light(tokens, [], 0, first.start) or all(self._is_note(t) for t in tokens[: first.start])

    def _is_note(self, token: Token) -> bool:
        return (
            token.word in self._wording.light
            or token.form in self._wording.clinical
            or token.form in self._wording.looked_for
        )

    def _bars(self, tokens: Sequence[Token], body: Sequence[Mention]) -> bool:
        inside = {p for m in body for p in range(m.start, m.end)}
        words = {t.word for p, t in enumerate(tokens) if p not in inside}
        said = phrase(tokens)
        spoken = words & (self._wording.statement | _PERSONS | (QUESTION_WORDS - {"any"}))
        return bool(
            spoken
            or self._wording.no_test.search(said)
            or self._wording.no_order.search(said)
            or (tokens[0].word == "any" and not self._wording.unaskable.search(said))
        )


_PERSONS = frozenset(
    ["you", "your", "you've", "your's", "my", "his", "her", "me", "it", "there", "there's", "since", "ago"]
)
"""Words of somebody who is spoken to or of: no note."""


def _is_turn(tokens: Sequence[Token], mention: Mention) -> bool:
    return any(t.word in _TURNS and not t.broken for t in tokens[mention.end : mention.end + 1])


def _over(one: Mention, other: Mention) -> bool:
    return one.start < other.end and other.start < one.end
