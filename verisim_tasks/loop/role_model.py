"""Models that play a role beside the one under test: named in the settings as on lm-eval's command line."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import lm_eval.models  # noqa: F401  (registers lm-eval's own models before one is asked for by name)
import torch
from lm_eval.api.registry import get_model, model_registry
from lm_eval.utils import simple_parse_args_string

from verisim_tasks._stable import digest
from verisim_tasks.errors import UserError, did_you_mean
from verisim_tasks.loop.channel import Channel, choose_channel
from verisim_tasks.loop.replies import describe_error

SAME = "same"
"""In the settings: the model under test plays this role too."""
_SECRETS = frozenset({"api_key", "auth_token", "token", "hf_token", "use_auth_token", "password"})


@dataclass(frozen=True)
class ModelSpec:
    """A model as lm-eval's command line names it."""

    model: str
    args: Mapping[str, Any]

    @classmethod
    def read(cls, given: Mapping[str, Any], who: str) -> ModelSpec:
        """From ``{"model": ..., "model_args": {...} or "a=b,c=d"}``; raises ``UserError`` for anything else."""
        name, args = given.get("model"), given.get("model_args") or {}
        unknown = sorted(set(given) - {"model", "model_args"})
        if not isinstance(name, str) or not name or unknown:
            raise UserError(
                f"the {who} needs a model and model_args{f', and knows no {unknown[0]!r}' if unknown else ''}; "
                'write {"model": "hf", "model_args": {"pretrained": "..."}}'
            )
        if isinstance(args, str):
            args = simple_parse_args_string(args)
        if not isinstance(args, Mapping):
            raise UserError(
                f"model_args of the {who} is {type(args).__name__}; write a mapping, or a text like a=b,c=d"
            )
        for key in sorted(_SECRETS & set(args)):
            raise UserError(
                f"model_args of the {who} hold {key!r}, which would be written into the results; "
                "set it in the environment instead (OPENAI_API_KEY, HF_TOKEN)"
            )
        return cls(name, dict(args))

    @property
    def identity(self) -> dict[str, str]:
        """Names the model, and changes with any of its arguments."""
        shown = dict(sorted(self.args.items()))
        weights = str(shown.get("pretrained") or shown.get("model") or "")
        return {"model": self.model, "weights": weights, "args": digest(json.loads(json.dumps(shown, default=str)))}


def create_model(spec: ModelSpec, who: str) -> Any:
    """The lm-eval model that a spec names; raises ``UserError`` for an unknown name or refused arguments."""
    try:
        cls = get_model(spec.model)
    except (KeyError, ValueError):
        raise UserError(
            f"unknown {who} model {spec.model!r}{did_you_mean(spec.model, model_registry.keys())}"
        ) from None
    try:
        return cls.create_from_arg_obj({**_own_device(cls), **spec.args})
    except UserError:
        raise
    except Exception as error:
        raise UserError(
            f"the {who} model {spec.model} could not be loaded ({describe_error(error)}); check its model_args"
        ) from error


def _own_device(cls: type) -> dict[str, str]:
    """The device for a model class that takes one: lm-eval's ``hf`` would ask for a GPU where there is none."""
    takes = "device" in inspect.signature(cls).parameters
    return {"device": "cuda" if torch.cuda.is_available() else "cpu"} if takes else {}


def chat_channel(lm: Any, who: str) -> Channel:
    """The channel of a model that has to follow instructions; raises ``UserError`` for one without a chat template."""
    try:
        lm.apply_chat_template([{"role": "user", "content": "Hello."}])
    except Exception as error:
        raise UserError(
            f"the {who} model {name_of(lm)} has no chat template ({describe_error(error)}); choose an instruction model"
        ) from error
    return choose_channel(lm, chat=True)


def name_of(lm: Any) -> str:
    """What a loaded model is called."""
    for attribute in ("tokenizer_name", "model"):
        value = getattr(lm, attribute, None)
        if isinstance(value, str) and value:
            return value
    return type(lm).__name__
