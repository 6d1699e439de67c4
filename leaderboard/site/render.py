"""Pages from templates. Everything is escaped; text of others is also freed of characters that cannot be seen."""

from __future__ import annotations

import functools
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from verisim_leaderboard.site.words import cleaned, shown
from verisim_leaderboard.tables import p_value, size

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
"""Content-Security-Policy of every page: nothing but the site's own files, nothing inline, no markup made from text."""
_CODE: tuple[str, ...] = (".js", ".css", ".svg", ".txt")


def page(template: str, *, root: str, current: str, title: str, **data: Any) -> str:
    """One page.

    Args:
        template: Its file in ``templates/``.
        root: The way from the page to the site's first folder: empty or ``../../``.
        current: Which entry of the main menu it belongs to.
        title: Of the browser's tab.
        data: What the template shows.
    """
    return _environment().get_template(template).render(root=root, current=current, title=title, policy=POLICY, **data)


def shipped_files() -> dict[str, bytes]:
    """The style sheet, scripts and libraries with their licences, by path within the site."""
    folder = files("verisim_leaderboard") / "site"
    found = {}
    for part in ("assets", "vendor"):
        for item in sorted((folder / part).iterdir(), key=lambda i: i.name):
            if item.name.endswith(_CODE):
                found[f"{part}/{item.name}"] = item.read_bytes()
    return found


@functools.cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("verisim_leaderboard", "site/templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    environment.filters.update(cleaned=cleaned, p_value=p_value, size=size)
    return environment


def _finalize(value: Any) -> Any:
    return shown(value) if type(value) is str else value  # what is marked as safe came out of our own filters
