"""A model card's section on robustness: table, plot, how to reproduce, limits; and its metadata."""

from __future__ import annotations

import functools
import io
import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, StrictUndefined, Template

from verisim_leaderboard.card_metadata import with_results
from verisim_leaderboard.plots import accuracy_by_level, clean_and_mixed
from verisim_leaderboard.record import Curve, Entry, Score
from verisim_leaderboard.report import sentences
from verisim_leaderboard.scores import LEVELS
from verisim_leaderboard.table import PUBLISHED_DROP, PUBLISHED_INFLATION, with_interval
from verisim_leaderboard.tables import visible
from verisim_tasks._files import write_atomically
from verisim_tasks.errors import UserError

BEGIN, END = "<!-- verisim:begin -->", "<!-- verisim:end -->"
"""The lines between which the section stands."""
PLOT = "verisim_robustness.png"
"""Beside the card."""
_DPI = 120
_ESCAPED = re.compile(r"([\\`*_\[\]|~$#])")
_ENTITIES: Mapping[str, str] = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_NOT_TOLD: tuple[str, ...] = ("model", "tasks")
"""Model arguments that are no arguments of ``--model_args``."""


@dataclass(frozen=True)
class Written:
    """What became of the card's files."""

    card: Path
    plot: Path
    changed: tuple[Path, ...]
    """Files whose bytes changed; empty when everything stood there already."""


def write_card(entry: Entry, readme: Path) -> Written:
    """Write or renew the section, the plot and the metadata; the rest of the card keeps its bytes.

    Args:
        entry: The run.
        readme: The card; made where there is none.

    Raises:
        UserError: when the card cannot be read or written, its head is no YAML, or its markers do not pair.
    """
    plot = readme.with_name(PLOT)
    try:
        before = readme.read_bytes() if readme.exists() else None
        after = card_text(entry, None if before is None else before.decode("utf-8")).encode("utf-8")
        drawn = _plot(entry)
        changed = []
        if before != after:
            write_atomically(readme, after.decode("utf-8"))
            changed.append(readme)
        if not plot.is_file() or plot.read_bytes() != drawn:
            plot.write_bytes(drawn)
            changed.append(plot)
    except UnicodeDecodeError:
        raise UserError(f"{readme} is not UTF-8 text; save it as UTF-8") from None
    except OSError as error:
        raise UserError(f"{readme} cannot be written ({error.strerror}); choose another --readme") from error
    return Written(readme, plot, tuple(changed))


def card_text(entry: Entry, text: str | None) -> str:
    """The whole card with its section and metadata; line ends and a byte order mark stay as they are.

    Raises:
        UserError: see ``write_card``.
    """
    if text is None:
        text = f"# {markdown(entry.model.canonical_name)}\n"
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    ends = "\r\n" if "\r\n" in text else "\n"
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n")
    made = with_results(_with_section(plain, section(entry)), entry)
    return mark + made.replace("\n", ends)


def section(entry: Entry) -> str:
    """The section, its markers included; the same entry gives the same text."""
    return _template().render(
        begin=BEGIN,
        end=END,
        entry=entry,
        headline=list(_headline(entry)),
        levels=LEVELS,
        curves=[(curve.dimension, [_drop(curve, level) for level in LEVELS]) for curve in entry.curves],
        plot=PLOT,
        plot_says="accuracy by noise level" if entry.curves else "clean against mixed accuracy",
        says=list(sentences(entry)),
        commands=_commands(entry),
    )


def markdown(text: object) -> str:
    """Text of others as text in Markdown: nothing in it is markup, a link or HTML."""
    line = " ".join(visible(str(text)).split())
    return re.sub(r"[&<>]", lambda found: _ENTITIES[found[0]], _ESCAPED.sub(r"\\\1", line))


def _with_section(text: str, made: str) -> str:
    lines = text.split("\n")
    first, last = ([i for i, line in enumerate(lines) if line.strip() == mark] for mark in (BEGIN, END))
    if not first and not last:
        return (text.rstrip("\n") + "\n\n" if text.strip() else "") + made
    if len(first) != 1 or len(last) != 1 or first[0] > last[0]:
        raise UserError(f"the card needs one line '{BEGIN}' and one '{END}' below it; mend or remove them")
    rest = "\n".join(lines[last[0] + 1 :])
    return "\n".join([*lines[: first[0]], made.rstrip("\n"), rest])


def _headline(entry: Entry) -> Iterator[tuple[str, str, str, int]]:
    h = entry.headline
    rows: tuple[tuple[str, Score, float, str], ...] = (
        ("Clean accuracy, %", h.clean_accuracy, 100, ""),
        ("Mixed accuracy, %", h.mixed_accuracy, 100, ""),
        ("Drop, points", h.accuracy_drop, 1, PUBLISHED_DROP),
        ("Relative drop, %", h.accuracy_drop_relative, 100, PUBLISHED_DROP),
        ("Turn inflation, %", h.turn_inflation, 100, PUBLISHED_INFLATION),
        ("Pairs that reached the turn limit, %", h.censored, 100, ""),
    )
    for label, score, scale, published in rows:
        yield label, with_interval(score, scale), published, score.n


def _drop(curve: Curve, level: int) -> str:
    point = next((p for p in curve.points if p.level == level), None)
    if point is None or not point.cases:
        return "not run"
    score = point.scores.get("accuracy_drop")
    return "-" if score is None or score.value is None else f"{score.value:.1f}"


def _commands(entry: Entry) -> list[str]:
    """What to type to run it again; every word is quoted for a shell."""
    model = entry.model
    known = {k: v for k, v in sorted(model.args.items()) if k not in _NOT_TOLD and v is not None}
    args = ",".join(f"{key}={value}" for key, value in known.items())
    tasks = "verisim" if entry.curves else "verisim_core"
    words = ["verisim", "run", "--model", model.kind or "hf", *(["--model_args", args] if args else [])]
    words += ["--tasks", tasks, *(["--apply_chat_template"] if entry.settings.chat_template else [])]
    if entry.settings.limit is not None:
        words += ["--limit", f"{entry.settings.limit:g}"]
    changed = {d.setting.removeprefix("suite."): d.found for d in entry.differences if d.setting.startswith("suite.")}
    if changed:
        words += ["--metadata", json.dumps({"verisim": changed}, sort_keys=True)]
    words += ["--output_path", "results", "--log_samples"]
    install = ["pip", "install", f"verisim-tasks=={entry.versions.get('verisim-tasks', entry.scored_with)}"]
    return [visible(shlex.join(line)).replace("\n", " ") for line in (install, words)]


def _plot(entry: Entry) -> bytes:
    draw = accuracy_by_level if entry.curves else clean_and_mixed
    target = io.BytesIO()
    draw(entry).savefig(target, format="png", dpi=_DPI, metadata={"Software": None})
    return target.getvalue()


@functools.cache
def _template() -> Template:
    environment = Environment(
        autoescape=False,  # Markdown; text of others goes through the filter
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["md"] = markdown
    return environment.from_string((files("verisim_leaderboard") / "card.md.jinja").read_text(encoding="utf-8"))
