"""Reading patients: numbers and times, clauses, whose it is, short answers."""

from __future__ import annotations

import pytest

from verisim_tasks.language.lexicon import default_lexicon
from verisim_tasks.verify.claims import Extractor
from verisim_tasks.verify.quantities import agrees, quantities
from verisim_tasks.verify.reading import Reader
from verisim_tasks.verify.vocabulary import ClinicalTerms


@pytest.fixture(scope="module")
def extractor() -> Extractor:
    return Extractor(Reader(ClinicalTerms(default_lexicon())))


@pytest.mark.parametrize(
    ("claim", "record", "same"),
    [
        ("two weeks", "14 days", True),
        ("about two weeks", "two weeks", True),
        ("two weeks", "about two weeks", True),
        ("a few days", "four days", True),
        ("three weeks", "several weeks", False),
        ("two months", "about five weeks", False),
        ("eleven pounds", "5 kg", True),
        ("twice a day", "BID", True),
        ("every day", "twice a day", True),
        ("three times a day", "twice a day", False),
        ("once or twice a day", "twice a day", False),
        ("ten years ago", "in 2015", True),
        ("three years ago", "in 2008", False),
        ("seven out of ten", "7 of 10", True),
        ("at 62", "aged sixty-two", True),
        ("since last night", "12 hours ago", True),
        ("thirty-eight point seven degrees", "38.7 C", False),
        ("twice a day", "two or three times a day", True),
        ("once a day", "daily", True),
        ("four times a day", "two or three times a day", False),
        ("half an hour or less", "twenty minutes", True),
        ("most of a year", "eight months", True),
        ("a week or two ago", "ten days ago", True),
        ("two days ago", "in 2023", False),
    ],
)
def test_numbers_and_times_are_compared_as_intervals(claim: str, record: str, same: bool) -> None:
    held = quantities(record)
    assert any(agrees(q, r) for q in quantities(claim) for r in held) is same


def test_a_clause_keeps_its_own_subject(extractor: Extractor) -> None:
    own, father = extractor.claims("I have a cough and my father had a stroke")
    assert (own.reading.subject, father.reading.subject) == ("self", "family")
    assert father.reading.kin == {"father"}


@pytest.mark.parametrize(
    ("question", "answer", "text", "negative"),
    [
        ("Have you had a fever?", "No, never.", "I have not had a fever", True),
        ("Do you smoke?", "Not really", "I do not smoke", True),
        ("Do you have any chest pain?", "Yes.", "I have any chest pain", False),
        ("Any allergies?", "None that I know of.", "No: any allergies", True),
        ("Are you short of breath?", "Yeah, a bit.", "I am short of breath", False),
    ],
)
def test_short_answers_take_their_meaning_from_the_question(
    extractor: Extractor, question: str, answer: str, text: str, negative: bool
) -> None:
    first = extractor.claims(answer, question)[0]
    assert (first.text, first.negative, first.manner) == (text, negative, "answer")


def test_a_fragment_keeps_what_it_answers_as_context(extractor: Extractor) -> None:
    (claim,) = extractor.claims("About three weeks.", "How long have you had the pain?")
    assert claim.context is not None
    assert [q.kind for q in claim.reading.quantities] == ["time"]


@pytest.mark.parametrize(
    ("text", "denied", "stated"),
    [
        ("I have a dry cough but no fever", {"fever"}, {"dry_cough"}),
        ("I can't sleep", set(), {"insomnia"}),
        ("I haven't been eating much", set(), {"appetite_loss"}),
        ("no fever and no cough", {"fever", "cough"}, set()),
    ],
)
def test_negation_ends_where_it_should(extractor: Extractor, text: str, denied: set[str], stated: set[str]) -> None:
    atoms = [a for c in extractor.claims(text) for a in c.reading.of("concept")]
    assert denied <= {v for a in atoms if a.negated for v in a.values}
    assert stated <= {v for a in atoms if not a.negated for v in a.values}


@pytest.mark.parametrize(
    ("text", "manner"),
    [
        ("Could it be my heart?", "talk"),
        ("I'm scared it might be cancer.", "talk"),
        ("I can't remember.", "deflection"),
        ("I'm not sure about that.", "deflection"),
    ],
)
def test_questions_fears_and_gaps_claim_nothing(extractor: Extractor, text: str, manner: str) -> None:
    assert {c.manner for c in extractor.claims(text)} == {manner}
