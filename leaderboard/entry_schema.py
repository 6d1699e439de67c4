"""The published JSON Schema of entries, generated from the pydantic model."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from verisim_leaderboard.record import ENTRY_SCHEMA_VERSION, Entry

SCHEMA_FILE = f"entry-v{ENTRY_SCHEMA_VERSION}.json"


def entry_schema() -> dict[str, Any]:
    """The schema as data (JSON Schema 2020-12)."""
    schema = Entry.model_json_schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "VeriSim leaderboard entry",
        **{key: value for key, value in schema.items() if key != "title"},
    }


def schema_text() -> str:
    """The schema as the text of its file."""
    return json.dumps(entry_schema(), indent=2, ensure_ascii=False) + "\n"


def published_schema() -> str:
    """The text of the file that is shipped."""
    return (files("verisim_leaderboard") / "schema" / SCHEMA_FILE).read_text(encoding="utf-8")
