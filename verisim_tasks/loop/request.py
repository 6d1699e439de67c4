"""The loop as an lm-eval request type: ``lm.consult(requests)`` runs all consultations of all tasks of a call.

lm-eval calls ``getattr(lm, request_type)(requests)`` once for every task that shares a request type. Importing this
module and calling ``attach`` makes ``consult`` such a type of every lm-eval model.
"""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lm_eval.api.model import LM
from pydantic import BaseModel, ConfigDict

from verisim_tasks._stable import digest
from verisim_tasks.cases.bank import load_cases
from verisim_tasks.errors import UserError
from verisim_tasks.loop.engine import run_consultations
from verisim_tasks.loop.instrument import describe_instrument
from verisim_tasks.loop.model import ModelSpeaker
from verisim_tasks.loop.plan import Plan
from verisim_tasks.loop.progress import ProgressBar
from verisim_tasks.loop.restricted import without_text
from verisim_tasks.loop.roles import make_patient
from verisim_tasks.loop.stop import stops_the_run
from verisim_tasks.loop.store import (
    dump,
    load_transcripts,
    merge_ranks,
    rank_file,
    write_run_info,
    write_transcripts,
)
from verisim_tasks.records.case import Case
from verisim_tasks.records.noise import NoiseProfile
from verisim_tasks.records.transcript import Transcript
from verisim_tasks.settings import Settings

REQUEST_TYPE = "consult"
DEFAULT_RUN_DIR = Path("verisim_runs")

log = logging.getLogger("lm_eval.verisim")  # below lm-eval's own, so that its level and handler hold


class Circumstances(BaseModel):
    """What all consultations of one call usually share."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    settings: Settings
    chat: bool
    preface: str | None = None
    gen_kwargs: dict[str, Any] = {}


class ConsultRequest(BaseModel):
    """One consultation as it travels through lm-eval: names and numbers, no text of a case."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    task: str
    variant: str
    case_id: str
    noise: dict[str, int]
    repeat: int
    circumstances: Circumstances


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
    wanted = [ConsultRequest.model_validate_json(r.args[0]) for r in requests]
    groups: dict[str, list[ConsultRequest]] = {}
    for request in wanted:
        groups.setdefault(request.circumstances.model_dump_json(), []).append(request)
    answers: dict[str, str] = {}
    written: dict[Path, _Run] = {}
    with stops_the_run(), _one_batch_size(lm):
        for group in groups.values():
            run = _run_group(lm, group)
            answers.update(run.answers)
            folder = _folder(lm, run.settings, run.transcripts)
            earlier = written.get(folder)
            written[folder] = replace(run, transcripts=[*(earlier.transcripts if earlier else []), *run.transcripts])
        for folder, run in written.items():
            _store(lm, folder, run.settings, run.transcripts)
    return [answers[request.model_dump_json()] for request in wanted]


@dataclass(frozen=True)
class _Run:
    """What came of the requests that share their circumstances."""

    settings: Settings
    transcripts: list[Transcript]
    answers: dict[str, str]


def _run_group(lm: Any, group: list[ConsultRequest]) -> _Run:
    circumstances = group[0].circumstances
    settings = circumstances.settings
    cases = cases_by_id(settings.cases)
    patient, patient_role = make_patient(settings, lm)
    plans = {request.model_dump_json(): _plan(request, cases) for request in group}
    doctor = ModelSpeaker(
        lm,
        chat=circumstances.chat,
        gen_kwargs=circumstances.gen_kwargs,
        max_reply_tokens=settings.max_reply_tokens,
        cache=getattr(getattr(lm, "cache_hook", None), "dbdict", None),
    )
    with ProgressBar(settings.max_turns, disabled=getattr(lm, "rank", 0) != 0) as progress:
        transcripts = run_consultations(
            list(plans.values()),
            doctor,
            patient,
            settings,
            roles={"doctor": doctor.role(model_name(lm)), "patient": patient_role},
            instrument=describe_instrument(cases.values(), patient.describe(), settings.max_turns),
            preface=circumstances.preface,
            progress=progress,
        )
    answers = {
        key: dump(without_text(t) if plan.case.provenance.restricted else t)
        for (key, plan), t in zip(plans.items(), transcripts, strict=False)  # clean twins follow
    }
    stored = [
        t if settings.keep_restricted_text or not _is_restricted(t, cases) else without_text(t) for t in transcripts
    ]
    return _Run(settings, stored, answers)


def _is_restricted(transcript: Transcript, cases: dict[str, Case]) -> bool:
    return cases[transcript.case_id].provenance.restricted


@functools.cache
def cases_by_id(source: str) -> dict[str, Case]:
    """The cases of a source in their stratified order, by id."""
    return {case.id: case for case in load_cases(source)}


def _plan(request: ConsultRequest, cases: dict[str, Case]) -> Plan:
    if request.case_id not in cases:
        raise UserError(f"case {request.case_id!r} is not in the cases any more; run again without cached requests")
    return Plan(
        task=request.task,
        variant=request.variant,
        case=cases[request.case_id],
        noise=NoiseProfile(request.noise),
        seed=request.circumstances.settings.seed,
        repeat=request.repeat,
    )


def model_name(lm: Any) -> str:
    """What the model under test is called: its ``pretrained`` or ``model`` name, else its class."""
    for attribute in ("pretrained", "model", "name"):
        value = getattr(lm, attribute, None)
        if isinstance(value, str) and value:
            return value
    return type(lm).__name__


def _folder(lm: Any, settings: Settings, transcripts: list[Transcript]) -> Path:
    return Path(settings.run_dir) if settings.run_dir else DEFAULT_RUN_DIR / _run_name(lm, settings, transcripts)


def _store(lm: Any, folder: Path, settings: Settings, transcripts: list[Transcript]) -> None:
    """Write the transcripts, each process its own file, the first merging them."""
    rank, world_size = int(getattr(lm, "rank", 0)), int(getattr(lm, "world_size", 1))
    if world_size == 1 and os.environ.get("LOCAL_RANK", "0") != "0":
        return  # under torchrun every process runs everything; one writes
    if world_size == 1:
        path = _write_somewhere(folder, transcripts)
    else:
        write_transcripts(folder, transcripts, rank_file(rank))
        _wait_for_all(lm)
        if rank != 0:
            return
        path = merge_ranks(folder, world_size)
    write_run_info(path.parent, settings.model_dump(mode="json"), load_transcripts(path))
    log.info("%d transcripts are in %s", len(transcripts), path.absolute())


def _write_somewhere(folder: Path, transcripts: list[Transcript]) -> Path:
    """Write into the folder, or, should it have become unwritable meanwhile, into one that is: a run is not lost."""
    try:
        return write_transcripts(folder, transcripts)
    except OSError as error:
        refuge = Path(tempfile.mkdtemp(prefix="verisim_"))
        log.error("%s cannot be written to (%s); the transcripts are in %s instead", folder, error, refuge)
        return write_transcripts(refuge, transcripts)


def _run_name(lm: Any, settings: Settings, transcripts: list[Transcript]) -> str:
    """A folder name that every process of one run agrees on, and that another run does not share by accident."""
    tasks = sorted({t.variant for t in transcripts})
    return digest([model_name(lm), settings.model_dump(mode="json"), tasks, transcripts[0].fingerprint])[:12]


def _wait_for_all(lm: Any) -> None:
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
