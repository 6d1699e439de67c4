"""The pages that explain: method, data, and how to submit."""

from __future__ import annotations

from verisim_leaderboard.rating.sheets import difficulties
from verisim_leaderboard.record import ENTRY_SCHEMA_VERSION
from verisim_leaderboard.score_names import known
from verisim_leaderboard.site.render import page
from verisim_leaderboard.site.words import dimension_label, titled
from verisim_tasks import __version__
from verisim_tasks.records.noise import DIMENSIONS


def method_page() -> str:
    """What is measured and how, from the suite's own descriptions of noise and scores."""
    told = difficulties()
    return page(
        "method.html.jinja",
        root="",
        current="method",
        title="Method",
        dimensions=[(dimension_label(d), told[d]["name"], d, told[d]["levels"]) for d in DIMENSIONS],
        scores=[(titled(info), info) for info in known().values()],
    )


def data_page() -> str:
    """What there is to download."""
    return page("data.html.jinja", root="", current="data", title="Data", schema=ENTRY_SCHEMA_VERSION)


def submit_page() -> str:
    """How to put a model on the leaderboard."""
    return page("submit.html.jinja", root="", current="submit", title="Submit", version=__version__)
