"""Which profile item a piece of a patient's story belongs to."""

# ruff: noqa: E501 - a pattern stays on one line
from __future__ import annotations

import functools
import re
from typing import Literal

from verisim_tasks.cases.importers.wording import drugs_in
from verisim_tasks.language.lexicon import Concept, default_lexicon
from verisim_tasks.language.words import content_stems, words

Section = Literal["symptom", "history", "past", "social", "review", "medication", "family", "allergy"]

_RELATIVES = r"(?:mother|father|brother|sister|uncle|aunt|grand\w+|cousin|sibling|parents?|son|daughter|relatives?)"
_TOPICS: tuple[tuple[str, str], ...] = (
    (
        "family_medical_history",
        rf"\bfamily (?:or personal )?(?:medical )?history|runs in|in (?:the|my|his|her) family\b|hereditary|\b{_RELATIVES}(?:'s)?\b(?! (?:has |have )?(?:noticed|reports?|noted?))"
        r"[^.]{0,40}\b(?:had|has|have|died|diagnosed|suffer\w*|similar|underwent|cancer|diabetes|arthritis|suicide|death)\b",
    ),
    ("allergies", r"\ballerg(?:y|ies|ic)\b|adverse drug reaction"),
    (
        "medical_device",
        r"\b(?:pacemaker|hearing aids?|implant|prosthe\w+|wheelchair|walker|stents?|crutches|insulin pump|glasses)\b",
    ),
    (
        "sexual_history",
        r"\bsexual(?:ly)?\b|\bcondoms?\b|\bintercourse\b|unprotected sex|contracepti|sexual partners?|\bdiaphragm for",
    ),
    ("tobacco", r"\bsmok(?:e|es|er|ed|ing)\b|tobacco|cigar|pack-years?|non-?smoker|nicotine|\bvap(?:e|ing)\b"),
    (
        "illicit_drug",
        r"\b(?:illicit|recreational|drug use|drugs?\b(?! allerg)(?! reaction)(?! therapy)|cocaine|heroin|marijuana|cannabis|ecstasy|substances?|"
        r"steroid use|anabolic steroids|methamphetamine)\b",
    ),
    (
        "alcohol",
        r"\balcohol\w*|\bbeers?\b|\bwine\b|\bvodka\b|\bdrinks? (?:socially|occasionally|daily|heavily)|\bliquor\b|whisk(?:e)?y",
    ),
    (
        "medication",
        r"\b(?:medications?|medicines?|tablets?|pills?|inhaler|prescri\w+|regimen|supplements?|vitamins?|over-the-counter)\b",
    ),
    (
        "living_situation",
        r"\blives? (?:with|alone|in|at)\b|living (?:with|alone)|homeless|nursing home|dormitor|incarcerat|prison",
    ),
    (
        "marital_status",
        r"\b(?:married|divorced|widow\w*|single\b(?! \w+ (?:episode|lesion)))\b|\bin a relationship\b|lives with (?:his|her) \w*wife",
    ),
    (
        "exercise",
        r"\b(?:exercis(?:es|ing) (?:regularly|daily|often)|physically active|jogs|regular gym|gym-goer|plays? (?:golf|tennis|football|soccer)|athletic|"
        r"active in sports|hiking|gardening|volleyball team|outdoor activities)\b",
    ),
    (
        "occupation",
        r"\b(?:works? (?:as|in|at|on|for)|working (?:as|on)|employed|unemployed|retired|occupation|student|by profession|attends?|enrolled|kindergarten|"
        r"preschool|daycare|second grade|school teacher|teacher|job|terminated from)\b",
    ),
    ("children", r"\b(?:has|have) (?:\w+ )?(?:children|kids|sons?|daughters?)\b"),
)
_COMPILED = tuple((item, re.compile(pattern, re.I)) for item, pattern in _TOPICS)
_PAIN = re.compile(r"\b(?:pain(?:s|ful)?|aches?|aching|sore|headaches?|discomfort|cramp\w*|hurts?|tenderness)\b", re.I)
_SENSITIVE = re.compile(
    r"\b(?:alcohol|beer|wine|drug|cocaine|heroin|ecstasy|steroids|sex\w*|condom|suicid\w*|depress\w*|abuse\w*|non-?complian\w+|non-?adheren\w+|"
    r"HIV|AIDS|gonorrh\w+|syphilis|chlamydia|hallucinat\w+|voices|prison|incarcerat\w+|erection|erectile|homeless|psychiatric|bipolar|schizo\w+|self-harm)\b",
    re.I,
)
_TREATED = re.compile(
    r"\b(?:takes?|taking|took|on|started|uses?|using|receiv\w+|treated with|managed with|controlled with|given)\b", re.I
)
_SOCIAL_ONLY = ("exercise", "occupation", "living_situation", "marital_status", "children")
_SURGERY = re.compile(
    r"\b(?:surgery|surgical|operation|underwent|ectomy|plasty|cesarean|caesarean|deliver(?:y|ies)|hospitali[sz]\w+|immuni[sz]ation\w*|"
    r"vaccin\w+|fully immunized|born|birth|term|pregnan\w+|gestation|diagnosed with|diagnosis of|history of|developmental)\b",
    re.I,
)


def topic(text: str, section: Section, *, denied: bool) -> str:
    """The profile item of a sentence: by its words, else by the section it stands in."""
    for item, pattern in _COMPILED:
        if item in _SOCIAL_ONLY and section not in ("social", "history"):
            continue
        if item == "sexual_history" and (section == "past" or re.search(r"\bpain", text)):
            continue
        if item == "medication" and section == "past" and re.search(r"\b(?:managed|controlled|treated)\b", text):
            continue
        if pattern.search(text):
            return item
    if section == "past" and not re.match(r"^(?:takes?|on|using|uses)\b", text, re.I):
        return "medical_history"
    if section == "medication" or (drugs_in(text) and _TREATED.search(text)):
        return "medication"
    if section in ("family", "allergy"):
        return {"family": "family_medical_history", "allergy": "allergies"}[section]
    if section == "past" or (section in ("history", "review") and _SURGERY.search(text)):
        return "medical_history"
    if section == "social":
        return "present_illness_negative" if denied else "other"
    if denied:
        return "present_illness_negative"
    return "pain" if _PAIN.search(text) else "present_illness_positive"


def is_sensitive(text: str, item: str) -> bool:
    """Carries stigma."""
    return item in ("alcohol", "illicit_drug", "sexual_history") or bool(_SENSITIVE.search(text))


_MODIFIERS = re.compile(
    r"\b(?:severe|mild|moderate|persistent|recurrent|increasing|worsening|progressive(?:ly)?|generali[sz]ed|intense|chronic|acute|sudden|occasional|frequent|"
    r"significant|noticeable|excessive|left|right|recent|episodes?|history|known|diagnosed|for \w+ (?:day|week|month|year|hour)s?|\d+ (?:day|week|month|year)s? ago)\b",
    re.I,
)


_PLACES = ("vaginal", "chest", "breast", "penile", "eye", "ear", "nipple", "testicular", "anal")
"""A concept named by one of these is not meant where the text does not name it ("discharge")."""


def subject_of(text: str) -> Concept | None:
    """The symptom or condition of the lexicon that the text is about, not only mentions."""
    concept, weight = _best_concept(text)
    size = len(content_stems(_MODIFIERS.sub(" ", text)))
    if concept is not None and any(w in words(concept.name) and w not in text.lower() for w in _PLACES):
        return None
    clear = concept is not None and concept.kind in ("symptom", "condition") and weight * 2 > size
    return concept if clear else None


def concept_in(text: str) -> Concept | None:
    """The symptom, condition or other thing of the lexicon that the text names first and longest."""
    return _best_concept(text)[0]


@functools.lru_cache(maxsize=5000)
def _best_concept(text: str) -> tuple[Concept | None, int]:
    lexicon = default_lexicon()
    best: tuple[bool, int, int] | None = None
    chosen: Concept | None = None
    for hit in lexicon.mentions(text):
        for value in sorted(hit.values):
            concept = lexicon.concepts[value]
            rank = (concept.kind in ("symptom", "condition"), hit.weight, -hit.positions[0])
            if best is None or rank > best:
                best, chosen = rank, concept
    return chosen, best[1] if best else 0


def names_symptom(text: str) -> bool:
    """The text names a known symptom, condition or habit."""
    concept = concept_in(text)
    return concept is not None and concept.kind in ("symptom", "condition", "habit")
