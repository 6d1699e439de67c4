"""Reading the diagnosis out of what a model wrote: headings, hedges, negations, lists, causes. Knows no disease."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

MAX_LENGTH = 2_000
"""Longer predictions are cut here, in characters."""

_FLAGS = re.IGNORECASE
_FENCE = re.compile(
    r"```\w*|`|\*+|_{2,}|^#+\s*|^>\s*|</?(?:[bipu]|br|em|strong|h\d|ul|ol|li|div|span|code|answer|diagnosis)\s*/?>|[<>]|\\(?:boxed|textbf|text)\b|[{}|]",
    re.MULTILINE,
)
_HEADING = re.compile(
    r"(?:\b(?:my|the|your|final|primary|principal|main|most\s+likely|likely|leading|working|provisional|clinical|presumptive|"
    r"presumed|probable|tentative|suspected|confirmed|admission|discharge|patient'?s)\s+)*\bdiagnos[ie]s\b"
    r"(?:\s+(?:here|for\s+\w+(?:\s+\w+)?))?\s*(?::|=|[–—-](?=\s)|\b(?:is|are|would\s+be|appears\s+to\s+be|remains)\b(?!\s+(?:that\s+)?"
    r"(?:unclear|unknown|uncertain|not))|(?=\n))\s*:?|"
    r"\b(?:dx|assessment|impression|conclusion|answer)\s*[:=]",
    _FLAGS,
)
_FINAL = re.compile(r"\bfinal\s+diagnos[ie]s\b", _FLAGS)
_BULLET = re.compile(r"^\s*(?:\(?\d{1,2}[.):]\s+|\(?[a-c]\)\s+|[-*•–—]\s+|#\d\s+)")
_SUBJECT = re.compile(
    r"^(?:(?:so|well|okay|ok|hello|hi|thank\s+you|therefore|overall|thus|hence|given|based|after|considering|in\s+summary|from)\b|"
    r"(?:i|we|you|he|she|it|they|this|that|these|there|what|your|his|her|their|my)\b|"
    r"(?:the\s+)?(?:patient|child|baby|boy|girl|man|woman|symptoms|presentation|findings|picture|clinical|history(?!\s+of)|evidence|"
    r"most\s+likely\s+(?:cause|explanation|condition)|likely\s+cause|cause|condition|overall)\b)",
    _FLAGS,
)
_VERB = re.compile(
    r"\b(?:is|are|was|has|have|had|be|been|suggests?|suggestive\s+of|suggesting|indicates?|indicative\s+of|"
    r"consistent\s+with|compatible\s+with|in\s+keeping\s+with|points?\s+(?:to|towards?)|diagnosis\s+of|diagnosed\s+with|diagnose|"
    r"suffering\s+from|due\s+to|caused\s+by|believe|think|suspect|looks\s+like|sounds\s+like|seems|favou?rs?|concerning\s+for|"
    r"experiencing|developed|represents?)\b",
    _FLAGS,
)
_LEAD = re.compile(
    r"^(?:(?:a|an|the|that|of|as|by|for|to|be|been|having|have|has|is|are|it'?s|it|this|you|he|she|they|we|i|think|believe|suspect|"
    r"patient|case|episode|bout|picture|form|diagnosis|diagnosed|with|from|now|also|here|there|either|"
    r"classic(?:al)?|typical|textbook|most|very|highly|more|strongly|quite|almost|certainly|definitely|clearly|probably|probable|"
    r"possibly|possible|likely|suspected|suspicion|presumed|presumptive|presumably|apparent|apparently|provisional|working|"
    r"confirmed|consistent|compatible|keeping|suggestive|suggesting|suggests?|indicative|indicates?|concern(?:ing)?|suspicious|"
    r"caused|due|experiencing|suffering|query|impression|features|in|on|may|might|could|would|must|seems?|appears?|looks|"
    r"like|sounds|what|favou?r(?:s|ed|ing)?|leading|first|final|new|newly|new-onset|onset|ongoing|current|active|clinical)\b[\s,:]+)+",
    _FLAGS,
)
_TAIL = re.compile(
    r"(?:\s+|,\s*|;\s*|\s[–—-]+\s)(?:because|given|based\s+on|as\s+evidenced|as\s+shown|as\s+suggested|as\s+indicated|supported\s+by|"
    r"evidenced\s+by|since\s+(?:the|he|she|there|you|it)|which\s+(?:is|explains|would|can|could|has|fits|causes|means)|"
    r"that\s+(?:explains|would|fits|needs|requires)|presenting\s+(?:with|as)|characteri[sz]ed\s+by|confirmed\s+by|"
    r"as\s+the\s+(?:cause|reason|most)|as\s+(?:my|a|the)\s+(?:leading|working|most|final)|per\s+|requiring|needs?\s+|"
    r"so\s+(?:we|i|you)|and\s+(?:i|we|you|it|he|she|this)\s+\w+|"
    r"(?:with|in)\s+(?:a\s+|the\s+)?(?:differentials?|ddx)\b|differentials?\b|"
    r"with\s+(?:an?\s+)?(?:\w+\s+)?(?:history|background)\s+of|on\s+(?:a\s+)?background\s+of|in\s+(?:a|an|this)\s+"
    r"(?:\d+|patient|man|woman|child|boy|girl|young|old|elderly|middle|pregnant|male|female|smoker|previously|otherwise|otherwise)|"
    r"with\s+(?:high|moderate|low|reasonable|good|\d+\s*%)\s*(?:confidence|certainty|probability|likelihood|confident)?|"
    r"at\s+this\s+(?:time|point|stage)|until\s+proven|is\s+(?:the\s+)?(?:most\s+)?(?:likely|probable|my|suspected|highly|very)\b|"
    r"seems\s+\w*\s*likely|(?:fits|explains)\s+(?:the|with|your|his|her|all|this|everything)\b)",
    _FLAGS,
)
_SENTENCE = re.compile(r"(?<=[a-z0-9)\]%]{2})[.!?](?=\s|$)|(?<=\b[A-Z]{2})[.!?](?=\s|$)")
_UNDECIDED = re.compile(
    r"^(?:(?:still|currently|yet|is|are|remains?|it|the\s+diagnosis|diagnosis)\s+)*(?:n/?a|none|nil|nothing|unknown|unclear|undetermined|"
    r"uncertain|undiagnosed|undifferentiated\s+illness|indeterminate|inconclusive|pending|deferred|tbd|tba|no\s+(?:clear\s+|final\s+|definite\s+|"
    r"specific\s+)?diagnosis|not\s+(?:sure|clear|known|certain|determined|established|yet|possible|enough|given|stated|provided|applicable|available)|"
    r"insufficient|more\s+(?:information|tests?|data)|need(?:s|ed)?\s+more|further\s+\w+|requires?|awaiting|"
    r"(?:i|we)\s+(?:do\s+not|don't|cannot|can't|can\s+not|am\s+not|'m\s+not|need|would\s+need|am\s+unable|'m\s+unable)|unable\s+to|cannot|can't|"
    r"could\s+not|i'm\s+(?:not|unable)|idk|impossible|to\s+be\s+\w+|unspecified(?:\s+(?:illness|condition|disease))?\s*$)\b|^\W*\?*\W*$",
    _FLAGS,
)
_RULE_OUT = re.compile(
    r"^(?:to\s+|must\s+|need\s+to\s+|please\s+|should\s+|we\s+must\s+|let'?s\s+)*(?:rule[\s-]*out|ruling\s+out|r/o|exclude|excluding|"
    r"consider|work[\s-]*up\s+for|evaluate\s+for|investigate\s+for|screen(?:ing)?\s+for|check\s+for|test\s+for|assess\s+for)\b",
    _FLAGS,
)
_NEGATED_HEAD = re.compile(
    r"^(?:it'?s\s+|this\s+is\s+|there\s+is\s+|i\s+see\s+|(?:definitely|certainly|clearly|probably)\s+)*"
    r"(?:not(?!\s+otherwise|\s+elsewhere)|no|never|isn't|is\s+not|aren't|doesn't|does\s+not|without|absence\s+of|negative\s+for|denies|denied|"
    r"unlikely|(?:less|least|not)\s+likely|improbable|doubt(?:ful)?|lack\s+of\s+(?:evidence|signs?|support)|low\s+(?:suspicion|probability|likelihood)|free\s+of|cannot|can't|"
    r"ruled\s+out|excluded|exclud(?:es|ing)|rules\s+out|rather\s+than|instead\s+of|nothing\s+to\s+suggest|resolved)\b",
    _FLAGS,
)
_NEGATED_END = re.compile(
    r"(?:\b(?:has|have|had|was|were|is|are|been|being|can\s+be|could\s+be|to\s+be|needs?\s+to\s+be|must\s+be|should\s+be|now)\s+)*"
    r"\b(?:ruled\s+out|excluded|(?:very\s+|highly\s+|more\s+|most\s+)?(?:unlikely|improbable)|(?:less|least|not)\s+(?:very\s+)?likely|negative|absent|"
    r"not\s+(?:present|supported|confirmed|found|seen|suspected|considered|the\s+(?:cause|diagnosis|case))|doubtful|disproven|isn't\s+likely)"
    r"(?:\s+(?:by|on|with|after|from|given|because|based|due|as|per|in\s+(?:view|light)|here|now|clinically|at\s+this)\b.*)?\W*$",
    _FLAGS,
)
_CONTRAST = re.compile(
    r"\s*,?\s+(?:rather\s+than|instead\s+of|as\s+opposed\s+to|and\s+not|but\s+not|not(?!\s+otherwise|\s+elsewhere)|without\s+(?:any\s+)?"
    r"(?:evidence|signs?)\s+of|with\s+no\s+(?:evidence|signs?)\s+of|less\s+likely|unlikely\s+to\s+be|to\s+rule\s+out|rule\s+out|ruling\s+out|r/o|"
    r"(?:must|should|need\s+to|to)\s+exclude|vs\.?|versus|although|though|however|while|whereas|but)\s+|\s*,\s*(?:not|less\s+likely|rule\s+out|r/o|vs\.?|"
    r"rather)\s+|\s*\((?=not\b|less\b|vs)",
    _FLAGS,
)
_RELATIVE = re.compile(
    r"\b(?:mother|father|sister|brother|sibling|parent|grand\w+|aunt|uncle|cousin|relative|family)s?\s+(?:once\s+|also\s+)?(?:had|has|have|died)\b",
    _FLAGS,
)
_NEGATED_VERB = re.compile(r"(?:\bnot|n't|\bnever|\bcannot|\bdoubt|\bunlikely)(?:\s+[a-z']+){0,3}\s*$", _FLAGS)
_INSTEAD = re.compile(
    r"(?:^|\s|[,;.]\s*)(?:but(?:\s+rather)?|rather|instead|it\s+is\s+more\s+likely|more\s+likely|most\s+likely|it'?s)\s*,?\s+(?!than\b)",
    _FLAGS,
)
_HISTORY = re.compile(
    r"^(?:(?:strong|known|past|previous|positive|significant|remote|prior|personal|medical|family|maternal|paternal|surgical)\s+)*"
    r"(?:history|h/o|hx|fh|fhx|pmh)\s*(?:of|:|\b)|^(?:previous|prior|past|old|s/p|status\s+post|post[\s-]+treatment|resolved|at\s+risk\s+(?:of|for)|"
    r"(?:increased\s+|high\s+)?risk\s+(?:of|for)|risk\s+factors?\s+for|screening|prophylaxis|vaccination|exposure\s+to|fear\s+of|worried\s+about|"
    r"mother|father|sister|brother|sibling|parent|relative)\b|\b(?:in\s+(?:the\s+)?(?:family|past)|years\s+ago)\W*$",
    _FLAGS,
)
_ALTERNATIVES = re.compile(
    r"\s*,?\s+\(?(?:\d{1,2}|[b-d])[.)]\s+|\s*;\s*|\s+(?:or|and/or|vs\.?|versus)\s+|\s*/\s+|\s+/\s*|\n+|\s+[–—]\s+|\s+-\s+|,?\s+(?:but|possibly|alternatively)\s+",
    _FLAGS,
)
_SLASH = re.compile(r"(?<=[A-Za-z]{3})/(?=[A-Za-z]{3})")
_HEDGED = re.compile(
    r"^\s*(?:most\s+likely|likely|probably|probable|suspected|presumed|presumably|due\s+to|caused\s+by|secondary\s+to|from)\b",
    _FLAGS,
)
_CAUSE = re.compile(
    r",?\s+(?:(?:most\s+)?(?:likely|probably|possibly|presumably|presumed)\s+)?(?:(?:is\s+|are\s+)?(?:due\s+to|caused\s+by|secondary\s+to|owing\s+to|"
    r"because\s+of|attributable\s+to|as\s+a\s+(?:result|complication|consequence)\s+of|from|resulting\s+from|arising\s+from|"
    r"triggered\s+by|induced\s+by|precipitated\s+by|2/2|in\s+the\s+(?:setting|context)\s+of))\s+",
    _FLAGS,
)
_EFFECT = re.compile(
    r",?\s+(?:complicated\s+by|causing|leading\s+to|resulting\s+in|which\s+caused|progressing\s+to|manifesting\s+as|presenting\s+as|with\s+resulting)\s+",
    _FLAGS,
)
_COMPANION = re.compile(
    r",?\s+(?:and|without|with|&|plus|along\s+with|associated\s+with|accompanied\s+by|following|after|superimposed\s+on|in|of|on)\s+|\s*\+\s*",
    _FLAGS,
)
_PAREN = re.compile(r"\s*[(\[]([^()\[\]]*)[)\]]")
_NOT_A_NAME = re.compile(
    r"\b(?:not|no|vs|versus|rule|ruled|r/o|possible|possibly|differential|less|unlikely|likely|history|if|confirm|see|per|consider|without|or|"
    r"previous|previously|prior|known|past|to)\b",
    _FLAGS,
)


@dataclass(frozen=True)
class Reading:
    """What a prediction asserts."""

    phrase: str | None
    """The first condition it asserts, without what surrounds it; ``None`` when it asserts none."""
    talk: bool = False
    """Whether it stood in a whole sentence ("Thank you, I see that ..."), which may be talk around the diagnosis."""
    refusal: str | None = None
    """Why there is none: ``empty``, ``no diagnosis``, ``rule out``, ``negated``, ``history``."""


def read_prediction(text: str | None) -> list[Reading]:
    """What a prediction asserts, sentence by sentence; the first one counts unless it is only talk around it.

    Ends at the first refusal that is final. Never empty: the last reading of a text without any condition says why.
    """
    if text is None or not any(c.isalnum() for c in text):
        return [Reading(None, refusal="empty")]
    body = _FENCE.sub(" ", text[:MAX_LENGTH]).replace("\u2019", "'").replace("\u00a0", " ")
    found: list[Reading] = []
    for sentence in (s for line in _lines(_after_heading(body)) for s in _sentences(line)):
        found.append(_read_sentence(sentence))
        if found[-1].phrase and not found[-1].talk:
            break
        if found[-1].refusal in ("rule out", "history", "no diagnosis"):
            break
    return found or [Reading(None, refusal="no diagnosis")]


def stated(text: str) -> str:
    """All that stands behind the heading, as it is written; empty when there is nothing."""
    return " ".join(_after_heading(_FENCE.sub(" ", text[:MAX_LENGTH])).split()).strip(" .:;,-")


def _after_heading(text: str) -> str:
    final = _FINAL.search(text)
    heading = _HEADING.search(text, max(final.start() - 40, 0) if final else 0)
    while heading and final and heading.end() <= final.start():
        heading = _HEADING.search(text, heading.end())
    rest = text[heading.end() :] if heading else text
    return rest if any(c.isalnum() for c in rest) else text


def _lines(text: str) -> list[str]:
    lines = (_BULLET.sub("", line).strip(" \t\"'“”:;,-–—") for line in text.split("\n"))
    return [line for line in lines if any(c.isalnum() for c in line)]


def _sentences(line: str) -> list[str]:
    parts, start = [], 0
    for end in _SENTENCE.finditer(line):
        before = line[start : end.start()]
        if re.search(r"\b(?:vs|dr|e\.g|i\.e|st|approx|spp)$", before, _FLAGS):
            continue
        parts.append(before)
        start = end.end()
    parts.append(line[start:])
    clauses = (c for part in parts for c in part.split(";"))
    return [c.strip(" .;:!,\"'") for c in clauses if any(x.isalnum() for x in c)]


def _read_sentence(sentence: str) -> Reading:
    talk = bool(_SUBJECT.match(sentence))
    for _ in range(4):
        sentence = sentence.strip(" .;:!,-–—\"'")
        if _RELATIVE.search(sentence):
            return Reading(None, refusal="history")
        if _RULE_OUT.search(sentence):
            return Reading(None, refusal="rule out")
        if _HISTORY.search(sentence) and not _SUBJECT.match(sentence):
            return Reading(None, refusal="history")
        if _UNDECIDED.search(sentence) and not _INSTEAD.search(sentence):
            return Reading(None, refusal="no diagnosis")
        if _NEGATED_HEAD.search(sentence):
            instead = _INSTEAD.search(sentence) or re.search(r"[;,:]\s+(?!or\b|and\b|nor\b)", sentence)
            if not instead or not any(c.isalnum() for c in sentence[instead.end() :]):
                return Reading(None, refusal="negated")
            sentence = sentence[instead.end() :]
            continue
        clause = _predicate(sentence)
        if clause == sentence:
            break
        sentence = clause
    return replace(_finish(sentence), talk=talk)


def _predicate(sentence: str) -> str:
    """What a whole sentence says the patient has; the sentence itself when it is no clause."""
    if _SUBJECT.match(sentence):
        for verb in _VERB.finditer(sentence):
            rest = sentence[verb.end() :].strip(" ,:")
            if any(c.isalnum() for c in rest):
                return f"not {rest}" if _NEGATED_VERB.search(sentence[: verb.start()]) else rest
    lead = _LEAD.match(sentence)
    if lead and any(c.isalnum() for c in sentence[lead.end() :]):
        return sentence[lead.end() :]
    return sentence


def _finish(sentence: str) -> Reading:
    phrase = sentence
    for cut in (_TAIL, _CONTRAST):
        found = cut.search(phrase)
        if found and any(c.isalnum() for c in phrase[: found.start()]):
            phrase = phrase[: found.start()]
    first, *others = [p for p in _ALTERNATIVES.split(phrase) if p and any(c.isalnum() for c in p)] or [""]
    ends = [_NEGATED_END.search(p) for p in (phrase, first)]
    if any(ends) or _NEGATED_END.search(sentence.split(",")[0]):
        asserted = [
            p for p in re.split(r"[,;]", sentence) if not _NEGATED_END.search(p) and not _NEGATED_HEAD.search(p.strip())
        ]
        if others or not asserted or not any(c.isalnum() for c in asserted[0]):
            return Reading(None, refusal="negated")
        instead = _INSTEAD.search(" " + asserted[0])
        phrase = (" " + asserted[0])[instead.end() :] if instead else asserted[0]
    phrase = phrase.strip(" .;:!,-–—\"'")
    if not any(c.isalpha() for c in phrase):
        return Reading(None, refusal="no diagnosis")
    return Reading(phrase)


@dataclass(frozen=True)
class Piece:
    """A part of the phrase that may itself be the name."""

    text: str
    role: str
    """``whole``: decides by exact names only; ``head``: judged in full; ``companion``: a head before "with" or "and".
    The others can only match: ``cause`` by an exact name, ``merged`` also as a finer form; ``pair`` is a head and its
    complication, ``comma`` a head and its segments, both joined by ``|``."""


def pieces(phrase: str) -> Iterator[Piece]:
    """The phrase from its whole to its head: what stands in brackets, alternatives, commas, causes and companions."""
    yield Piece(phrase, "whole")
    bare = _PAREN.sub("", phrase).strip(" ,;")
    inside = [m.group(1) for m in _PAREN.finditer(phrase) if not _NOT_A_NAME.search(m.group(1))]
    if bare and bare != phrase:
        yield from (Piece(f"{bare} {text}", "merged") for text in inside)
        yield from (Piece(text, "cause") for text in inside)
        yield Piece(bare, "whole")
    first = next((p for p in _ALTERNATIVES.split(bare) if any(c.isalnum() for c in p)), bare)
    if first != bare:
        yield Piece(first, "whole")
    first = re.sub(r"^either\s+", "", _LEAD.sub("", first) or first, flags=_FLAGS)
    yield from _parts(first)
    slashed = _SLASH.split(first)[0]
    if slashed != first:
        yield from _parts(slashed)


def _parts(phrase: str) -> Iterator[Piece]:
    yield Piece(phrase, "whole")
    segments = [s.strip() for s in phrase.split(",") if any(c.isalnum() for c in s)]
    if len(segments) > 1:
        yield Piece(f"{segments[0]} | {' | '.join(segments[1:])}", "comma")
        if _HEDGED.match(segments[1]):
            yield Piece(_HEDGED.sub("", segments[1]).strip(), "cause")
    head = segments[0] if segments else phrase
    yield Piece(head, "whole")
    for pattern in (_CAUSE, _EFFECT):
        found = pattern.search(head)
        if found and found.start() > 0:
            yield Piece(head[: found.start()], "head")
            tail = head[found.end() :]
            yield Piece(_COMPANION.split(tail)[0] or tail, "cause")
            yield Piece(tail, "cause")
            return
    companion = _COMPANION.search(head)
    if companion and companion.start() > 0:
        yield Piece(f"{head[: companion.start()]} | {head[companion.end() :]}", "pair")
        yield Piece(head[: companion.start()], "companion")
    yield Piece(head, "head")
