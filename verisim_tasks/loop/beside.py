"""Figures that travel on lm-eval's instances beside the response, so that the response stays a transcript."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

Figures = TypeVar("Figures")


def hand_over(instance: Any, figures: object) -> None:
    """Put figures on an lm-eval instance; of each kind it carries one."""
    setattr(instance, _carrier(type(figures)), figures)


def handed_over(instances: Sequence[Any], case_id: str, kind: type[Figures]) -> Iterator[Figures]:
    """The figures of a kind that ``hand_over`` left on a task's instances of a case, by repeat."""
    for instance in sorted((i for i in instances if i.doc["case_id"] == case_id), key=lambda i: int(i.idx)):
        figures = getattr(instance, _carrier(kind), None)
        if isinstance(figures, kind):
            yield figures


def _carrier(kind: type) -> str:
    return f"verisim_{kind.__name__}"
