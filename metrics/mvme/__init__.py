"""MVME, the evaluation of AI Hospital (arXiv 2402.09742), as far as it needs no model: reports, links, choices."""
