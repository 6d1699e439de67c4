"""From clinical narrative to facts: polarity, profile item, first person, nothing dropped silently."""

# ruff: noqa: E501 - a sample stays on one line
from __future__ import annotations

import pytest

from verisim_tasks.cases.importers.draft import age_in_words
from verisim_tasks.cases.importers.facts_from_text import read_narrative, read_sentence
from verisim_tasks.cases.importers.fields import age_in, sex_in
from verisim_tasks.cases.importers.voice import Speaker
from verisim_tasks.cases.importers.wording import drugs_in, in_words, marked
from verisim_tasks.noise.markup import is_balanced, plain, spans

SHE = Speaker("patient", "female")
HE = Speaker("patient", "male")
MOTHER = Speaker("caregiver", "male")


def lays(text: str, section: str = "history", speaker: Speaker = SHE) -> list[str]:
    return [plain(s.lay) for r in read_narrative(text, section, speaker) for s in r.said]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The patient reports a 1-month history of double vision.", ["I've had double vision for a month."]),
        ("She denies chest pain, palpitations or fever.", [
            "No, I haven't had any chest pain.", "No, I haven't had any palpitations.", "No, I haven't had any fever."]),
        ("She takes lisinopril, metformin, and naproxen.", ["I take lisinopril.", "I take metformin.", "I take naproxen."]),
        ("She has a history of type 2 diabetes, hypertension, and glaucoma.", [
            "I have type two diabetes.", "I have high blood pressure.", "I have glaucoma."]),
        ("Her husband found her on the floor.", ["My husband found me on the floor."]),
        ("The patient reports noticing a rash on her arm.", ["I noticed a rash on my arm."]),
        ("She recalls an ant bite.", ["I recall an ant bite."]),
    ],
)  # fmt: skip
def test_a_history_becomes_what_the_patient_says(text: str, expected: list[str]) -> None:
    assert lays(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Non-smoker, drinks wine occasionally. Works as a farmer.", ["I don't smoke.", "I drink wine occasionally.", "I work as a farmer."]),
        ("Retired school teacher.", ["I'm a retired school teacher."]),
        ("Lives with her partner.", ["I live with my partner."]),
        ("Does not smoke, drink alcohol, or use illicit drugs.", [
            "No, I don't smoke.", "No, I don't drink alcohol.", "No, I don't use any drugs."]),
    ],
)  # fmt: skip
def test_a_social_history_loses_no_part(text: str, expected: list[str]) -> None:
    assert lays(text, "social") == expected


def test_a_caregiver_speaks_about_the_child() -> None:
    assert lays("The patient has been very fussy.", speaker=MOTHER) == ["He has been very fussy."]
    assert lays("His mother reports that the infant has had green vomiting.", speaker=MOTHER) == [
        "He has had green vomiting."
    ]
    assert lays("Denies fever.", "review", MOTHER) == ["No, he hasn't had any fever."]


def test_the_mothers_history_is_not_the_babys() -> None:
    said = lays("The mother had no prenatal care and has a history of gonorrhea.", speaker=MOTHER)
    assert said
    assert not any(s.lower().startswith(("he ", "he's", "she")) for s in said)


def test_polarity_and_item() -> None:
    facts = [
        s for r in read_narrative("Denies fever, smoking, or family history of cancer.", "review", SHE) for s in r.said
    ]
    assert {f.polarity for f in facts} == {"denied"}
    assert [f.category for f in facts][:2] == ["present_illness_negative", "tobacco"]


@pytest.mark.parametrize(
    "text", ["Information not provided.", "No additional symptoms mentioned.", "N/A", "Not applicable"]
)
def test_a_sentence_that_says_nothing_is_empty(text: str) -> None:
    assert read_sentence(text, "review", SHE).fate == "empty"


def test_no_past_history_is_a_denied_fact_not_an_empty_sentence() -> None:
    reading = read_sentence("No significant past medical history.", "past", SHE)
    assert [(s.category, s.polarity) for s in reading.said] == [("medical_history", "denied")]


def test_a_denied_word_is_never_turned_into_a_function_that_is_absent() -> None:
    assert lays("No increase in thirst or urination.", "review") == [
        "No, I haven't had any increase in thirst or passing urine."
    ]


def test_what_an_examiner_found_is_no_fact() -> None:
    assert read_sentence("Physical examination shows low-set ears.", "review", SHE).fate == "finding"


def test_every_long_sentence_is_split_into_speakable_ones() -> None:
    text = "The patient has been " + ", ".join(f"tired on day {i} and very unhappy about it" for i in range(30)) + "."
    parts = lays(text)
    assert len(parts) > 2
    assert max(len(p.split()) for p in parts) <= 30


@pytest.mark.parametrize(
    ("text", "said", "kinds"),
    [
        ("Pain for 3 weeks.", "Pain for three weeks.", ["time"]),
        ("Two hours ago I fell.", "two hours ago I fell.", ["time"]),
        ("I take metoprolol 50 mg.", "I take metoprolol fifty milligrams.", ["drug", "dose"]),
        ("I lost 5.4 kg.", "I lost 5.4 kilos.", ["number"]),
        ("I was 43 at the age of 43.", "I was forty-three at the age of forty-three.", ["number", "time"]),
        ("since 2015", "since 2015", ["time"]),
    ],
)
def test_times_doses_and_numbers_are_marked(text: str, said: str, kinds: list[str]) -> None:
    made = marked(text)
    assert is_balanced(made)
    assert plain(made) == said
    assert [s.kind for s in spans(made)] == kinds
    assert all(s.vaguer for s in spans(made) if s.kind in ("time", "drug"))


def test_drug_names_are_found_and_milestones_are_not() -> None:
    assert drugs_in("met all milestones on enalapril and aspirin") == ["enalapril", "aspirin"]


@pytest.mark.parametrize(
    ("text", "age"),
    [("35-year-old female", 35.0), ("8-month-old boy", 0.667), ("Newborn, female", 0.0), ("2-day-old male infant", 0.005), ("57", 57.0),
     ("A 61-year-old man with a cough for 2 months and a newborn grandson", 61.0)],
)  # fmt: skip
def test_ages(text: str, age: float) -> None:
    assert age_in(text) == age


def test_a_duration_in_running_text_is_no_age() -> None:
    assert age_in("The patient has had a cough for 2 months and then lost weight without any reason at all") is None


def test_sex_and_words() -> None:
    assert (sex_in("a 3-year-old girl"), sex_in("man"), sex_in("child")) == ("female", "male", None)
    assert (in_words("0"), in_words("21"), in_words("140")) == ("zero", "twenty-one", "one hundred and forty")
    assert (age_in_words(35), age_in_words(0.67), age_in_words(0.011)) == (
        "thirty-five years",
        "eight months",
        "four days",
    )
