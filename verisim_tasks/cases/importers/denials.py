"""Negations: from "denies chest pain, palpitations or fever" to three denied facts."""

# ruff: noqa: E501 - a pattern stays on one line
from __future__ import annotations

import re

from verisim_tasks.cases.importers.topics import names_symptom
from verisim_tasks.cases.importers.voice import Speaker
from verisim_tasks.cases.importers.wording import word_list

_LEAD = re.compile(
    r"^(?:on review,?\s+)?(?:(?:(?:the|this)\s+)?(?:patient|child|infant|newborn|baby|boy|girl|mother|parents?|he|she|they|roommates)\s+)?(?:also\s+|further\s+|otherwise\s+|currently\s+)?"
    r"(?:and\s+)?(?:denies|denied|deny|denying|(?:does|did|do) not (?:report|have|present with|(?=smoke|drink|use|consume|take))|(?:has|had|have) (?:not (?:had|noticed|reported|experienced)|no\b)|(?:reports?|takes|uses) no\b|"
    r"(?:is |was )?negative for|without|there (?:is|was|were|are|has been|have been) no|there's no|no\b(?! longer)|not\b)\s*",
    re.I,
)
_TAIL = re.compile(
    r"\s*,?\s*(?:(?:is|was|were|are|has been|have been)\s+)?(?:reported|noted|mentioned|provided|documented|identified|described|recorded|received|available)(?: by \w+(?: \w+)?)?"
    r"(?: (?:at birth|at the moment|in the past))?\.?$",
    re.I,
)
_NOTHING = re.compile(
    r"^(?:no|not any|without)?\s*(?:known |other |prior |previous |further )?(?:significant |notable |major |relevant |serious |pertinent |past |specific |chronic )*"
    r"(?:previous |past |prior )?(?:medical|surgical|psychiatric|health|illness|medical issues)?(?:[ ,]*(?:or|and)? ?(?:past |prior )?(?:surgical|psychiatric|medical))*\s*"
    r"(?:history|issues|problems|illness(?:es)?|conditions?|diseases?|past illnesses)(?: of (?:serious|significant) illness(?:es)?)?$",
    re.I,
)


def is_denial(clause: str) -> bool:
    """The clause says that something is not so."""
    return bool(_LEAD.match(clause)) and not re.match(r"^no\s*(?:$|[.])", clause, re.I)


def denied_things(clause: str) -> list[str]:
    """The things a negative clause denies, one by one."""
    body = _LEAD.sub("", clause.strip().rstrip("."), count=1)
    body = _TAIL.sub("", body)
    if re.search(
        r"\b(?:apart from|except|besides|other than|that (?:could|would)|related to|due to|since starting|suggestive)\b",
        body,
    ):
        return [body] if "," not in body else [_trim(body)]
    parts = [p for p in re.split(r",\s*(?:or |and |nor )?", body) if p.strip()]
    split = [q for p in parts for q in _by_or(p)]
    return [t for t in (_trim(p) for p in split) if t]


def _by_or(part: str) -> list[str]:
    """Both sides of an "or", where each can stand alone."""
    for match in re.finditer(r"\s(?:or|nor|and)\s", part):
        left, right = part[: match.start()], part[match.end() :]
        shared = re.search(
            r"\b(?:change|changes|increase|decrease|difficulty|trouble|problems|pattern|loss|history|use|exposure|signs|pain|swelling|discoloration)\s+(?:in|of|to|with|or)\b",
            left,
            re.I,
        )
        if names_symptom(left) and names_symptom(right) and not shared:
            return [*_by_or(left), *_by_or(right)]
    return [part]


def _trim(thing: str) -> str:
    thing = re.sub(
        r"^(?:(?:and|or|nor|but|also|any|a|an|the|known|associated|experiencing|having|had|denies|no)\s+)+",
        "",
        thing.strip(),
        flags=re.I,
    )
    return thing.strip(" .,;")


def denial(thing: str, item: str, speaker: Speaker, clinical: str | None = None) -> str:
    """A plain spoken denial of a thing. ``clinical``: the words of the source, where ``thing`` is in plainer ones."""
    low = thing.lower()
    dont, havent, never = speaker.say("don't"), speaker.say("haven't"), speaker.say("'ve never")
    if _NOTHING.match(f"no {thing}") or (low in ("illness", "chronic illnesses") and "family" not in low):
        return f"No, {dont} have any other health problems that I know of."
    special = _special(low, item, speaker)
    if special:
        return special
    said = _own(thing, speaker)
    if match := re.match(r"^(?:history|previous history|prior history) of (.+)", said, re.I):
        return f"No, {never} had {match[1]}."
    if (match := re.match(r"^(\w+ing)\b(.*)", said)) and re.match(r"^\w+ing\b", clinical or thing):
        return _doing(match[1], match[2], speaker)
    if re.match(r"^(?:painful|itchy|pruritic|tender|oriented|able|aware)\b", low):
        return f"No, it isn't {said}."
    return f"No, {havent} had any {said}."


def _special(low: str, item: str, speaker: Speaker) -> str | None:
    """Denials of habits and lists, as people put them."""
    dont, havent, not_am = ("No, " + speaker.say(v) for v in ("don't", "haven't", "'m not"))
    if item == "family_medical_history":
        what = re.sub(
            r"^(?:known |significant )*(?:family )?(?:or personal )?(?:medical )?history(?: of)?\s*|\s*in the family$|\s*running in the family$",
            "",
            low,
        )
        return f"No, there's no {what or 'illness to speak of'} in {'the' if speaker.about else 'my'} family."
    if item == "allergies":
        return f"{not_am} allergic to anything that I know of."
    if item == "tobacco":
        return f"{dont} smoke." if "expos" not in low else f"No, nobody smokes around {speaker.object}."
    if item == "alcohol":
        return f"{dont} drink alcohol." if "abuse" not in low else f"{havent} had any trouble with alcohol."
    if item == "illicit_drug" and re.search(r"drug|substance|cocaine|marijuana", low):
        return f"{dont} use any drugs." if "abuse" not in low else f"{dont} misuse any drugs."
    if item == "medication" and re.search(r"medic|drug|supplement", low) and "new" not in low:
        return f"{dont} take any regular medicines."
    if re.search(r"\btravel", low):
        return f"{havent} travelled anywhere {'recently' if 'recent' in low else 'of note'}."
    if re.search(r"sick contacts?|sick individuals|contact with sick", low):
        return f"{havent} been around anyone sick."
    return None


def _doing(verb: str, rest: str, speaker: Speaker) -> str:
    """``taking any medicines``, ``having a fever``, ``wheezing``."""
    havent = "No, " + speaker.say("haven't")
    if verb.lower() in word_list("ing_nouns"):
        return f"{havent} had any {verb}{rest}."
    if verb.lower() in ("having", "experiencing"):
        return f"{havent} had{rest}."
    return f"{havent} been {verb}{rest}."


def _own(thing: str, speaker: Speaker) -> str:
    """The thing as the speaker names it, without the owner."""
    thing = thing[:1].lower() + thing[1:] if not re.match(r"^[A-Z]{2}", thing) else thing
    return re.sub(r"\b(?:his|her|their)\b", speaker.possessive, thing) if not speaker.about else thing
