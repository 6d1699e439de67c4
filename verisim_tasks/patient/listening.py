"""From the words of a doctor's message to the parts of it that ask for something."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from verisim_tasks.language.lexicon import default_lexicon, load_yaml
from verisim_tasks.language.words import sentences, words

_OPENER = (
    r"(?:do|does|did|have|has|had|haven't|hasn't|hadn't|don't|doesn't|didn't|are|aren't|is|isn't|was|were|am|can|could"
    r"|would|will|should|any|ever|when|where|whereabouts|what|what's|which|who|whose|how|why|tell|describe|explain"
    r"|list|rate|point|show|give)"
)
_FILLER = (
    r"(?:(?:and|but|so|okay|ok|now|well|also|then|or|alright|right|sure|next|first|firstly|finally|lastly|please|great"
    r"|good|thanks|thank you|um|uh|er|hi|hello|besides that|apart from that|other than that|i see|just)[,\s]+)*"
)
_SPLIT = re.compile(
    rf"(?:[,;:]\s*|\s+)(?:and|or(?!\s+\w+\s+(?:it|they|that|this)\b)|but|also|plus|then)\s+(?:also\s+)?(?={_OPENER}\b)|\?+\s*|;\s+|,\s+(?={_OPENER}\b)",
    re.IGNORECASE,
)
STARTS_QUESTION = re.compile(rf"^{_FILLER}(?:at|on|in|for|since|to|with|from|of)?\s*{_OPENER}\b")
YES_NO = re.compile(
    rf"^{_FILLER}(?:(?:do|does|did|have|has|had|are|is|was|were)(?:n't)?|am|any|ever|can|could|would|will|no)\b"
)
_LEAD = re.compile(r"^(.*[a-z].*?):\s+(?=\S*[a-z])(.+)$", re.DOTALL)
_EXCEPT = re.compile(
    r"\b(?:apart|aside) from|\bbesides|\bother than|\bexcept(?: for)?|\bin addition to|\bon top of|\bas well as"
)
_EXCEPT_END = re.compile(rf"[,;:?.]|\s(?={_OPENER}\b)")
_BACK = re.compile(
    r"\b(?:(?:any|some)thing|things?|thoughts|feelings|symptoms|problems|episodes|experiences?)\s+(?:at all )?"
    r"like (?:that|this|those|these)\b"
    r"|\bany of (?:that|this|those|these)\b|\b(?:such|those|these) (?:thoughts|feelings|things|problems)\b"
    r"|\b(?:do|have|are|did|has|is) (?:you|that|this|he|she|it)$"
    r"|\b(?:sound|seem|ring)s? (?:familiar|true|a bell|like you)\b"
    r"|\b(?:is|are|was) (?:that|this) (?:the case|true|something|you)\b"
    r"|\b(?:that|this) (?:happen|apply|applied|happened)\b|\bthe same (?:for|with) you\b|\bhow about you\b"
)
"""A question that only points back to the sentence before."""
_STATES = re.compile(
    r"^(?:i|i'm|i've|i'll|we|we're|we'll|let's|let|thank|thanks|you're|you've|your|this|that|that's|it|it's|there|these|those|the"
    r"|please|don't|try|take|based|given|my|hello|hi|good|final|you)\b"
)
"""Starts of sentences that tell and do not ask."""
MAX_SHOUTED = 3
"""Longer messages all in capitals hold no abbreviations that are told by their capitals."""
MAX_FRAGMENT = 9
"""Words of a message without a question that is still heard as one ("chest pain", "allergies")."""


@dataclass(frozen=True)
class Part:
    """One part of a message that asks for something."""

    text: str
    """What it asks, with the sentence it points back to and without what it leaves out."""
    own: str
    """Its own words."""
    excluded: str = ""
    """What it leaves out: "apart from your knee"."""


@functools.cache
def _rewrites(shouted: bool) -> tuple[tuple[re.Pattern[str], str], ...]:
    data = load_yaml("lexicon", "questions.yaml")
    capitals = [(re.compile(rf"(?<![\w/]){re.escape(k)}(?![\w/])"), v) for k, v in data["capitals"].items()]
    anyhow = [
        (re.compile(rf"(?<![\w/']){re.escape(k)}(?![\w/'])", re.IGNORECASE), v)
        for k, v in data["abbreviations"].items()
    ]
    slips = [(re.compile(k, re.IGNORECASE), v) for k, v in data["slips"]]
    return (*(() if shouted else capitals), *anyhow, *slips)


def expand(text: str) -> str:
    """The text with doctors' abbreviations and the commonest slips written out."""
    shouted = not any(c.islower() for c in text) and len(text.split()) > MAX_SHOUTED
    for pattern, full in _rewrites(shouted):
        text = pattern.sub(full, text)
    return text


def asked_parts(text: str, indirect: re.Pattern[str], probe: re.Pattern[str]) -> list[Part]:
    """The parts of a mended message that ask for something, in order."""
    parts: list[Part] = []
    before = ""
    for sentence in sentences(text):
        lead, asked = _without_lead(sentence)
        found = [
            part
            for part in _joined(_SPLIT.split(asked))
            if STARTS_QUESTION.match(part) or indirect.search(part) or probe.search(part) or "?" in sentence
        ]
        context = lead or before
        parts += [_part(part, context) for part in found]
        before = "" if found else sentence
    if not parts and _is_fragment(text):
        parts.append(_part(text.strip(" .!?"), ""))
    return parts


def _without_lead(sentence: str) -> tuple[str, str]:
    """What stands before a colon, and the question after it."""
    match = _LEAD.match(sentence)
    if match is None or not ("?" in sentence or STARTS_QUESTION.match(match.group(2))):
        return "", sentence
    return match.group(1), match.group(2)


def _part(text: str, context: str) -> Part:
    kept, excluded = _without_exception(text)
    whole = f"{context.strip(' .,!')} - {kept}" if context and _BACK.search(kept) else kept
    return Part(whole, kept, excluded)


def _without_exception(text: str) -> tuple[str, str]:
    """The text without "apart from ..." and what that names."""
    match = _EXCEPT.search(text)
    if match is None:
        return text, ""
    end = _EXCEPT_END.search(text, match.end() + 1)
    stop = end.start() if end else len(text)
    kept = f"{text[: match.start()].strip(' ,')} {text[stop:].strip(' ,;')}".strip()
    return (kept, text[match.end() : stop].strip()) if len(words(kept)) > 1 else (text, "")


def _joined(parts: list[str]) -> list[str]:
    """Parts with their lead-in ("on a scale of one to ten, how bad ..."): what asks nothing joins what follows."""
    joined: list[str] = []
    lead = ""
    for part in parts:
        part = part.strip(" ,.;:-!*_#>\"'()")
        if not words(part):
            continue
        whole = f"{lead}, {part}" if lead else part
        lead = "" if STARTS_QUESTION.match(part) else whole
        if not lead:
            joined.append(whole)
    if lead:
        joined.append(lead)
    return joined


def _is_fragment(text: str) -> bool:
    """A few words that name something known and tell nothing ("chest pain", "you get breathless at all")."""
    said = words(text)
    if not 0 < len(said) <= MAX_FRAGMENT or len(sentences(text)) > 1:
        return False
    if _STATES.match(text.strip()):
        return bool(re.match(r"^(?:you|your)\b.*\b(?:at all|ever|any|much|often|ok|okay|alright)\b", text.strip()))
    return bool(default_lexicon().mentions(text)) or _names_item(text)


def _names_item(text: str) -> bool:
    """A word by which a profile item is asked for."""
    groups = load_yaml("lexicon", "questions.yaml")["items"]
    said = f" {' '.join(words(text))} "
    return any(f" {phrase} " in said for phrases in groups.values() for phrase in phrases)
