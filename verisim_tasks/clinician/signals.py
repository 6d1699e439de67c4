"""What kind of answer this is, whatever its medical content."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from verisim_tasks.clinician.tokens import expand

MAX_CHARACTERS = 2000
"""Signals stand in this much of an answer."""
PARTICLE_SENTENCES = 3
"""A yes or no stands within so many sentences."""

_FILLER = (
    r"^\W*(?:(?:well|oh|um+|uh+|er+m?|hm+|so|like|i mean|to be honest|honestly|doctor|god|actually|i guess|ah|look"
    r"|you know)\W+)*"
)
_END = r"(?=\s*(?:[.,;!\u2013\u2014-]|$))"


def _any(*alternatives: str) -> str:
    return "(?:" + "|".join(alternatives) + ")"


_YES = re.compile(
    _FILLER
    + _any(
        r"yes\b",
        r"yeah\b",
        r"yep\b",
        r"yup\b",
        r"aye\b",
        r"i do\b(?! not)",
        rf"i (?:have|did|am|was|can|could|would){_END}",
        rf"(?:it|he|she|they|that) (?:does|do|is|are|has|have|did|was){_END}",
        r"(?:definitely|absolutely|of course|certainly)\b(?! not)",
        r"sure\b",
        r"correct\b",
        r"that(?: is|'s) (?:right|true|it)\b",
        r"exactly\b",
        r"very much",
        r"a (?:bit|little)\b",
        r"somewhat\b",
        r"(?:sometimes|often|always|all the time|now and then|on and off)\b",
        r"i (?:think|suppose|would say|am afraid) so\b",
        r"i'm afraid so\b",
        r"afraid so\b",
        r"unfortunately\b(?! no)",
        r"quite a (?:bit|lot)\b",
    )
)
_NO = re.compile(
    _FILLER
    + _any(
        r"no\b(?! idea| clue| one knows| longer)",
        r"nope\b",
        r"nah\b",
        r"never\b",
        r"not (?:really|at all|that|any|a|now|recently|lately|this|anymore|particularly|especially|much|so far)\b",
        r"none\b",
        r"nothing\b",
        r"(?:of course|certainly|absolutely|definitely) not\b",
        r"hardly ever\b",
    )
)
_NEGATIVE = re.compile(
    _FILLER
    + _any(
        r"(?:it|that) (?:does|is|has|did|was) not\b",
        r"(?:he|she|they) (?:do|does|is|has|have|did|was) not\b(?! (?:know|remember|sure))",
        r"i (?:do|have|did|am|was|would) not\b(?! (?:really |quite )?(?:know|remember|recall|understand|sure|certain"
        r"|want|feel comfortable|like to|have to|wish|follow|notice (?:much|when)|see (?:why|what)"
        r"|think i (?:can|should)))",
    )
)
_NOT_NOTICED = re.compile(
    _any(
        r"\bnot that i\b",
        r"\bnot (?:as far as|to my knowledge)",
        r"\b(?:have|had|did|has) not (?:really )?notic",
        r"\bnot aware of\b",
        r"\bnothing (?:like that|i (?:have |had )?noticed)",
    )
)
_UNKNOWN = re.compile(
    _any(
        r"\b(?:(?:do|did|does) not|cannot) (?:really |quite |rightly |honestly |even |for the life of me )?"
        r"(?:know|remember|recall|say for|tell you|think of|be sure|place)\b",
        r"\bcannot (?:really |quite )?say\b",
        r"\bnot (?:really |quite |too |so |entirely |all that )?(?:sure|certain)\b",
        r"\bno (?:idea|clue)\b",
        r"\bhard to (?:say|tell|remember)\b",
        r"\bi (?:forget|forgot|would have to (?:think|check))\b",
        r"\bslip(?:ped|s) my mind\b",
        r"\bmy (?:mind|memory|head) (?:is|goes|went|has gone) (?:a )?blank\b",
        r"\bescapes me\b",
        r"\b(?:am|are) blanking\b",
        r"\bon the tip of my tongue\b",
    )
)
_UNCLEAR = re.compile(
    _any(
        r"\b(?:do|did) not (?:really |quite )?(?:understand|follow|catch|get (?:that|what|the question))\b",
        r"\bdid not (?:really |quite )?hear (?:you|that|what)\b",
        r"\bwhat (?:do|did|does) (?:you|that|it) mean\b",
        r"\bwhat is (?:that|an?) [\w' -]*\?",
        r"\bwhat's (?:that|an?) ?[\w' -]*\?",
        r"\b(?:say|repeat|ask|explain|put) (?:that|it|the question)\b"
        r"[^.]*?(?:again|please|slow|simpl|more time|way|\?)",
        r"\b(?:repeat|explain)\b[^.]*\?",
        r"\bcome again\b",
        r"\bpardon\b",
        r"^\W*(?:sorry|what|huh|eh|hm+|excuse me|say again)\W*$",
        r"\bsorry\W+(?:what|could you|can you|i lost|i did not|you)\b",
        r"\bone (?:thing|question) at a time\b",
        r"\b(?:lost|losing) (?:you|the thread|track)\b",
        r"\bin (?:plain|simple|simpler|normal|easier) (?:english|words|terms)\b",
        r"\bslow down\b",
        r"\btoo (?:many|much) (?:words|questions|at once)\b",
        r"\bwhat (?:was|is) the question\b",
        r"\bwhat did you (?:ask|say)\b",
        r"\bbig words?\b",
        r"\bnot sure what (?:you|that|the)\b",
        r"\bhow (?:do )?you mean\b",
        r"\bwhat (?:do )?you mean\b",
        r"^\W*in what way\b",
        r"\bget what you are asking\b",
        r"\bknow how to answer that\b",
        r"\bmeaning what\b",
        r"\b(?:is|does) (?:that|it) (?:mean|like|when|the same|where)\b[^.]*\?",
    )
)
_EVASIVE = re.compile(
    _any(
        r"\b(?:rather|prefer) not\b",
        r"\bdo not (?:want|like|wish|feel comfortable|feel like|care) (?:to )?(?:talk|say|discuss|get|go|answer)",
        r"\bnot (?:comfortable|ready|going to|here to) (?:talk|say|discuss|answer|go|get)",
        r"\bwhy (?:do|are|would|does|is|should) (?:you|that|it|this|i)\b",
        r"\bwhat (?:does|has) (?:that|this|it) (?:have|got|to)\b",
        r"\b(?:none of your|nobody's|no one's|my own) business\b",
        r"\b(?:private|personal)\b",
        r"\bis (?:that|this|it) (?:really )?(?:important|relevant|necessary|going on)\b",
        r"\bdo (?:i|we) (?:really )?(?:have|need) to\b",
        r"\bcan we (?:talk|move|skip|change|get back|stick)\b",
        r"\blet(?: us|'s) not\b",
        r"\bwho (?:sees|reads|will see|else)\b",
        r"\b(?:embarrass|awkward|asham)\w*",
        r"\bof course not\b",
        r"\bnot that kind\b",
        r"\bam not (?:one of|like) (?:those|that)\b",
        r"\bnothing to (?:tell|say|do with)\b",
        r"\bwhat are you (?:implying|suggesting)\b",
        r"\bnext question\b",
        r"\b(?:do not|will) judge\b",
        r"\byou (?:will|would) think\b",
    )
)
_WORRIED = re.compile(
    _any(
        r"\b(?:scar(?:ed|es|y)|frighten\w*|terrif\w*|worr(?:y|ied|ying)|panick\w*)\b",
        r"\bafraid (?:of|that|it|this|i)\b",
        r"\bam i (?:going|losing|dying|ok|okay|all right)\b",
        r"\bgoing to (?:die|be (?:ok|okay|all right))\b",
        r"\bis (?:it|this|that) (?:serious|bad|dangerous|cancer|normal|something|going)\b",
        r"\bsomething (?:terrible|awful|serious|really wrong)\b",
        r"\bplease (?:help|tell me|just)\b",
        r"\bcannot (?:stop thinking|take (?:it|this)|cope)\b",
        r"\btell me (?:it|i|that|this|i'm)\b",
        r"\b(?:will i be|promise me|should i be|i keep thinking|the worst)\b",
    )
)


@dataclass(frozen=True)
class Signals:
    """How the patient took the question. Several may hold at once."""

    silent: bool = False
    yes: bool = False
    no: bool = False
    negative: bool = False
    """Begins with a negative statement ("I haven't been ..."), which denies only what it speaks of."""
    not_noticed: bool = False
    """A denial that only says that nothing was noticed."""
    unknown: bool = False
    """Does not know or remember."""
    unclear: bool = False
    """Did not understand, or asks to repeat."""
    evasive: bool = False
    """Guarded: will not say, asks why, protests."""
    worried: bool = False
    """Afraid, or asks to be reassured."""


@functools.lru_cache(maxsize=50_000)
def read_signals(text: str) -> Signals:
    """The signals of one patient message. Never raises, whatever the text."""
    folded = expand(text[:MAX_CHARACTERS])
    if not re.search(r"\w", folded):
        return Signals(silent=True)
    unclear = bool(_UNCLEAR.search(folded))
    parts = [p for p in re.split(r"(?<=[.!?])\s+", folded) if p]
    yes, no = _first_particle(parts[:PARTICLE_SENTENCES])
    not_noticed = bool(_NOT_NOTICED.search(folded))
    return Signals(
        yes=yes and not unclear,
        no=(no or (not_noticed and not yes)) and not unclear,
        negative=bool(_NEGATIVE.search(folded)) and not yes and not no and not unclear,
        not_noticed=not_noticed,
        unknown=bool(_UNKNOWN.search(folded)),
        unclear=unclear,
        evasive=bool(_EVASIVE.search(folded)),
        worried=bool(_WORRIED.search(folded)),
    )


def _first_particle(parts: list[str]) -> tuple[bool, bool]:
    for part in parts:
        if _YES.search(part):
            return True, False
        if _NO.search(part):
            return False, True
    return False, False
