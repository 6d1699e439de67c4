"""The sheets that raters get: dialogues to read, criteria with anchors, and a table to fill in."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined

from verisim_leaderboard.rating.sample import Numbered
from verisim_leaderboard.rating.tables import ITEM, as_csv
from verisim_metrics.judging import Rubric, load_rubric
from verisim_metrics.verisim_judge import CRITERIA
from verisim_tasks._yaml import parse_yaml
from verisim_tasks.errors import UserError
from verisim_tasks.records.case import Case

REVEALING = "noise_fidelity"
"""The criterion that can only be rated once the difficulties are known; it is part 2."""
COMMENT = "comment"
SPEAKERS: Mapping[str, str] = {"doctor": "Doctor", "patient": "Patient", "examiner": "Examiner"}


def sheet_html(items: Sequence[Numbered], cases: Mapping[str, Case]) -> str:
    """Part 1: every dialogue beside its record, and the criteria that are rated blind."""
    return _render(
        "sheet.html.jinja",
        criteria=[(_title(c), load_rubric(c)) for c in CRITERIA if c != REVEALING],
        items=[_dialogue(one, _case(one, cases)) for one in items],
    )


def difficulties_html(items: Sequence[Numbered]) -> str:
    """Part 2: what each patient was meant to show, to be opened when part 1 is done."""
    table = difficulties()
    told = [
        (one.item, [(table[d]["name"], level, table[d]["levels"][level]) for d, level in one.transcript.noise.items()])
        for one in items
    ]
    rubric: Rubric = load_rubric(REVEALING)
    return _render("difficulties.html.jinja", title=_title(REVEALING), rubric=rubric, items=told)


def empty_table(items: Sequence[Numbered]) -> str:
    """The CSV to fill in: one row a dialogue, one column a criterion, and a comment."""
    return as_csv([ITEM, *CRITERIA, COMMENT], [[one.item, *[""] * (len(CRITERIA) + 1)] for one in items])


@functools.cache
def difficulties() -> Mapping[str, Mapping[str, Any]]:
    """What raters are told of each noise dimension and level."""
    text = (files("verisim_leaderboard") / "rating" / "difficulties.yaml").read_text(encoding="utf-8")
    found: Mapping[str, Mapping[str, Any]] = parse_yaml(text)
    return found


def _dialogue(one: Numbered, case: Case) -> dict[str, Any]:
    """What a rater may know of a consultation: nothing of its noise, and the same notes whether it has any or not."""
    return {
        "item": one.item,
        "who": f"{case.demographics.age:g} years, {case.demographics.sex}",
        "caregiver": case.informant.relation,
        "facts": [fact.statement for fact in case.facts],
        "sensitive": list(dict.fromkeys(f.concept for f in case.facts if f.sensitive and f.polarity == "present")),
        "turns": [(SPEAKERS[t.speaker], t.text) for t in one.transcript.turns],
    }


def _case(one: Numbered, cases: Mapping[str, Case]) -> Case:
    case = cases.get(one.transcript.case_id)
    if case is None:
        raise UserError(f"case {one.transcript.case_id!r} is not among the cases; name those of the run with --cases")
    return case


def _title(criterion: str) -> str:
    return criterion.replace("_", " ").capitalize()


def _render(template: str, **data: Any) -> str:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    folder = files("verisim_leaderboard") / "rating"
    style = (folder / "sheet.css").read_text(encoding="utf-8")
    return environment.from_string((folder / template).read_text(encoding="utf-8")).render(style=style, **data)
