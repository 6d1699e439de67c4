"""What of the verifier belongs in the instrument fingerprint."""

from __future__ import annotations

from verisim_tasks._stable import digest
from verisim_tasks.language.lexicon import load_yaml

TABLES = ("verify.yaml", "verify_words.yaml")


def verifier_digest() -> str:
    """A digest of the verifier's words and thresholds."""
    return digest([load_yaml("verify", name) for name in TABLES])
