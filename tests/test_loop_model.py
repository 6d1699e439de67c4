from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lm_eval.api.instance import Instance
from lm_eval.api.model import CachingLM
from loop_helpers import EchoPatient, ScriptLM, make_case, make_plan, quick

from verisim_tasks.errors import UserError
from verisim_tasks.loop.engine import run_consultations
from verisim_tasks.loop.model import ModelSpeaker, reply_kwargs
from verisim_tasks.loop.prompts import Conversation, Message
from verisim_tasks.loop.replies import Failed, TooLong
from verisim_tasks.records.transcript import Role, Transcript

NOISY = {"memory_recall": 3}


def doctor_of(
    lm: Any, *, chat: bool = True, gen_kwargs: dict[str, Any] | None = None, cache: Any = None
) -> ModelSpeaker:
    return ModelSpeaker(lm, chat=chat, gen_kwargs=gen_kwargs or {}, max_reply_tokens=8, cache=cache)


def consult(lm: Any, plans: list[Any] | None = None, **changes: Any) -> list[Transcript]:
    return run_consultations(plans or [make_plan(noise=NOISY)], doctor_of(lm, **changes), EchoPatient(), quick())


def prompt(text: str) -> Conversation:
    return (Message("user", text),)


def test_identical_prompts_of_a_greedy_turn_are_asked_once() -> None:
    lm = ScriptLM()
    plans = [make_plan(noise={"memory_recall": n}) for n in (1, 2, 3, 4)]
    consult(lm, plans)
    assert [len(call) for call in lm.calls] == [1, 5, 5, 5, 5]


def test_sampled_prompts_are_each_asked() -> None:
    lm = ScriptLM()
    consult(lm, gen_kwargs={"temperature": 0.7})
    assert [len(call) for call in lm.calls] == [2] * 5
    assert all(k["do_sample"] is True for k in lm.kwargs)


def test_every_request_says_until_length_and_sampling() -> None:
    lm = ScriptLM()
    consult(lm)
    assert all(k == {"until": [], "max_gen_toks": 8, "do_sample": False} for k in lm.kwargs)
    consult(lm, chat=False)
    assert lm.kwargs[-1]["until"] == ["\nPatient:", "\nDoctor:"]


@pytest.mark.parametrize("alias", ["max_gen_toks", "max_new_tokens", "max_tokens"])
def test_generation_arguments_have_one_form(alias: str) -> None:
    kwargs = reply_kwargs({alias: 99, "until": "X", "top_p": 0.9, "do_sample": True}, ["\nPatient:"], 8)
    assert kwargs == {"until": ["\nPatient:", "X"], "max_gen_toks": 99, "do_sample": True, "top_p": 0.9}
    assert list(kwargs)[:3] == ["until", "max_gen_toks", "do_sample"]


def test_a_seed_for_the_model_is_refused() -> None:
    with pytest.raises(UserError, match="seed"):
        reply_kwargs({"seed": 1}, [], 8)


def test_a_blank_line_does_not_end_a_reply() -> None:
    lm = ScriptLM(lambda p: "First thought.\n\nHow long?")
    assert consult(lm)[0].turns[1].text == "First thought.\n\nHow long?"


def test_answers_are_read_from_and_written_to_the_response_cache(tmp_path: Path) -> None:
    first = ScriptLM()
    caching = CachingLM(first, str(tmp_path / "cache.db"))
    cold = consult(first, cache=first.cache_hook.dbdict)
    assert first.calls
    again = ScriptLM(lambda p: "must not be asked")
    CachingLM(again, str(tmp_path / "cache.db"))
    warm = consult(again, cache=again.cache_hook.dbdict)
    assert again.calls == []
    assert warm == cold
    request = Instance("generate_until", {}, (first.prompts[0], first.kwargs[0]), 0, ("t", 0, 1))
    first.calls.clear()
    assert caching.generate_until([request]) == ["How long?"]
    assert first.calls == []  # lm-eval itself finds what the loop wrote


def test_sampled_answers_are_not_cached() -> None:
    cache: dict[str, str] = {}
    consult(ScriptLM(), gen_kwargs={"do_sample": True}, cache=cache)
    assert cache == {}


class Counting(ScriptLM):
    """One token a word, and a context length."""

    max_length = 150

    def tok_encode(self, string: str) -> list[int]:
        return list(range(len(string.split())))


def test_a_prompt_too_long_for_the_context_is_never_asked() -> None:
    lm = Counting(lambda p: "one two three four five six seven")
    transcripts = consult(lm)
    assert {t.outcome.stop_reason for t in transcripts} == {"context_limit"}
    assert 0 < transcripts[0].outcome.turns < 5
    assert all(len(p.split()) <= 150 - 8 for p in lm.prompts)


def test_too_long_is_said_with_numbers() -> None:
    (reply,) = doctor_of(Counting())([prompt("word " * 200)])
    assert isinstance(reply, TooLong)
    assert (reply.tokens, reply.limit) == (201, 142)


def test_a_reply_longer_than_the_context_is_a_users_mistake() -> None:
    with pytest.raises(UserError, match="max_reply_tokens"):
        ModelSpeaker(Counting(), chat=True, gen_kwargs={}, max_reply_tokens=150)


class Api(ScriptLM):
    base_url = "http://localhost"
    max_length = 2047


def test_an_api_model_without_tokenizer_is_not_held_to_lm_evals_default_length() -> None:
    assert doctor_of(Api())([prompt("word " * 3000)]) == ["How long?"]


def test_an_api_model_with_a_length_of_its_own_is_held_to_a_cautious_guess() -> None:
    lm = Api()
    lm.max_length = 1000
    assert isinstance(doctor_of(lm)([prompt("word " * 1000)])[0], TooLong)


class Brittle(ScriptLM):
    """Loses a whole call when one prompt in it is bad, as lm-eval's API models do."""

    def generate_until(self, requests: Any, disable_tqdm: bool = False) -> list[str]:
        if any("card-902" in r.args[0] for r in requests):
            raise RuntimeError("500 Server Error")
        return super().generate_until(requests, disable_tqdm)


def test_one_bad_prompt_costs_one_answer() -> None:
    replies = doctor_of(Brittle())([prompt("a"), prompt("card-902"), prompt("b")])
    assert replies == ["How long?", Failed("RuntimeError: 500 Server Error"), "How long?"]


def test_a_model_that_never_answers_stops_the_run_early() -> None:
    lm = Brittle()
    with pytest.raises(UserError, match=r"none of its first 3 requests \(RuntimeError: 500 Server Error\)"):
        doctor_of(lm)([prompt(f"card-902 {n}") for n in range(50)])
    with pytest.raises(UserError, match="none of its first 1 requests"):
        doctor_of(Brittle())([prompt("card-902")])


def test_a_failure_after_the_first_answer_is_not_the_end() -> None:
    doctor = doctor_of(Brittle())
    doctor([prompt("a")])
    assert all(isinstance(r, Failed) for r in doctor([prompt(f"card-902 {n}") for n in range(5)]))


class NoSystem(Api):
    """A server that answers 400 to a system message."""

    def generate_until(self, requests: Any, disable_tqdm: bool = False) -> list[str]:
        if any("<system>" in r.args[0] for r in requests):
            raise RuntimeError("400 Bad Request")
        return super().generate_until(requests, disable_tqdm)


def test_a_server_that_refuses_the_system_role_gets_it_folded() -> None:
    lm = NoSystem()
    transcript = consult(lm)[0]
    assert transcript.outcome.stop_reason == "turn_limit"
    assert all("You are a doctor." in p and "<system>" not in p for p in lm.prompts)


def test_an_empty_answer_of_an_api_model_is_asked_again_once() -> None:
    answers = iter(["", "How long?", "", ""])
    lm = Api(lambda p: next(answers))
    doctor = doctor_of(lm)
    assert doctor([prompt("a")]) == ["How long?"]
    assert doctor([prompt("b")]) == [""]
    assert len(lm.calls) == 4


def test_an_empty_cached_answer_of_an_api_model_is_not_believed() -> None:
    cache: dict[str, str] = {}
    answers = iter(["", "", "How long?"])
    lm = Api(lambda p: next(answers))
    assert doctor_of(lm, cache=cache)([prompt("a")]) == [""]
    assert doctor_of(lm, cache=cache)([prompt("a")]) == ["How long?"]


def test_an_empty_answer_of_a_local_model_is_an_empty_turn() -> None:
    lm = ScriptLM(lambda p: "")
    transcript = consult(lm)[0]
    assert transcript.turns[1].flags == ("empty",)
    assert transcript.outcome.stop_reason == "turn_limit"
    assert len(lm.calls) == 5


class CannotGenerate(ScriptLM):
    def generate_until(self, requests: Any, disable_tqdm: bool = False) -> list[str]:
        raise NotImplementedError


def test_a_model_that_cannot_generate_is_named() -> None:
    with pytest.raises(UserError, match="CannotGenerate cannot generate text"):
        consult(CannotGenerate())


def test_model_arguments_stay_out_of_transcripts() -> None:
    lm = ScriptLM()
    lm.api_key = "hunter2"
    transcripts = run_consultations(
        [make_plan(make_case())],
        doctor_of(lm),
        EchoPatient(),
        quick(),
        roles={"doctor": doctor_of(lm).role("script"), "patient": Role(model="echo")},
    )
    assert "hunter2" not in transcripts[0].model_dump_json()
    assert transcripts[0].roles["doctor"].settings["channel"] == "chat"
