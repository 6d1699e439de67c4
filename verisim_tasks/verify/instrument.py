"""What of the verifier belongs in the instrument fingerprint."""

from __future__ import annotations

import functools
import hashlib
from importlib.resources import files

from verisim_tasks._stable import digest
from verisim_tasks.language.lexicon import load_yaml

TABLES = ("verify.yaml", "verify_words.yaml")


@functools.cache
def verifier_digest() -> str:
    """A digest of the verifier's words and thresholds, and of the built-in NLI by which it looks again."""
    weights = (files("verisim_fixtures") / "nli" / "weights.npz").read_bytes()
    return digest([*(load_yaml("verify", name) for name in TABLES), hashlib.sha256(weights).hexdigest()])
