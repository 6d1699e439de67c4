"""From a patient's words, and the question before them, to the claims they make."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from verisim_tasks.language.sentences import split_sentences
from verisim_tasks.language.words import fold, words
from verisim_tasks.patient.questions import read_message
from verisim_tasks.verify.reading import Reader, Reading, negated_words
from verisim_tasks.verify.synonyms import restated
from verisim_tasks.verify.vocabulary import kin_words, pattern, tables

Manner = Literal["statement", "answer", "deflection", "talk"]
"""``answer``: a yes or no that takes its content from the question. ``deflection``: says that it cannot be told.
``talk``: asks, hopes, fears or supposes, and so claims nothing."""

MAX_CHARACTERS = 6000
"""What lies beyond is not read; such a text is far too long anyway."""
MAX_CLAIMS = 60

_PRONOUN = (
    r"(?:i|i'm|i've|i'd|i'll|he|she|he's|she's|it|it's|they|they're|we|we've|we're|my|his|her|our"
    r"|the|there|there's|this|that|that's"
    r"|nobody|no one|nothing|none|some|both|sometimes|then|everyone|everybody|patient|now)"
)
_VERB = (
    r"(?:am|is|are|was|were|been|have|has|had|do|does|did|don't|doesn't|didn't|can|can't|could"
    r"|couldn't|take|takes|took|feel|feels|felt|get|gets"
    r"|got|smoke\w*|drink\w*|drank|live\w*|work\w*|sleep\w*|stopped|quit|started|goes|go|went|comes"
    r"|came|hurts?|wakes?|woke|lost|gained"
    r"|use[sd]?|need\w*|never|haven't|hasn't|see|saw|keep|keeps|makes?|made|gave|gives|died|put|tend)"
)
_KIN = "(?:" + "|".join(sorted(map(re.escape, kin_words()), key=len, reverse=True)) + ")"
_SPLIT = re.compile(
    rf"\s*[;:]\s+|\s+[-–—]+\s+|\s*…\s*|\s*,?\s+but\s+(?:also\s+)?|(?<!\bor)\s*,?\s+(?:though|although|whereas"
    rf"|however|so(?! (?:i|he|she|they|we) (?:can|could|will|would)\b)|because|while)\s+(?={_PRONOUN}\b)"
    rf"|(?<!comes)(?<!come)(?<!came)\s*,?\s+(?:and|plus|or)\s+(?:then\s+|also\s+"
    rf"|now\s+)?(?={_PRONOUN}\s|{_VERB}\b|(?:no|not)\s|{_KIN}\b)"
    rf"|,\s+(?:then\s+)?(?={_PRONOUN}\s+\S+)|,\s+(?=(?:no|not|never|without|just|only)\b)"
    rf"|,\s+(?={_KIN}\s)|,?\s+(?=(?:which|where|after which)\s)",
    re.IGNORECASE,
)
_EDGE = " \t\r\n,.;:!?-–—\"'“”()*"
_LEAD = re.compile(
    r"^(?:(?:well|um+|uh+|er+|oh|ah|hm+|okay|ok|so|and|but|anyway|look|listen|honestly|to be honest"
    r"|i mean|you know|like i said|as i said"
    r"|as i said before|let me (?:think|see)|actually|frankly|sorry|hello|hi|good (?:morning"
    r"|afternoon|evening)|thanks|thank you)\b[\s,.…-]*)+",
    re.IGNORECASE,
)
_HAS_SUBJECT = re.compile(rf"^(?:{_PRONOUN}|{_KIN}|i\b)", re.IGNORECASE)
_INVERTED = re.compile(
    r"^(?:(?:and|so|but|okay|also|now|then)\s+)*(?P<aux>do|does|did|have|has|had|are|is|was|were|can"
    r"|could|will|would)(?:n't)?\s+"
    r"(?P<subject>you|he|she|it|they|there|your \w+|his \w+|her \w+|the \w+|this|that|anyone|anybody"
    r"|anything)\s+(?P<rest>.+)$"
)


@dataclass(frozen=True)
class Claim:
    """One thing a patient says, with what is needed to judge it."""

    text: str
    """In full: a short answer is written out with its question."""
    sentence: str
    """The sentence it stands in, as it was said."""
    manner: Manner
    reading: Reading
    negative: bool = False
    """An answer that denies what was asked."""
    question: str = ""
    """The clause of the doctor's question that it answers."""
    context: Reading | None = None
    """What was talked about: the clause before, or the question."""
    any_of: bool = False
    """A yes to a list: one of the things asked about is enough."""
    number: int = 0
    """Place of its sentence in the utterance."""


class Extractor:
    """Claims by rules."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def claims(self, text: str, question: str = "") -> tuple[Claim, ...]:
        """The claims of an utterance that answers ``question``; empty for a text that says nothing."""
        asked = asked_clauses(question)
        asked_readings = tuple(self._reader.read(c) for c in asked)
        context = next((r for r in reversed(asked_readings) if r.atoms or r.sites), None)
        found: list[Claim] = []
        for number, sentence in enumerate(split_sentences(text[:MAX_CHARACTERS])):
            made = self._sentence(
                sentence,
                asked,
                context,
                number,
                first=not any(c.manner == "statement" and _stands_alone(c) for c in found),
            )
            found += made
            context = next((c.reading for c in reversed(made) if c.reading.of("concept")), context)
            if len(found) >= MAX_CLAIMS:
                break
        return tuple(_last_answer_counts(found[:MAX_CLAIMS]))

    def parts(self, text: str) -> tuple[Claim, ...]:
        """A claim that was extracted already ("patient takes aspirin and has a cough"), clause by clause."""
        made: list[Claim] = []
        context: Reading | None = None
        if text.rstrip(" \"')*").endswith("?"):
            return (replace(self._statement(text[:MAX_CHARACTERS], text, "", None, 0), manner="talk"),)
        for clause in split_clauses(text[:MAX_CHARACTERS]) or [text[:MAX_CHARACTERS]]:
            spoken_of = made and (made[-1].reading.subject == "family" or _YOUNG.search(made[-1].text))
            kin_text = made[-1].text if spoken_of else ""
            made.append(self._statement(_with_kin(clause, kin_text), text, "", context, 0))
            context = made[-1].reading if made[-1].reading.of("concept") else context
        return tuple(made[:MAX_CLAIMS])

    def _sentence(
        self, sentence: str, asked: Sequence[str], context: Reading | None, number: int, *, first: bool
    ) -> list[Claim]:
        said = without_vocatives(sentence)
        if not words(said):
            return []
        if said.rstrip(" \"')*").endswith("?"):
            told = _before_tag(said)
            if not told:
                return [replace(self._statement(said, sentence, "", None, number), manner="talk")]
            said = told
        answer, rest = _answer_and_rest(said)
        claims: list[Claim] = []
        if answer is not None and first and asked and not pattern("retold").search(fold(sentence)):
            claims = self._answers(answer, sentence, asked, number)
        clauses = split_clauses(rest)
        kin_text = ""
        for place, clause in enumerate(clauses):
            following = clauses[place + 1] if place + 1 < len(clauses) else ""
            lead = following if _is_fragment(clause) and _KIN_FIRST.match(following) else kin_text
            claim = self._statement(_with_kin(clause, lead), sentence, " ".join(asked), context, number)
            if set(words(clause)) <= _BARE_ANSWERS:
                continue
            claims.append(claim)
            context = claim.reading if claim.reading.of("concept") else context
            kin_text = clause if claim.reading.subject == "family" or _YOUNG.search(clause) else ""
        if answer is not None and any(_stands_alone(c) for c in claims if c.manner == "statement"):
            claims = [c for c in claims if c.manner != "answer"]
        return claims

    def _answers(self, answer: str, sentence: str, asked: Sequence[str], number: int) -> list[Claim]:
        """One claim for each clause of the question that can be answered with yes or no."""
        negative = answer == "no"
        if any(_turned_question(c) != c for c in asked):
            asked, negative = [_turned_question(c) for c in asked], not negative
        whole = [c for c in asked if _is_yes_no(c) or (negative and number == 0)]
        return [
            Claim(
                text=declared(clause, negative=negative),
                sentence=sentence,
                manner="answer",
                reading=self._reader.read(_positive(clause)),
                negative=negative,
                question=clause,
                any_of=not negative,
                number=number,
            )
            for clause in (whole if negative else whole[-1:])
        ]

    def _statement(self, text: str, sentence: str, question: str, context: Reading | None, number: int) -> Claim:
        reading = self._reader.read(restated(text.replace("\u2019", "'")))
        folded = fold(text)
        manner: Manner = "statement"
        if pattern("deflections").search(folded):
            manner = "deflection"
        supposed = pattern("supposition").search(folded)
        if supposed:
            reading = self._reader.read(text[: supposed.start()])
            manner = "talk" if not reading.is_clinical else manner
        return Claim(text.strip(_EDGE), sentence, manner, reading, question=question, context=context, number=number)


_TAG = re.compile(
    r"^(?P<told>(?:it|i|he|she|they|we|there|my|his|her|the)\b[^?]*?)"
    r",\s*(?:and\s+)?(?:is|isn't|was|wasn't|are|aren't|could|couldn't|does|doesn't|did|might|would|should|can)\s+"
    r"(?:that|this|it|they|there)\b[^?,]*\?\W*$",
    re.IGNORECASE,
)


def _before_tag(text: str) -> str:
    """What is stated before a question that is put behind it ("It stings a bit, is that normal?"); else empty."""
    match = _TAG.match(text)
    return match["told"] if match else ""


def _last_answer_counts(claims: Sequence[Claim]) -> list[Claim]:
    """A yes that a no follows ("well, yes... no") is a way of speaking."""
    answers = [c for c in claims if c.manner == "answer"]
    return [c for c in claims if c.manner != "answer" or c.negative == answers[-1].negative]


@functools.lru_cache(maxsize=20_000)
def asked_clauses(question: str) -> tuple[str, ...]:
    """The clauses of a doctor's message that ask for something."""
    return tuple(c.core for c in read_message(question).clauses) if question else ()


def without_vocatives(text: str) -> str:
    """The text without "doctor,", without frames and oaths, and what only leads in."""
    text = pattern("frames").sub(" ", text.replace("\u2019", "'")).lstrip(" ,")
    return _LEAD.sub("", re.sub(tables()["vocatives"], " ", text, flags=re.IGNORECASE).strip()).strip()


def split_clauses(text: str) -> list[str]:
    """Clauses with a predicate of their own."""
    parts: list[str] = []
    start = 0
    for match in _SPLIT.finditer(text):
        if _BARE_OR.fullmatch(match[0]) and negated_words(fold(text[start : match.start()])):
            continue
        parts.append(text[start : match.start()].strip(_EDGE))
        start = match.end()
    parts.append(text[start:].strip(_EDGE))
    return [p for p in parts if words(p)]


_BARE_OR = re.compile(r"\s+or\s+", re.IGNORECASE)
"""Behind a negation it goes on with what is denied: "I've never taken it or had the emergency pills"."""


def declared(clause: str, *, negative: bool) -> str:
    """A question's clause as the statement that a yes, or a no, makes of it."""
    match = _INVERTED.match(clause.strip(" ?.,"))
    if match is None:
        return f"{'No' if negative else 'Yes'}: {clause.strip(' ?')}"
    subject = re.sub(r"\byour\b", "my", "I" if match["subject"] == "you" else match["subject"])
    aux = "" if match["aux"] in ("do", "does", "did") else match["aux"]
    aux = {"are": "am", "were": "was"}.get(aux, aux) if subject == "I" else aux
    rest = re.sub(r"\byou\b", "I", re.sub(r"\byour\b", "my", match["rest"]))
    parts = (subject, "do not" if negative and not aux else aux, "not" if negative and aux else "", rest)
    return " ".join(p for p in parts if p)


def _positive(clause: str) -> str:
    """A question's clause without the negation of its form ("don't you have")."""
    return re.sub(r"^((?:and|so|but)\s+)?(do|does|did|have|has|are|is|was|were)n't\b", r"\2", clause)


def _turned_question(clause: str) -> str:
    """A question that hopes for a yes, as the one that asks after the trouble: "has he missed his jabs"."""
    for found, other in tables()["turned_questions"]:
        clause = re.sub(found, other, clause)
    return clause


def _is_yes_no(clause: str) -> bool:
    return bool(_INVERTED.match(clause) or re.match(r"^(?:and |or |so )?any\b", clause))


@functools.cache
def _answer_patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple(
        (
            name,
            re.compile(
                rf"^(?:{'|'.join(tables()['answers'][name])})(?=$|\s*[,.;:!…–—-]|\s+(?:but|and|since|for|because)\b)"
            ),
        )
        for name in ("no", "yes")
    )


def _answer_and_rest(text: str) -> tuple[str | None, str]:
    """A leading yes or no, and what follows it."""
    folded = fold(text)
    answer: str | None = None
    offset = 0
    for _ in range(3):
        rest = folded[offset:].lstrip(" ,.;:!…–—-")
        start = len(folded) - len(rest)
        for name, found in _answer_patterns():
            match = found.match(rest)
            if match:
                answer = answer or name
                offset = start + match.end()
                break
        else:
            break
    if answer is None:
        return None, text
    return answer, text[offset:].strip(_EDGE) if len(text) == len(folded) else folded[offset:].strip(_EDGE)


def _stands_alone(claim: Claim) -> bool:
    """A full statement of its own, beside which a yes or no adds nothing."""
    has_subject = bool(_HAS_SUBJECT.match(claim.text))
    return has_subject and bool(claim.reading.of("concept", "drug", "event") or claim.reading.quantities)


_KIN_FIRST = re.compile(rf"^(?:my |her |his |the )?{_KIN}\b", re.IGNORECASE)
_YOUNG = re.compile(r"\b(?:boy|son|girl|daughter)\b", re.IGNORECASE)
_HE_OR_SHE = re.compile(r"^(?:he|she)(?:'s| is) ", re.IGNORECASE)
_OF_HIS = re.compile(r"^it (?:was|is) (?:his|her)\b", re.IGNORECASE)


_BARE_ANSWERS = frozenset(("no", "nope", "nah", "yes", "yeah", "yep"))


def _is_fragment(clause: str) -> bool:
    """A few words without subject and verb: "asthma, her mother had that"."""
    plain = words(clause)
    return len(plain) <= 4 and not _HAS_SUBJECT.match(clause) and not any(re.fullmatch(_VERB, w) for w in plain)


def _with_kin(clause: str, before: str) -> str:
    """A clause that goes on about a relative ("and died at 60") keeps him as its subject."""
    young = _YOUNG.search(before)
    if young and _HE_OR_SHE.match(clause):
        return f"my {'son' if young[0].lower() in ('boy', 'son') else 'daughter'} {_HE_OR_SHE.sub('is ', clause)}"
    if not before or (_HAS_SUBJECT.match(clause) and not _OF_HIS.match(clause)):
        return clause
    kin = [w for w in words(before) if w in kin_words()]
    return f"my {kin[0]} {clause}" if kin and not any(w in kin_words() for w in words(clause)) else clause
