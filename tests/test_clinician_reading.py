"""What the clinician hears in an answer. Sentences written without looking at the phrases it knows."""

from __future__ import annotations

import pytest

from verisim_tasks.clinician.consult import default_clinician
from verisim_tasks.clinician.hearing import Asked, Heard, Hearing
from verisim_tasks.clinician.measures import age_in, duration_in, sex_in, sex_of_relative, temperature_in
from verisim_tasks.clinician.script import OPEN_QUESTIONS
from verisim_tasks.clinician.signals import read_signals
from verisim_tasks.clinician.tokens import tokenise

OTHERS = "open:others"

# (question: feature id, open question or "" for the opening; answer; present; absent)
CREDITED: list[tuple[str, str, str, str]] = [
    ("", "I've had this awful chest pain since early this morning.", "chest_pain", ""),
    ("", "My tummy has been really sore since yesterday.", "abdominal_pain", ""),
    ("", "I keep getting these terrible headaches, doctor.", "headache", ""),
    ("", "I've been so short of breath lately.", "dyspnoea", ""),
    ("", "I can't stop coughing and I feel feverish.", "cough fever", ""),
    ("", "My ankles have swollen up and I'm out of breath on the stairs.", "leg_swelling_both dyspnoea_exertional", ""),
    ("", "I passed out at work today.", "syncope", ""),
    ("", "It burns when I pee.", "dysuria", ""),
    ("", "My heart keeps racing.", "palpitations", ""),
    ("", "I'm just exhausted all the time.", "fatigue", ""),
    ("", "The room keeps spinning whenever I turn over in bed.", "vertigo_spinning", ""),
    ("", "I've come out in an itchy rash.", "rash_itchy", ""),
    ("", "I've been throwing up since last night.", "vomiting", ""),
    ("", "My big toe is red hot and I can't bear the sheet on it.", "big_toe_pain", ""),
    ("", "He's had a barking cough since last night.", "barking_cough", ""),
    ("chest_pain", "Yes.", "chest_pain", ""),
    ("chest_pain", "Yeah, it's been there all morning.", "chest_pain", ""),
    ("chest_pain", "No.", "", "chest_pain"),
    ("chest_pain", "No, my chest is fine.", "", "chest_pain"),
    ("chest_pain", "Not that I've noticed.", "", "chest_pain"),
    ("chest_pain", "I don't have any pain in my chest.", "", "chest_pain"),
    ("cough", "No cough, but I do get short of breath.", "dyspnoea", "cough"),
    ("fever", "Well, um, yes, I think I did feel hot last night.", "fever", ""),
    ("fever", "My temperature was 38.6 last night.", "fever", ""),
    ("fever", "It was 36.9 when I took my temperature.", "", "fever"),
    ("fever", "Nope, no fever or chills.", "", "fever chills_rigors"),
    ("nausea", "I haven't felt sick, no.", "", "nausea"),
    ("vomiting", "No, I haven't been sick.", "", "vomiting"),
    ("weight_loss", "I've lost about a stone since Christmas.", "weight_loss", ""),
    ("weight_loss", "My trousers keep falling down, I must have lost weight.", "weight_loss", ""),
    ("appetite_loss", "I'm hardly eating anything.", "appetite_loss", ""),
    ("appetite_loss", "No, my appetite is fine.", "", "appetite_loss"),
    ("sleep_poor", "I can't sleep at all.", "sleep_poor", ""),
    ("smoking", "I used to smoke but gave up five years ago.", "smoking", ""),
    ("smoking", "Never touched a cigarette in my life.", "", "smoking"),
    ("smoking", "About twenty a day.", "smoking", ""),
    ("alcohol_heavy", "I drink a bottle of wine every night.", "alcohol_heavy", ""),
    ("pain_radiates_arm_jaw", "It goes down my left arm.", "pain_radiates_arm_jaw", ""),
    ("pain_radiates_back", "It goes straight through to my back.", "pain_radiates_back", ""),
    ("orthopnoea", "I have to sleep propped up on three pillows.", "orthopnoea", ""),
    ("haemoptysis", "There was some blood when I coughed.", "haemoptysis", ""),
    ("melaena", "They've been black and sticky.", "melaena", ""),
    ("hx_diabetes", "I've had type 2 diabetes for ten years.", "hx_diabetes", ""),
    ("numbness_tingling", "I get pins and needles in both feet.", "numbness_tingling", ""),
    ("photophobia", "Yes, I have to keep the curtains closed.", "photophobia", ""),
    ("neck_stiffness", "I can't put my chin on my chest.", "neck_stiffness", ""),
    ("low_mood", "I've been feeling really down.", "low_mood", ""),
    ("suicidal_thoughts", "Sometimes I think everyone would be better off without me.", "suicidal_thoughts", ""),
    ("unprotected_sex", "We didn't use anything, no condom.", "unprotected_sex", ""),
    ("diarrhoea", "I've had the runs for two days.", "diarrhoea", ""),
    ("constipation", "I haven't been to the toilet in days, they're hard as stones.", "constipation", ""),
    ("palpitations", "My heart pounds like it's going to jump out.", "palpitations", ""),
    ("cold_sweat", "I was pouring with sweat and clammy.", "cold_sweat", ""),
    ("wheeze", "There's a whistling noise when I breathe out.", "wheeze", ""),
    ("snoring", "My wife says I snore like a freight train.", "snoring", ""),
    ("thirst", "I'm drinking water all day long, I can't get enough.", "thirst", ""),
    ("polyuria", "I pass loads of urine.", "polyuria", ""),
    ("recent_surgery", "I had my hip replaced three weeks ago.", "recent_surgery", ""),
    ("jaundice", "My wife said the whites of my eyes look yellow.", "jaundice", ""),
    ("dark_urine", "It's gone really dark, like tea.", "dark_urine", ""),
    ("itching_general", "I'm scratching all over, it drives me mad.", "itching_general", ""),
    ("back_pain", "My lower back aches.", "back_pain", ""),
    ("joint_swelling", "My knuckles are swollen.", "joint_swelling", ""),
    ("blurred_vision", "Everything looks blurry.", "blurred_vision", ""),
    ("double_vision", "I see two of everything.", "double_vision", ""),
    ("speech_disturbance", "My words came out all slurred.", "speech_disturbance", ""),
    ("weakness_one_side", "My right arm just went weak.", "weakness_one_side", ""),
    ("travel_tropics", "I came back from Kenya two weeks ago.", "travel_tropics", ""),
    ("missed_period", "I'm about two weeks late.", "missed_period", ""),
    ("oral_contraceptive", "I'm on the pill.", "oral_contraceptive", ""),
    ("nsaid_use", "I take ibuprofen for my knees.", "nsaid_use", ""),
    (OTHERS, "I've been feeling sick and I've gone off my food.", "nausea appetite_loss", ""),
    (OTHERS, "Well, my hands shake and I'm always too hot.", "heat_intolerance", ""),
    (OTHERS, "I've had night sweats and lost weight.", "night_sweats weight_loss", ""),
    (OTHERS, "No fever, no cough, but my throat hurts.", "sore_throat", "fever cough"),
    (OTHERS, "There's blood in my poo.", "rectal_bleeding", ""),
    (OTHERS, "I keep dropping things.", "hand_clumsy", ""),
    (OTHERS, "I feel dizzy when I stand up.", "lightheaded_standing", ""),
    (OTHERS, "My hair is falling out.", "hair_loss", ""),
    (OTHERS, "I'm constipated and always cold.", "constipation cold_intolerance", ""),
    ("open:conditions", "I have high blood pressure and asthma.", "hx_hypertension hx_asthma", ""),
    ("open:conditions", "I had a heart attack a few years ago.", "hx_heart_disease", ""),
    ("open:medicines", "I take metformin and a water tablet.", "diabetes_tablets diuretic", ""),
    ("open:medicines", "Just ibuprofen now and then.", "nsaid_use", ""),
    ("open:family", "My dad had a heart attack when he was fifty.", "fh_heart_early", ""),
    ("open:family", "My mother has diabetes.", "fh_diabetes", ""),
    ("open:onset", "It started about three days ago.", "onset_days", ""),
    ("open:onset", "A couple of months, maybe a bit more.", "onset_months", ""),
    ("open:onset", "Sometime in the last week or two.", "onset_weeks", ""),
    ("open:onset", "This morning, when I woke up.", "onset_hours", ""),
]  # fmt: skip

# (question; answer; features that must not be found present)
NOT_CREDITED: list[tuple[str, str, str]] = [
    ("", "Something is off in my chest.", "chest_pain chest_tightness chest_pain_pressure dyspnoea"),
    (OTHERS, "There's something funny going on down below.", "vaginal_discharge genital_itch dysuria genital_ulcer"),
    (OTHERS, "My insides just don't feel right.", "abdominal_pain nausea"),
    ("chest_pain", "It's just a weird feeling in there.", "chest_pain"),
    ("fever", "I don't know if I've had a fever.", "fever"),
    ("fever", "I can't remember.", "fever"),
    ("fever", "What do you mean by fever?", "fever"),
    ("cough", "Is a cough bad?", "cough"),
    ("cough", "Why do you ask about a cough?", "cough"),
    (OTHERS, "My sister has a cough and a fever.", "cough fever"),
    (OTHERS, "I'm scared it's a heart attack.", "hx_heart_disease chest_pain"),
    (OTHERS, "Not a cough as such.", "cough"),
    (OTHERS, "I have never had a seizure.", "seizure"),
    (OTHERS, "There is no rash, swelling, or itching.", "rash itching_general leg_swelling_both"),
    ("open:conditions", "My father had diabetes.", "hx_diabetes"),
    ("open:family", "My father had diabetes.", "hx_diabetes"),
    ("chest_pain", "The weather has been dreadful, and my neighbour keeps parking in my spot.", "chest_pain"),
    ("alcohol_heavy", "I'd rather not talk about that.", "alcohol_heavy"),
    ("chest_pain", "", "chest_pain"),
    ("cough", "Could you say that again, please?", "cough"),
    ("haemoptysis", "No, just a dry cough.", "haemoptysis"),
    ("dyspnoea", "I go to bingo on Thursdays with my cousin.", "dyspnoea"),
    (OTHERS, "My dog got sick last week.", "vomiting_bilious diarrhoea"),
    ("open:onset", "It's been going on for a while.", "onset_hours onset_days onset_months onset_years"),
]  # fmt: skip


@pytest.fixture(scope="module")
def hearing() -> Hearing:
    return default_clinician().hearing


def hear(hearing: Hearing, question: str, answer: str) -> Heard:
    asked = (
        Asked(open=OPEN_QUESTIONS[question[5:]]) if question.startswith("open:") else Asked(feature=question or None)
    )
    present: set[str] = set(hearing.knowledge.ancestors(question)) if asked.feature else set()
    return hearing.listen(answer, asked, frozenset(present))


def states(heard: Heard, state: str) -> set[str]:
    return {n for n, f in heard.findings.items() if f.state == state}


def test_most_lay_statements_are_understood(hearing: Hearing) -> None:
    missed = []
    for question, answer, present, absent in CREDITED:
        heard = hear(hearing, question, answer)
        if not (set(present.split()) <= states(heard, "present") and set(absent.split()) <= states(heard, "absent")):
            missed.append((question, answer, dict(heard.findings)))
    assert len(missed) <= 0.08 * len(CREDITED), missed


def test_nothing_that_was_not_said_is_credited(hearing: Hearing) -> None:
    wrong = []
    for question, answer, forbidden in NOT_CREDITED:
        found = set(forbidden.split()) & states(hear(hearing, question, answer), "present")
        if found:
            wrong.append((question, answer, found))
    assert wrong == []


def test_present_statements_are_never_heard_as_denials(hearing: Hearing) -> None:
    flipped = [
        (answer, present)
        for question, answer, present, _ in CREDITED
        if set(present.split()) & states(hear(hearing, question, answer), "absent")
    ]
    assert flipped == []


@pytest.mark.parametrize(
    ("text", "negated"),
    [
        ("I have no fever or chills", {"fever", "chills"}),
        ("No, I have a fever", set()),
        ("I don't have a cough but my chest hurts", {"cough"}),
        ("I can't stop coughing", set()),
        ("not only the cough", set()),
        ("There is no rash, swelling, or itching", {"rash", "swelling", "itching"}),
        ("No pain, I just feel tired", {"pain"}),
        ("Never had asthma; my sister has it", {"asthma"}),
    ],
)
def test_scope_of_negation(text: str, negated: set[str]) -> None:
    content = {
        "fever",
        "chills",
        "cough",
        "coughing",
        "chest",
        "rash",
        "swelling",
        "itching",
        "pain",
        "tired",
        "asthma",
    }
    assert {t.word for t in tokenise(text) if t.negated} & content == negated


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("Yes.", {"yes"}),
        ("Well, um, yeah, sometimes.", {"yes"}),
        ("No.", {"no"}),
        ("Not really.", {"no"}),
        ("Not that I've noticed.", {"no", "not_noticed"}),
        ("I don't know.", {"unknown"}),
        ("I can't remember, sorry.", {"unknown"}),
        ("I'm not sure.", {"unknown"}),
        ("What do you mean?", {"unclear"}),
        ("Sorry, could you say that again?", {"unclear"}),
        ("I don't understand the question.", {"unclear"}),
        ("I'd rather not say.", {"evasive"}),
        ("Why do you ask?", {"evasive"}),
        ("Is it serious? I'm so scared.", {"worried"}),
        ("...", {"silent"}),
        ("", {"silent"}),
        ("It started on Monday.", set()),
        ("I do a lot of walking.", {"yes"}),
        ("I have no idea.", {"unknown"}),
        ("I haven't been to the shops.", {"negative"}),
    ],
)
def test_signals(text: str, holds: set[str]) -> None:
    signals = read_signals(text)
    assert {name for name in signals.__dataclass_fields__ if getattr(signals, name)} == holds


@pytest.mark.parametrize(
    ("text", "age"),
    [
        ("I'm a 58-year-old man.", 58.0),
        ("She is forty-two years old.", 42.0),
        ("I'm 25, a woman.", 25.0),
        ("He's 3.", 3.0),
        ("She is a 6-month-old girl.", 0.5),
        ("in my late forties", 48.0),
        ("I smoke 20 a day", None),
        ("It hurts.", None),
    ],
)
def test_ages(text: str, age: float | None) -> None:
    assert age_in(text) == age


def test_a_bare_number_is_an_age_only_when_asked() -> None:
    assert age_in("71", asked=True) == 71.0
    assert age_in("71") is None


@pytest.mark.parametrize(
    "text", ["One minute I'm fine.", "I've told three doctors.", "For two weeks now.", "Just 1 or 2"]
)
def test_a_number_of_something_else_is_no_age(text: str) -> None:
    assert age_in(text, asked=True) is None


@pytest.mark.parametrize("text", ["I'm 28.", "Twenty-eight, doctor.", "Oh, about 28 now.", "28 years."])
def test_a_number_on_its_own_is_an_age(text: str) -> None:
    assert age_in(text, asked=True) == 28.0


@pytest.mark.parametrize(
    ("text", "sex", "relative"),
    [
        ("I'm a 58-year-old man.", "male", None),
        ("I'm 25, a woman.", "female", None),
        ("My son has had a fever since yesterday.", None, "male"),
        ("I'm worried about my mother, she is confused.", None, "female"),
        ("My wife says I snore.", None, None),
        ("I have chest pain like my father had.", None, None),
    ],
)
def test_sexes(text: str, sex: str | None, relative: str | None) -> None:
    assert (sex_in(text), sex_of_relative(text)) == (sex, relative)


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("a couple of hours ago", "hours"),
        ("since last night", "hours"),
        ("about a week", "days"),
        ("ten days or so", "weeks"),
        ("between one and two months ago", "months"),
        ("two years", "years"),
        ("since childhood", "years"),
        ("a while", None),
    ],
)
def test_durations(text: str, span: str | None) -> None:
    assert duration_in(text) == span


def test_temperatures() -> None:
    assert temperature_in("my temperature was 38.5") == 38.5
    assert temperature_in("a fever of 102") == 38.9
    assert temperature_in("I am 38") is None
