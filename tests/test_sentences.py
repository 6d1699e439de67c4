"""Splitting what patients say into sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verisim_tasks.language.sentences import sentence_spans, split_sentences

CASES = {
    "Dr. Patel saw me at 2 p.m. yesterday. It was 38.5 then.": [
        "Dr. Patel saw me at 2 p.m. yesterday.",
        "It was 38.5 then.",
    ],
    "I take tablets, e.g. ibuprofen. Not often.": ["I take tablets, e.g. ibuprofen.", "Not often."],
    "Well... it hurts. um… i don't know. it started monday": [
        "Well... it hurts.",
        "um… i don't know.",
        "it started monday",
    ],
    'He said, "Don\'t worry." I do though.': ['He said, "Don\'t worry."', "I do though."],
    "He takes 5 mg. of warfarin. Is that ok? Yes!": ["He takes 5 mg. of warfarin.", "Is that ok?", "Yes!"],
    "I woke at 3 a.m. It was bad. My temp. was 101.2.": ["I woke at 3 a.m.", "It was bad.", "My temp. was 101.2."],
    "at 2 p.m. Monday I fell. we drove at 4 p.m. it was raining.": [
        "at 2 p.m. Monday I fell.",
        "we drove at 4 p.m.",
        "it was raining.",
    ],
    "It lasted 5 min. Then it stopped.": ["It lasted 5 min.", "Then it stopped."],
    "I take Tylenol, Advil, etc. Nothing helps.": ["I take Tylenol, Advil, etc.", "Nothing helps."],
    "the pain is 7/10. no fever. no cough": ["the pain is 7/10.", "no fever.", "no cough"],
    "Really?? Yes!! Oh no...": ["Really??", "Yes!!", "Oh no..."],
    "- tired\n- no appetite\n\nThat is all.": ["tired", "no appetite", "That is all."],
    "1. Chest pain\n2. Nausea": ["Chest pain", "Nausea"],
    "It started 3 days ago.And it got worse.": ["It started 3 days ago.", "And it got worse."],
    "(It hurt.) Then it stopped.": ["(It hurt.)", "Then it stopped."],
    "It hurts me. I am ill. I have not fed. May I go?": ["It hurts me.", "I am ill.", "I have not fed.", "May I go?"],
    "Thanks for telling me. May I look? I said no. I did.": [
        *("Thanks for telling me.", "May I look?", "I said no.", "I did."),
    ],
    "No. Next question.": ["No.", "Next question."],
    "I was born in the U.S. I moved here later.": ["I was born in the U.S.", "I moved here later."],
    "": [],
    " \n ": [],
}


@pytest.mark.parametrize("text", CASES)
def test_splits(text):
    assert list(split_sentences(text)) == CASES[text]


PIECES = st.sampled_from(
    ["I", "it", "5", "mg.", "p.m.", "Dr.", "No.", "...", "?", "\n", "(", ")", '"', "hurts.", "1. ", "U.S."]
)


@given(st.one_of(st.text(), st.lists(PIECES).map(" ".join)))
def test_spans_are_in_order_and_lose_no_letter(text):
    spans, cursor = sentence_spans(text), 0
    for start, end in spans:
        assert cursor <= start < end <= len(text)
        cursor = end
    kept = "".join(text[start:end] for start, end in spans)
    assert sum(map(str.isalpha, kept)) == sum(map(str.isalpha, text))
