"""The clinician's own words: open questions and the small talk around any question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

MAX_WORDS = 25
"""Longest doctor message in words, the conclusion apart."""


@dataclass(frozen=True)
class OpenQuestion:
    """A question that invites more than yes or no."""

    id: str
    ask: str
    rephrase: str
    groups: tuple[str, ...] = ()
    """Feature groups it may bring facts of."""
    ids: tuple[str, ...] = ()
    """Single features it may bring."""
    capture: float = 0.0
    """Share (0-1) of the covered information that one answer brings, roughly."""
    none_means_absent: bool = False
    """"None" denies, with little weight, everything it covers."""


BODY = (
    "general",
    "chest",
    "breathing",
    "gi",
    "urinary",
    "gynae_obstetric",
    "genital_sexual",
    "neuro",
    "psych",
    "msk",
    "skin",
    "ent_eye",
    "endocrine",
    "child",
)

OPEN_QUESTIONS: Mapping[str, OpenQuestion] = MappingProxyType(
    {
        q.id: q
        for q in (
            OpenQuestion("age", "How old are you?", "What is your age in years?"),
            OpenQuestion("sex", "Are you a man or a woman?", "Should I write down male or female?"),
            OpenQuestion("onset", "When did this start?", "How long have you had this, roughly?", capture=0.0),
            OpenQuestion(
                "story",
                "Can you tell me more about what you have been feeling?",
                "Could you describe it in your own words?",
                groups=BODY,
                capture=0.1,
            ),
            OpenQuestion(
                "others",
                "What other symptoms have you noticed?",
                "Has anything else felt different from normal?",
                groups=BODY,
                capture=0.1,
            ),
            OpenQuestion(
                "others_again",
                "Is there anything else you have noticed, even something small?",
                "What else has changed lately?",
                groups=BODY,
                capture=0.05,
            ),
            OpenQuestion(
                "conditions",
                "Do you have any long-term medical conditions?",
                "What illnesses have you had before?",
                groups=("past_history",),
                capture=0.45,
                none_means_absent=True,
            ),
            OpenQuestion(
                "medicines",
                "What medicines do you take?",
                "Do you take any tablets, even ones from a shop?",
                groups=("medicines",),
                capture=0.45,
                none_means_absent=True,
            ),
            OpenQuestion(
                "allergies",
                "Do you have any allergies?",
                "Does any food or medicine give you a bad reaction?",
                ids=("hx_atopy", "allergen_food_sting"),
                capture=0.3,
            ),
            OpenQuestion(
                "family",
                "Do any illnesses run in your family?",
                "Have your parents, brothers or sisters had serious illnesses?",
                groups=("family_history",),
                capture=0.45,
                none_means_absent=True,
            ),
            OpenQuestion(
                "work",
                "What kind of work do you do?",
                "How do you spend your days?",
                ids=(
                    "dust_asbestos",
                    "occupational_sensitiser",
                    "dye_chemicals",
                    "wet_work",
                    "repetitive_hand_work",
                    "animal_rats_farm",
                    "heavy_lifting",
                ),
                capture=0.5,
            ),
            OpenQuestion(
                "travel",
                "Have you travelled anywhere in the past few months?",
                "Have you been abroad lately?",
                ids=("travel_tropics", "long_journey", "mosquito_bites", "no_malaria_tablets", "tb_country"),
                capture=0.5,
                none_means_absent=True,
            ),
        )
    }
)

THANKS: tuple[str, ...] = ("Thank you.", "I see.", "Okay.", "Thanks, that helps.", "All right.", "Understood.")
SYMPATHY: tuple[str, ...] = ("I am sorry to hear that.", "That sounds hard.", "I can see this is not easy.")
CALM: tuple[str, ...] = (
    "I understand this is worrying, and we will look after you.",
    "You are in good hands, and I am here to help.",
    "It is normal to be worried; we will sort this out together.",
)
SIMPLER: tuple[str, ...] = (
    "Sorry, let me put it more simply.",
    "Let me say that in another way.",
    "Let me ask it differently.",
)
STEER: tuple[str, ...] = ("I understand.", "Let us stay with this for a moment.", "I hear you.")
GENTLE: tuple[str, ...] = ("Take your time.", "There is no rush.")
REMIND: tuple[str, ...] = ("Take your time; roughly is fine.", "Think back for a moment.", "It need not be exact.")
PRIVATE: tuple[str, ...] = (
    "Many people have this, and it stays between us.",
    "I ask everyone this, and it is confidential.",
    "It is private, and it helps me treat you safely.",
)
CLOSING: tuple[str, ...] = ("Thank you, that helps.", "Thank you for telling me all this.")
