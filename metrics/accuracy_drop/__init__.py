"""A metric for ``evaluate.load``; see its README."""
