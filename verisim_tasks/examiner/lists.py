"""Reading lists: names in a row without a verb, and what stands plainly in a list that a verb does not reach."""

from __future__ import annotations

from collections.abc import Sequence

from verisim_tasks.examiner.mentions import Mention
from verisim_tasks.examiner.openings import OpeningReader
from verisim_tasks.examiner.pieces import LINKS, PieceReader
from verisim_tasks.examiner.tokens import Token
from verisim_tasks.examiner.wording import Wording


class ListReader:
    """Reads the pieces of a sentence as a list. Pure."""

    def __init__(self, wording: Wording, openings: OpeningReader, pieces: PieceReader) -> None:
        self._wording = wording
        self._openings = openings
        self._pieces = pieces

    def bare(
        self, tokens: Sequence[Token], mentions: Sequence[Mention], start: int, end: int, *, more: bool
    ) -> list[Mention]:
        """Lists without a verb, as in "Chest X-ray and a D-dimer, please; no CT for now"."""
        begin = self._openings.skip_fillers(tokens, start)
        begin = begin if begin < end else start
        please = any(t.word == "please" for t in tokens[start:end])
        named = [m for m in mentions if begin <= m.start and m.end <= end]
        sources = [m for m in named if self._pieces.is_source(tokens, named, m)]
        listed = any(m.explicit for m in named)
        parts = self._parts_listed(tokens, named, begin, end)
        named = [
            m for m in named if m.explicit or please or m in parts or ((listed or more) and not self._pieces.is_body(m))
        ]
        named = [m for m in named if m not in sources]
        if not named or not self._pieces.is_light(tokens, [], begin, named[0].start):
            return []
        if tokens[begin].word in _NO_LIST and begin not in {m.start for m in named}:
            return []
        kept: set[Mention] = set()
        for piece in self._pieces.fragments(tokens, named, begin, end):
            mine = [m for m in named if m.start in piece]
            if self._openings.skip_fillers(tokens, piece.start) >= piece.stop:
                continue
            close = self._close(tokens, mine, piece.stop)
            if self._pieces.states(tokens, mine, piece.start, close):
                return []
            if mine and self._pieces.is_light(tokens, [*mine, *sources], piece.start, close):
                kept |= {m for m in mine if m.start < close}
        return [m for m in self._pieces.clean_mentions(tokens, named, begin, end) if m in kept]

    def _parts_listed(self, tokens: Sequence[Token], named: Sequence[Mention], start: int, end: int) -> list[Mention]:
        """Parts of the body that are pieces of their own in a list of examinations: "renal angles, temp, BP"."""
        if sum(m.explicit for m in named) < _LIST:
            return []
        found: list[Mention] = []
        for piece in self._pieces.fragments(tokens, named, start, end):
            mine = [m for m in named if m.start in piece]
            if len(mine) == 1 and self._pieces.is_body(mine[0]):
                found += mine if self._pieces.is_light(tokens, mine, piece.start, piece.stop) else []
        return found

    def politely_named(
        self, tokens: Sequence[Token], mentions: Sequence[Mention], start: int, end: int
    ) -> list[Mention]:
        """A clause of names and a please, as in "..., an ECG please, ..."."""
        mine = [m for m in mentions if start <= m.start and m.end <= end]
        begin = self._openings.skip_fillers(tokens, start)
        asked = any(t.word == "please" for t in tokens[start:end]) and begin <= end
        light = asked and self._pieces.is_light(tokens, mine, begin, end)
        if not light:
            return []
        named = self._pieces.clean_mentions(tokens, mine, start, end)
        return [m for m in named if not self._pieces.is_source(tokens, mine, m)]

    def tail(self, tokens: Sequence[Token], mine: Sequence[Mention], end: int) -> int:
        """Where the purpose behind the first thing ordered begins."""
        if any(self._pieces.opens(m) for m in mine[:-1]):
            return end
        first = mine[0].end
        said = " ".join(t.word for t in tokens[first - 1 : end])
        match = self._wording.tail.search(said, len(tokens[first - 1].word))
        return end if match is None else first - 1 + len(said[: match.start()].split())

    def _close(self, tokens: Sequence[Token], mine: Sequence[Mention], end: int) -> int:
        """Where what a piece names is done and its purpose begins: "PR for melaena", but not "ECG for Monday"."""
        if not mine:
            return end
        close = self.tail(tokens, mine, end)
        purpose = next((p for p in range(mine[-1].end, close) if tokens[p].word == "for"), close)
        timed = any(t.word in _TIMES or t.word.isdigit() for t in tokens[purpose:close])
        return close if timed else purpose

    def plain(
        self, tokens: Sequence[Token], mentions: Sequence[Mention], ordered: Sequence[Mention], *, terse: bool
    ) -> list[Mention]:
        """Tests that stand plainly in a list of which something is ordered, though no verb reaches them.

        Each piece of the sentence is judged by its own words: what is said of one test ("before any antibiotics",
        "if you have it") does not touch the others. A denial, a condition or a tale of the past holds from its
        piece to the next one that begins anew.

        Args:
            tokens: The words of the sentence.
            mentions: What they name.
            ordered: What is ordered of it already.
            terse: Whether the sentence is a bare question.
        """
        cuts = [p for p in self._pieces.fragments(tokens, mentions, 0, len(tokens)) if p]
        needed = self._needed(tokens)
        live = (self._is_list(tokens, mentions, cuts) or bool(needed)) and not terse
        barred = examining = False
        found: list[Mention] = []
        for number, piece in enumerate(cuts):
            mine = [m for m in mentions if m.start in piece]
            begin, cue = self._begin(tokens, mine, piece)
            close = self._close(tokens, mine, piece.stop)
            mine = [m for m in mine if m.start < close]
            said = self._wording.harmless.sub(" ", self._pieces.said(tokens, mine, range(piece.start, close)))
            barred = barred and not (cue or tokens[piece.start].word in _ANEW or ";" in tokens[piece.start].broken)
            if self._bars(said):
                barred = barred or not _is_aside(tokens, cuts, number)
                continue
            so = tokens[piece.start].word == "so"
            live = live or ((bool(cue) or so) and not terse) or any(m in ordered for m in mine)
            if barred or not live or not mine or self._wording.no_test.search(said):
                continue
            if self._pieces.treats_as_next(tokens, mentions, cuts, number):
                continue
            head = mine[0]
            if not self._pieces.is_light(tokens, [], begin, head.start):
                continue
            if not self._pieces.states(tokens, [*mine, *needed], begin, close):
                plain = [m for m in mine if self._is_plain(tokens, mentions, m, mine)]
                examining = examining or any(self._pieces.is_body(m) for m in plain)
                made = any(m in ordered for m in mine)
                if examining and not made and self._pieces.is_light(tokens, mine, begin, close):
                    plain += [m for m in mine if self._pieces.is_body(m) and m not in plain]
                found += plain
            examining = any(self._pieces.is_body(m) and (m in ordered or m in found) for m in mine)
        return found

    def _is_plain(
        self, tokens: Sequence[Token], mentions: Sequence[Mention], mention: Mention, mine: Sequence[Mention]
    ) -> bool:
        """Whether a mention is a test that needs no verb of its own."""
        if not mention.explicit or self._pieces.is_general(mention):
            return False
        if self._pieces.announces(tokens, mentions, mention):
            return False
        return mention is mine[0] or not any(t.word in _BEHIND for t in tokens[mine[0].end : mention.start])

    def _is_list(self, tokens: Sequence[Token], mentions: Sequence[Mention], cuts: Sequence[range]) -> bool:
        """Whether most pieces of a sentence are names and nothing else."""
        begin = self._openings.skip_fillers(tokens, 0)
        if begin >= len(tokens) or tokens[begin].word in _NO_LIST:
            return False
        pure = 0
        for piece in cuts:
            mine = [m for m in mentions if m.start in piece and m.explicit and not self._pieces.is_body(m)]
            pure += bool(mine) and self._pieces.is_light(tokens, mine, piece.start, piece.stop)
            begin, _ = self._begin(tokens, mine, piece)
            if mine and begin < piece.stop:
                close = self.tail(tokens, mine, piece.stop)
                if self._pieces.states(tokens, mine, begin, close):
                    return False
        return pure >= _LIST

    def _needed(self, tokens: Sequence[Token]) -> list[Mention]:
        """The words that say that a list before them is needed: "... would be sensible"."""
        said = " ".join(t.word for t in tokens)
        match = self._wording.passive.search(said)
        if match is None:
            return []
        start = len(said[: match.start()].split())
        return [Mention(start, start + len(match.group().split()))]

    def _begin(self, tokens: Sequence[Token], mine: Sequence[Mention], piece: range) -> tuple[int, str]:
        """Where the object of a piece begins, and the cue or verb of ordering before it; empty for none."""
        start = piece.start
        while start < piece.stop and tokens[start].word in LINKS:
            start += 1
        start = min(self._openings.skip_fillers(tokens, start), piece.stop)
        opening = self._openings.read(tokens[start : piece.stop], start, "", frozenset(m.start for m in mine))
        if opening.cue:
            return min(opening.place, mine[0].start if mine else piece.stop), opening.cue
        return start, ""

    def _bars(self, said: str) -> bool:
        return bool(
            self._wording.no_order.search(said)
            or self._wording.conditional.search(self._wording.polite.sub(" ", said))
            or self._wording.demand.search(said)
        )


def _is_aside(tokens: Sequence[Token], cuts: Sequence[range], number: int) -> bool:
    """Whether a denial holds for its own piece alone: "ECG, no CT for now, troponin", not "no CT, MRI or EEG"."""
    said = [tokens[p].word for p in cuts[number]]
    head = next((w for w in said if w not in LINKS), "")
    rest = [tokens[p.start].word for p in cuts[number + 1 :]]
    return head in _ASIDES and not {"or", "nor"} & set(rest)


_ANEW = frozenset(["but", "so", "just", "only", "instead", "rather", "though", "however"])
"""Words that end a denial."""
_ASIDES = frozenset(["no", "not", "without", "minus", "except", "skip", "before", "prior", "while", "whilst"])
_BEHIND = frozenset(["for", "because", "as", "since", "showed", "shows", "to", "after", "when"])
_LIST = 2
_TIMES = frozenset(
    [
        *("tomorrow", "tonight", "next", "later", "future", "follow", "morning", "afternoon", "evening"),
        *("week", "weeks", "month", "months", "year", "day", "days", "time", "if", "when", "home", "clinic"),
        *("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    ]
)
"""Words that make what follows "for" a time or a place, not a purpose."""
_NO_LIST = frozenset(
    [
        *("any", "is", "are", "can", "would", "do", "what", "am", "i", "if", "may", "we", "it", "at", "for", "in"),
        *("of", "from", "while", "given", "with", "because", "since", "as", "after"),
    ]
)
