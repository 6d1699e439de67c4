"""Holding what a patient says to the record of the case: claims, evidence, verdicts, and checks of the whole answer."""

from verisim_tasks.verify.audit import Audit, audit, judge_rows, read_transcripts
from verisim_tasks.verify.checks import Problem
from verisim_tasks.verify.verifier import Draft, Extract, Findings, Verifier

__all__ = ["Audit", "Draft", "Extract", "Findings", "Problem", "Verifier", "audit", "judge_rows", "read_transcripts"]
