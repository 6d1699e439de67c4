"""An OpenAI-compatible chat server on 127.0.0.1 that misbehaves when a word in the messages tells it to."""

from __future__ import annotations

import contextlib
import hashlib
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

HANG = 2.5
"""Seconds that a hanging answer takes; clients in tests wait for one."""


class FaultServer(ThreadingHTTPServer):
    """Answers with a function of the messages; remembers what it was sent."""

    daemon_threads = True

    def __init__(
        self,
        answer: Callable[[list[dict[str, str]]], str],
        *,
        dies_after: int | None = None,
        fails: Callable[[str], str | None] | None = None,
    ) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.fails = fails or _told
        self.dies_after = dies_after
        self.seen: list[str] = []

    @property
    def url(self) -> str:
        """Where a client sends its messages."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1/chat/completions"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that went away are no news."""


class _Handler(BaseHTTPRequestHandler):
    server: FaultServer

    def do_POST(self) -> None:
        payload = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        words = json.dumps(payload["messages"])
        self.server.seen.append(words)
        dead = self.server.dies_after is not None and len(self.server.seen) > self.server.dies_after
        fault = "refuse" if dead else self.server.fails(words)
        with contextlib.suppress(OSError):
            if fault is None:
                self.send(200, reply(self.server.answer(payload["messages"])))
            else:
                FAULTS[fault](self, words)

    def send(self, code: int, body: str, kind: str = "application/json", length: int | None = None) -> None:
        data = body.encode()
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data) if length is None else length))
        self.end_headers()
        self.wfile.write(data)

    def reset(self) -> None:
        """End the connection as a process does that is gone."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def once_empty(self, words: str) -> None:
        first = self.server.seen.count(words) == 1
        self.send(200, reply("" if first else self.server.answer(json.loads(words))))

    def log_message(self, *args: Any) -> None:
        pass


def reply(text: str) -> str:
    """The body of a good answer."""
    return json.dumps({"choices": [{"index": 0, "message": {"role": "assistant", "content": text}}]})


def _hang(handler: _Handler) -> None:
    time.sleep(HANG)
    handler.send(200, reply("Too late."))


FAULTS: dict[str, Callable[[_Handler, str], None]] = {
    "timeout": lambda h, w: _hang(h),
    "refuse": lambda h, w: h.reset(),
    "429": lambda h, w: h.send(429, '{"error": {"message": "slow down"}}'),
    "500": lambda h, w: h.send(500, "Internal Server Error", "text/plain"),
    "truncated": lambda h, w: h.send(200, reply("How long have you had it?")[:-20]),
    "short": lambda h, w: h.send(200, reply("How long?")[:30], length=400),
    "html": lambda h, w: h.send(200, "<html><body>Bad gateway</body></html>", "text/html"),
    "body": lambda h, w: h.send(200, '{"error": {"message": "overloaded"}}'),
    "nochoice": lambda h, w: h.send(200, '{"choices": []}'),
    "empty": lambda h, w: h.send(200, reply("")),
    "once": lambda h, w: h.once_empty(w),
}
"""What goes wrong, by the word in the messages (``FAULT-500.``)."""


def _told(words: str) -> str | None:
    """The fault that stands in the messages."""
    return next((name for name in FAULTS if f"FAULT-{name}." in words), None)


QUICK = ("refuse", "429", "500", "truncated", "html", "body", "nochoice", "empty")
"""Faults that take no time."""


def often(share: float) -> Callable[[str], str | None]:
    """Faults in a share of the messages, the same ones whenever they are sent."""

    def fails(words: str) -> str | None:
        number = int(hashlib.sha256(words.encode()).hexdigest()[:8], 16)
        return QUICK[number % len(QUICK)] if number % 1000 < 1000 * share else None

    return fails


@contextlib.contextmanager
def serving(answer: Callable[[list[dict[str, str]]], str], **options: Any) -> Iterator[FaultServer]:
    """A running server."""
    server = FaultServer(answer, **options)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
