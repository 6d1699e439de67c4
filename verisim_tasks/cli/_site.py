"""``verisim leaderboard build`` and ``serve``: the leaderboard as a static site."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

Part = Callable[[str, str, Callable[[argparse.Namespace], int]], argparse.ArgumentParser]
"""Adds one subcommand: its name, what it does, and the function that does it."""
SITE = Path("site")
_PORT = 8000


def add_site_parts(part: Part, entries: Path) -> None:
    """Add both subcommands."""
    build = part("build", "make a static site of the entries; it works from a file and offline", run_build)
    build.add_argument("--out", type=Path, default=SITE, metavar="DIR", help="default: %(default)s")
    build.add_argument("--entries", type=Path, default=entries, metavar="DIR", help="default: %(default)s")
    build.add_argument(
        "--transcripts",
        choices=("all", "mixed", "none"),
        default="all",
        help="consultations to show: all, the clean and mixed ones, or none; default: %(default)s",
    )
    build.add_argument("--cases", default="bank", metavar="SOURCE", help="where the facts are; default: %(default)s")
    serve = part("serve", "show a built site on 127.0.0.1", run_serve)
    serve.add_argument("folder", nargs="?", type=Path, default=SITE, metavar="DIR", help="default: %(default)s")
    serve.add_argument("--port", type=int, default=_PORT, metavar="N", help="default: %(default)s; 0 takes a free one")


def run_build(args: argparse.Namespace) -> int:
    """Build the site and say where it is."""
    from verisim_leaderboard.site import build_site

    built = build_site(args.entries, args.out, dialogues=args.transcripts, cases=args.cases)
    held = f"{built.entries} entries, {built.consultations} consultations, {built.size / 1e6:.1f} MB"
    print(f"site of {held} written to {built.folder}; open {built.folder / 'index.html'}")
    return 0


def run_serve(args: argparse.Namespace) -> int:
    """Serve until interrupted."""
    from verisim_leaderboard.site.serve import make_server

    with make_server(args.folder, args.port) as server:
        print(
            f"{args.folder} on http://{server.server_address[0]!s}:{server.server_address[1]}/ (Ctrl-C ends)",
            flush=True,
        )
        server.serve_forever()
    return 0
