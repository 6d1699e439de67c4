from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from verisim_tasks.language.model_text import strip_thinking
from verisim_tasks.loop.doctor_text import FLAGS, read_doctor


@pytest.mark.parametrize(
    ("text", "visible", "flags"),
    [
        ("Do you smoke?", "Do you smoke?", ()),
        ("Doctor: Do you smoke?", "Do you smoke?", ()),
        ("**Doctor:** Do you smoke?", "Do you smoke?", ()),
        ("Dr. Smith: Do you smoke?", "Do you smoke?", ()),
        ("Doctor: Doctor: Do you smoke?", "Do you smoke?", ()),
        ("How long?\nPatient: Two days.\nDoctor: I see.", "How long?", ("both_sides",)),
        ("How long?\n\n**Patient:** Two days.", "How long?", ("both_sides",)),
        ("How long? Patient: Two days.", "How long?", ("both_sides",)),
        ("How long?\nDoctor: And where?", "How long?", ("both_sides",)),
        ("How long?<|im_end|>\n<|im_start|>user\nTwo days", "How long?", ("both_sides",)),
        ("How long?<|im_end|>", "How long?", ()),
        ("Patient: It hurts.", "", ("both_sides", "empty")),
        ("Tell me what you told the patient: all of it.", "Tell me what you told the patient: all of it.", ()),
        ("<think>Could be flu.</think>Do you cough?", "Do you cough?", ("think",)),
        ("Could be flu.</think>Do you cough?", "Do you cough?", ("think",)),
        ("<think>a <think> b</think>Do you cough?", "Do you cough?", ("think",)),
        ("<think>Could be flu", "", ("unclosed_think", "empty")),
        ("Do you cough? <think>Could be", "", ("unclosed_think", "empty")),
        ("", "", ("empty",)),
        (" \n\t ", "", ("empty",)),
        ("How long? How long? How long?", "How long?", ("loop",)),
        ("yes yes yes yes yes", "yes", ("loop",)),
        ("How long? Where? Is it sharp?", "How long? Where? Is it sharp?", ("several_questions",)),
        ("First paragraph.\n\nSecond paragraph?", "First paragraph.\n\nSecond paragraph?", ()),
        ("Goodbye, take care.", "Goodbye, take care.", ()),
        ("[STOP] <END> Thank you.", "[STOP] <END> Thank you.", ()),
    ],
)
def test_what_the_patient_hears(text: str, visible: str, flags: tuple[str, ...]) -> None:
    read = read_doctor(text)
    assert (read.visible, read.flags, read.diagnosis) == (visible, flags, None)


@pytest.mark.parametrize(
    ("text", "diagnosis"),
    [
        ("Final Diagnosis: Pneumonia", "Pneumonia"),
        ("final diagnosis: pneumonia.", "pneumonia"),
        ("**Final Diagnosis:** Pneumonia", "Pneumonia"),
        ("**Final Diagnosis**: **Pneumonia**", "Pneumonia"),
        ("## Final Diagnosis\n\nPneumonia\nBecause of the fever.", "Pneumonia"),
        ("*Final Diagnosis* - Pneumonia", "Pneumonia"),
        ("Final Diagnosis：Pneumonia", "Pneumonia"),
        ('{"Final Diagnosis": "Pneumonia"}', "Pneumonia"),
        ("Final Diagnosis: <Pneumonia>", "Pneumonia"),
        (r"Final Diagnosis: \boxed{Pneumonia}", "Pneumonia"),
        ("Final Diagnosis: 1. Pneumonia\n2. Flu", "Pneumonia"),
        ("My final diagnosis is pneumonia. Rest well.", "pneumonia"),
        ("Final Diagnosis: GERD. Do you have any questions?", "GERD"),
        ("Do you smoke? Final Diagnosis: COPD", "COPD"),
        ("Final Diagnosis: E. coli infection. Drink a lot.", "E. coli infection"),
        ("Final Diagnosis: St. Louis encephalitis", "St. Louis encephalitis"),
        ("Final Diagnosis: Type 2 diabetes", "Type 2 diabetes"),
        ("Final Diagnosis: Fever of unknown origin", "Fever of unknown origin"),
        ("Final Diagnosis: pneumonia or flu", "pneumonia or flu"),
        ("Final Diagnosis: <condition>\nFinal Diagnosis: Flu", "Flu"),
        ("Final Diagnosis: Flu\nFinal Diagnosis: Cold", "Flu"),
        ("<think>Final Diagnosis: Cold</think>Final Diagnosis: Flu", "Flu"),
    ],
)
def test_a_diagnosis_is_read(text: str, diagnosis: str) -> None:
    assert read_doctor(text).diagnosis == diagnosis


@pytest.mark.parametrize(
    "text",
    [
        "Final Diagnosis:",
        "Final Diagnosis: <condition>",
        "Final Diagnosis: [condition]",
        "I shall end with `Final Diagnosis: <condition>` later. Do you smoke?",
        "Before I give a final diagnosis, do you smoke?",
        "The final diagnosis is not clear yet.",
        "Final Diagnosis: unknown",
        "Final Diagnosis: To be determined",
        "Final Diagnosis: I need more information.",
        "Diagnosis: Pneumonia",
        "How long?\nPatient: Two days.\nFinal Diagnosis: Flu",
        "<think>Final Diagnosis: Flu",
        "Goodbye!",
    ],
)
def test_no_diagnosis_is_read(text: str) -> None:
    assert read_doctor(text).diagnosis is None


def test_a_mention_without_content_and_a_question_behind_a_diagnosis_are_flagged() -> None:
    assert "diagnosis_without_content" in read_doctor("Final Diagnosis:").flags
    assert "diagnosis_and_question" in read_doctor("Final Diagnosis: GERD. Any questions?").flags


@pytest.mark.parametrize("text", ["Diagnosis: Flu", "**Diagnosis:** Flu", "I think the diagnosis is flu."])
def test_a_forced_doctor_may_use_a_plain_marker(text: str) -> None:
    assert (read_doctor(text, forced=True).diagnosis or "").lower() == "flu"
    assert read_doctor(text).diagnosis is None


@pytest.mark.parametrize(
    ("text", "differential"),
    [
        ("Differential: asthma, COPD or flu\nFinal Diagnosis: asthma", ("asthma", "COPD", "flu")),
        ("Differential diagnosis:\n1. Asthma\n2. COPD\n\nFinal Diagnosis: Asthma", ("Asthma", "COPD")),
        ("**Differential Diagnoses:**\n- Asthma\n- COPD\nFinal Diagnosis: Asthma", ("Asthma", "COPD")),
        ("Final Diagnosis: Asthma", ()),
    ],
)
def test_a_differential_is_read(text: str, differential: tuple[str, ...]) -> None:
    assert read_doctor(text).differential == differential


def test_long_hostile_texts_are_read_quickly_and_whole() -> None:
    for text in ("a b " * 5000, "final diagnosis " * 3000, "*_" * 20000, "\n" * 20000, "x" * 50000, "<think>" * 5000):
        assert set(read_doctor(text).flags) <= set(FLAGS)


def test_lone_surrogates_and_control_characters_do_not_reach_the_patient() -> None:
    read = read_doctor("Do you\x00 smoke\ud800?\x1b[0m")
    assert "\x00" not in read.visible
    read.visible.encode("utf-8")


PIECES = st.sampled_from(
    [
        "<think>",
        "</think>",
        "Doctor:",
        "Patient:",
        "\n",
        "Final Diagnosis:",
        "flu",
        "?",
        "**",
        " ",
        "<condition>",
        "Differential:",
        "- a",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=25).map("".join)), st.booleans())
@example("<think>", True)
@example("Patient:", False)
def test_any_text_is_read(text: str, forced: bool) -> None:
    read = read_doctor(text, forced=forced)
    assert set(read.flags) <= set(FLAGS)
    assert read.visible == read.visible.strip()
    assert ("empty" in read.flags) == (not read.visible)
    if read.diagnosis is not None:
        assert read.diagnosis.strip()
        assert read.visible
    assert "<think>" not in read.visible
    assert not read.visible.lower().startswith(("patient:", "doctor:"))
    assert read_doctor(read.visible, forced=forced).visible in (read.visible, "") or "loop" in read.flags


@given(
    st.text(alphabet="abc ", max_size=20), st.text(alphabet="xyz ", max_size=20), st.text(alphabet="abc ", max_size=20)
)
def test_thoughts_never_stay(before: str, thought: str, after: str) -> None:
    said, seen, closed = strip_thinking(f"{before}<think>{thought}</think>{after}")
    assert seen
    assert closed
    assert not set(said) & set("xyz")
