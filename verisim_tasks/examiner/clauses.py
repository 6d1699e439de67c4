"""Reading one plain sentence: which of its clauses order something, and what."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from verisim_tasks.examiner.acts import ActReader, past_acts, says_more
from verisim_tasks.examiner.examining import ExaminingReader
from verisim_tasks.examiner.lay import LayFinder
from verisim_tasks.examiner.lists import ListReader
from verisim_tasks.examiner.mentions import Mention
from verisim_tasks.examiner.openings import Opening, OpeningReader
from verisim_tasks.examiner.pieces import LINKS, PieceReader
from verisim_tasks.examiner.tokens import Token, phrase
from verisim_tasks.examiner.vocabulary import Vocabulary
from verisim_tasks.examiner.wording import QUESTION_WORDS, Wording, count_words, masked

_CLAUSE_LINKS = LINKS | {"while"}
_SUBJECTS = frozenset(
    ["i", "we", "i'd", "we'd", "i'll", "we'll", "i'm", "we're", "would", "could", "can", "should", "might", "may"]
)
"""Words that "also" and "then" may follow inside one clause: "I also need to ..."."""
_ONE_ADJECTIVE = 1
"""Words of weight that may stand before a place: "a swab from a fresh blister"."""
_PAUSES = frozenset(",;:()-—–•\n")
_MEASURABLE = frozenset(["blood", "level", "serum", "plasma", "test", "panel", "count", "profile"])


@dataclass(frozen=True)
class Clause:
    """Words ``start`` to ``end`` of a sentence, and what they order."""

    start: int
    end: int
    ordered: tuple[Mention, ...] = ()


class ClauseReader:
    """Reads sentences of tokens with their mentions. Pure."""

    def __init__(self, vocabulary: Vocabulary, wording: Wording, lay: LayFinder, pieces: PieceReader) -> None:
        self._items = vocabulary.items
        self._wording = wording
        self._lay = lay
        self._pieces = pieces
        self._openings = OpeningReader(wording)
        self._lists = ListReader(wording, self._openings, pieces)
        self._acts = ActReader(wording, self._openings)
        self._examining = ExaminingReader(wording, pieces)

    def read(
        self,
        tokens: Sequence[Token],
        mentions: Sequence[Mention],
        *,
        question: bool,
        follows: bool = False,
        echoes: bool = False,
        itemised: bool = False,
    ) -> list[Clause]:
        """The clauses of one sentence in order; none orders anything where the sentence as a whole forbids it.

        Args:
            tokens: The words of the sentence.
            mentions: What they name.
            question: Whether it ends in a question mark: then a bare name or verb asks the patient.
            follows: Whether an order came before: then "Also dengue." is one.
            echoes: Whether the sentence before was an examination: then "And at your hands?" is one.
            itemised: Whether it is an item in a list of tests: then an everyday name ("2. Calcium") is one.
        """
        tokens, mentions = self._unconditioned(tokens, mentions)
        terse = question and not any(t.word == "please" for t in tokens) and not _LEAVE.search(phrase(tokens))
        whole = masked(tokens, self._pieces.plain_spans(mentions))
        if self._is_forbidden(whole) or self._wording.patient_does.search(phrase(tokens)):
            return [Clause(0, len(tokens))]
        asked = self._result_asked(tokens, mentions)
        if asked:
            return [Clause(0, len(tokens), tuple(asked))]
        if echoes and (echoed := self._echoed(tokens, mentions)):
            return [Clause(0, len(tokens), tuple(echoed))]
        needed = self._passive(tokens, mentions)
        clauses: list[Clause] = [needed] if needed else []
        waiting: list[Mention] = []
        cue = ""
        acts = self._lay.find(tokens, ("done", "asked", "ready", "noted"))
        starts = frozenset(m.start for m in mentions)
        for start, end in self._cuts(tokens, mentions, [a for role, a in acts if role != "noted"]):
            if needed and start < needed.end:
                continue
            opening = self._openings.read(tokens[start:end], start, cue, starts)
            if cue and not opening.verb and _links_past(tokens, start) in _GRADES:
                opening = replace(opening, cue="inherited", verb="examine", words=("check",))
            open_acts = [r for r in acts if not (opening.verb and any(says_more(m, r[1]) for m in mentions))]
            follows_on = bool(clauses) and bool(clauses[-1].ordered)
            done = self._acts.ordered(tokens, open_acts, opening, range(start, end), terse=terse and not follows_on)
            opening = past_acts(opening, done)
            waiting += [
                a for a in done if ("ready", a) in acts and "then" not in {t.word for t in tokens[start : start + 2]}
            ]
            others = [m for m in mentions if not any(a.start < m.end and m.start < a.end for a in done)]
            orders = opening.cue and not (terse and opening.cue == "imperative")
            ordered = self._ordered(tokens, [*others, *done], opening, start, end) if orders else []
            listed = not clauses or cue or ":" in tokens[start].broken
            if not ordered and not done and not opening.verb and listed and not terse:
                ordered = self._lists.bare(
                    tokens, mentions, start, end, more=itemised or (follows and tokens[0].word in _MORE)
                )
            ordered = ordered or self._lists.politely_named(tokens, others, start, end)
            ordered = list(_among([*done, *ordered]))
            clauses.append(Clause(start, end, tuple(ordered)))
            cue = opening.cue or (cue if opening.verb else "") or ("inherited" if ordered else "")
        read = _settled(_by_purpose(tokens, self._with_plain(tokens, mentions, clauses, terse=terse)), waiting)
        return self._with_examined(tokens, mentions, read, question=question)

    # sentence

    def _unconditioned(
        self, tokens: Sequence[Token], mentions: Sequence[Mention]
    ) -> tuple[Sequence[Token], Sequence[Mention]]:
        """The sentence without a condition joined to it: "An X-ray, please, and if it is clear we will scan"."""
        for place in range(1, len(tokens)):
            joined = tokens[place].word in _JOINTS or ";" in tokens[place].broken
            behind = place + (tokens[place].word in _JOINTS)
            if joined and tokens[behind : behind + 1] and tokens[behind].word in _CONDITIONS:
                return tokens[:place], [m for m in mentions if m.end <= place]
        return tokens, mentions

    def _with_examined(
        self, tokens: Sequence[Token], mentions: Sequence[Mention], clauses: list[Clause], *, question: bool
    ) -> list[Clause]:
        """The clauses with what the doctor says he is at, or, where nothing is ordered, what stands as a note."""
        ordered = [m for c in clauses for m in c.ordered]
        found = self._examining.handled(tokens, mentions, ordered)
        found += self._examining.whole(tokens)
        found += [] if question else self._examining.in_turn(tokens, mentions)
        if not ordered and not found:
            found = self._examining.noted(tokens, mentions, question=question)
        return [
            replace(c, ordered=_among([*c.ordered, *(m for m in found if c.start <= m.start < c.end)])) for c in clauses
        ]

    def _with_plain(
        self, tokens: Sequence[Token], mentions: Sequence[Mention], clauses: Sequence[Clause], *, terse: bool
    ) -> list[Clause]:
        """The clauses with what else stands plainly in the sentence."""
        ordered = [m for c in clauses for m in c.ordered]
        known = frozenset(ordered)
        free = [
            m
            for m in mentions
            if m in known
            or not (
                any(o.start < m.end and m.start < o.end for o in ordered)
                or self._is_place(tokens, mentions, m)
                or self._is_tool(tokens, m)
            )
        ]
        more = [m for m in self._lists.plain(tokens, _among([*free, *ordered]), ordered, terse=terse) if m not in known]
        clauses = [
            replace(c, ordered=tuple(m for m in c.ordered if not self._pieces.announces(tokens, mentions, m)))
            for c in clauses
        ]
        return [
            replace(c, ordered=_among([*c.ordered, *(m for m in more if c.start <= m.start < c.end)])) for c in clauses
        ]

    def _is_forbidden(self, said: str) -> bool:
        if self._wording.demand.search(self._wording.may_i.sub("", said)):
            return True
        return bool(self._wording.conditional.search(self._wording.polite.sub(" ", said)))

    def _result_asked(self, tokens: Sequence[Token], mentions: Sequence[Mention]) -> list[Mention]:
        """Present results asked for, as in "What is his blood pressure?" or "What does the ECG show?"."""
        said = phrase(tokens)
        match = self._wording.ask.match(said) or self._wording.shown.match(said)
        if match is None:
            return []
        chain, place = self._chain(tokens, mentions, count_words(match))
        rest = [t.word for t in tokens[place:]]
        if not all(w in self._wording.after_result for w in rest):
            return []
        return self._pieces.clean_mentions(tokens, [m for m in chain if m.explicit], 0, len(tokens))

    def _echoed(self, tokens: Sequence[Token], mentions: Sequence[Mention]) -> list[Mention]:
        """Parts of the body behind the verb of the sentence before: "And at your hands, please?"."""
        if not _ECHO.match(phrase(tokens)) or not self._pieces.is_light(tokens, mentions, 0, len(tokens)):
            return []
        return [m for m in mentions if self._pieces.is_body(m)]

    def _passive(self, tokens: Sequence[Token], mentions: Sequence[Mention]) -> Clause | None:
        """Needs stated, as in "A chest X-ray is needed, with an ECG", "Your ears should be looked at"."""
        match = self._wording.passive.search(phrase(tokens))
        if match is None or self._wording.no_order.search(masked(tokens, self._pieces.plain_spans(mentions))):
            return None
        close = len(phrase(tokens)[: match.start()].split())
        behind = close + len(match.group().split())
        subject = [m for m in mentions if m.end <= close]
        body = bool(self._wording.looked.search(match.group()))
        if not any(m.explicit or body for m in subject):
            return None
        begin = min(self._openings.skip_fillers(tokens, 0), subject[0].start)
        if not self._pieces.is_light(tokens, subject, begin, close):
            return None
        named = [m for m in subject if m.explicit or body or not self._pieces.is_body(m)]
        more, end = self._chain(tokens, mentions, behind)
        found = [
            *self._pieces.clean_mentions(tokens, named, 0, close),
            *self._pieces.clean_mentions(tokens, [m for m in more if m.explicit], behind, len(tokens)),
        ]
        return Clause(0, max(behind, end), tuple(found)) if found else None

    def _chain(self, tokens: Sequence[Token], mentions: Sequence[Mention], place: int) -> tuple[list[Mention], int]:
        """Mentions that follow each other from a place, only pointing and linking words between them."""
        by_start = {m.start: m for m in mentions}
        chain: list[Mention] = []
        end = place
        while place < len(tokens):
            mention = by_start.get(place)
            if mention is not None:
                chain.append(mention)
                place = end = mention.end
            elif not tokens[place].form or tokens[place].word in _CHAINED:
                place += 1
            else:
                break
        return chain, end

    # clauses

    def _cuts(
        self, tokens: Sequence[Token], mentions: Sequence[Mention], acts: Sequence[Mention]
    ) -> list[tuple[int, int]]:
        inside = {p for m in (*mentions, *acts) for p in range(m.start + 1, m.end)}
        begun = frozenset(a.start for a in acts)
        starts = {m.start for m in mentions}
        cuts = [0]
        for place in range(1, len(tokens)):
            if tokens[0].word in _FRAMES and len(cuts) == 1 and place not in inside and self._cued(tokens, place):
                cuts.append(place)
                continue
            paused = bool(_PAUSES & set(tokens[place].broken)) or (
                tokens[place].word in _CLAUSE_LINKS
                and tokens[place - 1].word not in _SUBJECTS
                and phrase(tokens[place - 1 : place + 1]) != "you also"
            )
            paused = paused or tokens[place - 1].word in _BY_DOING
            if ";" in tokens[place].broken and tokens[place].word in _STATING and place not in inside:
                cuts.append(place)
                continue
            paused = paused or (bool(_TOLD.search(phrase(tokens[:place]))) and self._cued(tokens, place))
            paused = paused and not (cuts[-1] == place - 1 and tokens[place - 1].word in LINKS)
            if paused and place not in inside and self._begins(tokens, place, starts, begun):
                cuts.append(place)
        return list(zip(cuts, [*cuts[1:], len(tokens)], strict=True))

    @staticmethod
    def _at_name(tokens: Sequence[Token], place: int, starts: set[int]) -> bool:
        return place in starts or (place < len(tokens) and not tokens[place].form and place + 1 in starts)

    def _cued(self, tokens: Sequence[Token], place: int) -> bool:
        """Whether the order begins here behind a frame: "given the blood in your urine | I want a scan"."""
        return tokens[place].word in _SPEAKERS and bool(self._openings.cue(phrase(tokens[place:]))[0])

    def _begins(self, tokens: Sequence[Token], place: int, starts: set[int], acts: frozenset[int]) -> bool:
        """Whether a clause of its own begins here: a cue, a verb, an act, or a question."""
        if ":" in tokens[place].broken and self._at_name(tokens, place, starts):
            return True
        if tokens[place].word == "while":
            return bool(self._wording.will.match(phrase(tokens[place + 1 :])))
        if tokens[place].word == "so" and self._at_name(tokens, place + 1, starts):
            return True
        while place < len(tokens) and tokens[place].word in LINKS:
            place += 1
        begin = self._openings.skip_fillers(tokens, place)
        if begin >= len(tokens):
            return False
        said = phrase(tokens[begin:])
        if tokens[begin].word == "please" and (begin + 1 == len(tokens) or tokens[begin + 1].broken):
            return False
        if begin in acts or any(c.match(said) for c in (self._wording.wish, self._wording.will, self._wording.asks)):
            return True
        kind, _ = self._wording.verb(self._wording.base(said.split()))
        return (bool(kind) and begin not in starts) or said.split()[0] in QUESTION_WORDS

    def _ordered(
        self, tokens: Sequence[Token], mentions: Sequence[Mention], opening: Opening, start: int, end: int
    ) -> list[Mention]:
        opening = self._past_grade(tokens, mentions, opening, end)
        mine = [m for m in mentions if opening.place <= m.start and m.end <= end and not self._is_tool(tokens, m)]
        if not mine:
            return []
        end = self._lists.tail(tokens, mine, end)
        mine = [m for m in mine if m.start < end]
        zone = masked(
            tokens[opening.place : end],
            [(a - opening.place, b - opening.place) for a, b in self._pieces.plain_spans(mine)],
        )
        if self._wording.no_order.search(self._wording.harmless.sub(" ", zone)) or self._is_habit(opening, zone):
            return []
        mine = [m for m in mine if not self._is_place(tokens, mentions, m)]
        chain = self._governed(tokens, mine, opening.place, end)
        adjacent = opening.verb and opening.words in self._wording.verbs["direct"]
        tests = [m for m in mine if m.explicit and not self._pieces.is_body(m) and not self._pieces.is_substance(m)]
        chosen = [
            m
            for m in mine
            if self._counts(tokens, m, m in chain, self._is_listed(tokens, m, tests), opening, end)
            and (m in chain or not adjacent)
        ]
        return [m for m in self._pieces.clean_mentions(tokens, mine, opening.place, end) if m in chosen]

    @staticmethod
    def _past_grade(tokens: Sequence[Token], mentions: Sequence[Mention], opening: Opening, end: int) -> Opening:
        """Behind "see how" the grade is no object: "see how narrow your throat is"."""
        place = opening.place
        graded = opening.words[-1:] == ("how",) and place < end and bool(tokens[place].form)
        return replace(opening, place=place + 1) if graded and place not in {m.start for m in mentions} else opening

    @staticmethod
    def _is_habit(opening: Opening, zone: str) -> bool:
        """Whether "do you" or "have you" starts the clause: a question to the patient."""
        return opening.cue == "imperative" and zone.split()[:1] in (["you"], ["i"], ["we"], ["they"])

    def _governed(self, tokens: Sequence[Token], mine: Sequence[Mention], place: int, end: int) -> list[Mention]:
        """Mentions that the verb reaches over light words alone."""
        by_start = {m.start: m for m in mine}
        reached: list[Mention] = []
        while place < end:
            mention = by_start.get(place)
            if mention is not None:
                if not mention.explicit and not self._ends_well(tokens, mention, end, by_start):
                    break
                reached.append(mention)
                place = mention.end
            elif tokens[place].word in self._wording.light or tokens[place].word.endswith("'s"):
                place += 1
            elif place + 1 in by_start and not tokens[place - 1].form and not tokens[place + 1].broken:
                place += 1  # an adjective: "that blistery rash"
            else:
                break
        return reached

    def _ends_well(self, tokens: Sequence[Token], mention: Mention, end: int, by_start: dict[int, Mention]) -> bool:
        if mention.end >= end or tokens[mention.end].broken or mention.end in by_start:
            return True
        return tokens[mention.end].word in self._wording.after_word

    @staticmethod
    def _is_listed(tokens: Sequence[Token], mention: Mention, tests: Sequence[Mention]) -> bool:
        """Whether an everyday name ("salts") stands in a list beside a test that has no other meaning."""
        place = mention.start
        while place > 0 and not tokens[place].broken and not tokens[place - 1].form:
            place -= 1
        follows = place < mention.start or bool(tokens[place].broken) or tokens[place - 1].word in _CLAUSE_LINKS
        return follows and any(t is not mention for t in tests)

    def _is_tool(self, tokens: Sequence[Token], mention: Mention) -> bool:
        """Whether a part of the body is what the doctor examines with, as in "with a finger"."""
        said = phrase(tokens[max(0, mention.start - 3) : mention.start])
        tool = said.endswith(" my") or bool(_WITH.search(said))
        return tool and not mention.explicit and self._pieces.is_body(mention)

    def _is_place(self, tokens: Sequence[Token], mine: Sequence[Mention], mention: Mention) -> bool:
        """Whether a part of the body only says where or why, as in "the pulses in your wrists and groins"."""
        before = [m for m in mine if m.end <= mention.start]
        if not before or not self._pieces.is_body(mention) or mention.explicit:
            return False
        head = max(before, key=lambda m: m.end)
        between = [t.word for t in tokens[head.end : mention.start]]
        if any(t.broken for t in tokens[head.end : mention.start + 1]) or not between:
            return False
        if between[0] == "for":
            return bool({n.item for n in mention.items} & self._wording.signs)
        said = [t for t in tokens[head.end : mention.start] if t.form and t.word not in _WHERE]
        if between[0] in _WHERE and len(said) <= _ONE_ADJECTIVE:
            return True
        return between in (["and"], ["or"]) and self._is_place(tokens, mine, head)

    @staticmethod
    def _shares_noun(tokens: Sequence[Token], mention: Mention, end: int) -> bool:
        """Whether the noun stands behind the last of several only, as in "an abdominal and rectal exam"."""
        behind = [t.word for t in tokens[mention.end : min(end, mention.end + 4)]]
        return behind[:1] == ["and"] and not _EXAM_NOUNS.isdisjoint(behind)

    def _counts(
        self, tokens: Sequence[Token], mention: Mention, reached: bool, listed: bool, opening: Opening, end: int
    ) -> bool:
        """Whether verb and mention go together."""
        kinds = {self._items[n.item].kind for n in mention.items}
        if not mention.explicit:
            looked = bool(_LOOK_AT.search(phrase(tokens[opening.place : mention.start])))
            hands_on = self._wording.verbs["examine"] | self._wording.verbs["handle"]
            examines = opening.words in hands_on or self._shares_noun(tokens, mention, end)
            examines, reached = examines or looked, reached or looked
            examines = examines or bool(_DO_A.search(phrase(tokens[: mention.start])))
            if not listed and not reached:
                return False
            if not (examines and reached if self._pieces.is_body(mention) else opening.verb or opening.cue == "wish"):
                return False
        if self._pieces.is_substance(mention):
            words = {t.form for t in tokens[mention.start : min(mention.end + 1, end)]}
            counted = mention.start > 0 and tokens[mention.start - 1].word in ("a", "an")
            if not listed and not counted and not words & _MEASURABLE and opening.words not in self._wording.measuring:
                return False
        if opening.words == ("take",) and not (mention.study or kinds & {"vital", "group"}):
            return any(t.word in self._wording.take_words for t in tokens[opening.place : mention.end])
        return True


def _links_past(tokens: Sequence[Token], place: int) -> str:
    """The first word of a clause behind its links."""
    return next((t.word for t in tokens[place:] if t.word not in LINKS), "")


def _among(mentions: Sequence[Mention]) -> tuple[Mention, ...]:
    """The mentions in order, each once."""
    return tuple(sorted(dict.fromkeys(mentions), key=lambda m: m.start))


def _by_purpose(tokens: Sequence[Token], clauses: Sequence[Clause]) -> list[Clause]:
    """What is looked at counts, not what makes room for it: "open wide so I can see your tonsils"."""
    kept = list(clauses)
    for place, clause in enumerate(clauses):
        if place and clause.ordered and tokens[clause.start].word == "so":
            kept[place - 1] = Clause(kept[place - 1].start, kept[place - 1].end)
    return kept


def _settled(clauses: Sequence[Clause], waiting: Sequence[Mention]) -> list[Clause]:
    """Acts that only make ready ("lie back", "breathe in") give way to whatever else the sentence orders."""
    if all(m in waiting for c in clauses for m in c.ordered):
        return list(clauses)
    return [Clause(c.start, c.end, tuple(m for m in c.ordered if m not in waiting)) for c in clauses]


_GRADES = frozenset(["how", "whether"])
"""Words with which a second thing to find out begins: "check the feeling and how tight you can squeeze"."""
_BY_DOING = frozenset(["including", "by", "involves", "means"])
"""Words behind which a clause of doing begins: "an examination, including listening to your heart"."""
_FRAMES = frozenset(
    ["to", "given", "with", "because", "since", "as", "for", "after", "before", "in", "from", "while", "whilst"]
)
"""Words that begin a frame before the order itself."""
_JOINTS = frozenset(["and", "but", "then"])
_CONDITIONS = frozenset(["if", "once", "unless", "should", "when", "whenever", "provided", "depending"])
"""Words that begin a condition."""
_SPEAKERS = frozenset(["i", "we", "i'd", "we'd", "i'll", "we'll", "i'm", "we're", "let", "let's", "may", "please"])
_STATING = _SPEAKERS | {"you", "he", "she", "it", "they", "there", "that", "this", "it's", "there's", "that's"}
"""Words that begin a statement of its own behind a semicolon: "...; I don't want her waiting"."""
_EXAM_NOUNS = frozenset(["exam", "examination"])
_CHAINED = LINKS | {"with", "today", "please", "current", "latest", "an", "full", "urgent"}
"""Words that may stand between the names of a list."""
_ECHO = re.compile(r"(?:and|also|then)(?: also| then)? (?:at|in|into|to|on|over|under|behind|inside) ")
"""How a second object follows a verb of the sentence before."""
_LEAVE = re.compile(r".\b(?:and|then) (?:can|could|may) (?:i|we) ")
"""A question for leave behind a list: what stands before it is no question."""
_TOLD = re.compile(r"\btell (?:him|her|them|(?:your|the|his|her) \w+) that$")
"""Words behind which an order is passed on: "tell your aunt that I'd like to ..."."""
_MORE = frozenset(["also", "plus", "and"])
_LOOK_AT = re.compile(
    r"\b(?:look|peek|glance|listen|feel) (?:at|in|into|inside|to|of|round|over)(?: (?:the|your|his|her|my))?$"
)
"""What makes a noun of looking the verb of what follows: "I need a look at your mouth"."""
_DO_A = re.compile(r"\b(?:do|perform|carry out) (?:a|an|your|his|her|their|the)$")
"""What makes an adjective an examination: "I'll do a rectal"."""
_WHERE = frozenset(["in", "on", "of", "at", "from", "over", "through", "between", "around", "both", "left", "right"])
_WITH = re.compile(r"\b(?:with|using|by) (?:a|my|one|two|both my|the flat of my)(?: \w+)?$")
