"""YAML of our own files, by libyaml where it is built in: ten times as fast as pure Python."""

from __future__ import annotations

from typing import Any

import yaml

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def parse_yaml(text: str) -> Any:
    """What the text holds, plain data only. Raises ``yaml.YAMLError``."""
    return yaml.load(text, Loader=_LOADER)
