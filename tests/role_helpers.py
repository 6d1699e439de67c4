"""Language models in roles beside the doctor: a judge that answers by the prompt, and how to put them in place."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

import pytest

from verisim_tasks.loop import colleagues, interview, model_judge, roles

_FORM = re.compile(r'"(\w+)": <exactly one of ([^>]*)>')
_LIST = re.compile(r'\{"(\w+)": \[<text>')


def judging(prompt: str) -> str:
    """An answer in the form the prompt asks for; which one depends on every word of it."""
    text = prompt.replace('\\"', '"')
    form, listed = _FORM.search(text), _LIST.search(text)
    if form is None:
        return json.dumps({listed[1]: []} if listed else {})
    options = form[2].split(", ")
    chosen = options[int(hashlib.sha256(text.encode()).hexdigest(), 16) % len(options)]
    return json.dumps({"justification": "By the rubric.", form[1]: int(chosen) if chosen.isdigit() else chosen})


def named(name: str) -> dict[str, Any]:
    """A role model of the settings."""
    return {"model": name, "model_args": {"pretrained": name}}


def put_in_place(patch: pytest.MonkeyPatch, **models: Any) -> None:
    """Let the settings name these models."""
    for module in (roles, model_judge, interview, colleagues):
        patch.setattr(module, "create_model", lambda spec, who: models[spec.model])
