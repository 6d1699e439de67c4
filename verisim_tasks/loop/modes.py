"""What a call of ``consult`` does with its plans: interviews, reports on whole records, or collaborations."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from verisim_tasks.examiner import Examiner
from verisim_tasks.loop.collaboration import Group, run_collaborations
from verisim_tasks.loop.colleagues import UnderTest, make_central, make_doctors
from verisim_tasks.loop.engine import DoctorGenerate, Progress, Reply, run_consultations
from verisim_tasks.loop.instrument import describe_instrument, describe_onestep
from verisim_tasks.loop.keeping import NOWHERE, Keeping
from verisim_tasks.loop.model import ModelSpeaker
from verisim_tasks.loop.onestep import run_onestep
from verisim_tasks.loop.plan import Plan
from verisim_tasks.loop.prompts import Conversation
from verisim_tasks.patient.base import Patient
from verisim_tasks.records.case import Case
from verisim_tasks.records.transcript import Role, Transcript
from verisim_tasks.settings import ExaminerOptions, Settings

Mode = Literal["interview", "onestep", "collaboration"]


@dataclass(frozen=True)
class Call:
    """The plans of one call that share their circumstances, and everybody who takes part."""

    lm: Any
    doctor: ModelSpeaker
    doctor_name: str
    patient: Patient
    patient_role: Role
    plans: Sequence[Plan]
    cases: Mapping[str, Case]
    """The whole case bank."""
    settings: Settings
    preface: str | None
    progress: Progress | None = None
    chat: bool = False
    gen_kwargs: Mapping[str, Any] = field(default_factory=dict)
    keeping: Keeping = NOWHERE
    """Where the words of other models than the one under test are kept."""

    @property
    def doctor_role(self) -> Role:
        """How the model under test is named in transcripts; asked for once it has spoken."""
        return self.doctor.role(self.doctor_name)

    @property
    def write_reports(self) -> DoctorGenerate:
        """The model under test, with room for a report."""
        return report_writer(self.doctor, self.lm, self.settings.max_report_tokens)

    def instrument(self, examiner: Examiner | None) -> dict[str, Any]:
        """What the fingerprint is taken of."""
        return describe_instrument(
            self.cases.values(),
            self.patient.describe(),
            self.settings.max_turns,
            examiner=examiner.describe() if examiner else None,
        )


def run_call(call: Call, mode: Mode) -> list[Transcript]:
    """One transcript for each plan, in order; then others that came of it (clean twins, single interviews)."""
    return _MODES[mode](call)


def make_examiner(settings: Settings) -> Examiner | None:
    """The examiner that the settings ask for, if any."""
    if isinstance(settings.examiner, ExaminerOptions):
        return Examiner(settings.examiner.absent_tests)
    return Examiner() if settings.examiner else None


def report_writer(doctor: ModelSpeaker, lm: Any, max_report_tokens: int) -> DoctorGenerate:
    """The doctor with room for a report: the channel's stop strings and a length of its own, not those of a message.

    Made anew for each call, so that it knows how the doctor's prompts have come to be rendered by then.
    """

    def write(prompts: Sequence[Conversation]) -> list[Reply]:
        writer = copy.copy(doctor)
        length = report_length(lm, max_report_tokens)
        writer.kwargs = {**doctor.kwargs, "until": writer.channel.stops, "max_gen_toks": length}
        return writer(prompts)

    return write


def report_length(lm: Any, max_report_tokens: int) -> int:
    """At most half of a context that is known: the rest is for the consultation."""
    max_length = None if hasattr(lm, "base_url") else getattr(lm, "max_length", None)
    return max(1, min(max_report_tokens, max_length // 2)) if isinstance(max_length, int) else max_report_tokens


def _interviews(call: Call) -> list[Transcript]:
    examiner = make_examiner(call.settings)
    return run_consultations(
        call.plans,
        call.doctor,
        call.patient,
        call.settings,
        examiner=examiner,
        write_reports=call.write_reports if call.settings.report else None,
        roles={"doctor": call.doctor_role, "patient": call.patient_role, **examiner_role(examiner)},
        instrument=call.instrument(examiner),
        preface=call.preface,
        progress=call.progress,
    )


def examiner_role(examiner: Examiner | None) -> dict[str, Role]:
    """The examiner as a role of a transcript, where there is one."""
    return {"examiner": Role(model="rules", settings=examiner.describe())} if examiner else {}


def _onestep(call: Call) -> list[Transcript]:
    return run_onestep(
        call.plans,
        call.write_reports,
        roles={"doctor": call.doctor_role},
        instrument=describe_onestep(call.cases.values()),
        preface=call.preface,
    )


def _collaborations(call: Call) -> list[Transcript]:
    examiner = make_examiner(call.settings) or Examiner()
    under_test = UnderTest(
        call.lm,
        call.doctor,
        call.doctor_role,
        chat=call.chat,
        gen_kwargs=dict(call.gen_kwargs),
        max_reply_tokens=call.settings.max_reply_tokens,
        preface=call.preface,
        keeping=call.keeping,
    )
    write = functools.partial(report_writer, max_report_tokens=call.settings.max_report_tokens)
    options = call.settings.collaboration
    central, central_role = make_central(options.central, under_test, write)
    group = Group(
        doctors=make_doctors(options.doctors, under_test, write),
        central=central,
        central_role=central_role,
        patient=call.patient,
        patient_role=call.patient_role,
        examiner=examiner,
        examiner_role=examiner_role(examiner)["examiner"],
    )
    return run_collaborations(call.plans, group, call.settings, describe_collaboration(call, group, examiner))


def describe_collaboration(call: Call, group: Group, examiner: Examiner) -> dict[str, Any]:
    """The instrument of a collaboration: colleagues other than the model under test belong to it."""
    options = call.settings.collaboration
    others = {"central": group.central_role, **{d.name: d.role for d in group.doctors}}
    named = {
        name: "under test" if role.model == call.doctor_name else {"model": role.model, **role.settings}
        for name, role in others.items()
    }
    return {
        **call.instrument(examiner),
        "collaboration": {
            "colleagues": named,
            "rounds": options.rounds,
            "dispute_resolution": options.dispute_resolution,
        },
    }


_MODES: Mapping[Mode, Callable[[Call], list[Transcript]]] = {
    "interview": _interviews,
    "onestep": _onestep,
    "collaboration": _collaborations,
}
