"""Jinja templates that a package keeps in its folder ``templates``."""

from __future__ import annotations

import functools
from importlib.resources import files

import jinja2


@functools.cache
def source(package: str, name: str) -> str:
    """The text of a template file."""
    return (files(package) / "templates" / name).read_text(encoding="utf-8")


def render(package: str, name: str, **values: object) -> str:
    """A template filled in; a value that is missing is an error."""
    return _template(package, name).render(**values).strip()


@functools.cache
def _template(package: str, name: str) -> jinja2.Template:
    return jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False).from_string(source(package, name))
