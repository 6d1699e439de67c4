"""Starting lm-eval with everything checked first: what ``verisim run`` does."""

from __future__ import annotations

import argparse
import contextlib
import fnmatch
import functools
import io
import json
import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from lm_eval import models as _models  # noqa: F401  (before any model registers, or lm-eval's own stay hidden)
from lm_eval import tasks as lm_eval_tasks
from lm_eval._cli.harness import HarnessCLI
from lm_eval.api.registry import get_model, model_registry
from lm_eval.config.evaluate_config import EvaluatorConfig
from lm_eval.loggers.evaluation_tracker import GeneralConfigTracker
from lm_eval.utils import sanitize_model_name, setup_logging

from verisim_tasks._stable import digest
from verisim_tasks.cli._command import announce
from verisim_tasks.cli.path import config_folder
from verisim_tasks.cli.register import FOLDER, is_registered, lm_eval_task_folder
from verisim_tasks.clinician.model import NAME as CLINICIAN
from verisim_tasks.errors import EXIT_INCOMPLETE, UserError, did_you_mean
from verisim_tasks.loop.replies import describe_error
from verisim_tasks.loop.request import DEFAULT_RUN_DIR
from verisim_tasks.loop.resuming import PATIENTSIM, StoppedByUser, how_to_complete, how_to_resume
from verisim_tasks.loop.run_log import log_files
from verisim_tasks.loop.shards import Shard, split_source
from verisim_tasks.loop.store import check_writable, read_gaps
from verisim_tasks.settings import KEY, RoleModel, read_settings
from verisim_tasks.tasks.consultation import ready_cases, ready_patient
from verisim_tasks.tasks.variants import GROUPS, VARIANTS, level_tag

PREFIX = "verisim"


def lm_eval_parser() -> argparse.ArgumentParser:
    """lm-eval's own command-line parser."""
    parser: argparse.ArgumentParser = HarnessCLI()._parser
    return parser


def launch(argv: list[str], *, resume: Path | None = None, shard: str | None = None) -> int:
    """Run ``lm_eval run`` with these arguments, the suite's tasks added.

    Args:
        argv: The arguments.
        resume: The folder of a run to go on with.
        shard: Which part of the cases to run, as ``3/8``.

    Returns:
        0, or 3 when consultations ended in an error.

    Raises:
        UserError: for whatever can be known to fail before the model is loaded.
    """
    try:
        args = lm_eval_parser().parse_args(["run", *argv])
    except (ValueError, TypeError) as error:
        raise UserError(f"cannot read the arguments: {describe_error(error)}; see verisim run --help") from None
    _add_ours(args)
    config = effective_config(args)
    check(config)
    if shard is not None and config.limit is not None:
        raise UserError("--shard deals out all cases, and --limit would count those of each shard; give one of the two")
    ours = with_run_dir(config, _given(args, "metadata"))
    folder = run_folder(config, ours, resume)
    settings = {**ours[KEY], "run_dir": str(folder)}
    if shard is not None:
        settings["cases"] = f"{split_source(settings.get('cases') or 'bank')[0]}#{Shard.read(shard)}"
        ready_cases(settings["cases"])
    args.metadata = {**ours, KEY: settings}
    announce(argv, shard)
    setup_logging()
    with user_errors(), says_how_to_resume(folder), reading_no_tasks_of_lm_eval(only_ours(config.tasks)):
        args.func(args)
    return exit_code(folder)


def _given(args: argparse.Namespace, key: str) -> Any:
    """A value from the command line, else from the file given as ``--config``."""
    if getattr(args, key, None):
        return getattr(args, key)
    if getattr(args, "config", None):
        with contextlib.suppress(OSError, yaml.YAMLError, AttributeError):
            return yaml.safe_load(Path(args.config).read_text(encoding="utf-8")).get(key)
    return None


def _add_ours(args: argparse.Namespace) -> None:
    """Put the suite's task folder beside the user's, and give the clinician a name for its results folder."""
    theirs = _given(args, "include_path")
    folders = [theirs] if isinstance(theirs, str) else list(theirs or [])
    tasks = _given(args, "tasks") or []
    if only_ours(tasks) or not is_registered(config_folder(), lm_eval_task_folder() / FOLDER):
        folders.append(str(config_folder()))
    args.include_path = folders or None
    model_args = _given(args, "model_args")
    if _given(args, "model") == CLINICIAN and (model_args is None or isinstance(model_args, dict)):
        args.model_args = {"model": CLINICIAN, **(model_args or {})}


def effective_config(args: argparse.Namespace) -> EvaluatorConfig:
    """The run's configuration as lm-eval will see it; raises ``UserError`` where lm-eval refuses it."""
    logging.disable(logging.WARNING)  # lm-eval says its warnings again when it runs
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return EvaluatorConfig.from_cli(args)
    except (ValueError, TypeError, OSError) as error:
        raise UserError(f"lm_eval refuses these arguments: {describe_error(error)}; see verisim run --help") from None
    finally:
        logging.disable(logging.NOTSET)


def check(config: EvaluatorConfig) -> None:
    """Everything that can be known before the model is loaded."""
    check_tasks(config.tasks)
    check_model(config.model)
    check_weights(config.model, config.model_args)
    if config.limit is not None and config.limit <= 0:
        raise UserError(f"--limit {config.limit:g} leaves no case; give at least 1, or leave it out")
    if config.output_path:
        check_writable(output_folder(config.output_path), "--output_path")
    if config.use_cache:
        check_writable(Path(config.use_cache).absolute().parent, "the folder of --use_cache")
    settings = read_settings(config.metadata)
    if settings.run_dir:
        check_writable(Path(settings.run_dir), "run_dir in metadata.verisim")
    ready_cases(settings.cases)
    if isinstance(settings.patient, RoleModel):
        check_model(settings.patient.model, "patient")
    ready_patient()


def task_names(tasks: str | list[str]) -> list[str]:
    """The tasks of a list that may be written with commas."""
    given = [tasks] if isinstance(tasks, str) else tasks
    return [name.strip() for part in given for name in str(part).split(",") if name.strip()]


def only_ours(tasks: str | list[str]) -> bool:
    """Whether every task is one of the suite's, by name."""
    names = task_names(tasks)
    return bool(names) and all(n.startswith(PREFIX) and not n.endswith(".yaml") for n in names)


@contextlib.contextmanager
def reading_no_tasks_of_lm_eval(wanted: bool) -> Iterator[None]:
    """While it lasts, lm-eval does not read its own 13,000 task files, which takes it seconds; where that is wanted."""
    original = lm_eval_tasks.TaskManager
    if wanted:
        lm_eval_tasks.TaskManager = functools.partial(original, include_defaults=False)
    try:
        yield
    finally:
        lm_eval_tasks.TaskManager = original


def check_tasks(tasks: str | list[str]) -> None:
    """Raise ``UserError`` for a missing task list, and for a task of ours that does not exist."""
    names = task_names(tasks)
    if not names:
        raise UserError("no task given; try --tasks verisim_core")
    known = [*(v.task for v in VARIANTS), *GROUPS, *(level_tag(level) for level in range(1, 5))]
    known += sorted(p.stem for p in config_folder().glob("*.yaml") if not p.stem.endswith("_group"))
    for name in names:
        if name.startswith(PREFIX) and not name.endswith(".yaml") and not fnmatch.filter(known, name):
            raise UserError(f"unknown task {name!r}{did_you_mean(name, dict.fromkeys(known))}")


def check_model(name: str, who: str = "doctor") -> None:
    """Raise ``UserError`` for a model type that lm-eval does not know, cannot import, or that cannot generate."""
    if name not in model_registry:
        raise UserError(f"unknown model type {name!r}{did_you_mean(name, sorted(model_registry.keys()))}")
    try:
        kind = get_model(name)
    except ImportError as error:
        raise UserError(
            f"model type {name!r} needs the package {error.name or 'named here'}: {describe_error(error)}; install it"
        ) from error
    if getattr(getattr(kind, "generate_until", None), "__isabstractmethod__", False):
        raise UserError(f"model type {name!r} cannot generate text, and a {who} has to; choose another, such as hf")


def check_weights(model: str, model_args: dict[str, Any]) -> None:
    """Raise ``UserError`` when ``hf`` has no model, or ``pretrained`` is written as a path and nothing is there."""
    pretrained = model_args.get("pretrained")
    if model == "hf" and pretrained is None:
        raise UserError(
            "no model given; add --model_args pretrained=NAME, or --model verisim-clinician for the built-in one"
        )
    if isinstance(pretrained, str) and pretrained.startswith(("/", "./", "../", "~")):
        path = Path(pretrained).expanduser()
        if not path.exists():
            raise UserError(f"no model at {pretrained}; check pretrained in --model_args")


def output_folder(output_path: str) -> Path:
    """The folder lm-eval puts results under: ``--output_path``, or the folder of the file it names."""
    path = Path(output_path)
    return path.parent if path.suffix == ".json" else path


def results_folder(config: EvaluatorConfig) -> Path | None:
    """Where lm-eval will put this run's results, as far as it can be known beforehand."""
    if not config.output_path:
        return None
    folder = output_folder(config.output_path)
    name = GeneralConfigTracker._get_model_name(config.model_args)
    return folder if Path(config.output_path).suffix == ".json" or not name else folder / sanitize_model_name(name)


def with_run_dir(config: EvaluatorConfig, metadata: dict[str, Any] | None) -> dict[str, Any]:
    """The user's metadata with ``run_dir`` set beside the results, unless it is set already."""
    given = dict(metadata or {})
    ours = dict(given.get(KEY) or {})
    folder = results_folder(config)
    if ours.get("run_dir") is None and folder is not None:
        ours["run_dir"] = str(folder)
    return {**given, KEY: ours}


def run_folder(config: EvaluatorConfig, metadata: dict[str, Any], resume: Path | None) -> Path:
    """Where this run's transcripts and log go: the folder gone on with, the one that is set, or one of our own."""
    if resume is not None:
        return resume
    if metadata[KEY].get("run_dir"):
        return Path(metadata[KEY]["run_dir"])
    what = [config.tasks, config.model, config.model_args, config.gen_kwargs, config.limit, metadata[KEY]]
    return DEFAULT_RUN_DIR / digest(json.loads(json.dumps(what, default=str)))[:12]


@contextlib.contextmanager
def says_how_to_resume(folder: Path) -> Iterator[None]:
    """On Ctrl-C outside the consultations, say how to go on."""
    try:
        yield
    except StoppedByUser:
        raise
    except KeyboardInterrupt:
        if log_files(folder):
            print(f"\n{how_to_resume(folder)}", file=sys.stderr)
        raise


def exit_code(folder: Path) -> int:
    """0, or, after saying what is missing and how to complete it, 3."""
    found = [gaps for place in (folder, folder / PATIENTSIM) if (gaps := read_gaps(place)) and gaps.count]
    if found and os.environ.get("RANK", "0") == "0":
        for gaps in found:
            print(f"verisim: {gaps}", file=sys.stderr)
        print(f"verisim: {how_to_complete(folder)}", file=sys.stderr)
    return EXIT_INCOMPLETE if found else 0


@contextlib.contextmanager
def user_errors() -> Iterator[None]:
    """What a user can mend becomes one sentence; with ``LMEVAL_LOG_LEVEL=DEBUG`` the traceback stays."""
    try:
        yield
    except UserError:
        raise
    except (ImportError, OSError) as error:
        if os.environ.get("LMEVAL_LOG_LEVEL", "").upper() == "DEBUG":
            raise
        raise UserError(
            f"lm_eval stopped: {describe_error(error)}; check model and model_args "
            "(LMEVAL_LOG_LEVEL=DEBUG shows the traceback)"
        ) from error
    except ValueError as error:
        if "Tasks not found" not in str(error) and "Duplicate task" not in str(error):
            raise
        raise UserError(f"{error}; see 'lm_eval ls tasks' for what there is") from error
