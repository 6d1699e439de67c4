"""Ways in which a report about a patient becomes the patient's own sentence."""

# ruff: noqa: E501 - a pattern stays on one line
from __future__ import annotations

import re

from verisim_tasks.cases.importers.fragments import fragment
from verisim_tasks.cases.importers.grammar import (
    AM,
    BARE_VERB,
    CANNOT,
    FINITE,
    HABIT,
    HAVE,
    WHO,
    article,
    is_clause,
    lower,
    own,
    said_plain,
    sentence,
)
from verisim_tasks.cases.importers.topics import names_symptom
from verisim_tasks.cases.importers.voice import Speaker
from verisim_tasks.cases.importers.wording import drugs_in, word_list

_REPORT = re.compile(
    rf"^(?:(?:{WHO}|(?:(?:the|his|her)\s+)?(?:(?:child|patient|infant|newborn|boy|girl)'s\s+)?(?:mother|father|parents?|family|caregiver))\s+)?(?:also\s+|additionally\s+|then\s+)?"
    r"(?:reports?|reported|reporting|(?:is |was )?positive for|complains? of|complained of|describes?|notes?|mentions?|states?|endorses?|admits? to|(?:presents?|presented) (?:to the (?:emergency department|emergency room|clinic) )?(?:with|due to)"
    r"(?: complaints? of)?|is presenting with|has been experiencing|is experiencing|experienced|experiences|has experienced|has had)\s+(?:that\s+|of\s+)?(?P<rest>.+)$",
    re.I,
)


_HISTORY = re.compile(
    r"^(?:an?\s+)?(?P<n>\d+(?:\s?(?:-|–)\s?\d+)?|[a-z]+)[\s-]+(?P<unit>hour|day|week|month|year)s?(?:[\s-]long)?\s+history of\s+(?:experiencing\s+|having\s+)?(?P<rest>.+)$",
    re.I,
)


_CLAUSE = re.compile(
    r"^(?:that\b|(?:he|she|they|it|there|despite|although|when|while|during|since)\b|(?:his|her|the|these|those|this|it|they|there|both|no|all|symptoms?)\b(?:\s+[\w'-]+){0,5}?\s+(?:is|are|was|were|has|have|had|does|did|began|started|worsen\w*|"
    r"improve\w*|tend\w*|occur\w*|feels?|felt|noticed|took|takes|went|been|believes?|exacerbates?|awakens?|got|radiat\w+|could|can|cannot|began|lost|gets?|developed)\b)",
    re.I,
)


_HISTORY_OF = re.compile(
    rf"^(?:{WHO}\s+)?(?:also\s+)?(?:has|had) (?:an? )?(?:medical |past medical |known |significant |long |previous |past )*history (?:\w+ )?(?:significant )?(?:only )?(?:of|for)\s+(?P<rest>.+)$",
    re.I,
)


_TAKES = re.compile(
    rf"^(?:{WHO}\s+)?(?:(?:also |currently )*(?:takes?|is (?:currently )?(?:taking|on)|has been on|uses)|(?:the patient's |current |his |her )*medications?(?: regimen)?(?: includes?|:))"
    r"\s+(?:a stable regimen of\s+)?(?P<rest>.+)$",
    re.I,
)


_SUBJECTLESS = re.compile(
    r"^(?:sexually active|married|divorced|single|unable|pregnant|pain |fever |(?:previously )?diagnosed|treated|born|delivered)",
    re.I,
)


_HEADS = r"(?:pain|swelling|itching|redness|weakness|numbness|tingling|discomfort|cramping|stiffness|burning|bruising|tenderness|rash|blisters|erythema)"


_DISTRIBUTED = re.compile(
    rf"^(?P<mod>(?:\w+ ){{0,2}}?)(?P<a>{_HEADS}) and (?P<b>{_HEADS}) (?P<rest>(?:in|of|on|over|at|around|above|below)\b.+)$",
    re.I,
)


_BETTER = re.compile(r"^(?:relief|improvement)(?: of symptoms)? (?P<rest>(?:with|by|after|on|when)\b.+)$", re.I)


_WORSE = re.compile(
    r"^(?:exacerbation|worsening)(?: of symptoms)? (?P<rest>(?:with|by|during|after|on|when)\b.+)$", re.I
)


def said_report(clause: str, speaker: Speaker) -> list[tuple[str, str]]:
    """Pairs of statement and spoken sentence from one clause of a history."""
    verb = None if re.match(rf"^(?:{WHO})\b", clause, re.I) else BARE_VERB.match(clause)
    if verb and verb["verb"].lower() in (*word_list("verbs"), "has", "is", "was", "had"):
        clause = f"The patient {lower(clause)}"
    if match := re.match(rf"^(?:{WHO}) describes? (?P<rest>.+ as .+)$", clause, re.I):
        return [(clause, sentence(f"I'd describe {own(match['rest'], speaker)}"))]
    if _SUBJECTLESS.match(clause):
        return [(clause, fragment(clause, "history", speaker, False))]
    if match := _TAKES.match(clause):
        items = listed(match["rest"])
        if len(items) > 1 and all(len(i.split()) <= 3 for i in items) and drugs_in(match["rest"]):
            return [(f"Takes {item}", sentence(f"{speaker.say('take')} {own(item, speaker)}")) for item in items]
    if match := _HISTORY_OF.match(clause):
        return [(f"History of {item}", _past(item, speaker)) for item in listed(match["rest"])]
    found = _REPORT.match(clause)
    if not found:
        return [(clause, said_plain(_shape(clause, speaker), speaker))]
    rest = re.sub(r"^having had\s+", "", found["rest"].strip(), flags=re.I)
    if _CLAUSE.match(rest) or is_clause(rest):
        rest = re.sub(r"\b(?:he|she) believes (?=(?:the|his|her|he|she)\b)", "I think " if speaker.about else "", rest)
        return [(rest, said_plain(re.sub(r"^that\s+", "", rest), speaker))]
    if match := _HISTORY.match(rest):
        span = _span(match["n"], match["unit"])
        return [(f"{item} for {span}", _had(item, speaker, f" for {span}")) for item in listed(match["rest"])]
    return [(item, _had(item, speaker)) for item in listed(rest)]


def _past(item: str, speaker: Speaker) -> str:
    """An illness or habit of the past."""
    if HABIT.search(item) or _is_doing(item.split()[0].lower()):
        return sentence(f"{speaker.say('have')} a history of {own(item, speaker)}")
    return fragment(item, "past", speaker, True)


def _shape(clause: str, speaker: Speaker) -> str:
    """Openings that only a clinician writes, put plainly."""
    clause = re.sub(rf"^({WHO})\s+(?:recalls?|remembers) (?=\w+ing\b)", r"\1 remembers ", clause, flags=re.I)
    clause = re.sub(
        rf"^({WHO}) (?:was |is |has been )?brought (?:in )?(?:to the (?:emergency \w+|clinic|hospital) )?by (?:her|his|the) (family|wife|husband|boyfriend|parents|mother)\s*"
        r"(?:due to|because of|for)\s+",
        r"\1 was brought in by the \2 because of ",
        clause,
        flags=re.I,
    )
    clause = re.sub(
        rf"^({WHO}) (?:has|had) a (?:medical |past medical |known |significant |long |previous )*history (?:significant )?(?:of|for)\s+",
        r"\1 has a history of ",
        clause,
        flags=re.I,
    )
    clause = re.sub(rf"^({WHO}) (?:presents?|is here|presented) for ", r"\1 came in for ", clause, flags=re.I)
    return re.sub(rf"^({WHO}) has known ", r"\1 has ", clause, flags=re.I)


def listed(text: str) -> list[str]:
    """The members of an enumeration, where each can stand alone; else the text whole."""
    text = text.strip().rstrip(".")
    if match := _DISTRIBUTED.match(text):
        return [f"{match['mod']}{match['a']} {match['rest']}", f"{match['b']} {match['rest']}"]
    parts = [p.strip() for p in re.split(r",\s*(?:and\s+|as well as\s+)?", text) if p.strip()]
    shared = len(parts) > 1 and re.search(r"\b(?:in|of|on|over|with|to|at)\b", parts[0])
    if shared and any(len(p.split()) <= 2 and not names_symptom(p) for p in parts[1:]) and not drugs_in(text):
        return [text]
    if len(parts) > 1 and all(_stands_alone(p) for p in parts):
        return [q for p in parts for q in _by_and(p)]
    return _by_and(text) if len(parts) == 1 else [text]


def _stands_alone(part: str) -> bool:
    if re.search(
        r"\b(?:[\w-]*(?:ful|less|ish|ive|ous|ly|colou?red|len|tender|flaccid)|progressive|multiple|single|several|thick|foamy|crusty|red|scaly|itchy)$",
        part,
        re.I,
    ):
        return False
    if re.match(
        r"^(?:which|who|where|when|that|but|while|especially|specifically|including|described|accompanied|although|such|initially|often|occasionally|with|during|after|then|"
        r"due|relieved|nonpruritic|radiating|spreading|sparing|he|she|his|her|worsening (?:with|when)|developing|making|voiding)\b",
        part,
        re.I,
    ):
        return False
    return len(part.split()) <= 12


def _by_and(part: str) -> list[str]:
    left, joint, right = part.partition(" and ")
    own = r"\b(?:in|on|of|over|for|with|at|when|which|to|during|after|since)\b"
    if joint and names_symptom(left) and names_symptom(right) and not re.search(own, part) and " and " not in right:
        return [left, right]
    return [part]


def _span(number: str, unit: str) -> str:
    if number.lower() in ("1", "one", "a", "an"):
        return f"{'an' if unit == 'hour' else 'a'} {unit.lower()}"
    return f"{number} {unit.lower()}s"


def _had(item: str, speaker: Speaker, tail: str = "") -> str:
    """From "double vision" to "I've had double vision"."""
    text = re.sub(
        r"^(?:experiencing|having|the presence of|presence of|the appearance of|noticeable)\s+",
        "",
        item.strip(),
        flags=re.I,
    )
    first, _, rest = text.partition(" ")
    low = first.lower()
    if low in ("noticing", "developing"):
        return sentence(
            f"{'I' if low == 'noticing' else speaker.subject} {'noticed' if low == 'noticing' else 'developed'} {own(rest, speaker)}{tail}"
        )
    if low == "being":
        past = re.search(r"\bago\b|\blast\b", rest)
        return sentence(f"{speaker.say('was' if past else AM)} {own(rest, speaker)}{tail}")
    if low in ("feeling", "trying") or _is_doing(low):
        said = re.sub(r"^having had ", "", text)
        once = re.search(r"\bago\b|\bwhen (?:he|she)\b|\byesterday\b", rest)
        verb = "had" if low == "having" else "was" if once else "'ve been"
        return sentence(f"{speaker.say(verb)} {own(said if low != 'having' else rest, speaker)}{tail}")
    return _noun(text, speaker, tail)


def _is_doing(word: str) -> bool:
    return word.endswith("ing") and word not in word_list("ing_nouns")


def _noun(text: str, speaker: Speaker, tail: str) -> str:
    if match := re.match(r"^(?:an? )?inability to (.+)", text, re.I):
        return sentence(f"{speaker.say(CANNOT)} {own(match[1], speaker)}{tail}")
    if match := re.match(r"^(?:an? )?(?:past |prior |previous )?history of (.+)", text, re.I):
        return sentence(f"{speaker.say(HAVE)} had {article(own(match[1], speaker))} in the past{tail}")
    first = text.split()[0].lower() if text.split() else ""
    if first in word_list("adjectives"):
        return sentence(f"{speaker.say('feel')} {own(text, speaker)}{tail}")
    return sentence(f"{speaker.say(HAVE)} had {article(own(text, speaker))}{tail}")


def said_item(phrase: str, speaker: Speaker) -> str:
    """One entry of a symptom list, which may be a noun phrase or a clause."""
    text = phrase.strip().rstrip(".")
    if match := _BETTER.match(text):
        return sentence(f"It gets better {own(match['rest'], speaker)}")
    if match := _WORSE.match(text):
        return sentence(f"It gets worse {own(match['rest'], speaker)}")
    if match := re.match(r"^family history of (.+)", text, re.I):
        return sentence(f"There's {match[1]} in {'the' if speaker.about else 'my'} family")
    if re.match(r"^(?:mother|father|husband|wife|brother|sister|patient|he|she)\b", text, re.I):
        return said_plain(
            re.sub(
                r"^(mother|father|husband|wife|brother|sister)\b",
                lambda m: f"{'his' if speaker.sex == 'male' else 'her'} {m[1].lower()}",
                text,
                flags=re.I,
            ),
            speaker,
        )
    if re.match(r"worse\b", text, re.I):
        return sentence(f"It's {own(text, speaker)}")
    finite = FINITE.search(text)
    if finite and finite.start() > 0 and not re.search(r"\b(?:which|that|who)\b", text[: finite.start()]):
        return _clause_item(text, speaker)
    if re.search(r"\bworse (?:in|at|with|when|on)\b", text, re.I):
        return sentence("The " + re.sub(r"\bworse\b", "is worse", own(text, speaker), count=1))
    return _had(lower(text), speaker)


def _clause_item(text: str, speaker: Speaker) -> str:
    owner = (
        speaker.possessive if re.match(r"(?:symptoms|left|right|legs?|arms?|eyes?|stomach)\b", text, re.I) else "the"
    )
    owner = "" if re.match(r"(?:the|a|an|his|her|no)\b", text, re.I) else f"{owner} "
    said = re.sub(r"\bworsens?\b", lambda m: "gets worse" if m[0].endswith("s") else "get worse", own(text, speaker))
    said = re.sub(r"\bimproves?\b", lambda m: "gets better" if m[0].endswith("s") else "get better", said)
    return sentence(f"{owner}{said}")
