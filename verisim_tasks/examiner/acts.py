"""Which lay acts of a sentence are ordered: "I'll tap on your chest", "raise your eyebrows for me"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from verisim_tasks.examiner.lay import Role
from verisim_tasks.examiner.mentions import Mention
from verisim_tasks.examiner.openings import SOFT, Opening, OpeningReader
from verisim_tasks.examiner.tokens import Token, phrase
from verisim_tasks.examiner.wording import Wording, masked


class ActReader:
    """Judges rows of ``lay.yaml`` in their clause. Pure."""

    def __init__(self, wording: Wording, openings: OpeningReader) -> None:
        self._wording = wording
        self._openings = openings

    def ordered(
        self,
        tokens: Sequence[Token],
        acts: Sequence[tuple[Role, Mention]],
        opening: Opening,
        clause: range,
        *,
        terse: bool,
    ) -> list[Mention]:
        """The longest acts of a clause that are ordered there, none over another."""
        inside = [(role, a) for role, a in acts if clause.start <= a.start and a.end <= clause.stop]
        kept: list[Mention] = []
        for role, act in sorted(inside, key=lambda r: (r[1].start - r[1].end, r[1].start)):
            clear = not any(k.start < act.end and act.start < k.end for k in kept)
            if clear and self._is_asked(tokens, role, act, opening, clause, terse=terse):
                kept.append(act)
        if not kept:
            return []
        said = masked(
            tokens[clause.start : clause.stop], [(a.start - clause.start, a.end - clause.start) for a in kept]
        )
        if self._wording.no_order.search(self._wording.harmless.sub(" ", said)):
            return []
        return sorted(kept, key=lambda m: m.start)

    def _is_asked(
        self, tokens: Sequence[Token], role: Role, act: Mention, opening: Opening, clause: range, *, terse: bool
    ) -> bool:
        """Whether what stands before an act in its clause makes it an order."""
        begin = min(self._openings.skip_fillers(tokens, clause.start), act.start)
        before = phrase(tokens[begin : act.start]) + " "
        if role == "noted":
            cued = opening.cue and act.end > opening.place and not (terse and opening.cue == "imperative")
            looks = cued and opening.verb in ("order", "examine") and opening.words not in self._wording.hearsay
            between = [t.word for t in tokens[opening.place : act.start]]
            return bool(looks) and all(w in self._wording.light or w in _WHETHER for w in between)
        cues = (
            (self._wording.asks,)
            if role in ("asked", "ready")
            else (self._wording.will, self._wording.wish, self._wording.sends)
        )
        said = phrase(tokens[begin : act.end])
        matches = [cue.match(text) for cue in cues for text in (before, said)]
        ends = [match.end() for match in matches if match and match.end() <= len(before)]
        rest = before[max(ends, default=0) :]
        here = not _HERE.isdisjoint(t.word for t in tokens)
        if rest == before and ((terse and opening.cue != "inherited") or (act.end - act.start == 1 and not here)):
            return False
        staged = not self._wording.staged.isdisjoint(n.item for n in act.items)
        staged = staged or bool(self._wording.staged_words.search(phrase(tokens[act.start : clause.stop])))
        if _CAN_YOU.match(before) and role != "done" and not here and not staged:
            return False
        return all((w,) in SOFT or (role == "done" and w in self._wording.handling) for w in rest.split())


def past_acts(opening: Opening, acts: Sequence[Mention]) -> Opening:
    """The opening with the acts at the start of the clause as part of it: "press on your belly" and what follows."""
    if not acts:
        return opening
    first = [a for a in acts if a.start <= opening.place]
    place = max([opening.place, *(a.end for a in first)])
    return replace(opening, place=place, cue=opening.cue or "imperative", verb=opening.verb or "order")


def says_more(mention: Mention, act: Mention) -> bool:
    """Whether a long plain name stands in an act with no more than a verb before it."""
    inside = act.start < mention.start and act.end <= mention.end
    return inside and mention.explicit and mention.end - mention.start >= _LONG and mention.start - act.start <= 2


_WHETHER = frozenset(["if", "whether", "how", "that", "out", "when", "myself"])
_CAN_YOU = re.compile(r"(?:can|are|is) (?:you|he|she|they)\b")
_HERE = frozenset(["me", "us", "please", "now", "try", "this"])
"""Words that make "can you walk ..." a request for now, not a question about life at home."""
_LONG = 3
