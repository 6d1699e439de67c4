"""Small pieces of English grammar that every wording rule uses."""

# ruff: noqa: E501 - a pattern stays on one line
from __future__ import annotations

import re

from verisim_tasks.cases.importers.voice import Speaker, retold, tidy_start
from verisim_tasks.cases.importers.wording import in_plain_words, word_list

HAVE, AM, CANNOT, DO_NOT = "'ve", "'m", "can't", "don't"


"""Verbs as :meth:`Speaker.say` takes them."""


WHO = r"(?:(?:the|this)\s+(?:patient|child|infant|newborn|baby|boy|girl|man|woman)|patient|he|she)"


LEAD = re.compile(rf"^{WHO}\s+(?:also\s+|currently\s+|further\s+)?", re.I)


RELATIVE = re.compile(r"\b(?:which|that|who|where|when|after|as|while|because|what)\b", re.I)


FINITE = re.compile(
    r"\b(?:worsens?|improves?|began|begins|started|starts|has|have|had|is|are|was|were|resolved|appeared|relieves|radiates|spread|increases|occasionally has|disrupts|shows|includes|appears|receives|received)\b",
    re.I,
)


BARE_VERB = re.compile(
    r"^(?:also\s+|often\s+|\w+ly\s+)*(?P<verb>returned|went|joined|moved|immigrated|traveled|travelled|lost|[a-z]+s|has|is|was|had|underwent|met|stopped|started|quit)\b",
    re.I,
)


HABIT = re.compile(r"\b(?:smoking|alcohol|drug|cocaine|tobacco|abuse|incarceration|use)\b", re.I)
"""What is said as a history of it: "I have a history of smoking"."""


def sentence(text: str) -> str:
    """With a capital and a full stop."""
    return tidy_start(text).rstrip(" .,;") + "."


def said_plain(clause: str, speaker: Speaker) -> str:
    """A clause with the speaker in the place of the patient."""
    return sentence(retold(clause, speaker))


def is_clause(text: str) -> bool:
    """Has a verb of its own, not one of a relative clause."""
    finite = FINITE.search(re.sub(r"\b(an?|the|with) (resolved|increased)\b", r"\1 _", text, flags=re.I))
    return bool(
        finite and 0 < len(text[: finite.start()].split()) <= 8 and not RELATIVE.search(text[: finite.start()])
    ) and not text.split()[0].lower().endswith("ing")


def own(text: str, speaker: Speaker) -> str:
    """The patient's own body and people: ``his`` becomes ``my``."""
    return lower(retold(text, speaker)) if text else text


def article(text: str) -> str:
    """``rash`` becomes ``a rash``; plurals, mass nouns and what has an article stay."""
    if re.match(r"^(?:an?|the|my|his|her|our|some|any|several|many|multiple|no|\d)\b|^\[", text, re.I):
        return text
    plain_text = in_plain_words(text)
    if re.match(r"^an?\b", plain_text):
        return text
    head = re.split(
        r"\s+(?:in|on|of|over|with|from|to|for|at|when|after|during|that|which|and|around|upon|since|by|followed|around|following|associated|radiating)\b|,",
        plain_text,
    )[0].strip()
    last = head.split()[-1].lower() if head.split() else ""
    return with_article(text) if last in word_list("countable") else text


def with_article(text: str) -> str:
    """With ``a`` or ``an``."""
    return f"{'an' if text[:1].lower() in 'aeiou' else 'a'} {text}"


def lower(text: str) -> str:
    """A small first letter, unless it is an abbreviation, ``I`` or a name."""
    first = text.split(" ", 1)[0]
    names = (
        "Crohn",
        "Lyme",
        "Graves",
        "Meniere",
        "Kaposi",
        "HIV",
        "AIDS",
        "I'",
        "English",
        "Hodgkin",
        "Parkinson",
        "Alzheimer",
        "Hashimoto",
        "Raynaud",
        "Barrett",
    )
    if first in ("I",) or first.startswith(names) or (len(first) > 1 and first[1].isupper()):
        return text
    return text[:1].lower() + text[1:]
