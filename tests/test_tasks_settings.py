from __future__ import annotations

from typing import Any

import pytest

from verisim_tasks.errors import UserError
from verisim_tasks.settings import Settings, read_settings


def test_defaults_stand_where_nothing_is_said() -> None:
    assert read_settings(None) == read_settings({}) == read_settings({"verisim": None}) == Settings()
    assert Settings().model_dump() == {
        "patient": "scripted",
        "judge": None,
        "nli": "builtin",
        "persona": None,
        "interviewer": "clinician",
        "cases": "bank",
        "max_turns": 20,
        "seed": 1234,
        "repeats": 1,
        "max_reply_tokens": 256,
        "report": True,
        "max_report_tokens": 768,
        "examiner": False,
        "collaboration": {"doctors": 3, "central": "same", "rounds": 4, "dispute_resolution": True},
        "run_dir": None,
        "cache": False,
        "keep_restricted_text": False,
    }


def test_only_our_own_key_is_read() -> None:
    metadata = {"seed": 7, "max_turns": 3, "token": "secret", "verisim": {"max_turns": 9}}
    assert read_settings(metadata) == Settings(max_turns=9)


def test_an_unknown_key_is_named_with_the_near_miss() -> None:
    with pytest.raises(UserError, match=r"unknown setting 'max_turn' .*did you mean 'max_turns'"):
        read_settings({"verisim": {"max_turn": 3}})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("max_turns", 0),
        ("max_turns", "20"),
        ("max_turns", True),
        ("max_turns", 2.5),
        ("seed", -1),
        ("repeats", 0),
        ("cases", ""),
        ("cases", 3),
        ("patient", "human"),
        ("report", "no"),
        ("examiner", {"absent_tests": "fine"}),
        ("examiner", 1),
        ("collaboration", {"doctors": 4}),
        ("collaboration", {"rounds": 5}),
        ("collaboration", {"doctors": [{"model": "hf"}]}),
        ("max_reply_tokens", None),
        ("run_dir", 5),
    ],
)
def test_a_wrong_value_is_one_sentence_that_names_it(key: str, value: Any) -> None:
    with pytest.raises(UserError) as caught:
        read_settings({"verisim": {key: value}})
    sentence = str(caught.value)
    assert key in sentence
    assert repr(value) in sentence
    assert "\n" not in sentence


def test_settings_must_be_a_mapping() -> None:
    with pytest.raises(UserError, match="not a mapping"):
        read_settings({"verisim": "max_turns=3"})
