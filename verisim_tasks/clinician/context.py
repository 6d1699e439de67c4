"""Who and what a sentence is about: the patient or somebody else, something named or something vague."""

from __future__ import annotations

import re
from collections.abc import Mapping

ONSETS: Mapping[str, str] = {
    "hours": "onset_hours",
    "days": "onset_days",
    "weeks": "onset_weeks",
    "months": "onset_months",
    "years": "onset_years",
}
"""The feature that says how long, by span."""
FAMILY: Mapping[str, str] = {
    "hx_heart_disease": "fh_heart_early",
    "hx_diabetes": "fh_diabetes",
    "hx_thyroid": "fh_thyroid_autoimmune",
    "hx_autoimmune": "fh_thyroid_autoimmune",
    "hx_migraine": "fh_migraine",
    "headache": "fh_migraine",
    "hx_blood_clot": "fh_clots",
    "hx_kidney_disease": "fh_kidney",
    "hx_kidney_stones": "fh_kidney",
    "hx_ibd": "fh_ibd",
    "hx_mental_illness": "fh_mental_illness",
    "low_mood": "fh_mental_illness",
    "memory_loss": "fh_dementia",
    "hx_asthma": "fh_atopy",
    "hx_atopy": "fh_atopy",
    "hx_psoriasis": "fh_psoriasis",
    "hx_epilepsy": "fh_fits",
    "hx_osteoporosis": "fh_hip_fracture",
    "tremor_action": "fh_tremor",
}
"""What a relative's illness means for the patient."""

VAGUE = re.compile(
    r"\b(?:some(?:thing|how|where)|weird|funny|strange|odd|off|not right|not (?:quite )?(?:myself|normal)|thingy?|stuff"
    r"|whatsit|sort of thing|hard to describe|just wrong)\b"
)
"""Talk that names nothing."""
KIN = (
    r"\b(?:mother|mum|mom|father|dad|brother|sister|uncle|aunt|grand(?:mother|father|ma|pa|parents?)|gran|nan|parents?"
    r"|cousin|family|relatives?|siblings?|wife|husband|partner|son|daughter|kids?|children|friend|neighbou?r|colleague"
    r"|boss|dog|cat)s?\b"
)
"""Pattern of other people and animals."""
ANY_KIN = re.compile(KIN)
"""Any of them."""
OTHER_PERSON = re.compile(
    KIN + r"(?! (?:says?|said|told|thinks?))(?:\W+\w+){0,2}?\W+(?:had|has|have|got|gets?|was|were|is|are"
    r"|suffer\w*|died|with)\b|\bruns? in (?:my|the|our|his|her) family\b"
)
"""Somebody else has, had or was something."""
KIN_SPEAKS = re.compile(
    r"\b(?:says?|said|told|tells|notic\w+|reckons?|thinks?|asked|worr\w+|saw|heard|made me|brought|drove|found)\b"
)
"""Somebody else only reports the patient's own trouble."""
FEARED = re.compile(
    r"\b(?:afraid|scared|worried|terrified|fear|frightened|worry) (?:that |it |this |i |of |about )"
    r"|\bwhat if\b|\bkeep (?:thinking|worrying)\b|\bcould it be\b|\bmight (?:be|have) (?:a |an |some)"
)
"""An illness that is feared, not had."""
SINCE_ONSET = re.compile(
    r"\b(?:start\w*|beg[au]n|since|came on|come on|ago)\b"
    r"|\bfor (?:the )?(?:past|last|about|around|over|an?|\d+|\w+ (?:day|week|month|year|hour))"
)
"""Words about when something began."""
