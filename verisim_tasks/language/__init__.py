"""Reading plain English: sentences, concepts, negation, embeddings, codes. Knows nothing of patients or of lm-eval."""
