"""Blinded rating by people: sheets out, grades in, ready for ``verisim agreement``."""
