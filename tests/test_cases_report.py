from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from verisim_tasks.cases.bank import find_case, load_cases
from verisim_tasks.cases.report import (
    BankReport,
    Dialogue,
    difficulty_of,
    forced_conclusion,
    is_right,
    key_facts_needed,
    report,
    report_case,
    told,
)
from verisim_tasks.cli._cases_report import age_groups, as_json
from verisim_tasks.cli.main import main
from verisim_tasks.records.case import Case


class Counting:
    """Names the right diagnosis once it has heard enough answers."""

    def __init__(self, case: Case, enough: int) -> None:
        assert case.diagnosis is not None
        self.name = case.diagnosis.name
        self.enough = enough

    def __call__(self, dialogue: Dialogue) -> str:
        answers = sum(role == "patient" for role, _ in dialogue) - 1
        return self.name if answers >= self.enough else "common cold"


@pytest.fixture(scope="module")
def case() -> Case:
    return find_case("card-001")


@pytest.fixture(scope="module")
def bank() -> BankReport:
    return report(load_cases())


def test_a_leaking_opening_is_flagged(case: Case) -> None:
    found = report_case(case, Counting(case, 0))
    assert (found.guessed_from_opening, found.key_facts_needed, found.computed_difficulty) == (True, 0, "easy")
    assert BankReport((found,), {}).leaked == (found,)


def test_a_case_nobody_solves_is_flagged(case: Case) -> None:
    found = report_case(case, Counting(case, 1000))
    assert (found.found_with_everything, found.key_facts_needed, found.computed_difficulty) == (False, None, "hard")
    whole = BankReport((found,), {})
    assert (whole.unsolved, whole.leaked) == ((found,), ())


@pytest.mark.parametrize("enough", [1, 3])
def test_key_facts_are_counted_until_the_diagnosis_is_right(case: Case, enough: int) -> None:
    assert key_facts_needed(case, Counting(case, enough)) == enough


def test_labels_that_differ_are_listed(case: Case) -> None:
    enough = {"easy": 3, "medium": 0, "hard": 0}[case.difficulty or "hard"]
    found = report_case(case, Counting(case, enough))
    assert BankReport((found,), {}).mislabelled == (found,)
    same = found.__class__(**{**found.__dict__, "difficulty": found.computed_difficulty})
    assert BankReport((same,), {}).mislabelled == ()


@pytest.mark.parametrize(
    ("needed", "difficulty"), [(0, "easy"), (2, "easy"), (3, "medium"), (4, "medium"), (5, "hard"), (None, "hard")]
)
def test_difficulty(needed: int | None, difficulty: str) -> None:
    assert difficulty_of(needed) == difficulty


def test_what_is_told_is_plain_and_complete(case: Case) -> None:
    dialogue = told(case, case.key_facts)
    texts = [text for role, text in dialogue if role == "patient"]
    assert len(texts) == 1 + len(case.key_facts)
    assert not any("|" in t or "[" in t for t in texts)
    assert [role for role, _ in dialogue[:3]] == ["patient", "doctor", "patient"]


def test_the_clinician_is_made_to_conclude() -> None:
    case = next(c for c in load_cases() if c.id == "neph-001")
    guess = forced_conclusion(told(case, ()))
    assert guess
    assert "Differential" not in guess
    assert "Final Diagnosis" not in guess


def test_a_case_without_a_diagnosis_is_undefined(case: Case) -> None:
    found = report_case(case.model_copy(update={"diagnosis": None}), Counting(case, 0))
    assert (found.guessed_from_opening, found.found_with_everything, found.key_facts_needed) == (None, None, None)
    assert found.computed_difficulty is None
    assert found.in_knowledge is None
    whole = BankReport((found,), {})
    assert (whole.leaked, whole.unsolved, whole.mislabelled) == ((), (), ())


def test_the_bank(bank: BankReport) -> None:
    cases = load_cases()
    assert [c.id for c in bank.cases] == [c.id for c in cases]
    assert sum(bank.facts_per_item.values()) == sum(len(c.facts) for c in cases)
    assert sum(age_groups(bank).values()) == len(cases)
    for field in ("specialty", "sex", "difficulty", "informant"):
        assert sum(bank.count(field).values()) == len(cases)
    key = {c.id: sum(f.key and f.sensitive for f in c.facts) for c in cases}
    assert {c.id: c.sensitive_key_facts for c in bank.cases} == key


def test_few_cases_leak_and_most_can_be_solved(bank: BankReport) -> None:
    assert len(bank.leaked) <= len(bank.cases) * 0.2
    assert len(bank.unsolved) <= len(bank.cases) * 0.35


def test_flags_agree_with_the_matcher(bank: BankReport) -> None:
    for found in bank.cases:
        case = find_case(found.id)
        assert found.guessed_from_opening == is_right(case, found.first_guess or "")
        assert (found.key_facts_needed == 0) == bool(found.guessed_from_opening)


def test_the_report_is_data(bank: BankReport) -> None:
    data = json.loads(json.dumps(as_json(bank)))
    assert data["cases"] == len(bank.cases)
    assert data["by_case"][0]["id"] == bank.cases[0].id
    assert set(data["guessed_from_opening"]) == {c.id for c in bank.leaked}


def test_no_cases_have_no_mean() -> None:
    assert report([]).mean_facts is None


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], case: Case) -> None:
    path = tmp_path / "one.yaml"
    path.write_text(yaml.safe_dump(case.model_dump(mode="json"), allow_unicode=True), encoding="utf-8")
    assert main(["cases", "report", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "1 cases" in printed
    assert "diagnosis guessed from the opening alone: " in printed
    assert main(["cases", "report", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["counts"]["specialty"] == {"cardiology": 1}
    assert main(["cases", "report", str(tmp_path / "nowhere")]) == 2
