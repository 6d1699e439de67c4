"""What a run must not change when it goes on after a stop, and how a change is said."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from verisim_tasks import __version__
from verisim_tasks._stable import digest
from verisim_tasks.loop.instrument import describe_instrument
from verisim_tasks.loop.shards import split_source
from verisim_tasks.patient.played.prompts import prompts_digest
from verisim_tasks.patient.scripted import default_patient
from verisim_tasks.records.case import Case
from verisim_tasks.settings import Settings
from verisim_tasks.verify.instrument import verifier_digest

Header = dict[str, Any]
"""JSON-able."""

ELSEWHERE = ("run_dir", "cache")
"""Settings that say where things go, and change nothing of what is said."""
_TOLD = (
    *("pretrained", "model", "revision", "peft", "delta", "max_length", "add_bos_token", "seed"),
    *("chat_template_args", "enable_thinking", "think_end_token"),
)
"""Attributes of lm-eval's models that say which model it is."""
_FROM_THE_HUB = "_sha"
"""Ends the names of what lm-eval asks the hub for, which does not always answer."""


def describe_run(
    lm: Any,
    settings: Settings,
    cases: Iterable[Case],
    *,
    mode: str,
    chat: bool,
    preface: str | None,
    gen_kwargs: Mapping[str, Any],
) -> Header:
    """Everything that decides what is said, as far as it is known before the first token.

    Which tasks and cases are run is no part of it: more of them may be asked for when the run goes on.
    """
    patient = {"script": default_patient().describe()}
    if settings.patient != "scripted":
        patient.update({"prompts": {"digest": prompts_digest()}, "verifier": {"digest": verifier_digest()}})
    instrument = describe_instrument(cases, patient, settings.max_turns)
    del instrument["max_turns"]  # stands among the settings
    header = {
        "version": __version__,
        "mode": mode,
        "settings": {
            **settings.model_dump(mode="json", exclude=set(ELSEWHERE)),
            "cases": split_source(settings.cases)[0],  # which part of them is run may change
        },
        "doctor": describe_model(lm),
        "chat_template": chat,
        "system_instruction": preface,
        "gen_kwargs": {key: gen_kwargs[key] for key in sorted(gen_kwargs)},
        "instrument": instrument,
    }
    return dict(json.loads(json.dumps(header)))


def describe_model(lm: Any) -> dict[str, Any]:
    """What a loaded lm-eval model says of itself; nothing about where it runs or how many prompts it takes at once."""
    told = {name: value for name in _TOLD if (value := _plain(getattr(lm, name, None))) is not None}
    info = getattr(lm, "get_model_info", None)
    if callable(info):
        told["info"] = {k: _plain(v) for k, v in sorted(info().items()) if not k.endswith(_FROM_THE_HUB)}
    return {"type": type(lm).__name__, **told}


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    return re.sub(r" at 0x[0-9a-f]+", "", str(value))


def section_name(header: Header) -> str:
    """Names the lines that belong to a header."""
    return digest(header)[:12]


def changes(old: Header, new: Header) -> list[str]:
    """What differs, each in a few words: ``settings.max_turns was 20 and is 10``."""
    before, now = dict(_flat(old)), dict(_flat(new))
    return [
        f"{name} was {_shown(before.get(name))} and is {_shown(now.get(name))}"
        for name in sorted({*before, *now})
        if before.get(name) != now.get(name)
    ]


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) and value:
        for key in value:
            yield from _flat(value[key], f"{name}.{key}" if name else str(key))
    else:
        yield name, value


def _shown(value: Any) -> str:
    text = "not set" if value is None else repr(value)
    return text if len(text) <= 60 else f"{text[:40]}...({digest(value)[:8]})"
