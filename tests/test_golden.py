"""The instrument says what it said: 12 interviews, word for word. Renew with ``python scripts/make_golden.py``."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

SCRIPT = Path(__file__).parent.parent / "scripts" / "make_golden.py"


def test_twelve_consultations_have_not_changed() -> None:
    spec = importlib.util.spec_from_file_location("make_golden", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    stored = json.loads(module.GOLDEN.read_text(encoding="utf-8"))
    now = json.loads(module.golden())
    assert len(stored) == 12
    for old, new in zip(stored, now, strict=True):
        assert new == old, f"{old['case']} {old['noise']} changed; if that is meant, run scripts/make_golden.py"
