"""The patient played by a language model."""
