"""Who speaks: turning prose about a patient into what the patient, or a caregiver, would say."""

# ruff: noqa: E501 - a pattern stays on one line
from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from verisim_tasks.cases.importers.wording import word_list

ADVERBS = r"(?:also|now|then|only|just|never|still|often|always|currently|recently|usually|sometimes|\w+ly)"

_ADULT = r"(?:the|this)\s+(?:patient|man|woman|boy|girl)|patient"
_PATIENT = r"(?:the|this)\s+(?:patient|child|infant|newborn|baby|boy|girl|man|woman|neonate)|patient"
_OBJECT_LEAD = r"(?:\b(?:of|to|for|with|by|on|at|in|from|about|than|after|before|brought|found|told|gave|noticed|saw|lets?|made|makes?|"
_OBJECT_LEAD += (
    r"helps?|affecting|awakens?|awaken|wakes?|prevents?|keeps?|advised|caused|left|bothers?|gives?|under|near|against))"
)
_HER_OBJECT = re.compile(
    r"\bher(?=\s*(?:[,.;]|$)|\s+(?:I|she|to|and|or|with|in|on|at|from|for|that|while|when|is|was|as|because|up)\b)",
    re.I,
)
_IRREGULAR = {
    "has": "have",
    "is": "am",
    "does": "do",
    "goes": "go",
    "doesn't": "don't",
    "isn't": "am not",
    "hasn't": "haven't",
    "was": "was",
}


@dataclass(frozen=True)
class Speaker:
    """The informant of an imported case."""

    role: Literal["patient", "caregiver"]
    sex: Literal["female", "male"]
    relation: str = "mother"

    @property
    def about(self) -> bool:
        """Speaks about the patient in the third person."""
        return self.role == "caregiver"

    @property
    def subject(self) -> str:
        """``I``, or the pronoun for the patient."""
        return "I" if not self.about else "she" if self.sex == "female" else "he"

    @property
    def possessive(self) -> str:
        """``my``, or ``his`` / ``her``."""
        return "my" if not self.about else "her" if self.sex == "female" else "his"

    @property
    def object(self) -> str:
        """``me``, or ``him`` / ``her``."""
        return "me" if not self.about else "her" if self.sex == "female" else "him"

    def say(self, verb: str) -> str:
        """Subject and verb, the verb given as for ``I``: ``I've``, ``he's`` (had), ``I don't``, ``she doesn't``."""
        if not self.about:
            return f"I{verb}" if verb.startswith("'") else f"I {verb}"
        third = {
            "'ve": "'s",
            "'m": "'s",
            "have": " has",
            "am": " is",
            "don't": " doesn't",
            "haven't": " hasn't",
            "do": " does",
        }
        third |= {
            "can't": " can't",
            "was": " was",
            "had": " had",
            "'m not": " isn't",
            "'d": "'d",
            "'ve never": "'s never",
        }
        return self.subject + third.get(verb, f" {third_person(verb)}")


def third_person(verb: str) -> str:
    """``take`` to ``takes``; the first word only."""
    first, _, rest = verb.partition(" ")
    if first.endswith(("ss", "sh", "ch", "x", "o", "z")):
        first += "es"
    elif first.endswith("y") and first[-2:-1] not in "aeiou":
        first = f"{first[:-1]}ies"
    elif not first.endswith("s") and not first.endswith("ed"):
        first += "s"
    return f"{first} {rest}".strip()


def base_form(verb: str) -> str:
    """``takes`` to ``take``; other words as they are."""
    low = verb.lower()
    if low in _IRREGULAR:
        return _IRREGULAR[low]
    if low.endswith("ies") and len(low) > 4:
        return f"{low[:-3]}y"
    if low.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return low[:-2]
    if low.endswith("s") and not low.endswith(("ss", "us", "is")):
        return low[:-1]
    return low


def retold(clause: str, speaker: Speaker) -> str:
    """A clause about the patient as the speaker says it, without a full stop."""
    text = clause.strip().rstrip(".").strip()
    text = _with_caregiver(text, speaker) if speaker.about else text
    who = _PATIENT if speaker.about else _ADULT
    text = re.sub(rf"\b(?:{who})(?:'s|')", speaker.possessive, text, flags=re.I)
    text = re.sub(rf"({_OBJECT_LEAD}\s+)(?:{who})\b", rf"\g<1>{speaker.object}", text, flags=re.I)
    text = re.sub(rf"\b(?:{who})\b(?!\s+(?:care|education|details))", speaker.subject, text, flags=re.I)
    if not speaker.about:
        text = _first_person(text, speaker.sex)
    return tidy_start(text)


def _first_person(text: str, sex: str) -> str:
    """Pronouns of the patient's sex, and their verbs, into the first person."""
    if sex == "female":
        text = re.sub(r"\bshe\b", "I", text, flags=re.I)
        text = re.sub(r"\bherself\b", "myself", text, flags=re.I)
        text = _HER_OBJECT.sub("me", text)
        text = re.sub(r"\bhers?\b", "my", text, flags=re.I)
    else:
        text = re.sub(r"\bhe\b", "I", text, flags=re.I)
        text = re.sub(r"\bhimself\b", "myself", text, flags=re.I)
        text = re.sub(r"\bhim\b", "me", text, flags=re.I)
        text = re.sub(r"\bhis\b", "my", text, flags=re.I)
    return agree(text)


def agree(text: str) -> str:
    """Verbs of ``I`` in their first-person form, those that follow ``and`` or ``but`` as well."""
    text = re.sub(r"\bI['’]s\b", "I'm", text)
    verbs = "|".join(sorted(word_list("verbs"), key=len, reverse=True))
    lead = rf"\bI(\s+{ADVERBS}){{0,2}}\s+([a-z]+(?:n't)?)\b"

    def after_i(match: re.Match[str]) -> str:
        words = match[0].split()
        return " ".join([*words[:-1], base_form(words[-1])])

    text = re.sub(lead, after_i, text)
    if re.match(r"\W*I\b", text):
        pattern = rf"(,?\s(?:and|but|or)(?:\s{ADVERBS})?\s)({verbs})\b"
        text = re.sub(pattern, lambda m: m[1] + base_form(m[2]), text)
    return re.sub(r"\bI have not\b", "I haven't", text)


def _with_caregiver(text: str, speaker: Speaker) -> str:
    """The caregiver in the first person: ``his mother noticed`` is ``I noticed``, ``the parents report`` is ``we report``."""
    who = rf"(?:(?:the|his|her|their|this|{_PATIENT})(?:'s)?\s+)*"
    text = re.sub(
        rf"(?:^|(?<=[,;]\s)|\b)(?:{who})?\bparents\b(?=\s+(?:report|notice|note|state|recall|also|have|say|did|were|are))",
        "we",
        text,
        flags=re.I,
    )
    text = re.sub(
        r"\b(with|by|to|from|of)\s+(?:(?:his|her|the|both|two|young)\s+)*parents\b", r"\1 us", text, flags=re.I
    )
    relation = re.escape(speaker.relation)
    name = rf"\b(?:(?:the|his|her|their|this)\s+)?(?:(?:{_PATIENT})'s\s+)?{relation}\b"
    text = re.sub(
        rf"(\b(?:by|with|from|to|of|for)\s+){name}(?!'s| (?:is|was|has|had|did)\b)", r"\1me", text, flags=re.I
    )
    text = re.sub(rf"{name}'s\b", "my", text, flags=re.I)
    text = re.sub(
        rf"{name}(?=\s+(?:{ADVERBS}\s+)?(?:{'|'.join(word_list('verbs'))}|had|was|did|noticed|missed|received|recalls)\b)",
        "I",
        text,
        flags=re.I,
    )
    return agree(text) if re.search(r"\bI\b", text) else text


def tidy_start(text: str) -> str:
    """Capital at the start, single spaces, a small letter after a pronoun that moved inside."""
    text = re.sub(r"\s+", " ", text).strip(" ,;")
    text = re.sub(r"(?<!^)(?<![.!?]\s)\b(The|Her|His|She|He|My|Me|We)\b(?=\s[a-z])", lambda m: m[0].lower(), text)
    return text[:1].upper() + text[1:]
