"""Synthetic entries for the site's tests, and a browser that fails loudly on anything it should not do."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from leaderboard_helpers import MIXED, bank
from metrics_helpers import WRONG, make_transcript, told

from verisim_leaderboard.analysis import robustness, variant_tests
from verisim_leaderboard.entry import entry_text
from verisim_leaderboard.record import (
    Contamination,
    Cost,
    Entry,
    Headline,
    Instrument,
    ModelInfo,
    RunSettings,
    Score,
    TranscriptFile,
)
from verisim_leaderboard.rows import Row
from verisim_leaderboard.scores import count, curves, group_entries, headline, tables_of, variant_entries
from verisim_metrics.consultation import score_consultation
from verisim_tasks._stable import digest
from verisim_tasks.records.transcript import NoiseEvent, Segment, Transcript, Turn
from verisim_tasks.tasks.variants import VARIANTS

INSTRUMENT = {"max_turns": 20}
SIZES = (
    None,
    135_000_000,
    1_700_000_000,
    7_600_000_000,
    13_000_000_000,
    32_000_000_000,
    70_000_000_000,
    405_000_000_000,
)


def grid(cases: int = 4) -> list[Transcript]:
    """Every case in all 26 variants; noise at level 3 and 4 costs half of the diagnoses."""
    found = []
    for i, case in enumerate(bank(cases)):
        for variant in VARIANTS:
            noise = MIXED if variant.name == "mixed" else dict(noise_of(variant.name))
            level = max(noise.values(), default=0)
            more: dict[str, Any] = {"diagnosis": WRONG} if level > 2 and i % 2 else {}
            turn = Turn(index=1, speaker="patient", text="It began on Monday.", disclosed=tuple(told("k1")))
            found.append(
                make_transcript(turn, case_id=case.id, noise=noise, variant=variant.name, turns=5 + level, **more)
            )
    return found


def noise_of(name: str) -> Iterator[tuple[str, int]]:
    """The noise of a variant by its name."""
    dimension, mark, level = name.rpartition("_l")
    if mark:
        yield dimension, int(level)


def base_entry(transcripts: list[Transcript] | None = None) -> Entry:
    """A whole entry, scored from transcripts."""
    held = grid() if transcripts is None else transcripts
    cases = {case.id: case for case in bank(12)}
    rows = [
        Row(t.task, t.variant, t.case_id, t.seed, t.repeat, t.outcome.stop_reason, t.outcome.turns, False, score)
        for t in held
        for score in (score_consultation(t, cases[t.case_id]),)
    ]
    tables = tables_of(rows)
    return Entry(
        kind="standard",
        differences=(),
        model=ModelInfo(name="org/tiny-1B", canonical_name="org/tiny-1B", kind="hf", args={}),
        date="2026-01-01T00:00:00+00:00",
        versions={"lm_eval": "0.4.13"},
        scored_with="0.1.0",
        instrument=Instrument(fingerprint=digest(INSTRUMENT), parts=INSTRUMENT),
        settings=RunSettings(
            suite={},
            patient="scripted",
            patient_is_doctor=False,
            seeds=(1234,),
            repeats=1,
            limit=None,
            batch_size="1",
            gen_kwargs={},
            chat_template=False,
            system_instruction=False,
        ),
        headline=headline(tables),
        counts=count(rows),
        cost=Cost(turns=sum(r.turns for r in rows), doctor_tokens=None, seconds=90.0),
        variants=variant_entries(tables, lambda task, n: {}),
        groups=group_entries(tables),
        curves=curves(tables),
        tests=variant_tests(tables),
        robustness=robustness(tables),
        transcripts=TranscriptFile(file="transcripts.jsonl", sha256="0" * 64, consultations=len(held)),
    )


def renamed(entry: Entry, name: str, *, accuracy: float = 0.5, **more: Any) -> Entry:
    """The entry as another model's, with another mixed accuracy."""
    rest = {k: v for k, v in more.items() if k in Entry.model_fields}
    model = {"canonical_name": name, "name": name, **{k: v for k, v in more.items() if k not in rest}}
    mixed = Score(value=accuracy, n=72, coverage=1.0, low=max(0.0, accuracy - 0.1), high=min(1.0, accuracy + 0.1))
    drop = Score(value=100 * (0.9 - accuracy), n=72, coverage=1.0, low=-5.0, high=60.0)
    head = Headline(**{**dict(entry.headline), "mixed_accuracy": mixed, "accuracy_drop": drop})
    return entry.model_copy(update={"model": entry.model.model_copy(update=model), "headline": head, **rest})


def many(count: int, entry: Entry | None = None) -> list[Entry]:
    """So many models of all sizes, open and closed."""
    base = entry or base_entry()
    return [
        renamed(
            base,
            f"org-{i % 17}/model-{i:03d}",
            accuracy=round(0.1 + 0.8 * ((i * 37) % count) / count, 4),
            parameters=SIZES[i % len(SIZES)],
            open_weights=(True, False, None)[i % 3],
            licence=("apache-2.0", "MIT", None)[i % 3],
            submitter=f"Group {i % 9}",
            contamination=Contamination(declared="contaminated" if i % 50 == 49 else "clean"),
        )
        for i in range(count)
    ]


def write_entries(folder: Path, entries: list[Entry]) -> Path:
    """One folder each, without transcripts."""
    for i, entry in enumerate(entries):
        own = folder / f"{i:03d}"
        own.mkdir(parents=True)
        (own / "entry.json").write_text(entry_text(entry), encoding="utf-8")
    return folder


def write_with_transcripts(folder: Path, entry: Entry, transcripts: list[Transcript]) -> Path:
    """One entry with its transcripts beside it."""
    own = folder / "with-transcripts"
    own.mkdir(parents=True)
    text = "".join(t.model_dump_json() + "\n" for t in transcripts)
    (own / "transcripts.jsonl").write_text(text, encoding="utf-8")
    file = TranscriptFile(file="transcripts.jsonl", sha256=sha256(text), consultations=len(transcripts))
    (own / "entry.json").write_text(entry_text(entry.model_copy(update={"transcripts": file})), encoding="utf-8")
    return folder


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def twins(case_id: str = "c0", **more: Any) -> list[Transcript]:
    """A clean consultation and a noisy one with everything the viewer marks."""
    opening = Turn(index=0, speaker="patient", text="My belly hurts.", disclosed=tuple(told("open", asked=False)))
    ask = Turn(index=1, speaker="doctor", text="When did it start?")
    clean = Turn(index=1, speaker="patient", text="On Monday.", disclosed=tuple(told("k1")))
    noisy = Turn(
        index=1,
        speaker="patient",
        text="Well, um. A few days ago.",
        disclosed=tuple(told("k2", form="blurred")),
        withheld=("k1",),
        events=(NoiseEvent(dimension="memory_recall", level=2, device="blur_time", fact_id="k2"),),
        segments=(
            Segment(text="Well, um.", kind="noise"),
            Segment(text="A few days ago.", kind="fact", fact_ids=("k2",)),
        ),
    )
    made = []
    for variant, noise, answer in (("clean", {}, clean), ("mixed", MIXED, noisy)):
        t = make_transcript(case_id=case_id, noise=noise, variant=variant, turns=1, twin=None, **more)
        made.append(t.model_copy(update={"turns": (opening, ask, answer)}))
    return made


def chromium() -> str:
    """The browser's program; skips with a loud reason where there is none."""
    found = os.environ.get("VERISIM_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if not found:
        pytest.skip("BROWSER TESTS NOT RUN: no Chromium; 'apt-get install chromium', or set VERISIM_CHROMIUM")
    return found


@dataclass
class Watch:
    """Everything a page did that it should not do."""

    console: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def assert_quiet(self) -> None:
        assert self.dialogs == []
        assert self.errors == []
        assert self.console == []
        assert [url for url in self.requests if not url.startswith(("file://", "http://127.0.0.1:"))] == []


def watched(context: Any) -> tuple[Any, Watch]:
    """A page of a browser context, and what it does."""
    page, watch = context.new_page(), Watch()
    page.on(
        "console", lambda m: watch.console.append(f"{m.type}: {m.text}") if m.type in ("error", "warning") else None
    )
    page.on("request", lambda r: watch.requests.append(r.url))
    page.on("dialog", lambda d: (watch.dialogs.append(d.message), d.dismiss()))
    page.on("pageerror", lambda e: watch.errors.append(str(e)))
    return page, watch


@contextmanager
def browser() -> Iterator[Any]:
    """Headless Chromium through Playwright; skips with a loud reason where either is missing."""
    api = pytest.importorskip("playwright.sync_api", reason="BROWSER TESTS NOT RUN: pip install playwright")
    program = chromium()
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        try:
            yield started
        finally:
            started.close()
