"""A look at the site through a browser of this machine."""

from __future__ import annotations

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from verisim_leaderboard.site.build import FIRST_PAGE, MARKER
from verisim_leaderboard.site.render import POLICY
from verisim_tasks.errors import UserError

HOST = "127.0.0.1"
DEFAULT_PORT = 8000


class _Handler(SimpleHTTPRequestHandler):
    """Files of the site only, with its policy as a header, and without a word on the terminal."""

    def end_headers(self) -> None:
        """Add what keeps a browser from guessing and from loading anything else."""
        self.send_header("Content-Security-Policy", f"{POLICY}; frame-ancestors 'none'")
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def make_server(folder: Path, port: int = DEFAULT_PORT) -> ThreadingHTTPServer:
    """A server of a built site on 127.0.0.1; port 0 takes a free one.

    Raises:
        UserError: when the folder is no site, or the port cannot be had.
    """
    if not (folder / MARKER).is_file() or not (folder / FIRST_PAGE).is_file():
        raise UserError(f"{folder} is no leaderboard site; make one with 'verisim leaderboard build --out {folder}'")
    try:
        return ThreadingHTTPServer((HOST, port), partial(_Handler, directory=str(folder)))
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UserError(f"port {port} cannot be had ({reason}); choose another --port, or 0 for any") from error
