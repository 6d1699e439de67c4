"""Which output of a model means what, read from its own configuration."""

from __future__ import annotations

from collections.abc import Mapping

from verisim_metrics.nli.model import LABELS
from verisim_tasks.errors import UserError

_STEMS = ("entail", "neutral", "contradict")


def label_order(id2label: Mapping[int, str] | None, name: str) -> tuple[int, int, int]:
    """The places of entailment, neutral and contradiction among a model's outputs.

    Raises ``UserError`` when the names do not map one to one.
    """
    names = {int(k): str(v).strip().lower() for k, v in (id2label or {}).items()}
    found = []
    for stem in _STEMS:
        places = [place for place, label in sorted(names.items()) if label.startswith(stem)]
        if len(places) != 1 or len(names) != len(LABELS):
            raise UserError(
                f"the NLI model {name} has the labels {', '.join(names[k] for k in sorted(names)) or 'none'}; give a "
                "model whose id2label names entailment, neutral and contradiction"
            )
        found.append(places[0])
    return found[0], found[1], found[2]
