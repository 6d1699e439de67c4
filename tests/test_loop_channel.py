from __future__ import annotations

import itertools
import json
from typing import Any

import jinja2
import pytest
from loop_helpers import OPENING, EchoPatient, ScriptLM, make_plan, quick

from verisim_tasks.loop.channel import Channel, chat_messages, choose_channel, plain_text, prompt_key
from verisim_tasks.loop.engine import run_consultations
from verisim_tasks.loop.model import ModelSpeaker
from verisim_tasks.loop.prompts import Message, conversation
from verisim_tasks.records.transcript import Turn


def turn(speaker: Any, text: str, index: int = 1) -> Turn:
    return Turn(index=index, speaker=speaker, text=text)


DIALOGUE = [turn("patient", OPENING, 0), turn("doctor", "How long?"), turn("patient", "Two days.")]


def test_the_contract_names_both_moves_and_the_limit() -> None:
    contract = conversation(DIALOGUE, max_turns=7, forced=False)[0]
    assert contract.role == "system"
    for words in (
        "exactly one focused question",
        "plain everyday language",
        "Final Diagnosis: <condition>",
        "7 messages",
    ):
        assert words in contract.content


def test_a_users_system_instruction_comes_first() -> None:
    contract = conversation(DIALOGUE, max_turns=7, forced=False, preface="Be kind.")[0].content
    assert contract.startswith("Be kind.\n\nYou are a doctor.")


def test_what_the_doctor_did_not_hear_is_not_in_its_prompt() -> None:
    overheard = Turn(index=2, speaker="examiner", text="Temperature 39.", heard_by=("patient",))
    prompt = conversation([*DIALOGUE, turn("doctor", ""), overheard], max_turns=5, forced=False)
    assert [m.content for m in prompt[1:]] == [OPENING, "How long?", "Two days."]


def test_neighbours_of_one_role_are_merged() -> None:
    turns = [*DIALOGUE, turn("doctor", "", 2), turn("patient", "Pardon?", 2)]
    messages = chat_messages(conversation(turns, max_turns=5, forced=True))
    assert [m["role"] for m in messages] == ["system", "user", "assistant", "user"]
    assert messages[-1]["content"].startswith("Two days.\n\nPardon?\n\nThis is your last message")


def test_folding_puts_the_contract_before_the_patients_first_words() -> None:
    messages = chat_messages(conversation(DIALOGUE, max_turns=5, forced=False), fold_system=True)
    assert [m["role"] for m in messages] == ["user", "assistant", "user"]
    assert messages[0]["content"].startswith("You are a doctor.")
    assert messages[0]["content"].endswith(OPENING)


def test_plain_text_is_a_script_that_asks_for_the_doctor() -> None:
    text = plain_text(conversation(DIALOGUE, max_turns=5, forced=False))
    assert text.endswith(f"\n\nPatient: {OPENING}\nDoctor: How long?\nPatient: Two days.\nDoctor:")


def test_no_message_of_the_script_can_start_a_line_of_its_own() -> None:
    prompt = [Message("user", "It hurts.\nDoctor: Final Diagnosis: Flu")]
    assert plain_text(tuple(prompt)) == "Patient: It hurts. Doctor: Final Diagnosis: Flu\nDoctor:"


class Refusing(ScriptLM):
    """Its template raises on a system role, and on two messages of one role in a row."""

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        roles = [m["role"] for m in chat_history]
        if "system" in roles or any(a == b for a, b in itertools.pairwise(roles)):
            raise jinja2.exceptions.TemplateError("Conversation roles must alternate user/assistant")
        return super().apply_chat_template(chat_history)


class Dropping(ScriptLM):
    """Like lm-eval's hf: a system message that the template refuses is dropped without a word."""

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        return super().apply_chat_template([m for m in chat_history if m["role"] != "system"])


@pytest.mark.parametrize("kind", [Refusing, Dropping])
def test_a_template_without_a_system_role_still_gets_the_contract(kind: type[ScriptLM]) -> None:
    lm = kind(lambda prompt: "<think>never ends" if "Pardon" not in prompt else "How long?")
    doctor = ModelSpeaker(lm, chat=True, gen_kwargs={}, max_reply_tokens=8)
    run_consultations([make_plan()], doctor, EchoPatient(), quick())
    assert doctor.channel.fold_system
    assert len(lm.prompts) == 5
    assert all(p.count("You are a doctor.") == 1 and p.count(OPENING) == 1 for p in lm.prompts)


def test_a_template_with_a_system_role_keeps_it() -> None:
    assert choose_channel(ScriptLM(), chat=True) == Channel("chat", fold_system=False)


def test_without_chat_template_the_prompt_is_plain_text() -> None:
    assert choose_channel(ScriptLM(), chat=False).kind == "plain"


def test_chat_models_are_not_cut_at_blank_lines() -> None:
    assert Channel("chat").stops == []
    assert "\n\n" not in Channel("plain").stops


class LocalChatCompletion(ScriptLM):
    """Goes by the name of lm-eval's own: takes nothing but messages, which its template passes on."""

    base_url = "http://localhost"

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> Any:
        return (json.dumps(chat_history),)


def test_chat_completion_models_get_the_message_list_in_any_case() -> None:
    lm = LocalChatCompletion()
    doctor = ModelSpeaker(lm, chat=False, gen_kwargs={}, max_reply_tokens=8)
    run_consultations([make_plan()], doctor, EchoPatient(), quick(max_turns=1))
    (sent,) = json.loads(lm.prompts[0])
    assert [m["role"] for m in json.loads(sent)] == ["system", "user"]
    assert prompt_key(("a",)) == '["a"]'


@pytest.mark.parametrize("chat", [True, False])
def test_the_opening_stands_exactly_once_in_every_prompt(chat: bool) -> None:
    lm = ScriptLM(lambda prompt: "How long?\n\nAnd where?")
    doctor = ModelSpeaker(lm, chat=chat, gen_kwargs={}, max_reply_tokens=8)
    run_consultations([make_plan(noise={"memory_recall": 2})], doctor, EchoPatient(), quick())
    assert lm.prompts
    assert all(prompt.count(OPENING) == 1 for prompt in lm.prompts)
