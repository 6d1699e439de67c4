"""What a standard run is: the installed suite as delivered, over the whole bank. Everything else is custom."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from verisim_leaderboard.flatten import ABSENT
from verisim_leaderboard.record import Difference, Instrument, RunSettings
from verisim_tasks._stable import digest
from verisim_tasks.cases.bank import load_cases
from verisim_tasks.loop.instrument import describe_instrument
from verisim_tasks.patient.scripted import ScriptedPatient
from verisim_tasks.records.case import Case
from verisim_tasks.settings import Settings
from verisim_tasks.tasks.variants import VARIANTS

FREE: tuple[str, ...] = ("run_dir", "cache", "keep_restricted_text", "report", "interviewer", "collaboration")
"""Settings of the suite that bear on no score of the ranked variants."""
AT_MOST: tuple[str, ...] = ("max_reply_tokens", "max_report_tokens")
"""Settings that may be lower than delivered: a shorter reply handicaps nobody but the model under test."""
REQUIRED: tuple[str, ...] = ("clean", "mixed")
"""Variants that every standard entry holds."""
_DEEP = 2
"""How far differences of the instrument are told apart; what lies deeper is shown by its digest."""


@dataclass(frozen=True)
class Standard:
    """The standard instrument and the cases it is made of."""

    instrument: Mapping[str, Any]
    cases: Mapping[str, Case]

    @property
    def fingerprint(self) -> str:
        """By which transcripts name the instrument."""
        return digest(dict(self.instrument))

    def cases_of(self, variant: str) -> frozenset[str] | None:
        """The cases that a whole run of a variant holds; ``None`` for a variant that is not one of the suite's 26.

        A case is left out where the noise would mimic its own disease.
        """
        known = {v.name: v for v in VARIANTS}.get(variant)
        if known is None:
            return None
        return frozenset(i for i, case in self.cases.items() if known.noise_for(case, 0) is not None)


@functools.cache
def installed_standard() -> Standard:
    """The standard of the installed suite: its bank, its scripted patient, its default settings."""
    cases = load_cases("bank")
    parts = describe_instrument(cases, ScriptedPatient().describe(), Settings().max_turns)
    return Standard(parts, {case.id: case for case in cases})


def differences(settings: RunSettings, instrument: Instrument, standard: Standard) -> tuple[Difference, ...]:
    """In what a run departs from the standard, by dotted path; empty when it is a standard run."""
    return (*_run_differences(settings), *_suite_differences(settings.suite), *_instrument(instrument, standard))


def _run_differences(settings: RunSettings) -> Iterator[Difference]:
    defaults = Settings()
    wanted: tuple[tuple[str, Any, Any], ...] = (
        ("limit", None, settings.limit),
        ("seeds", [defaults.seed], list(settings.seeds)),
        ("repeats", defaults.repeats, settings.repeats),
        ("patient", defaults.patient, settings.patient),
        ("patient_is_doctor", False, settings.patient_is_doctor),
        ("system_instruction", False, settings.system_instruction),
    )
    for name, standard, found in wanted:
        if found != standard:
            yield Difference(setting=name, standard=standard, found=found)


def _suite_differences(suite: Mapping[str, Any]) -> Iterator[Difference]:
    defaults = Settings().model_dump(mode="json")
    for name in sorted(suite):
        found, standard = suite[name], defaults.get(name, ABSENT)
        shorter = name in AT_MOST and isinstance(found, int) and found <= standard
        if name not in FREE and not shorter and found != standard:
            yield Difference(setting=f"suite.{name}", standard=standard, found=found)


def _instrument(instrument: Instrument, standard: Standard) -> Iterator[Difference]:
    if instrument.fingerprint == standard.fingerprint:
        return
    wanted, found = _leaves(standard.instrument), _leaves(instrument.parts)
    differing = [name for name in sorted({*wanted, *found}) if wanted.get(name, ABSENT) != found.get(name, ABSENT)]
    for name in differing:
        a, b = wanted.get(name, ABSENT), found.get(name, ABSENT)
        yield Difference(setting=f"instrument.{name}", standard=_short(a), found=_short(b))
    if not differing:
        yield Difference(setting="instrument.fingerprint", standard=standard.fingerprint, found=instrument.fingerprint)


def _leaves(value: Mapping[str, Any], path: str = "", depth: int = 1) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, inner in value.items():
        name = f"{path}.{key}" if path else str(key)
        if isinstance(inner, Mapping) and inner and depth < _DEEP:
            found.update(_leaves(inner, name, depth + 1))
        else:
            found[name] = inner
    return found


def _short(value: Any) -> Any:
    """Scalars as they are, anything nested by the head of its digest."""
    return f"digest {digest(value)[:12]}" if isinstance(value, (Mapping, list, tuple)) else value
