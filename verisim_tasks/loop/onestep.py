"""The one-step bound (AI Hospital): the doctor gets the whole record at once and writes the report.

There is no dialogue, so the transcript has one turn, the record as it was handed over, and no doctor message. The
report has the three parts that follow from a record: diagnosis, rationale, treatment.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from verisim_tasks._stable import digest
from verisim_tasks.loop.diagnosis_text import find_diagnosis
from verisim_tasks.loop.engine import DoctorGenerate
from verisim_tasks.loop.plan import Plan
from verisim_tasks.loop.prompts import onestep_request
from verisim_tasks.loop.replies import Failed, TooLong
from verisim_tasks.loop.reports import read_report
from verisim_tasks.records.case_text import record_text
from verisim_tasks.records.transcript import Outcome, Report, Role, StopReason, Transcript, Turn

GIVEN = ("symptoms", "examinations")
"""Parts that the doctor was handed, and so are no part of its report."""


def run_onestep(
    plans: Sequence[Plan],
    write_reports: DoctorGenerate,
    *,
    roles: dict[str, Role],
    instrument: dict[str, Any],
    preface: str | None = None,
) -> list[Transcript]:
    """One transcript for each plan, in order: all reports are asked for in one call.

    A report that cannot be had ends its transcript in ``error`` (or ``context_limit``), which no score counts.
    """
    records = [record_text(plan.case) for plan in plans]
    replies = write_reports([onestep_request(r, preface) for r in records])
    return [
        _transcript(plan, record, reply, roles, instrument)
        for plan, record, reply in zip(plans, records, replies, strict=True)
    ]


def _transcript(
    plan: Plan, record: str, reply: str | TooLong | Failed, roles: dict[str, Role], instrument: dict[str, Any]
) -> Transcript:
    read = read_report(reply)
    report = read.report.model_copy(update=dict.fromkeys(GIVEN)) if read.report else None
    return Transcript(
        task=plan.task,
        variant=plan.variant,
        case_id=plan.case.id,
        noise={},
        seed=plan.seed,
        repeat=plan.repeat,
        roles=roles,
        turns=(Turn(index=0, speaker="examiner", text=record, heard_by=("doctor",)),),
        outcome=_outcome(reply, report),
        report=report,
        report_missing=read.reason,
        fingerprint=digest(instrument),
        instrument=instrument,
    )


def _outcome(reply: str | TooLong | Failed, report: Report | None) -> Outcome:
    if isinstance(reply, Failed):
        return Outcome(diagnosis=None, stop_reason="error", turns=0, error=f"doctor: {reply.error}")
    reason: StopReason = "context_limit" if isinstance(reply, TooLong) else "diagnosed"
    return Outcome(diagnosis=stated_diagnosis(report), stop_reason=reason, turns=0)


def stated_diagnosis(report: Report | None) -> str | None:
    """The condition that a report names first; ``None`` for a placeholder, or words that say there is none yet."""
    for line in ((report and report.diagnosis) or "").splitlines():
        if any(c.isalnum() for c in line):
            return find_diagnosis(f"Final Diagnosis: {line}", forced=False)[0]
    return None
