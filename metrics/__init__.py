"""Pure scores: transcripts and cases in, numbers out."""
