"""From clinical narrative to atomic facts: polarity, profile item, and the words the informant would use."""

# ruff: noqa: E501 - a pattern stays on one line
from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from verisim_tasks.cases.importers.denials import denial, denied_things, is_denial
from verisim_tasks.cases.importers.fragments import social_fragment
from verisim_tasks.cases.importers.grammar import LEAD, said_plain
from verisim_tasks.cases.importers.phrases import listed, said_item, said_report
from verisim_tasks.cases.importers.topics import Section, is_sensitive, subject_of, topic
from verisim_tasks.cases.importers.voice import Speaker
from verisim_tasks.cases.importers.wording import drugs_in, in_plain_words, marked, word_list
from verisim_tasks.language.words import sentences, words
from verisim_tasks.noise.markup import plain

Fate = Literal["facts", "finding", "empty"]

MAX_WORDS = 28
"""A spoken sentence has no more; a longer clause is split."""

ITEM_CONCEPTS: dict[str, tuple[str, ...]] = {
    "tobacco": ("smoking", "smoke", "smoking", "tobacco", "cigarettes"),
    "alcohol": ("alcohol use", "alcohol", "drink alcohol", "drinking"),
    "illicit_drug": ("recreational drug use", "recreational drugs", "illicit drugs", "drug use"),
    "sexual_history": ("sexual activity", "sexually active", "sexual partners", "condoms"),
    "occupation": ("occupation", "work", "job", "occupation"),
    "living_situation": ("living situation", "live with", "living situation"),
    "marital_status": ("marital status", "married", "partner"),
    "exercise": ("exercise", "exercise", "physical activity"),
    "children": ("children", "children", "kids"),
    "family_medical_history": ("family history", "family history", "runs in the family", "relatives"),
    "allergies": ("allergies", "allergies", "allergic"),
}
"""Concept and terms of facts that are asked for by their item."""

_JOINT = re.compile(
    r",\s+(?:and\s+|but\s+|which\s+|with\s+|including\s+|where\s+)?|\s+(?:and|but|with|which|after|during|while|because)\s+"
)
_TAIL = re.compile(r"\s+for \w+ (?:hour|day|week|month|year)s?$")
_EMPTY = re.compile(
    r"^(?:n/?a\b.*|newborn|not applicable.*|none|unknown|(?:social |family )?information (?:was )?not (?:provided|specified|available)|"
    r"(?:the )?(?:patient )?(?:details on |didn't provide |did not provide ).*(?:history|provided).*|occupation and hobbies not specified|"
    r"no (?:\w+ ){0,4}?(?:social history|social history details|information|details|past medical history|prenatal care history)(?: related to symptoms)?(?: \w+)? ?"
    r"(?:is |was )?(?:provided|mentioned|noted|given|available)?|no mention of .*|no significant findings|(?:so )?the social history is not applicable|no detailed social history(?: provided)?|"
    r"no (?:other |additional |further |specific )+(?:\w+ )*(?:symptoms?|information|review|system review|social history)(?: \w+)? ?"
    r"(?:was |were )?(?:provided|mentioned|noted|reported)?(?: (?:by|due to) .*)?|no pertinent social history related to symptoms|no relevant social history provided)\.?$",
    re.I,
)
_COMPLETE = re.compile(r"past medical history|medical history", re.I)
_FINDING = re.compile(
    r"\b(?:(?:physical|neurologic\w*|pelvic|mental status|abdominal|cardiac) exam\w* (?:shows?|reveals?|is|was|findings|demonstrates?)|on (?:physical )?exam\w*|during (?:the )?(?:physical )?exam|vital signs|"
    r"auscultat\w+|bowel sounds|(?:\w+ )?appears? (?:tired|anxious|distressed|ill|toxic|fatigued)|pulse (?:is|of)|respirations (?:are|of)|murmur heard|pupils|oriented to|is noted to be|temperature of|"
    r"alert and|healthy appearance|appears comfortable|shows? (?:signs|epicanthus)|exhibits|conjugate|fontanelle|lymphadenopathy is|laboratory|biopsy|x-?ray shows|ct scan|mri |"
    r"blood pressure (?:is|of)|temperature is|reveals?|current normal temperature)\b",
    re.I,
)
_RELATIVE_ACTS = re.compile(
    r"^(?:(?:the|his|her|\w+'s)\s+)*(?:mother|father|husband|wife|brother|sister|uncle|aunt|daughter|son|roommates?|boyfriend|girlfriend)\s+"
    r"(?!(?:also )?(?:reports?|notes?|mentions?|states?|describes?|denies|complains|has noticed)\b)",
    re.I,
)
"""Somebody else is the subject: what follows "and" is theirs too."""
_MEASURED = re.compile(
    r"\b(?:exam(?:ination)? (?:shows|reveals|is)|on examination|temperature|blood pressure|heart rate|pulse|respiratory rate|respirations|oxygen saturation|bmi|"
    r"mm ?hg|tender to|to palpation|breath sounds)\b|\b\d+/min\b",
    re.I,
)
_SIGN = re.compile(
    r"\b(?:bowel sounds|murmur|reflexes|plantar|fasciculat\w+|fontanelle|palpation|lymphadenopathy|\w+megaly|orthostatic hypotension|hypotension|excoriations|"
    r"high blood pressure on|blunted affect|during exam|upon examination|gallop|rales|crackles|perceptual disturbances)\b",
    re.I,
)
_SPLIT = re.compile(
    r"(?:;\s+|,?\s+with\s+(?=no (?:history|known|significant)\b)|,?\s+and\s+(?=(?:also )?experience[sd]\b)|,?\s+but\s+(?=(?:also\s+)?(?:denies|reports|has|is|was|does|no\b|complains|otherwise))|,\s+(?=(?:denies|and denies|but denies|reports)\b)|"
    r",?\s+and\s+(?=(?:also\s+)?(?:denies|reports (?:no|that)|does not|takes (?:no|medic)|reports|notes|complains|has (?:been on|difficulty|a history)|had an?|is (?:currently )?on|takes?|drinks?|smokes?|lives|works|uses)\b)|,?\s+and\s+(?=(?:the|his|her)\s+\w+(?:\s+\w+)?\s+(?:is|are|was|were|has|have)\b)|\.\s+)",
    re.I,
)


@dataclass(frozen=True)
class Said:
    """One atomic fact of a text."""

    statement: str
    lay: str
    """Marked as in a case file."""
    category: str
    concept: str
    polarity: Literal["present", "denied"] = "present"
    sensitive: bool = False
    terms: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reading:
    """What became of one sentence of the source."""

    source: str
    fate: Fate
    said: tuple[Said, ...] = ()


def read_narrative(text: str, section: Section, speaker: Speaker) -> list[Reading]:
    """The sentences of a text, each with the facts it holds.

    A sentence that says that nothing is known is ``empty``; one about what an examiner found is a ``finding``.
    """
    text = text.replace("’", "'").replace("‘", "'").replace("“", '"').replace("”", '"')
    return [read_sentence(s, section, speaker) for s in sentences(text)]


def read_sentence(sentence: str, section: Section, speaker: Speaker) -> Reading:
    """One sentence, or one phrase of a list."""
    body = sentence.strip().rstrip(".").strip()
    if _says_nothing(body, section):
        return Reading(sentence, "empty")
    if re.match(r"appears?\b", body, re.I) or (section != "symptom" and _FINDING.search(body)):
        return Reading(sentence, "finding")
    if section == "symptom" and _SIGN.search(body):
        return Reading(sentence, "finding")
    clauses = [c for c in _clauses(body, section) if not _says_nothing(c, section)]
    said = [s for clause in clauses for s in _read_clause(clause, section, speaker)]
    return Reading(sentence, "facts" if clauses else "empty", tuple(said))


def _says_nothing(text: str, section: Section) -> bool:
    """Nothing is known; "no past medical history" in its own section is a denial instead."""
    return bool(_EMPTY.match(text)) and not (section == "past" and _COMPLETE.search(text))


def _clauses(body: str, section: Section) -> list[str]:
    if _RELATIVE_ACTS.match(body):
        return [body]
    parts = [p.strip() for p in _SPLIT.split(body) if p and p.strip()]
    if section in ("social", "past"):
        return [q for p in parts for q in _social_parts(p)]
    return parts


def _social_parts(clause: str) -> list[str]:
    """Three things from "Non-smoker, drinks wine, retired teacher"; a negative list stays together."""
    if is_denial(clause) or re.search(r"^(?:current )?medications?\b|\b(?:which|who|where|when|because)\b", clause):
        return [clause]
    if re.search(r",\s*(?:or|nor)\s", clause) or re.search(r"\b(?:history of|use of)\b[^,]*,[^,]*,", clause):
        return [clause]
    parts = [
        p
        for p in re.split(r",\s*(?:and\s+)?|\s+and\s+(?=(?:drinks|smokes|does not|lives|works)\b)", clause)
        if p.strip()
    ]
    if any(
        re.match(
            r"(?:particularly|lasting|including|especially|currently|managed|now|well|such|failing|not|with|mostly|both)\b",
            p,
            re.I,
        )
        for p in parts[1:]
    ):
        return [clause]
    return parts


def _read_clause(clause: str, section: Section, speaker: Speaker) -> list[Said]:
    clause = re.sub(r"^(?:the patient is )?otherwise healthy with (?=no\b)", "", clause, flags=re.I)
    if section in ("past", "history") and re.search(r"\bunremarkable$|\bunremarkable past medical", clause, re.I):
        return [_denied("significant medical history", section, speaker, "")]
    if is_denial(clause):
        return [_denied(thing, section, speaker, clause) for thing in denied_things(clause)]
    if section in ("social", "past", "family", "medication") and (spoken := social_fragment(clause, section, speaker)):
        return [_present(clause, said, section) for said in spoken]
    if section == "symptom":
        return [_present(item, said_item(item, speaker), section) for item in listed(clause)]
    pairs = said_report(clause, speaker)
    return [made for statement, lay in pairs for made in _spoken(statement, lay, section, speaker)]


def _spoken(statement: str, lay: str, section: Section, speaker: Speaker) -> list[Said]:
    """A spoken sentence, in parts where it is too long for one breath; a plain negation is a denied fact."""
    if is_denial(statement):
        return [_denied(thing, section, speaker, statement) for thing in denied_things(statement)]
    return [_present(statement, part, section) for part in short_sentences(lay, speaker)]


def short_sentences(lay: str, speaker: Speaker) -> list[str]:
    """The sentence, or several where it has too many words, split where a clause begins."""
    if len(lay.split()) <= MAX_WORDS:
        return [lay]
    breaks = [m for m in _JOINT.finditer(lay) if 3 <= len(lay[: m.start()].split()) <= MAX_WORDS - 2]
    if not breaks:
        cut = lay.split()
        return [
            " ".join(cut[:MAX_WORDS]) + ".",
            *short_sentences("There is more: " + " ".join(cut[MAX_WORDS:]), speaker),
        ]
    middle = len(lay) / 2
    best = min(breaks, key=lambda m: abs(m.start() - middle))
    left, right = lay[: best.start()].rstrip(" ,.") + ".", lay[best.end() :]
    return [left, *short_sentences(said_plain(_with_subject(right, best[0], speaker), speaker), speaker)]


def _with_subject(rest: str, joint: str, speaker: Speaker) -> str:
    first = rest.split()[0].lower() if rest.split() else ""
    if first in ("i", "he", "she", "we", "my", "his", "her", "the", "it", "they", "there", "this", "these", "who"):
        return rest
    if first in word_list("verbs") or first in ("have", "am", "was", "had", "did", "do") or first.endswith("ed"):
        return f"{speaker.subject} {rest}"
    if "which" in joint:
        return f"that {rest}"
    return f"there was also {rest}" if "with" not in joint else f"it was with {rest}"


def _present(statement: str, lay: str, section: Section) -> Said:
    item = topic(statement, section, denied=False)
    said = marked(in_plain_words(lay)) if "|" not in lay else lay
    return _with_concept(Said(tidy(statement), said, item, statement), statement)


def _denied(thing: str, section: Section, speaker: Speaker, clause: str) -> Said:
    item = topic(
        f"{thing} {'family history' if re.match(r'[^,(]{0,40}famil', clause, re.I) else ''}", section, denied=True
    )
    item = "present_illness_negative" if item in ("occupation", "other", "exercise") else item
    lay = marked(denial(in_plain_words(thing), item, speaker, thing))
    if len(lay.split()) > MAX_WORDS:
        lay = " ".join(lay.split()[:MAX_WORDS]).rstrip(",.") + "."
    if "other health problems" in lay:
        return Said(
            "No other significant medical history",
            lay,
            "medical_history",
            "medical history",
            "denied",
            terms=("other conditions",),
        )
    return _with_concept(Said(f"Denies {thing}", lay, item, thing, "denied"), thing)


def _with_concept(said: Said, text: str) -> Said:
    """The concept's standard name and the words by which a doctor may ask for it."""
    drugs = drugs_in(text)
    sensitive = is_sensitive(text, said.category)
    if said.category in ITEM_CONCEPTS:
        name, *terms = ITEM_CONCEPTS[said.category]
        return replace(said, concept=name, terms=tuple(terms), sensitive=sensitive)
    if said.category == "medication" and drugs:
        return replace(said, concept=drugs[0].lower(), terms=tuple(d.lower() for d in drugs[:6]), sensitive=sensitive)
    concept = subject_of(text)
    if concept is None:
        short = " ".join(w for w in words(_TAIL.sub("", LEAD.sub("", text)))[:6])
        return replace(said, concept=short or said.category.replace("_", " "), sensitive=sensitive)
    terms = list(dict.fromkeys((concept.name, *concept.clinical[:2], *concept.lay[:3])))
    return replace(said, concept=concept.name, terms=tuple(terms), sensitive=sensitive or concept.sensitive)


def tidy(statement: str) -> str:
    """A statement with a capital and without a full stop."""
    text = re.sub(r"\s+", " ", statement).strip(" .,;")
    return text[:1].upper() + text[1:] if text else text


def is_speakable(lay: str) -> bool:
    """Short enough, and nobody says "the patient"."""
    said = plain(lay)
    return len(said.split()) <= MAX_WORDS + 2 and not re.search(r"\bthe patient\b", said, re.I)


def is_objective(sentence: str) -> bool:
    """The sentence tells what an examiner or an instrument found."""
    return bool(_FINDING.search(sentence) or _SIGN.search(sentence) or _MEASURED.search(sentence))
