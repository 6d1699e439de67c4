"""The loop as an lm-eval request type: ``lm.consult(requests)`` runs all consultations of all tasks of a call.

lm-eval calls ``getattr(lm, request_type)(requests)`` once for every task that shares a request type. Importing this
module and calling ``attach`` makes ``consult`` such a type of every lm-eval model.
"""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from lm_eval.api.model import LM
from pydantic import BaseModel, ConfigDict

from verisim_metrics.mvme.scores import ReportScores, score_reports
from verisim_metrics.patientsim.personas import find_persona
from verisim_tasks._files import write_atomically
from verisim_tasks._stable import digest
from verisim_tasks.cases.bank import load_cases
from verisim_tasks.errors import UserError
from verisim_tasks.loop.beside import hand_over
from verisim_tasks.loop.gaps import Gaps
from verisim_tasks.loop.interview import run_interviews
from verisim_tasks.loop.keeping import Keeping, open_cache
from verisim_tasks.loop.logged import LoggedPatient, LoggedSpeaker
from verisim_tasks.loop.modes import Call, Mode, run_call
from verisim_tasks.loop.persona_plan import PersonaPlan
from verisim_tasks.loop.plan import Plan
from verisim_tasks.loop.progress import ProgressBar
from verisim_tasks.loop.restricted import without_text
from verisim_tasks.loop.resuming import PATIENTSIM, Logs, Stretch, open_logs, say_what_is_missing
from verisim_tasks.loop.roles import make_judge, make_patient
from verisim_tasks.loop.run_header import Header, describe_run
from verisim_tasks.loop.shards import split_source
from verisim_tasks.loop.simulating import PatientSide, judge_role, score_patients
from verisim_tasks.loop.stop import stops_the_run
from verisim_tasks.loop.store import (
    dump,
    in_order,
    lost_file,
    merge_lost,
    merge_ranks,
    place_among,
    rank_file,
    read_transcripts,
    write_run_info,
    write_transcripts,
    writes_nothing,
)
from verisim_tasks.records.case import Case
from verisim_tasks.records.noise import NoiseProfile
from verisim_tasks.records.transcript import Role, Transcript
from verisim_tasks.settings import Settings

REQUEST_TYPE = "consult"
DEFAULT_RUN_DIR = Path("verisim_runs")

log = logging.getLogger("lm_eval.verisim")  # below lm-eval's own, so that its level and handler hold


class Circumstances(BaseModel):
    """What all consultations of one call usually share."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    settings: Settings
    mode: Mode | Literal["patientsim"] = "interview"
    """``patientsim``: the model under test is the patient."""
    chat: bool
    preface: str | None = None
    gen_kwargs: dict[str, Any] = {}
    patient_side: bool = False
    """Whether the patient's side is scored too, once all consultations have ended."""
    report_side: bool = False
    """Whether the doctors' reports are scored, likewise."""


class ConsultRequest(BaseModel):
    """One consultation as it travels through lm-eval: names and numbers, no text of a case."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    task: str
    variant: str
    case_id: str
    noise: dict[str, int]
    repeat: int
    circumstances: Circumstances
    persona: dict[str, str] | None = None
    """Who the patient is, by the axes of ``verisim_metrics.patientsim``."""


def attach() -> None:
    """Make ``consult`` a request type of every lm-eval model.

    Raises:
        UserError: when something else already goes by that name.
    """
    present = getattr(LM, REQUEST_TYPE, None)
    if present is not None and getattr(present, "__module__", None) != __name__:
        raise UserError(
            f"another package already gave lm-eval's models a method {REQUEST_TYPE!r}; uninstall one of the two"
        )
    setattr(LM, REQUEST_TYPE, consult)


def consult(lm: Any, requests: Sequence[Any]) -> list[str]:
    """Run every requested consultation; one JSON transcript for each request, in order.

    Args:
        lm: The model under test. With ``--use_cache`` it is the bare model; its cache is found through its hook.
        requests: lm-eval instances whose first argument is a ``ConsultRequest`` as JSON. Repeated ones are run once.
    """
    wanted = _parsed([r.args[0] for r in requests])
    groups: dict[str, list[ConsultRequest]] = {}
    for request in wanted:
        groups.setdefault(request.circumstances.model_dump_json(), []).append(request)
    answers: dict[str, str] = {}
    figures: dict[str, list[object]] = {}
    written: dict[Path, _Run] = {}
    with stops_the_run(), _one_batch_size(lm), _logs(lm, groups) as (stretches, logs):
        for key, group in groups.items():
            cache = None if stretches[key].withheld else open_cache(group[0].circumstances.settings.cache)
            run = _run_group(lm, group, Keeping(logs.section(key), cache))
            answers.update(run.answers)
            folder = stretches[key].folder
            written[folder] = run.behind(written.get(folder))
            for asked, found in (*run.sides.items(), *run.reports.items()):
                figures.setdefault(asked, []).append(found)
        for folder, run in written.items():
            gaps = _store(lm, folder, run)
            if gaps is not None:
                say_what_is_missing(folder, gaps)
                if not gaps.count:
                    logs.finish(folder)
    keys = [request.model_dump_json() for request in wanted]
    for instance, key in zip(requests, keys, strict=True):
        for found in figures.get(key, ()):
            hand_over(instance, found)
    return [answers[key] for key in keys]


def _parsed(texts: Sequence[str]) -> list[ConsultRequest]:
    """The requests; equal circumstances are one object, they are most of a request."""
    shared: dict[str, Circumstances] = {}
    found = []
    for text in texts:
        request = ConsultRequest.model_validate_json(text)
        one = shared.setdefault(request.circumstances.model_dump_json(), request.circumstances)
        found.append(request.model_copy(update={"circumstances": one}))
    return found


@dataclass(frozen=True)
class _Run:
    """What came of the requests that share their circumstances."""

    settings: Settings
    transcripts: list[Transcript]
    answers: dict[str, str]
    sides: dict[str, PatientSide]
    reports: dict[str, ReportScores]
    lost: Mapping[str, int]
    """Questions of the scores that were not answered, by reason."""

    def behind(self, earlier: _Run | None) -> _Run:
        """With the transcripts and losses of another run of the same folder before its own."""
        if earlier is None:
            return self
        lost = Counter(earlier.lost)
        lost.update(self.lost)
        return replace(self, transcripts=[*earlier.transcripts, *self.transcripts], lost=lost)


@contextlib.contextmanager
def _logs(lm: Any, groups: Mapping[str, Sequence[ConsultRequest]]) -> Iterator[tuple[Mapping[str, Stretch], Logs]]:
    """What each group is run with and where it is kept, and the run logs."""
    stretches = {key: _stretch(lm, group) for key, group in groups.items()}
    with open_logs(lm, stretches, lambda: _wait_for_all(lm)) as logs:
        yield stretches, logs


def _stretch(lm: Any, group: Sequence[ConsultRequest]) -> Stretch:
    shared = group[0].circumstances
    settings = shared.settings
    cases = _all_cases(settings)
    header = describe_run(
        lm,
        settings,
        cases.values(),
        mode=shared.mode,
        chat=shared.chat,
        preface=shared.preface,
        gen_kwargs=shared.gen_kwargs,
    )
    folder = Path(settings.run_dir or DEFAULT_RUN_DIR / _run_name(lm, header, group))
    if shared.mode == "patientsim":
        folder /= PATIENTSIM  # apart: there the doctor is not the model under test
    restricted = any(c.provenance.restricted for r in group if (c := cases.get(r.case_id)))
    return Stretch(folder, header, withheld=restricted and not settings.keep_restricted_text)


def _run_group(lm: Any, group: list[ConsultRequest], keeping: Keeping) -> _Run:
    circumstances = group[0].circumstances
    settings = circumstances.settings
    cases = _all_cases(settings)
    judge = make_judge(settings, lm, keeping)
    scripted = {"patient": "scripted"} if circumstances.mode == "patientsim" else {}  # there it is the model's part
    patient, patient_role = make_patient(settings.model_copy(update=scripted), lm, judge, keeping)
    plans = {request.model_dump_json(): _plan(request, cases) for request in group}
    if keeping.section is not None:
        patient = LoggedPatient(patient, keeping.section)
    doctor = LoggedSpeaker(
        lm,
        section=keeping.section,
        chat=circumstances.chat,
        gen_kwargs=circumstances.gen_kwargs,
        max_reply_tokens=settings.max_reply_tokens,
        cache=getattr(getattr(lm, "cache_hook", None), "dbdict", None),
    )
    with ProgressBar(settings.max_turns, disabled=getattr(lm, "rank", 0) != 0) as progress:
        call = Call(
            lm=lm,
            doctor=doctor,
            doctor_name=model_name(lm),
            patient=patient,
            patient_role=patient_role,
            plans=list(plans.values()),
            cases=cases,
            settings=settings,
            preface=circumstances.preface,
            progress=progress,
            chat=circumstances.chat,
            gen_kwargs=circumstances.gen_kwargs,
            keeping=keeping,
        )
        mode = circumstances.mode
        transcripts = run_interviews(call) if mode == "patientsim" else run_call(call, mode)
    transcripts = _completed(transcripts, group, judge_role(judge, lm) if judge else None)
    asked, before = transcripts[: len(plans)], Counter(judge.lost if judge else ())
    sides = score_patients(asked, cases, settings, judge, keeping) if circumstances.patient_side else []
    reports = score_reports(asked, cases, judge) if circumstances.report_side else []
    answers = {
        key: dump(without_text(t) if plan.case.provenance.restricted else t)
        for (key, plan), t in zip(plans.items(), transcripts, strict=False)  # clean twins follow
    }
    stored = [
        t if settings.keep_restricted_text or not _is_restricted(t, cases) else without_text(t) for t in transcripts
    ]
    lost = Counter(judge.lost if judge else ()) - before
    lost.update(side.scored_by["error"] for side in sides if "error" in side.scored_by)
    return _Run(
        settings,
        stored,
        answers,
        sides=dict(zip(plans, sides, strict=False)),
        reports=dict(zip(plans, reports, strict=False)),
        lost=lost,
    )


def _completed(transcripts: list[Transcript], group: list[ConsultRequest], judge: Role | None) -> list[Transcript]:
    """The transcripts with the patient's persona, which clean twins share, and with the judge among the roles."""
    personas = {(request.case_id, request.repeat): request.persona for request in group}
    more = {"judge": judge} if judge is not None else {}
    return [
        t.model_copy(update={"persona": personas[t.case_id, t.repeat], "roles": {**t.roles, **more}})
        for t in transcripts
    ]


def _is_restricted(transcript: Transcript, cases: dict[str, Case]) -> bool:
    return cases[transcript.case_id].provenance.restricted


@functools.cache
def cases_by_id(source: str) -> dict[str, Case]:
    """The cases of a source in their stratified order, by id; of ``bank#3/8`` every eighth from the third."""
    whole, shard = split_source(source)
    return {case.id: case for case in shard.part(load_cases(whole))}


def _all_cases(settings: Settings) -> dict[str, Case]:
    """The whole source, whichever shard of it is run: it is the instrument."""
    return cases_by_id(split_source(settings.cases)[0])


def _plan(request: ConsultRequest, cases: dict[str, Case]) -> Plan:
    if request.case_id not in cases:
        raise UserError(f"case {request.case_id!r} is not in the cases any more; run again without cached requests")
    plan = Plan(
        task=request.task,
        variant=request.variant,
        case=cases[request.case_id],
        noise=NoiseProfile(request.noise),
        seed=request.circumstances.settings.seed,
        repeat=request.repeat,
    )
    return plan if request.persona is None else PersonaPlan(**vars(plan), persona=find_persona(request.persona))


def model_name(lm: Any) -> str:
    """What the model under test is called: its ``pretrained`` or ``model`` name, else its class."""
    for attribute in ("pretrained", "model", "name"):
        value = getattr(lm, attribute, None)
        if isinstance(value, str) and value:
            return value
    return type(lm).__name__


def _store(lm: Any, folder: Path, run: _Run) -> Gaps | None:
    """Write the transcripts and what is missing: each process its own file, which the first merges and tells of."""
    if writes_nothing(lm):
        return None
    rank, world_size = place_among(lm)
    lost, transcripts = run.lost, in_order(run.transcripts)
    if world_size == 1:
        path = _write_somewhere(folder, transcripts)
    else:
        write_atomically(folder / lost_file(rank), json.dumps(lost))
        write_transcripts(folder, transcripts, rank_file(rank))
        _wait_for_all(lm)
        if rank != 0:
            return None
        path, lost = merge_ranks(folder, world_size), merge_lost(folder, world_size)
    everything = transcripts if world_size == 1 else read_transcripts(path)
    gaps = write_run_info(path.parent, run.settings.model_dump(mode="json"), everything, lost)
    log.info("%d transcripts are in %s", gaps.of, path.absolute())
    return gaps


def _write_somewhere(folder: Path, transcripts: list[Transcript]) -> Path:
    """Write into the folder, or, should it have become unwritable meanwhile, into one that is: a run is not lost."""
    try:
        return write_transcripts(folder, transcripts)
    except OSError as error:
        refuge = Path(tempfile.mkdtemp(prefix="verisim_"))
        log.error("%s cannot be written to (%s); the transcripts are in %s instead", folder, error, refuge)
        return write_transcripts(refuge, transcripts)


def _run_name(lm: Any, header: Header, group: Sequence[ConsultRequest]) -> str:
    """A folder name that every process of one run agrees on, and that another run does not share by accident."""
    return digest([model_name(lm), header, sorted({r.variant for r in group})])[:12]


def _wait_for_all(lm: Any) -> None:
    if place_among(lm)[1] == 1:
        return
    barrier = getattr(lm, "barrier", None) or lm.accelerator.wait_for_everyone
    barrier()


@contextlib.contextmanager
def _one_batch_size(lm: Any) -> Iterator[None]:
    """Detect ``--batch_size auto`` once: lm-eval's ``hf`` would do it again at every turn."""
    if getattr(lm, "batch_size_per_gpu", None) != "auto" or not hasattr(lm, "_detect_batch_size"):
        yield
        return
    lm.batch_size_per_gpu = lm._detect_batch_size()
    log.info("batch size %s detected, kept for the whole run", lm.batch_size_per_gpu)
    try:
        yield
    finally:
        lm.batch_size_per_gpu = "auto"


def request_text(request: ConsultRequest) -> str:
    """A request as the one text argument of an lm-eval instance."""
    return json.dumps(request.model_dump(mode="json"), sort_keys=True)
