"""Fragments of a social or past history, which have no subject of their own."""

# ruff: noqa: E501 - a pattern stays on one line
from __future__ import annotations

import re

from verisim_tasks.cases.importers.grammar import (
    AM,
    BARE_VERB,
    DO_NOT,
    HABIT,
    HAVE,
    LEAD,
    WHO,
    article,
    is_clause,
    lower,
    own,
    said_plain,
    sentence,
    with_article,
)
from verisim_tasks.cases.importers.topics import Section
from verisim_tasks.cases.importers.voice import Speaker, base_form
from verisim_tasks.cases.importers.wording import drugs_in, word_list

_PAST_VERBS = (
    "had",
    "was",
    "underwent",
    "met",
    "stopped",
    "started",
    "quit",
    "returned",
    "went",
    "joined",
    "moved",
    "immigrated",
    "traveled",
    "travelled",
    "lost",
)


def social_fragment(clause: str, section: Section, speaker: Speaker) -> list[str]:
    """Fragments of a social or past history: "Drinks wine occasionally", "Retired teacher", "Hypertension"."""
    text = re.sub(
        r"^(?:otherwise healthy with|significant for|known history of|known|history of|has a history of|patient has a history of|current)\s+",
        "",
        clause.strip(),
        flags=re.I,
    )
    historical = text != clause.strip()
    if re.match(r"^non-?smoker\b", text, re.I):
        return [sentence(f"{speaker.say(DO_NOT)} smoke")]
    if re.match(r"^(?:a |the patient is a |current |heavy )*smoker\b", text, re.I):
        return [sentence(f"{speaker.say('smoke')} {text.split('smoker', 1)[-1].strip()}")]
    if job := _job(text, speaker):
        return [job]
    bare = BARE_VERB.match(text)
    if bare and (bare["verb"].lower() in word_list("verbs") or bare["verb"].lower() in _PAST_VERBS):
        start = bare.start("verb")
        verb = bare["verb"] if speaker.about else base_form(bare["verb"])
        return [said_plain(f"{speaker.subject} {lower(text[:start])}{verb.lower()}{text[bare.end('verb') :]}", speaker)]
    if (
        LEAD.match(clause)
        or re.match(r"^(?:medications?|current medications?)\b|(?:his|her|the|it|this|there)\b", clause, re.I)
        or is_clause(text)
    ):
        return []
    return [fragment(text, section, speaker, historical)]


def _job(text: str, speaker: Speaker) -> str | None:
    """From "Retired school teacher" to "I'm a retired school teacher"."""
    found = re.match(
        rf"^(?:{WHO} (?:is|was) )?(?P<job>(?:an? |currently an? )?(?:[\w-]+ ){{0,4}}(?:{'|'.join(word_list('occupations'))}))\b(?P<rest>.*)$",
        text,
        re.I,
    )
    if found is None or re.search(r"\b(?:works?|attends?|had|has)\b", found["job"], re.I):
        return None
    job = lower(found["job"].strip())
    return sentence(f"{speaker.say(AM)} {job if job.startswith(('a ', 'an ')) else with_article(job)}{found['rest']}")


def fragment(text: str, section: Section, speaker: Speaker, historical: bool) -> str:
    """A phrase without a verb as a sentence: "Hypertension" becomes "I have hypertension"."""
    mine = own(lower(text), speaker)
    if section == "medication" or (drugs_in(text) and len(text.split()) <= 3):
        return sentence(f"{speaker.say('take')} {mine}")
    if historical and HABIT.search(mine):
        return sentence(f"{speaker.say('have')} a history of {mine}")
    if re.match(
        r"^(?:recently )?(?:started|stopped|discontinued|quit|began|underwent|received|lost|completed)\b", mine
    ):
        return sentence(f"{speaker.subject} {mine}")
    if match := re.match(r"^menarche\b(.*)", mine):
        return sentence(f"{speaker.subject} had {speaker.possessive} first period{match[1]}")
    if re.match(r"^smoking\b(?! history)", mine):
        return sentence(f"{speaker.say(HAVE)} been {mine}")
    if re.match(r"^(?:currently )?(?:being|at|in|on)\b", mine):
        return sentence(f"{speaker.say(AM)} {mine}")
    if match := re.match(
        r"^(?:previously diagnosed|diagnosed|treated|born|admitted|married|enrolled|exposed|employed|unemployed|retired|divorced)\b",
        mine,
    ):
        auxiliary = (
            "was"
            if match[0] in ("previously diagnosed", "diagnosed", "treated", "born", "admitted", "exposed", "delivered")
            else "'m"
        )
        return sentence(f"{speaker.say(auxiliary)} {mine}")
    if re.match(
        r"^(?:single|unable|sexually|homeless|pregnant|healthy|otherwise|allergic|previously|oriented|up-to-date|adopted)\b",
        mine,
    ):
        return sentence(f"{speaker.say(AM)} {mine}")
    if section == "past" or historical:
        return sentence(
            f"{speaker.say('have')} {article(mine)}"
            if not re.search(r"\b(?:surgery|ectomy|birth|delivery|deliver\w*|infection|episode|ago)\b", mine)
            else f"{speaker.say(HAVE)} had {article(mine)}"
        )
    return sentence(f"{speaker.say(HAVE)} had {article(mine)}")
