"""The loop with lm-eval's own chat-completions model, against a small server that misbehaves on request."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from loop_helpers import OPENING, EchoPatient, make_case, make_plan, quick

from verisim_tasks.loop.engine import run_consultations
from verisim_tasks.loop.model import ModelSpeaker

pytest.importorskip("tenacity", reason="lm-eval's API models need it (lm-eval[api])")


class Server(ThreadingHTTPServer):
    """Remembers what it was sent; answers by what stands in the messages."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.payloads: list[dict[str, Any]] = []


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        payload = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.payloads.append(payload)
        words = json.dumps(payload["messages"])
        if "BROKEN" in words:
            return self._send(500, "Internal Server Error")
        if "GARBAGE" in words:
            return self._send(200, "<html>")
        turns = sum(m["role"] == "assistant" for m in payload["messages"])
        text = "Do you smoke?\n\nOr drink?\nPatient: Yes." if turns < 1 else "Final Diagnosis: Flu"
        return self._send(200, json.dumps({"choices": [{"index": 0, "message": {"content": text}}]}))

    def _send(self, code: int, body: str) -> None:
        data = body.encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    thread = threading.Thread(target=running.serve_forever, daemon=True)
    thread.start()
    yield running
    running.shutdown()
    running.server_close()


@pytest.mark.parametrize("concurrent", [1, 4])
def test_a_chat_server_gets_the_messages_and_its_faults_cost_one_consultation(server: Server, concurrent: int) -> None:
    from lm_eval.models.openai_completions import LocalChatCompletion

    lm = LocalChatCompletion(
        base_url=f"http://127.0.0.1:{server.server_address[1]}/v1/chat/completions",
        model="tiny",
        num_concurrent=concurrent,
        max_retries=1,
    )
    doctor = ModelSpeaker(lm, chat=True, gen_kwargs={}, max_reply_tokens=50)
    cases = [make_case("card-901")]
    for number, word in ((902, "BROKEN"), (903, "GARBAGE")):
        facts = [{**f.model_dump(mode="json"), "lay": f"{word} {f.lay}"} for f in cases[0].facts]
        cases.append(make_case(f"card-{number}", facts=facts))
    good, broken, garbage = run_consultations([make_plan(c) for c in cases], doctor, EchoPatient(), quick())
    assert (good.outcome.stop_reason, good.outcome.diagnosis) == ("diagnosed", "Flu")
    assert good.turns[1].text == "Do you smoke?\n\nOr drink?"  # cut by us: servers get few stop strings
    assert {broken.outcome.stop_reason, garbage.outcome.stop_reason} == {"error"}
    first = server.payloads[0]
    assert [m["role"] for m in first["messages"]] == ["system", "user"]
    assert OPENING in first["messages"][1]["content"]
    assert first["max_tokens"] == 50
    assert "do_sample" not in first
