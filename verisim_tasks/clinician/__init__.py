"""The built-in clinician: a rule-based doctor that listens, weighs and asks. Deterministic; no weights of its own."""
