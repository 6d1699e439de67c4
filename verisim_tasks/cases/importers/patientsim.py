"""PatientSim profiles (arXiv 2505.17818), made from MIMIC records under a data-use agreement: always restricted."""

from __future__ import annotations

import re

from verisim_tasks._stable import digest
from verisim_tasks.cases.importers.draft import CAREGIVER_UNDER, Draft, said
from verisim_tasks.cases.importers.fields import age_in, need, need_text, sex_in, text_of, texts_of
from verisim_tasks.cases.importers.phrases import said_item
from verisim_tasks.cases.importers.report import Imported
from verisim_tasks.cases.importers.source import Raw
from verisim_tasks.cases.importers.wording import in_plain_words, in_words, marked

LICENCE = "PhysioNet Credentialed Health Data Licence 1.5.0"
_NOTHING = re.compile(
    r"^(?:none|no|n/?a|nil|unknown|not recorded|not documented|unable to obtain|denies|negative|-|_+)\.?$", re.I
)
_UNKNOWN = re.compile(
    r"^(?:unknown|not recorded|not documented|unable to obtain|n/?a|-|_+|other|not reported)\.?$", re.I
)
_NONE_SAID = {
    "allergies": "No, I'm not allergic to anything.",
    "family_medical_history": "No, nothing runs in my family that I know of.",
    "medical_device": "No, I don't have any medical device.",
    "medical_history": "No, I don't have any other health problems that I know of.",
    "medication": "No, I don't take any medicines.",
    "tobacco": "No, I don't smoke.",
    "alcohol": "No, I don't drink alcohol.",
    "illicit_drug": "No, I don't use any drugs.",
    "children": "No, I don't have any children.",
    "exercise": "No, I don't exercise.",
    "sexual_history": "No, I'm not sexually active.",
}
_FRAMES = {
    "race": "I'm {}.",
    "marital_status": "I'm {}.",
    "insurance": "My insurance is {}.",
    "occupation": "My work is {}.",
    "living_situation": "About where I live: {}.",
    "children": "I have {}.",
    "exercise": "About exercise: {}.",
    "tobacco": "About smoking: {}.",
    "alcohol": "About alcohol: {}.",
    "illicit_drug": "About drugs: {}.",
    "sexual_history": "About my sex life: {}.",
    "allergies": "I'm allergic to {}.",
    "family_medical_history": "In my family: {}.",
    "medical_device": "I have {}.",
    "medical_history": "I have {}.",
    "medication": "I take {}.",
    "arrival_transport": "I came by {}.",
}
_ARRIVAL = {
    "ambulance": "I came by ambulance.",
    "walk in": "I came in on my own.",
    "helicopter": "I was flown in by helicopter.",
}
SENSITIVE = ("alcohol", "illicit_drug", "sexual_history")


def convert(record: Raw, case_id: str) -> Imported:
    """One profile; ``split`` (persona_eval or factuality_eval) is kept."""
    data = record.data
    age = age_in(str(need(record, data, "age")))
    sex = sex_in(need_text(record, data, "gender"))
    if age is None or sex is None:
        raise record.place.bad(
            f"{'age' if age is None else 'gender'} {data['age' if age is None else 'gender']!r} cannot be read"
        )
    if age < CAREGIVER_UNDER:
        raise record.place.bad(f"age {age:g}: PatientSim profiles are of adults who speak for themselves")
    diagnosis = text_of(record, data, "diagnosis").split(";")[0].strip() or None
    draft = Draft(record, case_id, age, sex, "PatientSim (MIMIC)", LICENCE, diagnosis, restricted=True)
    draft.extra["split"] = text_of(record, data, "split") or "test"
    complaints = _entries(record, "chiefcomplaint") or _entries(record, "chief_complaint")
    if not complaints:
        raise record.place.bad("chiefcomplaint is missing or empty; the patient needs an opening line")
    draft.phrases(complaints, "symptom")
    draft.phrases(_entries(record, "present_illness_positive"), "symptom")
    _negatives(record, draft)
    _pain(record, draft)
    for item in _FRAMES:
        _item(record, draft, item)
    return draft.finish("; ".join(complaints))


def default_id(record: Raw, stem: str) -> str:
    """By a digest: an admission number of MIMIC is not shown in results."""
    own = need(record, record.data, "hadm_id")
    if isinstance(own, bool) or not isinstance(own, str | int | float):
        raise record.place.bad(f"hadm_id is a {type(own).__name__}; a text or a number is needed")
    return f"patientsim-{digest(str(own))[:10]}"


def _entries(record: Raw, key: str) -> list[str]:
    return [part.strip() for text in texts_of(record, record.data, key) for part in text.split(";") if part.strip()]


def _negatives(record: Raw, draft: Draft) -> None:
    for text in _entries(record, "present_illness_negative"):
        bare = re.sub(r"^(?:denies|denied|no|without)\s+", "", text, flags=re.I)
        if not _UNKNOWN.match(text):
            draft.narrative(f"Denies {bare}", "review")


def _pain(record: Raw, draft: Draft) -> None:
    """A score of 0 to 10."""
    text = text_of(record, record.data, "pain")
    found = re.fullmatch(r"(\d{1,2})(?:\.0)?(?:\s*/\s*10)?", text)
    if found and int(found[1]) <= 10:
        score = in_words(found[1])
        draft.statement(
            f"pain: {text}",
            said(
                f"Pain {found[1]} of 10",
                f"I'd rate my pain [{score} out of ten|number].",
                "pain",
                "pain",
                terms=("rate your pain",),
            ),
            aspect="severity",
            key=False,
        )
    elif text and not _UNKNOWN.match(text):
        draft.statement(
            f"pain: {text}",
            said(f"Pain: {text}", marked(in_plain_words(f"About my pain: {text}.")), "pain", "pain"),
            key=False,
        )


def _item(record: Raw, draft: Draft, item: str) -> None:
    for text in _entries(record, item):
        if _UNKNOWN.match(text):
            draft.account.notes.append(f"not recorded: {item}")
        elif _NOTHING.match(text) and item in _NONE_SAID:
            draft.statement(
                f"{item}: {text}",
                said(
                    f"No {item.replace('_', ' ')}",
                    _NONE_SAID[item],
                    item,
                    item.replace("_", " "),
                    polarity="denied",
                    sensitive=item in SENSITIVE,
                ),
            )
        else:
            lay = _worded(item, text, draft)
            polarity = "denied" if lay.startswith("No, ") else "present"
            draft.statement(
                f"{item}: {text}",
                said(
                    text,
                    lay,
                    item,
                    text if item in ("medication", "medical_history") else item.replace("_", " "),
                    polarity=polarity,
                    sensitive=item in SENSITIVE,
                ),
            )


def _worded(item: str, text: str, draft: Draft) -> str:
    low = text.rstrip(".").lower() if item != "medication" else text.rstrip(".")
    if item in _NONE_SAID and re.match(r"^(?:denies|no |never |non-?smoker|does not)", low):
        return _NONE_SAID[item] if item not in ("medical_history",) else said_item(text, draft.speaker)
    if item == "arrival_transport":
        return _ARRIVAL.get(low, f"I came by {low}.")
    low = re.sub(
        r"^(?:lives|living|works as|works|retired|married|history of)\b",
        lambda m: {
            "lives": "I live",
            "works as": "I work as",
            "works": "I work",
            "living": "living",
            "history of": "",
        }.get(m[0], m[0]),
        low,
    ).strip()
    if item == "insurance":
        return marked(f"My insurance is {text.rstrip('.')}.")
    if re.match(r"(?:former|ex)[- ]?smoker|quit smoking", low):
        return "I used to smoke."
    if item == "occupation" and re.match(r"(?:retired|unemployed|disabled|an? |student|self-employed)", low):
        return marked(f"I'm {low}.")
    if low.startswith(("i ", "I ")):
        return marked(in_plain_words("I " + low[2:] + "."))
    return marked(in_plain_words(_FRAMES[item].format(low)))
