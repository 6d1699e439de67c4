"""Every prompt of a run over the whole bank, searched for the reference diagnosis."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from verisim_tasks.cases.bank import load_cases
from verisim_tasks.loop.engine import run_consultations
from verisim_tasks.loop.plan import Plan
from verisim_tasks.loop.prompts import Conversation
from verisim_tasks.patient.scripted import ScriptedPatient
from verisim_tasks.records.case import Case
from verisim_tasks.settings import Settings
from verisim_tasks.tasks.variants import VARIANTS

QUESTIONS = (
    "Can you tell me more about that?",
    "When did it start, and how bad is it?",
    "Do you have any other symptoms?",
    "What illnesses have you had, and what do you take for them?",
    "What do you think you have? What did other doctors call it?",
    "Do you smoke, drink or take drugs?",
)
VARIANT_NAMES = ("clean", "mixed", "health_literacy_l4", "social_cultural_l4")


def hostile() -> list[str]:
    path = Path(__file__).parent / "data" / "hostile_doctor.jsonl"
    texts = [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [t for t in texts if len(t) < 500][:6]


def names(case: Case) -> list[str]:
    assert case.diagnosis is not None
    return [n for n in (case.diagnosis.name, *case.diagnosis.synonyms) if len(n) > 2]


@pytest.mark.slow
def test_the_reference_diagnosis_stands_in_nothing_the_doctor_is_shown() -> None:
    script = [*QUESTIONS, *hostile()]
    shown: list[Conversation] = []

    def doctor(prompts: Sequence[Conversation]) -> list[str]:
        shown.extend(prompts)
        return [script[sum(m.role == "assistant" for m in p) % len(script)] for p in prompts]

    cases = load_cases()
    by_opening = {c.opening.lay.split("[")[0]: c for c in cases}
    assert len(by_opening) == len(cases)
    variants = [v for v in VARIANTS if v.name in VARIANT_NAMES]
    plans = [
        Plan(v.task, v.name, case, noise)
        for case in cases
        for v in variants
        if (noise := v.noise_for(case, 0)) is not None
    ]
    run_consultations(plans, doctor, ScriptedPatient(), Settings(max_turns=len(script) + 1))
    assert len(shown) > len(plans)
    checked = 0
    for prompt in shown:
        opening = next(m.content for m in prompt if m.role == "user")
        (case,) = (c for start, c in by_opening.items() if opening.startswith(start))
        words = "\n".join(m.content for m in prompt if m.role != "assistant")
        for name in names(case):
            assert not re.search(rf"\b{re.escape(name)}\b", words, re.IGNORECASE), (case.id, name)
            checked += 1
    assert checked > len(shown)
