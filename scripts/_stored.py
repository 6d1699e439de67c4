"""Files that a script makes and the repository keeps: written, or compared with what the script would make."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from verisim_tasks._files import write_atomically


def keep(wanted: Callable[[], Mapping[Path, str]], description: str | None) -> int:
    """The script's command line; ``--check`` writes nothing and fails if a stored file differs."""
    parser = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="fail if a stored file differs")
    check = parser.parse_args().check
    stale = {p: text for p, text in wanted().items() if not p.is_file() or p.read_text(encoding="utf-8") != text}
    if not check:
        for path, text in stale.items():
            write_atomically(path, text)
    elif stale:
        names = ", ".join(path.name for path in stale)
        print(f"not what the script makes: {names}; run python scripts/{Path(sys.argv[0]).name}", file=sys.stderr)
        return 1
    return 0
