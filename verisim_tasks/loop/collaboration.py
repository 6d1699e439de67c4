"""Collaborative diagnosis (AI Hospital, arXiv 2402.09742): doctors consult apart, then a Central Agent leads them.

Each doctor holds its own consultation with the same patient and writes a report. The Central Agent, who never sees the
record, merges what they collected and names facts on which the reports contradict each other; with dispute resolution
those are asked again of patient and examiner. While the diagnoses differ, it lists the disagreements and every doctor
revises its report, up to four times. At the end stands what they agree on, or the Central Agent's synthesis.

All cases go through each step together, one call of a model a step. *Our choices*: whether two diagnoses are the same
is decided by ``match_diagnosis``, not by the model; revisions have the three parts that follow from the facts, symptoms
and examinations of the final report are the merged ones; a doctor whose revision cannot be had keeps its opinion.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from verisim_metrics.matching import match_diagnosis
from verisim_metrics.mvme.linking import icd_codes
from verisim_metrics.mvme.report import parse_report
from verisim_tasks._stable import digest
from verisim_tasks.loop.collab_prompts import (
    Collected,
    disagreements_request,
    facts_text,
    merge_request,
    read_merge,
    read_points,
    revision_request,
    synthesis_request,
)
from verisim_tasks.loop.engine import DoctorGenerate, ask_questions, run_consultations
from verisim_tasks.loop.labels import labelled
from verisim_tasks.loop.onestep import stated_diagnosis
from verisim_tasks.loop.plan import Plan
from verisim_tasks.loop.prompts import Conversation, conversation
from verisim_tasks.loop.reports import ask_for_reports, spoken
from verisim_tasks.loop.routing import Examining
from verisim_tasks.patient.base import Patient
from verisim_tasks.records.transcript import (
    Collaboration,
    Opinion,
    Outcome,
    Report,
    RevisionRound,
    Role,
    SettledBy,
    StopReason,
    Transcript,
    Turn,
)
from verisim_tasks.settings import Settings


@dataclass(frozen=True)
class Colleague:
    """One doctor of the group."""

    name: str
    speak: DoctorGenerate
    write: DoctorGenerate
    """The same doctor with room for a report."""
    role: Role
    preface: str | None = None
    """What sets it apart from the others, put before the contract."""


@dataclass(frozen=True)
class Group:
    """Everybody who takes part."""

    doctors: Sequence[Colleague]
    central: DoctorGenerate
    central_role: Role
    patient: Patient
    patient_role: Role
    examiner: Examining
    examiner_role: Role


@dataclass
class _Meeting:
    """One case while it is talked over."""

    plan: Plan
    interviews: list[Transcript]
    present: list[int] = field(default_factory=list)
    """Places of the doctors who have an opinion."""
    collected: Collected = field(default_factory=lambda: Collected(None, None))
    again: tuple[Turn, ...] = ()
    opinions: list[Opinion] = field(default_factory=list)
    rounds: list[RevisionRound] = field(default_factory=list)
    synthesis: Report | None = None

    @property
    def agreed(self) -> bool:
        """Whether every doctor names the same disease; one who names none agrees with nobody."""
        return all(same_diagnosis(self.opinions[0].diagnosis, o.diagnosis) for o in self.opinions[1:])

    @property
    def facts(self) -> str:
        return facts_text(self.collected, self.again)


def run_collaborations(
    plans: Sequence[Plan], group: Group, settings: Settings, instrument: dict[str, Any]
) -> list[Transcript]:
    """One transcript of each collaboration, in order; then those of the single doctors' consultations.

    Args:
        plans: What to run.
        group: Who takes part.
        settings: Of these, ``max_turns`` and ``collaboration`` are read.
        instrument: What the fingerprint is taken of.
    """
    interviews = [_consult_apart(plans, place, group, settings, instrument) for place in range(len(group.doctors))]
    meetings = [_Meeting(plan, [own[i] for own in interviews]) for i, plan in enumerate(plans)]
    for meeting in meetings:
        _gather(meeting, group)
    several = [m for m in meetings if len(m.opinions) > 1]
    _merge(several, group)
    if settings.collaboration.dispute_resolution:
        _ask_again(several, group)
    _discuss(several, group, settings)
    _synthesise([m for m in several if not m.rounds[-1].agreed], group)
    together = [_transcript(m, group, settings, instrument) for m in meetings]
    return [*together, *(t for own in interviews for t in own)]


def _consult_apart(
    plans: Sequence[Plan], place: int, group: Group, settings: Settings, instrument: dict[str, Any]
) -> list[Transcript]:
    """The consultations of one doctor, all cases in step."""
    doctor = group.doctors[place]
    own = [replace(plan, variant=f"{plan.variant}_doctor{place + 1}") for plan in plans]
    transcripts = run_consultations(
        own,
        doctor.speak,
        group.patient,
        settings,
        examiner=group.examiner,
        write_reports=doctor.write,
        roles={"doctor": doctor.role, "patient": group.patient_role, "examiner": group.examiner_role},
        instrument=instrument,
        preface=doctor.preface,
    )
    return transcripts[: len(own)]


def _gather(meeting: _Meeting, group: Group) -> None:
    """The opinions that came of the single consultations; who asked to the end and named nothing has none yet."""
    for place, transcript in enumerate(meeting.interviews):
        if transcript.outcome.stop_reason not in ("diagnosed", "turn_limit"):
            continue
        report = transcript.report
        named = transcript.outcome.diagnosis or stated_diagnosis(report)
        text = report.raw if report else None
        meeting.present.append(place)
        meeting.opinions.append(Opinion(doctor=group.doctors[place].name, diagnosis=named, text=text))
    if len(meeting.present) == 1:
        alone = meeting.interviews[meeting.present[0]].report or Report()
        meeting.collected = Collected(alone.symptoms, alone.examinations)


def _reports(meeting: _Meeting, group: Group) -> list[tuple[str, Report]]:
    return [(group.doctors[i].name, meeting.interviews[i].report or Report()) for i in meeting.present]


def _ask(model: DoctorGenerate, prompts: Sequence[Conversation]) -> list[str | None]:
    """The replies without thoughts; ``None`` for what could not be had."""
    return [spoken(reply) for reply in ask_for_reports(prompts, model)]


def _merge(meetings: Sequence[_Meeting], group: Group) -> None:
    reports = [_reports(m, group) for m in meetings]
    prompts = [labelled(merge_request(own), m.plan, "merge") for m, own in zip(meetings, reports, strict=True)]
    for meeting, own, text in zip(meetings, reports, _ask(group.central, prompts), strict=True):
        meeting.collected = read_merge(text, own)


def _ask_again(meetings: Sequence[_Meeting], group: Group) -> None:
    disputed = [m for m in meetings if m.collected.disputed]
    questions = [m.collected.disputed for m in disputed]
    answers = ask_questions([m.plan for m in disputed], questions, group.patient, group.examiner)
    for meeting, turns in zip(disputed, answers, strict=True):
        meeting.again = turns


def _discuss(meetings: Sequence[_Meeting], group: Group, settings: Settings) -> None:
    """Revise until the doctors agree, at most as often as the settings allow."""
    for revision in range(settings.collaboration.rounds + 1):
        waiting = [m for m in meetings if not (m.rounds and m.rounds[-1].agreed)]
        if not waiting:
            return
        if revision:
            _revise(waiting, group, settings.max_turns)
        apart = [m for m in waiting if not m.agreed]
        prompts = [labelled(disagreements_request(m.opinions), m.plan, f"disagreements {revision}") for m in apart]
        points = _ask(group.central, prompts)
        listed = {id(m): read_points(text) for m, text in zip(apart, points, strict=True)}
        for m in waiting:
            m.rounds.append(
                RevisionRound(opinions=tuple(m.opinions), agreed=m.agreed, disagreements=listed.get(id(m), ()))
            )


def _revise(meetings: Sequence[_Meeting], group: Group, max_turns: int) -> None:
    """Every doctor revises on what was thought before this round, whoever is asked first."""
    before = [list(m.opinions) for m in meetings]
    for place, doctor in enumerate(group.doctors):
        here = [(m, old) for m, old in zip(meetings, before, strict=True) if place in m.present]
        seats = [(m, m.present.index(place), old) for m, old in here]
        prompts = [_revision(m, place, doctor, old, max_turns) for m, _, old in seats]
        for (meeting, seat, _), text in zip(seats, _ask(doctor.write, prompts), strict=True):
            diagnosis = stated_diagnosis(parse_report(text)) if text else None
            if diagnosis:
                meeting.opinions[seat] = Opinion(doctor=doctor.name, diagnosis=diagnosis, text=text)


def _revision(meeting: _Meeting, place: int, doctor: Colleague, old: Sequence[Opinion], max_turns: int) -> Conversation:
    """What one doctor is asked in this round."""
    said = conversation(
        meeting.interviews[place].turns, max_turns=max_turns, forced=False, preface=doctor.preface, examiner=True
    )
    prompt = revision_request(said, meeting.facts, old, meeting.rounds[-1].disagreements)
    return labelled(prompt, meeting.plan, f"revision {len(meeting.rounds)}")


def _synthesise(meetings: Sequence[_Meeting], group: Group) -> None:
    prompts = [labelled(synthesis_request(m.facts, m.opinions), m.plan, "synthesis") for m in meetings]
    texts = _ask(group.central, prompts)
    for meeting, text in zip(meetings, texts, strict=True):
        read = parse_report(text)
        meeting.synthesis = read if stated_diagnosis(read) else None


def same_diagnosis(left: str | None, right: str | None) -> bool:
    """Whether two diagnoses name the same disease, whichever is taken as the reference."""
    if not left or not right:
        return False
    return any(match_diagnosis(a, b, (), icd_codes(b)).match for a, b in ((left, right), (right, left)))


def _transcript(meeting: _Meeting, group: Group, settings: Settings, instrument: dict[str, Any]) -> Transcript:
    report, settled = _final(meeting)
    plan = meeting.plan
    reasons = [t.outcome.stop_reason for t in meeting.interviews]
    return Transcript(
        **plan.heading(),
        roles=_roles(group),
        turns=meeting.again,
        outcome=Outcome(
            diagnosis=stated_diagnosis(report),
            stop_reason=_stop_reason(reasons),
            turns=sum(t.speaker == "doctor" for t in meeting.again),
            error="every doctor's consultation failed" if set(reasons) == {"error"} else None,
        ),
        report=report,
        report_missing=None if report else "no doctor's consultation came to its end",
        collaboration=Collaboration(
            doctors=tuple(d.name for d in group.doctors),
            absent=_absent(meeting, group),
            symptoms=meeting.collected.symptoms,
            examinations=meeting.collected.examinations,
            disputed=meeting.collected.disputed,
            asked_again=settings.collaboration.dispute_resolution,
            rounds=tuple(meeting.rounds),
            consensus=meeting.rounds[-1].agreed if meeting.rounds else None,
            settled_by=settled,
        ),
        fingerprint=digest(instrument),
        instrument=instrument,
    )


def _final(meeting: _Meeting) -> tuple[Report | None, SettledBy | None]:
    """The report that stands at the end, and whose diagnosis it has."""
    if not meeting.opinions:
        return None, None
    known = {"symptoms": meeting.collected.symptoms, "examinations": meeting.collected.examinations}
    if meeting.synthesis is not None:
        return meeting.synthesis.model_copy(update=known), "central"
    first = next((o for o in meeting.opinions if o.diagnosis), meeting.opinions[0])
    report = parse_report(first.text) if first.text else Report()
    if stated_diagnosis(report) is None:
        known["diagnosis"] = first.diagnosis
    return report.model_copy(update=known), _settled_by(meeting) if first.diagnosis else None


def _settled_by(meeting: _Meeting) -> SettledBy:
    if not meeting.rounds:
        return "one_doctor"
    return "consensus" if meeting.rounds[-1].agreed else "first_doctor"


def _absent(meeting: _Meeting, group: Group) -> dict[str, str]:
    away = [i for i in range(len(group.doctors)) if i not in meeting.present]
    return {group.doctors[i].name: f"ended in {meeting.interviews[i].outcome.stop_reason}" for i in away}


def _stop_reason(reasons: Iterable[StopReason]) -> StopReason:
    """``diagnosed`` when any doctor came to its end; else what stopped them, a fault last."""
    ended = list(reasons)
    if "diagnosed" in ended or "turn_limit" in ended:
        return "diagnosed"
    return "context_limit" if "context_limit" in ended else "error"


def _roles(group: Group) -> dict[str, Role]:
    doctors = {f"doctor{i}": d.role for i, d in enumerate(group.doctors, start=1)}
    return {
        "doctor": group.doctors[0].role,
        **doctors,
        "central": group.central_role,
        "patient": group.patient_role,
        "examiner": group.examiner_role,
    }
