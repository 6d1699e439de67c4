"""British and American spelling, hyphens, singular and plural of medical names."""

from __future__ import annotations

import functools
import re

from verisim_tasks.language.words import singular, words

_AMERICAN = tuple(
    (re.compile(british), american)
    for british, american in (
        (r"(?<!angi)oedema", "edema"), (r"haem", "hem"), (r"aem(?=i)", "em"), (r"rrhoea", "rrhea"), (r"pnoea", "pnea"),
        (r"oesoph", "esoph"), (r"paed(?=iat|ic)", "ped"), (r"gynae", "gyne"), (r"colour", "color"),
        (r"tumour", "tumor"),
        (r"odour", "odor"), (r"coeliac", "celiac"), (r"faec", "fec"), (r"foet", "fet"), (r"oestr", "estr"),
        (r"anaesth", "anesth"), (r"caesar", "cesar"), (r"caec", "cec"), (r"goitre", "goiter"), (r"\bgrey\b", "gray"),
        (r"sulph", "sulf"), (r"fibre", "fiber"), (r"labour", "labor"), (r"isation\b", "ization"),
        (r"(?<=[rlnt])ised\b", "ized"),
    )
)  # fmt: skip
_BRITISH = (
    (re.compile(r"\bedema"), "oedema"),
    (re.compile(r"(?<=[a-z])edema\b"), "oedema"),
    (re.compile(r"\bhem(?=orr|at|o[gpt])"), "haem"),
    (re.compile(r"(?<=[a-z])emi(?=[ac]\b)"), "aemi"),
    (re.compile(r"(?<=[a-z])rrhea"), "rrhoea"),
    (re.compile(r"pnea\b"), "pnoea"),
    (re.compile(r"\besoph"), "oesoph"),
    (re.compile(r"esophageal"), "oesophageal"),
    (re.compile(r"\bpediatr"), "paediatr"),
    (re.compile(r"\bgyneco"), "gynaeco"),
    (re.compile(r"\bcolor"), "colour"),
    (re.compile(r"tumor\b"), "tumour"),
    (re.compile(r"\bodor"), "odour"),
    (re.compile(r"\bceliac"), "coeliac"),
    (re.compile(r"\bfec(?=al|es)"), "faec"),
    (re.compile(r"\bestr(?=og|ad)"), "oestr"),
    (re.compile(r"\bcesar"), "caesar"),
    (re.compile(r"\bgoiter"), "goitre"),
    (re.compile(r"\bgray\b"), "grey"),
    (re.compile(r"(?<=[rln])ization\b"), "isation"),
    (re.compile(r"(?<=[rln])ized\b"), "ised"),
)
_DOUBLED = re.compile(r"ooe|oo(?=edema)")

_NOUNS = """
    pain ache rash cough headache lump sore ulcer blister fit seizure attack spell cramp spasm bruise palpitation
    period stone infection allergy tablet pill faint blackout tremor twitch tic wart spot patch boil swelling
    hallucination migraine nosebleed stool vomit chill sweat flush hive tumour cancer fever clot stroke
    gland node cold inhaler
"""
_COUNTABLE = frozenset(_NOUNS.split())
"""Nouns of which a patient may have several."""


@functools.lru_cache(maxsize=200_000)
def name_key(name: str) -> str:
    """One form for all spellings of a name: lower case, American, singular, no punctuation."""
    return " ".join(american(singular(w)) for w in words(name.replace("-", " ")))


def american(text: str) -> str:
    """The text in American spelling."""
    for pattern, replacement in _AMERICAN:
        text = pattern.sub(replacement, text)
    return text


def british(text: str) -> str:
    """The text in British spelling."""
    for pattern, replacement in _BRITISH:
        text = pattern.sub(replacement, text)
    return _DOUBLED.sub("oe", text)


def variations(text: str) -> tuple[str, ...]:
    """Other spellings and the other number of a name, sorted; the name itself is not among them."""
    found = {american(text), british(american(text))}
    if "-" in text:
        found |= {f.replace("-", " ") for f in (*found, text)}
    for form in sorted(found | {text}):
        found.update(_other_number(form))
    return tuple(sorted(found - {text}))


def _other_number(text: str) -> tuple[str, ...]:
    """The plural of a singular name, the singular of a plural one; none where the last word is no countable noun."""
    head, _, last = text.rpartition(" ")
    one = singular(last)
    if american(one) not in _COUNTABLE or len(text.split()) > 2:
        return ()
    if american(last) != american(one):
        return (f"{head} {one}".strip(),)
    ending = "ies" if re.search(r"[^aeiou]y$", last) else "es" if last.endswith("sh") else "s"
    return (f"{head} {last[:-1] if ending == 'ies' else last}{ending}".strip(),)
