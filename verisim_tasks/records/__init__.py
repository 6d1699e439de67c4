"""Records that every part shares: cases, noise profiles, transcripts. Imports nothing of lm-eval."""
