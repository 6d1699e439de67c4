"""Reading what lm-eval wrote: the newest ``results*.json`` of a folder.

lm-eval's file may hold ``NaN`` and ``"N/A"``; both are read as "no value" here.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path, PurePath
from typing import Any

from verisim_leaderboard.record import ModelInfo, Reported
from verisim_leaderboard.score_names import RANGES, describe, ordered
from verisim_tasks.errors import UserError

SUITE_KEY = "verisim"
"""Where the suite's settings stand in lm-eval's task metadata."""
REMOVED = "[removed]"
_SECRET = re.compile(r"(^|_)token$|secret|passw|credential|authorization|api_?key|(^|_)key$|^auth$|headers?$", re.I)
_PIP_LINE = re.compile(r"^\[(?:pip3?|conda)\]\s+([A-Za-z0-9_.-]+)==(\S+)", re.M)
_BOOKKEEPING = re.compile(r"_(stderr|n|micro)$|^(errors|context_limits|turn_inflation_censored)$")
"""What lm-eval's results hold beside scores, or again under another name."""
_NORMAL = 1.959963984540054
"""Standard errors to either side of a 95% interval."""
_NAME = re.compile(r"[a-z][a-z0-9_]{0,79}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_MOVING_REVISIONS: tuple[str, ...] = ("main", "master")
"""Names of branches: they pin nothing."""
_LIBRARIES: tuple[str, ...] = ("torch", "numpy")


@dataclass(frozen=True)
class Results:
    """One lm-eval results file."""

    path: Path
    data: Mapping[str, Any]

    @property
    def config(self) -> Mapping[str, Any]:
        """How lm-eval was called."""
        return _mapping(self.data.get("config"))

    @property
    def date(self) -> str | None:
        """When the run started, ISO 8601 in UTC, to the second."""
        stamp = number(self.data.get("date"))
        return None if stamp is None else datetime.fromtimestamp(int(stamp), tz=timezone.utc).isoformat()

    @property
    def suite_tasks(self) -> dict[str, Mapping[str, Any]]:
        """The metadata of our own tasks, by task name."""
        configs = _mapping(self.data.get("configs"))
        metadata = {task: _mapping(_mapping(configs[task]).get("metadata")) for task in sorted(configs)}
        return {task: found for task, found in metadata.items() if isinstance(found.get(SUITE_KEY), Mapping)}

    @property
    def suite_settings(self) -> dict[str, Any]:
        """The suite's own settings, from the first of our tasks; empty when there is none."""
        return next((dict(found[SUITE_KEY]) for found in self.suite_tasks.values()), {})

    def metrics(self, task: str) -> dict[str, float]:
        """The defined metrics of a task or group, by name without lm-eval's filter suffix."""
        found = {**_mapping(_mapping(self.data.get("results")).get(task))}
        found.update(_mapping(_mapping(self.data.get("groups")).get(task)))
        named = {key.partition(",")[0]: number(value) for key, value in found.items()}
        return {name: value for name, value in named.items() if value is not None}

    def reported(self, task: str, computed: Collection[str], cases: int) -> dict[str, Reported]:
        """The scores of a task that are not among the ``computed`` ones, e.g. a judge's; without bookkeeping.

        ``cases`` is how many the task has.
        """
        found = _mapping(_mapping(self.data.get("results")).get(task))
        values = {key.partition(",")[0]: value for key, value in found.items() if "," in key}
        names = [name for name in values if name not in computed and not _BOOKKEEPING.search(name)]
        return {name: _reported(values, name, cases) for name in ordered(n for n in names if _NAME.fullmatch(n))}

    @property
    def seconds(self) -> float | None:
        """Wall time of the whole call; lm-eval writes it as text."""
        try:
            return number(float(self.data.get("total_evaluation_time_seconds") or "nan"))
        except (TypeError, ValueError):
            return None

    def versions(self) -> dict[str, str]:
        """Library versions that lm-eval recorded."""
        found = {
            "lm_eval": self.data.get("lm_eval_version"),
            "transformers": self.data.get("transformers_version"),
        }
        found.update({n: v for n, v in _PIP_LINE.findall(str(self.data.get("pretty_env_info"))) if n in _LIBRARIES})
        return {name: str(v) for name, v in sorted(found.items()) if v and not str(v).startswith("N/A")}

    def model(self) -> ModelInfo:
        """The model under test, without secrets and without the folders of this machine."""
        args = read_model_args(self.config.get("model_args"))
        kind = self.config.get("model") or self.data.get("model_source")
        parameters = number(self.config.get("model_num_parameters"))
        name = _model_name(str(self.data.get("model_name") or kind or "unnamed"), args)
        clinician = self.config.get("clinician")  # the built-in one's own digest of its rules and data
        return ModelInfo(
            name=name[:500],
            canonical_name=name[:200],
            kind=None if kind is None else str(kind),
            args={key: public(key, value) for key, value in sorted(args.items())},
            parameters=int(parameters) if parameters is not None and parameters >= 1 else None,
            dtype=_text(self.config.get("model_dtype")),
            revision=_text(self.config.get("model_sha")) or _pinned(_text(self.config.get("model_revision"))),
            weights_sha256=clinician if isinstance(clinician, str) and _SHA256.fullmatch(clinician) else None,
        )


def newest_results(folder: Path) -> Results:
    """The newest ``results*.json`` in a folder or below it; lm-eval writes the time into the name.

    Raises:
        UserError: when the folder does not exist, holds none, or the newest cannot be read.
    """
    if not folder.is_dir():
        raise UserError(f"results folder {folder} does not exist; give the folder that lm_eval --output_path named")
    found = sorted(folder.rglob("results*.json"), key=lambda p: (p.name, p.as_posix()))
    if not found:
        raise UserError(f"no results*.json in {folder} or below it; run lm_eval with --output_path {folder} first")
    path = found[-1]
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror}); check its permissions") from error
    except json.JSONDecodeError as error:
        raise UserError(f"{path}, line {error.lineno}: not JSON ({error.msg}); run lm_eval again") from None
    except UnicodeDecodeError:
        raise UserError(f"{path} is not UTF-8 text; run lm_eval again") from None
    if not isinstance(data, dict) or not isinstance(data.get("results"), dict):
        raise UserError(f"{path} is not an lm-eval results file (no 'results' in it); name another folder")
    return Results(path, data)


def find_transcripts(folder: Path, results: Results, given: Path | None = None) -> Path:
    """The transcripts that belong to a results file: named, beside it, in the folder, or the only ones below.

    Raises:
        UserError: when there are none, or several and none is nearest.
    """
    if given is not None:
        path = given / "transcripts.jsonl" if given.is_dir() else given
        if not path.is_file():
            raise UserError(f"transcripts {path} not found; check --transcripts")
        return path
    for place in (results.path.parent, folder):
        if (place / "transcripts.jsonl").is_file():
            return place / "transcripts.jsonl"
    below = sorted(folder.rglob("transcripts.jsonl"))
    if len(below) == 1:
        return below[0]
    if below:
        listed = ", ".join(str(p) for p in below[:3])
        raise UserError(f"{len(below)} transcripts.jsonl below {folder} ({listed}); name one with --transcripts")
    run_dir = results.suite_settings.get("run_dir")
    if isinstance(run_dir, str) and (Path(run_dir) / "transcripts.jsonl").is_file():
        return Path(run_dir) / "transcripts.jsonl"
    raise UserError(
        f"no transcripts.jsonl in {folder} or below it; "
        "lm_eval logged where it wrote them (run_dir), name that file with --transcripts"
    )


def number(value: Any) -> float | None:
    """A finite number, or ``None`` for anything else (lm-eval's ``"N/A"`` and NaN)."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return float(value)


def read_model_args(given: Any) -> dict[str, Any]:
    """lm-eval's model arguments, which may be a mapping or ``a=b,c=d``."""
    if isinstance(given, Mapping):
        return {str(key): value for key, value in given.items()}
    parts = [part.partition("=") for part in str(given or "").split(",") if "=" in part]
    return {key.strip(): value for key, _, value in parts}


def public(name: str, value: Any) -> Any:
    """A setting that may be published: secrets removed, local paths shortened, strict JSON."""
    if _SECRET.search(name):
        return REMOVED
    if isinstance(value, Mapping):
        return {str(key): public(str(key), inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [public(name, inner) for inner in value]
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return _shortened(str(value))


def _shortened(text: str) -> str:
    """The last part of an absolute local path, a URL without user and query; everything else as it is."""
    if "://" in text:
        return re.sub(r"//[^/@\s]+@", "//", text).partition("?")[0]
    is_path = text.startswith(("/", "~")) or re.match(r"[A-Za-z]:[\\/]", text) is not None
    return PurePath(text.replace("\\", "/")).name or text if is_path else text


def _model_name(name: str, args: Mapping[str, Any]) -> str:
    """The name lm-eval gave; for a local folder its weights file, else its last part. Printable characters only."""
    short = _shortened(name)
    if short != name and args.get("gguf_file"):
        short = str(args["gguf_file"]).removesuffix(".gguf")
    return "".join(c for c in short if c.isprintable()) or "unnamed"


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _reported(values: Mapping[str, Any], name: str, cases: int) -> Reported:
    value, n, stderr = (number(values.get(key)) for key in (name, f"{name}_n", f"{name}_stderr"))
    least, most = RANGES[describe(name).unit]
    reach = None if value is None or stderr is None else _NORMAL * stderr
    return Reported(
        value=value,
        n=None if n is None else int(n),
        coverage=min(1.0, n / cases) if n is not None and cases else None,
        low=None if value is None or reach is None else max(least, value - reach),
        high=None if value is None or reach is None else min(most, value + reach),
        stderr=stderr,
    )


def _pinned(revision: str | None) -> str | None:
    return None if revision in _MOVING_REVISIONS else revision


def _text(value: Any) -> str | None:
    return str(value) if value else None
