"""The five-part report that the doctor writes after the diagnosis: asked for, read, or missing with a reason."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from verisim_metrics.mvme.report import PARTS, missing_parts, parse_report
from verisim_tasks.language.model_text import clean_characters, strip_thinking
from verisim_tasks.loop.prompts import Conversation
from verisim_tasks.loop.replies import Failed, TooLong, describe_error
from verisim_tasks.records.transcript import Report

Asking = Callable[[Sequence[Conversation]], Sequence[str | TooLong | Failed]]
SWITCHED_OFF = "no report was asked for"
NO_REPORT_AFTER = "the consultation ended in {reason}"
NOT_HAD = "the model failed: "
"""Begins the reason of a report that could not be had: asked again, it may be."""

log = logging.getLogger("lm_eval.verisim")  # below lm-eval's own, so that its level and handler hold


@dataclass(frozen=True)
class ReportReply:
    """A report, or why there is none."""

    report: Report | None
    reason: str | None = None


def ask_for_reports(prompts: Sequence[Conversation], doctor: Asking) -> list[str | TooLong | Failed]:
    """Ask for all reports at once. Never raises: a report is worth less than the consultation it belongs to."""
    if not prompts:
        return []
    try:
        replies = list(doctor(prompts))
        if len(replies) != len(prompts):
            raise RuntimeError(f"{len(prompts)} reports were asked for and {len(replies)} written")
        return replies
    except Exception as error:
        log.warning("no report could be had (%s)", describe_error(error))
        return [Failed(describe_error(error))] * len(prompts)


def read_report(reply: str | TooLong | Failed, *, examined: bool = True) -> ReportReply:
    """The report in one reply; thoughts are left out of what is read, and stay in ``raw``.

    Args:
        reply: What came back.
        examined: Whether there was anything to examine; without it that part is null, whatever was written.
    """
    if isinstance(reply, TooLong):
        return ReportReply(None, f"the prompt has {reply.tokens} tokens and the model has room for {reply.limit}")
    if isinstance(reply, Failed):
        return ReportReply(None, f"{NOT_HAD}{reply.error}")
    said = spoken(reply)
    if not said:
        return ReportReply(None, "nothing was written")
    read = parse_report(said)
    raw = reply.encode("utf-8", "replace").decode("utf-8")
    report = read.model_copy(update={"raw": raw, **({} if examined else {"examinations": None})})
    found = [p for p in PARTS if p not in missing_parts(report)]
    return ReportReply(report, None if found else "no part has a heading")


def spoken(reply: str | TooLong | Failed) -> str | None:
    """What was written, without thoughts; ``None`` where there is nothing, or a thought that never ends."""
    if not isinstance(reply, str):
        return None
    said, _, closed = strip_thinking(clean_characters(reply))
    return said if closed and said else None
