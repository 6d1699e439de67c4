"""lm-evaluation-harness task files, found with ``--include_path "$(verisim path)"``."""
