"""The head of a model card: evaluation results in the form that model hubs read (``model-index``)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml
from huggingface_hub import EvalResult, ModelCardData
from huggingface_hub.repocard_data import eval_results_to_model_index

from verisim_leaderboard.record import Entry, Score, VariantEntry
from verisim_leaderboard.scores import CLEAN, MIXED
from verisim_leaderboard.tables import visible
from verisim_tasks.errors import UserError

DATASET = "verisim-tasks"
"""By which results of ours are known among others."""
KEY = "model-index"
_HEAD = re.compile(r"\A\s*---[ \t]*\n(?P<yaml>.*?)^---[ \t]*(?:\n|\Z)", re.S | re.M)
_BLOCK = re.compile(rf"^{KEY}[ \t]*:.*\n(?:(?:(?:[ \t]*|#.*)\n)*[ \t-].*\n)*", re.M)
_DIGITS = 4


def eval_results(entry: Entry) -> list[EvalResult]:
    """Accuracy without and with mixed noise, the drop and the inflation; what is undefined is left out."""
    return [_result(entry, *found) for found in _metrics(entry) if found[3].value is not None]


def with_results(text: str, entry: Entry) -> str:
    """A card's text with the entry's results in its head; everything else in the head keeps its bytes.

    Args:
        text: The whole card, lines ended by line feeds; a head is added where there is none.
        entry: Where the results come from. Results of other data sets, and of other models, stay.

    Raises:
        UserError: when the head is no YAML mapping, or its ``model-index`` is not in the hub's form.
    """
    found = _HEAD.search(text)
    head = found["yaml"] if found else ""
    held = _read(head)
    block = yaml.safe_dump({KEY: _merged(held.get(KEY), entry)}, sort_keys=False, allow_unicode=True)
    match = _BLOCK.search(head)
    if KEY in held and match is None:
        raise UserError(f"the card's {KEY} is written in an unusual way; write it as '{KEY}:' on a line of its own")
    head = head[: match.start()] + block + head[match.end() :] if match else head + block
    _validate(_read(head))
    body = text[found.end() :] if found else text
    lead = text[: found.start("yaml")] if found else "---\n"
    tail = text[found.end("yaml") : found.end()] if found else "---\n"
    return lead + head + tail + body


def _metrics(entry: Entry) -> Iterator[tuple[str, str, str, Score]]:
    """Variant, kind of metric, its name and its score."""
    h = entry.headline
    yield CLEAN, "accuracy", "diagnostic accuracy, clean", h.clean_accuracy
    yield MIXED, "accuracy", "diagnostic accuracy, mixed noise", h.mixed_accuracy
    yield MIXED, "accuracy_drop", "accuracy lost under mixed noise, points", h.accuracy_drop
    yield MIXED, "turn_inflation", "more turns under mixed noise, ratio", h.turn_inflation


def _result(entry: Entry, variant: str, kind: str, name: str, score: Score) -> EvalResult:
    ends = {"low": _rounded(score.low), "high": _rounded(score.high), "cases": score.n}
    custom = ", custom run" if entry.kind == "custom" else ""
    return EvalResult(
        task_type="text-generation",
        task_name="Medical consultation with a simulated patient",
        dataset_type=DATASET,
        dataset_name=f"VeriSim tasks, {variant}{custom}",
        dataset_config=_task(entry.variants, variant),
        dataset_split="test",
        dataset_revision=visible(entry.instrument.fingerprint),
        metric_type=kind,
        metric_name=name,
        metric_value=_rounded(score.value),
        metric_args={key: value for key, value in ends.items() if value is not None},
    )


def _task(variants: Sequence[VariantEntry], name: str) -> str:
    return next((visible(v.task) for v in variants if v.variant == name), f"verisim_{name}")


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)


def _read(head: str) -> dict[str, Any]:
    try:
        found = yaml.safe_load(head) or {}
    except yaml.YAMLError as error:
        raise UserError(
            f"the card's head is no YAML ({_first_line(error)}); mend what stands between the ---"
        ) from None
    if not isinstance(found, dict):
        raise UserError("the card's head is no YAML mapping; write 'name: value' lines between the ---")
    return found


def _merged(index: Any, entry: Entry) -> list[dict[str, Any]]:
    """The index with our results in the place of earlier ones of ours."""
    name = visible(entry.model.canonical_name)
    (own,) = eval_results_to_model_index(name, eval_results(entry))
    models = [] if index is None else index
    if not isinstance(models, list) or not all(
        isinstance(m, dict) and isinstance(m.get("results"), list) for m in models
    ):
        raise UserError(f"the card's {KEY} is not in the hub's form; mend or remove it, then run again")
    target = next((m for m in models if m.get("name") == name), models[0] if len(models) == 1 else None)
    if target is None:
        return [*models, own]
    others = [result for result in target["results"] if not _is_ours(result)]
    return [{**m, "results": [*others, *own["results"]]} if m is target else m for m in models]


def _is_ours(result: Any) -> bool:
    dataset = result.get("dataset") if isinstance(result, Mapping) else None
    return isinstance(dataset, Mapping) and dataset.get("type") == DATASET


def _validate(head: Mapping[str, Any]) -> None:
    """What the hub's own library says of the whole head."""
    try:
        ModelCardData(**{str(key): value for key, value in head.items()})
    except (ValueError, TypeError, KeyError) as error:
        raise UserError(
            f"the hub would not take the card's head ({_first_line(error)}); mend it, then run again"
        ) from None


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
