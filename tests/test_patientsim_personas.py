"""Personas and what they understand."""

from collections import Counter

import pytest

from verisim_metrics.patientsim.comprehension import hard_words, understands, word_level
from verisim_metrics.patientsim.personas import AXES, Persona, all_personas, parse_persona
from verisim_tasks.errors import UserError
from verisim_tasks.records.noise import NoiseProfile


def test_there_are_37_distinct_personas():
    personas = all_personas()
    assert len(personas) == len({p.id for p in personas}) == 37
    assert [p for p in personas if p.dazed == "high"] == [Persona(dazed="high")]
    assert set(Counter(p.personality for p in personas[:-1]).values()) == {6}
    assert set(Counter(p.language for p in personas[:-1]).values()) == {12}


def test_every_persona_maps_to_noise_and_says_what_is_missing():
    for persona in all_personas():
        assert isinstance(persona.noise, NoiseProfile)
        assert set(persona.differences) == set(AXES)
        assert all(persona.differences.values())
        assert parse_persona(persona.as_record()) == persona
    assert all_personas()[0].description


def test_the_mapping_of_each_axis():
    assert Persona().noise.is_clean
    assert Persona(recall="low").noise == NoiseProfile({"memory_recall": 3})
    assert Persona(dazed="high").noise == NoiseProfile({"cognitive_processing": 3})
    assert set(Persona(personality="distrust", language="A").noise) == {"social_cultural", "health_literacy"}
    assert Persona(personality="pleasing").noise.is_clean


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"personality": "overanxius"}, "did you mean 'overanxious'"),
        ({"langage": "A"}, "did you mean 'language'"),
        ({"recall": 3}, "recall cannot be 3"),
        ({"language": None}, "language cannot be None"),
    ],
)
def test_a_wrong_persona_is_one_clear_error(values, words):
    with pytest.raises(UserError, match=words):
        parse_persona(values)


def test_levels_nest():
    for question in (
        "Where does it hurt?",
        "Do you have palpitations?",
        "Any dyspnoea on exertion?",
        "Does it radiate?",
    ):
        assert understands(question, "A") <= understands(question, "B") <= understands(question, "C")


def test_plain_questions_are_understood_and_jargon_is_not():
    for question in ("Where does it hurt?", "Do you have any allergies?", "When did the pain start?", "Do you smoke?"):
        assert understands(question, "A"), hard_words(question, "A")
    assert "radiate" in hard_words("Does the pain radiate to your arm?", "A")
    assert understands("Does the pain radiate to your arm?", "B")
    assert hard_words("Do you get dyspnoea?", "B") == ("dyspnoea",)
    assert word_level("tablets") == word_level("38") == word_level("don't") == 1.0
    with pytest.raises(UserError, match="no CEFR level 'B2'"):
        hard_words("Hello?", "B2")  # type: ignore[arg-type]
