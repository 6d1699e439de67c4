"""Reading a doctor's message: which things are ordered, and what is left for the patient."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from verisim_tasks.examiner.clauses import Clause, ClauseReader
from verisim_tasks.examiner.lay import LayFinder
from verisim_tasks.examiner.mentions import Mention, MentionFinder
from verisim_tasks.examiner.pieces import PieceReader
from verisim_tasks.examiner.spelling import OrderSpeller
from verisim_tasks.examiner.tokens import Token, phrase, tokenise
from verisim_tasks.examiner.vocabulary import Vocabulary
from verisim_tasks.examiner.wording import QUESTION_WORDS, Wording, masked
from verisim_tasks.language.sentences import Span, sentence_spans

_BULLET = re.compile(r"[ \t]*(?:[-*\u2022\u2013]|\d{1,2}[.)])[ \t]+")
_POINTS_DOWN = re.compile(r"\b(?:following|these|below)\b", re.IGNORECASE)
_QUOTED = re.compile(
    r"(?P<before>\b(?:says?|said|saying|wrote|writes|written|reads?|asks?|asked|told|texts?|notes?|letters?|quoted?)\b"
    r"[^\"\u201c\u201d.!?\n]{0,30})(?P<words>[\"\u201c][^\"\u201d\n]*[\"\u201d])",
    re.IGNORECASE,
)
"""Words in quotation marks behind a word of saying."""
_TOLD_OF = re.compile(
    r"(?P<before>)(?P<words>[\"\u201c][^\"\u201d\n]*[\"\u201d])"
    r"(?=,? (?:is|was|are|were|would be|may be|isn't|as|said|says|wrote|writes|reads|being)\b)",
    re.IGNORECASE,
)
"""Words in quotation marks of which something is told: '"Order: ECG" is what the textbook writes'."""
_LEFTOVER = re.compile(r"^[\s*_#>\-\u2022\[\]().,;:\d]*$")
_EDGES = " \t\n*_,;[]"
_ASKING = QUESTION_WORDS | {"can", "could"}
_HANDLED = re.compile(
    r"\b(?:feel|press|tap|touch|examine|inspect|listen|look|see|percuss|palpate|stroke|prick|brush|squeeze|rub)"
    r"(?: (?:on|to|at|over|round|around))?$"
)
"""Verbs behind which "it" is the part of the body spoken of last."""
_TAG = re.compile(r",\s*(?:would|could|will|can) you(?: please)?\s*\?\W*$", re.IGNORECASE)
"""Behind a request: "Hop on the scales for me, would you?" is no question."""
_TAIL = re.compile(r"[;,]\s+(?=(?:(?:and|but)\s+)?what(?:['’]s| is| are)\b[^.!?\n]*\?)", re.IGNORECASE)
"""Before a question behind an order: "An FBC and a lactate; what's her pulse?"."""
_AGAIN = re.compile(
    r"\b(?:recheck|redo|repeat|remeasure|retake|check|measure"
    r"|(?:please|let's|i'll|we'll|can we|could we) (?:do|send|run|get|take))$"
)
"""Verbs behind which "it" is whatever was spoken of last."""
Own = Mapping[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class Reading:
    """What a message orders."""

    mentions: tuple[Mention, ...] = ()
    unknown: tuple[tuple[int, str], ...] = ()
    """Tests of an order line that the vocabulary does not know, with their place among ``mentions``."""
    remainder: str = ""


@dataclass(frozen=True)
class _Piece:
    """A stretch of the message."""

    start: int
    end: int
    marked: bool
    content: int = 0
    """Where the content of an order line starts."""


class OrderReader:
    """Reads messages. Built once; pure."""

    def __init__(self, vocabulary: Vocabulary, finder: MentionFinder, wording: Wording) -> None:
        self._finder = finder
        self._wording = wording
        lay = LayFinder(vocabulary.lay, vocabulary.items)
        self._lay = lay
        self._pieces = PieceReader(vocabulary, wording)
        self._speller = OrderSpeller(vocabulary.words, wording.drug)
        self._clauses = ClauseReader(vocabulary, wording, lay, self._pieces)

    def read(self, message: str, own: Own) -> Reading:
        """What is ordered, in order of mention; never raises.

        Args:
            message: The doctor's words.
            own: The case's own names by their comparable words.
        """
        if self._wording.injection_raw.search(message) or self._wording.injection.search(phrase(tokenise(message))):
            return Reading(remainder=message.strip())
        mentions: list[Mention] = []
        unknown: list[tuple[int, str]] = []
        gone: list[tuple[int, int]] = []
        spoken_of: tuple[Token, ...] = ()
        echoes = False
        whole, message = message, _unquoted(message)
        pieces = self._stretches(message)
        tests_listed = any(self._is_listed_test(message, p, own) for p in pieces)
        for piece in pieces:
            if piece.marked:
                found, strange = self._marked(message[piece.content : piece.end], own)
                unknown += [(len(mentions) + len(found), name) for name in strange]
                mentions += found
                echoes = False
                if found or strange:
                    gone.append((piece.start, piece.end))
            else:
                tokens, spoken_of = self._resolved(self._words(message[piece.start : piece.end], own), own, spoken_of)
                itemised = tests_listed and _is_item(message, piece)
                found, spans = self._plain(
                    message, piece, tokens, own, follows=bool(mentions), echoes=echoes, itemised=itemised
                )
                echoes = any(self._pieces.is_body(m) for m in found)
                mentions += found
                gone += spans
        return Reading(tuple(mentions), tuple(unknown), self._remainder(whole, gone))

    def _is_listed_test(self, message: str, piece: _Piece, own: Own) -> bool:
        """Whether a piece is an item of a list and begins with a test that has no other meaning."""
        if piece.marked or not _is_item(message, piece):
            return False
        found = self._finder.find(self._words(message[piece.start : piece.end], own), own, marked=False)
        return bool(found) and found[0].start == 0 and found[0].explicit and not self._pieces.is_body(found[0])

    def _words(self, text: str, own: Own) -> tuple[Token, ...]:
        return self._speller.mend(tokenise(text), own)

    def _named(self, tokens: tuple[Token, ...]) -> list[Mention]:
        return [mention for _, mention in self._lay.find(tokens, ("named",))]

    # pieces

    def _stretches(self, message: str) -> list[_Piece]:
        marked = self._marked_stretches(message)
        pieces: list[_Piece] = []
        cursor = 0
        for piece in [*marked, _Piece(len(message), len(message), True)]:
            between = message[cursor : piece.start]
            for span in sentence_spans(between):
                pieces += _with_tail(between, cursor, span)
            if piece.start < piece.end:
                pieces.append(piece)
            cursor = piece.end
        return pieces

    def _marked_stretches(self, message: str) -> list[_Piece]:
        found: list[_Piece] = []
        openings = [
            *((m.start(), m.start("content"), m.end()) for m in self._wording.marker.finditer(message)),
            *((m.start(), m.start("content"), m.end()) for m in self._wording.inline.finditer(message)),
            *((m.start(), m.end(), m.end()) for m in self._wording.heading.finditer(message)),
        ]
        for start, content, end in sorted(openings):
            if not found or start >= found[-1].end:
                found.append(_Piece(start, self._marked_end(message, start, content, end), True, content))
        return found

    def _marked_end(self, message: str, start: int, content: int, end: int) -> int:
        """An order line ends with its bracket, its first sentence, or, where it only announces, its list."""
        text = message[content:end]
        if "[" in message[start:content] and "]" in text:
            return content + text.index("]") + 1
        if not tokenise(text) or _POINTS_DOWN.search(text):
            return self._list_end(message, end)
        return content + sentence_spans(text)[0].end

    @staticmethod
    def _list_end(message: str, end: int) -> int:
        lines = message[end:].split("\n")[1:]
        size, blank = 0, 0
        for number, line in enumerate(lines):
            is_item = bool(_BULLET.match(line))
            if not is_item and line.strip() and not (number == blank and size == blank):
                break
            if not line.strip():
                blank += 1
                if size > blank:
                    break
            size += len(line) + 1
        return min(end + size, len(message))

    # order lines

    def _marked(self, text: str, own: Own) -> tuple[list[Mention], list[str]]:
        tokens = self._words(text, own)
        mentions = self._finder.find(tokens, own, marked=True, more=self._named(tokens))
        if self._asks_too_much(tokens, mentions):
            return [], []
        kept = [
            m
            for m in self._pieces.clean_mentions(tokens, mentions, 0, len(tokens))
            if m.explicit
            or (
                self._stands_alone(tokens, mentions, m)
                and not self._pieces.shares_head(tokens, mentions, m)
                and not self._pieces.is_source(tokens, mentions, m)
            )
        ]
        return kept, self._unknown(text, tokens, mentions)

    def _asks_too_much(self, tokens: tuple[Token, ...], mentions: list[Mention]) -> bool:
        """Whether the line or a piece of it asks for more than examinations; then nothing of it counts."""
        spans = self._pieces.plain_spans(mentions)
        pieces = [range(len(tokens)), *self._pieces.fragments(tokens, mentions, 0, len(tokens))]
        return any(
            self._wording.demand.search(
                masked(tokens[p.start : p.stop], [(a - p.start, b - p.start) for a, b in spans if a in p])
            )
            for p in pieces
        )

    def _stands_alone(self, tokens: tuple[Token, ...], mentions: list[Mention], mention: Mention) -> bool:
        """A plain word counts in an order line where its piece of the list holds nothing else of weight."""
        piece = next(p for p in self._pieces.fragments(tokens, mentions, 0, len(tokens)) if mention.start in p)
        start = piece.start
        while start < mention.start and self._wording.verb([t.word for t in tokens[start : mention.start]])[0] in (
            "examine",
            "order",
        ):
            start += self._wording.verb([t.word for t in tokens[start : mention.start]])[1]
        return self._pieces.is_light(tokens, mentions, start, piece.stop)

    def _unknown(self, text: str, tokens: tuple[Token, ...], mentions: list[Mention]) -> list[str]:
        """Pieces of an order line that are plainly tests, though of no known name."""
        names: list[str] = []
        for piece in self._pieces.fragments(tokens, mentions, 0, len(tokens)):
            words = [p for p in piece if tokens[p].form and tokens[p].word not in ("please", "and", "also", "or")]
            if not words or any(m.start in piece for m in mentions):
                continue
            said = phrase(tokens[words[0] : words[-1] + 1])
            refused = (self._wording.unknown_not, self._wording.no_test, self._wording.no_order, self._wording.demand)
            if self._wording.unknown_test.fullmatch(said) and not any(p.search(said) for p in refused):
                names.append(text[tokens[words[0]].start : tokens[words[-1]].end])
        return names

    # plain sentences

    def _resolved(
        self, tokens: tuple[Token, ...], own: Own, spoken_of: tuple[Token, ...]
    ) -> tuple[tuple[Token, ...], tuple[Token, ...]]:
        """The words with "feel it" and "recheck it" read as what was spoken of last, and the words of that."""
        found = [m for m in self._finder.find(tokens, own, marked=False) if not self._pieces.is_general(m)]
        named = {m.end - 1: tokens[m.start : m.end] for m in found}
        bodies = {m.end - 1 for m in found if not m.explicit}
        read: list[Token] = []
        handled = spoken_of
        for place, token in enumerate(tokens):
            spoken_of = named.get(place, spoken_of)
            handled = spoken_of if place in bodies else handled
            said = phrase(tokens[max(0, place - 3) : place]) if token.word in ("it", "them", "that") else ""
            if token.word != "that" and handled and _HANDLED.search(said):
                read.append(replace(token, form=handled[-1].form))
                continue
            meant = spoken_of if _AGAIN.search(said) else ()
            read += [_standing_for(t, token, first=not n) for n, t in enumerate(meant)] or [token]
        return tuple(read), spoken_of

    def _plain(
        self,
        message: str,
        piece: _Piece,
        tokens: tuple[Token, ...],
        own: Own,
        *,
        follows: bool,
        echoes: bool,
        itemised: bool,
    ) -> tuple[list[Mention], list[tuple[int, int]]]:
        text = message[piece.start : piece.end]
        if not tokens:
            return [], []
        mentions = self._finder.find(tokens, own, marked=False, more=self._named(tokens))
        question = text.rstrip("\"')* ").endswith("?") and not _TAG.search(text)
        clauses = self._clauses.read(
            tokens, mentions, question=question, follows=follows, echoes=echoes, itemised=itemised
        )
        found = [m for c in clauses for m in c.ordered]
        if not found:
            return [], []
        kept = [c for c in clauses if not c.ordered and _is_question(tokens, c)]
        spans = _gaps(piece, [(tokens[c.start].start, self._clause_end(text, tokens, c)) for c in kept])
        return found, spans

    @staticmethod
    def _clause_end(text: str, tokens: tuple[Token, ...], clause: Clause) -> int:
        return len(text) if clause.end >= len(tokens) else tokens[clause.end - 1].end

    def _remainder(self, message: str, gone: list[tuple[int, int]]) -> str:
        if not gone:
            return message.strip()
        kept: list[str] = []
        cursor = 0
        for start, end in [*sorted(gone), (len(message), len(message))]:
            kept.append(message[cursor:start])
            cursor = max(cursor, end)
        lines = [" ".join(line.split()) for line in "\n".join(kept).split("\n")]
        text = "\n".join(line for line in lines if not _LEFTOVER.match(line)).strip(_EDGES)
        return "" if self._wording.acknowledgement.fullmatch(phrase(tokenise(text)) + " ") else text


def _with_tail(text: str, offset: int, span: Span) -> list[_Piece]:
    """A sentence as one piece, or as two where a question stands behind what is no question itself."""
    start, end = span.start, span.end
    tail = _TAIL.search(text, start, end)
    opening = tokenise(text[start : tail.start()])[:1] if tail else ()
    if tail is None or not opening or opening[0].word in _ASKING:
        return [_Piece(offset + start, offset + end, False)]
    return [_Piece(offset + start, offset + tail.start(), False), _Piece(offset + tail.end(), offset + end, False)]


def _is_item(message: str, piece: _Piece) -> bool:
    """Whether a mark of a list stands before a piece on its line."""
    return bool(_BULLET.fullmatch(message[message.rfind("\n", 0, piece.start) + 1 : piece.start]))


def _unquoted(message: str) -> str:
    """The message with blanks for what it quotes of others: 'the note says: "Order: FBC"'."""
    for pattern in (_QUOTED, _TOLD_OF):
        message = pattern.sub(lambda m: m["before"] + "_" * len(m["words"]), message)
    return message


def _standing_for(meant: Token, pronoun: Token, *, first: bool) -> Token:
    """A word of what a pronoun means, at the pronoun's place."""
    return replace(meant, start=pronoun.start, end=pronoun.end, broken=pronoun.broken if first else "")


def _is_question(tokens: tuple[Token, ...], clause: Clause) -> bool:
    words = [t.word for t in tokens[clause.start : clause.end] if t.word not in ("and", "then", "but", "also", "so")]
    return bool(words) and words[0] in _ASKING


def _gaps(piece: _Piece, kept: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """What of a piece is left when the kept stretches are taken out, in places of the message."""
    spans: list[tuple[int, int]] = []
    cursor = piece.start
    for start, end in kept:
        spans.append((cursor, piece.start + start))
        cursor = piece.start + end
    spans.append((cursor, piece.end))
    return [(a, b) for a, b in spans if a < b]
