"""Whole consultations of the built-in clinician with ten tiny patients of our own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from verisim_tasks.clinician.consult import Clinician, default_clinician
from verisim_tasks.clinician.policy import POLICIES

LIMIT = 20


@dataclass(frozen=True)
class Tiny:
    """A patient as a table: what is said when a feature is asked; anything else is denied."""

    disease: str
    opening: str
    says: Mapping[str, str]
    onset: str = "I can't say exactly."
    more: tuple[str, ...] = ()
    """What is told to open questions, in order."""
    open: Mapping[str, str] = field(default_factory=dict)


PATIENTS = (
    Tiny(
        "acute myocardial infarction",
        "I'm a 61-year-old man and I've got this terrible pain in my chest.",
        {
            "chest_pain_pressure": "It's like a great weight sitting on me.",
            "pain_radiates_arm_jaw": "It does, down my left arm and up to the jaw.",
            "cold_sweat": "Yes, I was drenched and clammy.",
            "nausea": "I did feel sick.",
            "chest_pain_long": "It's been over an hour now.",
            "chest_pain_rest": "Yes, I was just sitting there.",
            "smoking": "Twenty a day.",
            "dyspnoea": "A bit short of breath, yes.",
        },
        "About two hours ago.",
        ("It's a heavy, crushing feeling.", "I've come over all clammy and sick."),
        {"conditions": "High blood pressure.", "medicines": "A blood pressure tablet."},
    ),
    Tiny(
        "migraine",
        "I'm 29, a woman, and I get these awful headaches.",
        {
            "headache_one_sided": "Always the left side.",
            "headache_throbbing": "Yes, it throbs.",
            "photophobia": "I have to draw the curtains.",
            "phonophobia": "Yes, noise is terrible.",
            "nausea": "Yes, I feel sick with it.",
            "vomiting": "Sometimes.",
            "headache_hours_days": "It lasts most of a day.",
            "headache_activity_worse": "I have to lie down in a dark room.",
            "aura_visual": "I see zigzags first.",
            "recurrent_before": "Yes, since I was a teenager.",
            "course_episodic": "They come and go.",
            "fh_migraine": "My mum gets them.",
        },
        "I've had them for years.",
        ("It's a throbbing pain on one side.", "Light hurts my eyes and I feel sick."),
        {"family": "My mum gets migraines."},
    ),
    Tiny(
        "appendicitis",
        "I'm a man of 22 and my stomach hurts.",
        {
            "abdo_pain_migrating": "Yes, it began round the belly button and moved down to the right.",
            "abdo_pain_rlq": "Yes, down low on the right.",
            "appetite_loss": "I can't face food.",
            "nausea": "Yes, queasy.",
            "vomiting": "Once.",
            "fever": "I felt a bit hot.",
            "abdo_pain_movement": "Every bump in the road hurt.",
        },
        "Since last night.",
        ("It's a sharp pain low down on the right.", "I've gone off my food."),
    ),
    Tiny(
        "hypothyroidism",
        "I'm a 47-year-old woman. I'm so tired all the time.",
        {
            "cold_intolerance": "Always freezing.",
            "weight_gain": "Yes, I've put on weight.",
            "constipation": "Yes, quite constipated.",
            "dry_skin": "My skin is very dry.",
            "hair_loss": "It comes out in the shower.",
            "heavy_periods": "They've got heavier.",
            "slowness": "Yes, everything is slow.",
            "puffy_face": "A bit puffy in the mornings.",
            "hoarseness": "My voice is croaky.",
        },
        "It crept up over six months or so.",
        ("I've no energy and I'm always cold.", "I've put on weight."),
    ),
    Tiny(
        "acute cystitis",
        "I'm 25, I'm a woman, and it burns when I pee.",
        {
            "urinary_frequency": "Yes, I go every half hour.",
            "urinary_urgency": "I have to rush.",
            "cloudy_urine": "It's cloudy and it smells.",
            "haematuria": "A bit pink, yes.",
            "hx_uti": "Yes, last year.",
            "abdo_pain_lower": "An ache low down.",
        },
        "Two days ago.",
        ("I need to go all the time.", "It's a bit cloudy."),
    ),
    Tiny(
        "gout",
        "My big toe is agony. I'm a 58-year-old man.",
        {
            "joint_single_hot": "Yes, hot, red and shiny.",
            "big_toe_pain": "Yes, that's the one.",
            "pain_severe": "I can't even bear the bedsheet on it.",
            "hx_gout": "Once before.",
            "diuretic": "I take a water tablet.",
            "alcohol_heavy": "Yes, beer most nights.",
            "joint_swelling": "It's swollen.",
            "rich_meal_alcohol": "We had a big barbecue with beer.",
            "joint_pain": "Just that one.",
        },
        "It came on overnight.",
        ("It's hot, red and swollen.", "Just the toe."),
        {"medicines": "A water tablet."},
    ),
    Tiny(
        "asthma",
        "I'm a 19-year-old woman and I keep getting wheezy and short of breath.",
        {
            "wheeze": "Yes, my chest whistles.",
            "chest_tightness": "Yes, tight.",
            "cough_night": "It wakes me up coughing.",
            "airway_triggers": "Cold air and cats set it off.",
            "hx_atopy": "I had eczema as a child.",
            "inhaler_helps": "My friend's inhaler helped.",
            "course_episodic": "It comes and goes.",
            "cough": "Yes.",
            "cough_dry": "Yes, dry.",
            "fh_atopy": "My brother has asthma.",
        },
        "On and off for years.",
        ("My chest gets tight.", "I cough at night."),
        {"conditions": "I had eczema as a child."},
    ),
    Tiny(
        "benign paroxysmal positional vertigo",
        "I'm 63, a woman, and the room keeps spinning.",
        {
            "vertigo_position": "When I turn over in bed.",
            "vertigo_brief": "It's gone within a minute.",
            "nausea": "It makes me feel sick.",
            "course_episodic": "It comes and goes.",
            "balance_problem": "A bit wobbly.",
        },
        "About a week ago.",
        ("It happens when I roll over in bed.", "I feel sick with it."),
    ),
    Tiny(
        "acute pericarditis",
        "I'm a 27-year-old man and I have a sharp pain in my chest.",
        {
            "chest_pain_pleuritic": "Yes, a deep breath is like a knife.",
            "chest_pain_leaning_forward": "It eases when I sit forward.",
            "fever": "A bit of a temperature, yes.",
            "after_viral_illness": "I had a cold last week.",
            "chest_pain_long": "It's there for hours.",
        },
        "Yesterday.",
        ("It's worse when I lie flat and better when I lean forward.", "I had a cold last week."),
    ),
    Tiny(
        "generalised anxiety disorder",
        "I'm a 34-year-old woman. I just can't stop worrying.",
        {
            "anxiety": "Yes, on edge all day.",
            "worry_many_things": "About everything: work, money, the kids.",
            "sleep_poor": "I lie awake half the night.",
            "irritability": "I snap at people.",
            "poor_concentration": "I can't focus at all.",
            "fatigue": "Worn out.",
            "agitation": "I can't settle.",
            "muscle_pain": "My shoulders are tense.",
            "life_impairment": "Work is suffering.",
        },
        "It's been most of the year, eight months maybe.",
        ("I worry about everything.", "I can't sleep."),
    ),
)


def answer(clinician: Clinician, patient: Tiny, message: str, told: list[str]) -> str:
    """What the table says to the doctor's question; anything unknown is denied."""
    question = clinician.questions.recognise(message, ())
    assert question is not None, message
    if question.asked.feature is not None:
        return patient.says.get(question.asked.feature, "No.")
    assert question.asked.open is not None
    name = question.asked.open.id
    if name == "onset":
        return patient.onset
    if name in patient.open:
        return patient.open[name]
    if name in ("story", "others", "others_again") and len(told) < len(patient.more):
        told.append(patient.more[len(told)])
        return told[-1]
    return "No, nothing like that."


def consult(clinician: Clinician, patient: Tiny, policy: str = "default") -> list[tuple[str, str]]:
    """The whole dialogue."""
    dialogue: list[tuple[str, str]] = [("patient", patient.opening)]
    told: list[str] = []
    for turn in range(1, LIMIT + 1):
        message = clinician.next_message(dialogue, POLICIES[policy], forced=turn == LIMIT)  # type: ignore[arg-type]
        dialogue.append(("doctor", message))
        if "Final Diagnosis:" in message:
            break
        dialogue.append(("patient", answer(clinician, patient, message, told)))
    return dialogue


@pytest.fixture(scope="module")
def clinician() -> Clinician:
    return default_clinician()


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_the_right_disease_wins_for_most_tiny_patients(clinician: Clinician, policy: str) -> None:
    lost = []
    for patient in PATIENTS:
        end = consult(clinician, patient, policy)[-1][1]
        if f"Final Diagnosis: {patient.disease}\n" not in end:
            lost.append((patient.disease, end))
    assert len(lost) <= 2, lost


def test_consultations_are_neither_hasty_nor_endless(clinician: Clinician) -> None:
    lengths = [sum(role == "doctor" for role, _ in consult(clinician, p)) for p in PATIENTS]
    assert min(lengths) > POLICIES["default"].min_questions
    assert sum(lengths) / len(lengths) <= 16, lengths
