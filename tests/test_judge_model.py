"""An lm-eval model as the judge's backend."""

from __future__ import annotations

import gc
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from loop_helpers import ScriptLM

from verisim_metrics.judging import Failure, Judge, JudgePrompt, Question, load_rubric
from verisim_metrics.judging.prompt import schema
from verisim_tasks.errors import UserError
from verisim_tasks.loop.model_judge import ModelJudge, make_model_judge
from verisim_tasks.loop.role_model import ModelSpec, create_model

THREE = '{"justification": "It fits.", "score": 3}'
SCHEMA = schema(load_rubric("plausibility"))


class ServerLM(ScriptLM):
    """Looks like an API model; can refuse what it is sent."""

    base_url = "http://localhost/v1/chat/completions"

    def __init__(self, answer=None, *, refuses=lambda text, kwargs: False):
        super().__init__(answer or (lambda prompt: THREE))
        self.refuses = refuses

    def generate_until(self, requests, disable_tqdm=False):
        replies = super().generate_until(requests)
        if any(self.refuses(r.args[0], r.args[1]) for r in requests):
            raise RuntimeError("400 Bad Request")
        return replies


class NoTemplateLM(ScriptLM):
    def apply_chat_template(self, chat_history, add_generation_prompt=True):
        raise ValueError("no chat template")


def prompt(text="Rate.", json_schema=None, **changes):
    system, user = {"role": "system", "content": "Judge."}, {"role": "user", "content": text}
    return JudgePrompt(messages=(system, user), schema=json_schema, **changes)


def backend(lm, **changes):
    return ModelJudge(lm, identity={"model": "script"}, **changes)


def test_a_whole_judgement_over_a_model():
    lm = ScriptLM(lambda text: THREE if "cough" in text else "hm")
    model = backend(lm)
    judge = Judge(model, identity=model.identity, count_tokens=model.count_tokens)
    blocks = dict.fromkeys(load_rubric("plausibility").blocks, "x")
    good, bad = judge([Question("plausibility", {**blocks, "sentence": s}) for s in ("A cough.", "An itch.")])
    assert (good.score, bad.score) == (3, None)
    assert good.tokens.unit == "characters"
    assert [len(call) for call in lm.calls] == [2, 1, 1]
    assert lm.prompts[0].startswith("<system>You are a careful medical assessor")
    assert lm.kwargs[0] == {"until": [], "max_gen_toks": 512, "do_sample": False}


def test_no_chat_template_is_one_clear_error():
    with pytest.raises(UserError, match="the judge model script has no chat template"):
        backend(NoTemplateLM())


def test_one_bad_prompt_costs_one_reply():
    lm = ServerLM(refuses=lambda text, kwargs: "bad" in text)
    replies = backend(lm)([prompt("bad 1"), prompt("good"), prompt("bad 2")])
    assert [isinstance(r, Failure) for r in replies] == [True, False, True]
    assert replies[0] == Failure("RuntimeError: 400 Bad Request")


def test_bad_prompts_in_front_do_not_cost_the_others():
    lm = ServerLM(refuses=lambda text, kwargs: "bad" in text)
    replies = backend(lm)([*(prompt(f"bad {n}") for n in range(5)), *(prompt(f"good {n}") for n in range(4))])
    assert [isinstance(r, str) for r in replies] == [False] * 5 + [True] * 4


def test_a_dead_server_is_not_asked_for_ever():
    lm = ServerLM(refuses=lambda text, kwargs: True)
    replies = backend(lm)([prompt(str(n), SCHEMA) for n in range(200)])
    assert all(isinstance(r, Failure) for r in replies)
    assert len(lm.calls) < 50


def test_structured_output_is_asked_of_servers_one_call_per_schema():
    lm = ServerLM()
    other = schema(load_rubric("realism"))
    backend(lm)([prompt("a", SCHEMA), prompt("b", other), prompt("c", SCHEMA), prompt("d")])
    assert [len(call) for call in lm.calls] == [2, 1, 1]
    form = lm.kwargs[0]["response_format"]
    assert form == {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": SCHEMA}}
    assert "response_format" not in lm.kwargs[-1]


def test_local_models_are_not_sent_a_response_format():
    lm = ScriptLM(lambda text: THREE)
    backend(lm)([prompt("a", SCHEMA)])
    assert "response_format" not in lm.kwargs[0]


def test_a_server_that_refuses_structured_output_goes_without():
    lm = ServerLM(refuses=lambda text, kwargs: "response_format" in kwargs)
    model = backend(lm)
    assert model([prompt("a", SCHEMA), prompt("b", SCHEMA)]) == [THREE, THREE]
    asked = len(lm.calls)
    assert model([prompt("c", SCHEMA)]) == [THREE]
    assert len(lm.calls) == asked + 1


def test_sampling_reaches_the_model():
    lm = ScriptLM(lambda text: THREE)
    backend(lm)([prompt("a", temperature=0.7, max_reply_tokens=50)])
    assert lm.kwargs[0] == {"until": [], "max_gen_toks": 50, "do_sample": True, "temperature": 0.7}


def test_a_prompt_that_does_not_fit_is_a_failure():
    lm = ScriptLM(lambda text: THREE)
    lm.max_length = 600
    lm.tok_encode = lambda text: list(range(len(text)))
    long, short = backend(lm)([prompt("word " * 100), prompt("Rate.")])
    assert isinstance(long, Failure)
    assert re.match(r"the prompt has \d+ tokens and the judge has room for 88", long.reason)
    assert short == THREE


def test_a_template_without_system_role_gets_the_rules_with_the_question():
    class Folding(ScriptLM):
        def apply_chat_template(self, chat_history, add_generation_prompt=True):
            assert chat_history[0]["role"] != "system"
            return super().apply_chat_template(chat_history)

    lm = Folding(lambda text: THREE)
    backend(lm)([prompt()])
    assert lm.prompts == ["<user>Judge.\n\nRate.<assistant>"]


def test_specs_and_their_identity():
    spec = ModelSpec.read({"model": "hf", "model_args": "pretrained=some/model,dtype=float32"}, "judge")
    assert spec.args == {"pretrained": "some/model", "dtype": "float32"}
    assert (spec.identity["model"], spec.identity["weights"]) == ("hf", "some/model")
    with pytest.raises(UserError, match="'auth_token', which would be written"):
        ModelSpec.read({"model": "hf", "model_args": {"auth_token": "s3cret"}}, "judge")
    assert ModelSpec("hf", {**spec.args, "dtype": "auto"}).identity != spec.identity


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "needs a model"),
        ({"model": "hf", "args": {}}, "knows no 'args'"),
        ({"model": "hf", "model_args": 3}, "is int"),
        ({"model": "hff"}, "unknown judge model 'hff'.*did you mean 'hf'"),
        ({"model": "gguf"}, "could not be loaded"),
        ("other", 'write "same"'),
        ("same", "no model under test"),
    ],
)
def test_wrong_settings_are_one_clear_error(given, message):
    with pytest.raises(UserError, match=message):
        make_model_judge(given)


def test_models_are_made_by_lm_eval():
    assert type(create_model(ModelSpec("dummy", {}), "judge")).__name__ == "DummyLM"


def test_the_same_model_is_reused_and_flagged():
    lm = ScriptLM()
    spec = ModelSpec("hf", {"pretrained": "some/model"})
    by_word = make_model_judge("same", doctor=lm, doctor_spec=spec)
    by_spec = make_model_judge({"model": "hf", "model_args": "pretrained=some/model"}, doctor=lm, doctor_spec=spec)
    for judge in (by_word, by_spec):
        assert judge.lm is lm
        assert judge.role.same_as_doctor
        assert judge.role.model == "hf:some/model"
    assert not backend(lm).role.same_as_doctor


class Handler(BaseHTTPRequestHandler):
    """A chat server; one that is strict refuses ``response_format``."""

    def do_POST(self):
        payload = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.payloads.append(payload)
        refused = self.server.strict and "response_format" in payload
        message = {"choices": [{"index": 0, "message": {"content": THREE}}]}
        body = json.dumps({"error": "unknown field"} if refused else message).encode()
        self.send_response(400 if refused else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    running.daemon_threads = True
    running.payloads, running.strict = [], False
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield running
    running.shutdown()
    running.server_close()
    gc.collect()  # lm-eval leaves progress bars open; one that is finalised inside ast.parse breaks CPython 3.11


@pytest.mark.parametrize("concurrent", [1, 4])
@pytest.mark.parametrize("strict", [False, True])
def test_a_real_chat_model_of_lm_eval_passes_the_schema_on(server, strict, concurrent):
    pytest.importorskip("tenacity", reason="lm-eval's API models need it (lm-eval[api])")
    server.strict = strict
    url = f"http://127.0.0.1:{server.server_address[1]}/v1/chat/completions"
    args = {"model": "tiny", "base_url": url, "max_retries": 1, "num_concurrent": concurrent}
    model = make_model_judge({"model": "local-chat-completions", "model_args": args})
    blocks = dict.fromkeys(load_rubric("plausibility").blocks, "x")
    asks = [Question("plausibility", {**blocks, "sentence": s}) for s in ("A cough.", "An itch.")]
    asks.append(Question("realism", {"difficulties": "none", "dialogue": "x"}))
    judged = Judge(model, identity=model.identity)(asks)
    assert [j.score for j in judged] == [3, 3, 3]
    answered = [p for p in server.payloads if not (strict and "response_format" in p)]
    forms = [p.get("response_format", {}).get("json_schema", {}).get("schema") for p in answered]
    names = ("plausibility", "plausibility", "realism")
    assert forms == [None if strict else schema(load_rubric(name)) for name in names]
    assert answered[0]["temperature"] == 0
    assert [m["role"] for m in answered[0]["messages"]] == ["system", "user"]
