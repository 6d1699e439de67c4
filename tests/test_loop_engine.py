from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loop_helpers import OPENING, EchoPatient, by_turn, make_case, make_plan, quick, script

from verisim_tasks.errors import UserError
from verisim_tasks.loop.engine import run_consultations
from verisim_tasks.loop.prompts import Conversation
from verisim_tasks.loop.replies import Failed, TooLong
from verisim_tasks.patient.base import Exchange
from verisim_tasks.records.transcript import Transcript, Turn

NOISY = {"memory_recall": 3}


def ended(transcript: Transcript) -> tuple[str, str | None, int]:
    outcome = transcript.outcome
    return outcome.stop_reason, outcome.diagnosis, outcome.turns


def run_one(doctor: Any, **changes: Any) -> Transcript:
    return run_consultations([make_plan()], doctor, EchoPatient(), quick(**changes))[0]


def test_a_diagnosis_ends_the_consultation_and_counts_as_a_turn() -> None:
    transcript = run_one(script("How long?", "Do you smoke?", "Final Diagnosis: Flu"))
    assert transcript.outcome.stop_reason == "diagnosed"
    assert transcript.outcome.diagnosis == "Flu"
    assert transcript.outcome.turns == 3
    assert [t.speaker for t in transcript.turns] == ["patient", "doctor", "patient", "doctor", "patient", "doctor"]
    assert [t.index for t in transcript.turns] == [0, 1, 1, 2, 2, 3]


def test_a_diagnosis_at_turn_1_is_taken() -> None:
    transcript = run_one(script("Final Diagnosis: Flu"))
    assert (transcript.outcome.turns, transcript.outcome.diagnosis) == (1, "Flu")


def test_the_last_turn_is_forced_and_its_diagnosis_counts() -> None:
    prompts: list[Conversation] = []

    def doctor(many: Sequence[Conversation]) -> list[str]:
        prompts.extend(many)
        return ["Final Diagnosis: Flu" if p[-1].role == "note" else "How long?" for p in many]

    transcript = run_one(doctor, max_turns=3)
    assert [p[-1].role == "note" for p in prompts] == [False, False, True]
    assert ended(transcript) == (
        "turn_limit",
        "Flu",
        3,
    )
    assert "forced" in transcript.turns[-1].flags


def test_a_limit_of_one_turn_forces_the_first_message() -> None:
    transcript = run_one(script("Diagnosis: Flu"), max_turns=1)
    assert (transcript.outcome.stop_reason, transcript.outcome.diagnosis) == ("turn_limit", "Flu")


def test_a_goodbye_loop_ends_at_the_limit() -> None:
    transcript = run_one(script("Goodbye!"))
    assert ended(transcript) == (
        "turn_limit",
        None,
        5,
    )


@pytest.mark.parametrize("word", ["[STOP]", "Goodbye.", "END OF CONSULTATION", "Thank you for your time. Bye!"])
def test_a_stop_word_before_a_diagnosis_ends_nothing(word: str) -> None:
    transcript = run_one(script(word, "Final Diagnosis: Flu"))
    assert (transcript.outcome.stop_reason, transcript.outcome.turns) == ("diagnosed", 2)


def test_an_unclosed_thought_is_a_turn_in_which_the_patient_hears_nothing() -> None:
    patient = EchoPatient()
    doctor = by_turn("<think>Final Diagnosis: Flu", "Final Diagnosis: Cold")
    transcript = run_consultations([make_plan()], doctor, patient, quick())[0]
    assert patient.heard == [""]
    assert transcript.turns[1].flags == ("unclosed_think", "empty")
    assert transcript.turns[1].raw == "<think>Final Diagnosis: Flu"
    assert (transcript.outcome.turns, transcript.outcome.diagnosis) == (2, "Cold")


def test_the_patient_hears_only_the_visible_words() -> None:
    patient = EchoPatient()
    doctor = script("<think>secret</think>Doctor: How long?\nPatient: Two days.", "Final Diagnosis: Flu")
    run_consultations([make_plan()], doctor, patient, quick())
    assert patient.heard == ["How long?"]


def test_the_doctor_sees_its_visible_words_and_the_opening_once() -> None:
    prompts: list[Conversation] = []

    def doctor(many: Sequence[Conversation]) -> list[str]:
        prompts.extend(many)
        return ["<think>secret</think>How long?"] * len(many)

    run_one(doctor)
    for prompt in prompts:
        words = "\n".join(m.content for m in prompt)
        assert words.count(OPENING) == 1
        assert "secret" not in words
        assert prompt[1].content == OPENING


def test_consultations_advance_in_step() -> None:
    sizes: list[int] = []

    def doctor(many: Sequence[Conversation]) -> list[str]:
        sizes.append(len(many))
        return ["Final Diagnosis: Flu" if len(p) > 2 and "card-902" in str(p) else "card-902?" for p in many]

    cases = [make_case("card-901"), make_case("card-902")]
    run_consultations([make_plan(c, NOISY) for c in cases], doctor, EchoPatient(), quick())
    assert sizes[0] == 4  # two noisy and their two clean twins


def test_a_clean_twin_is_run_once_and_shared_by_all_variants() -> None:
    patient = EchoPatient()
    plans = [make_plan(noise={"memory_recall": n}) for n in (1, 2, 3)]
    transcripts = run_consultations(plans, script("How long?", "Final Diagnosis: Flu"), patient, quick())
    assert [t.variant for t in transcripts] == ["memory_recall_l1", "memory_recall_l2", "memory_recall_l3", "clean"]
    assert patient.batches == [4]
    assert all(t.clean_twin and t.clean_twin.turns == 2 and t.clean_twin.diagnosis == "Flu" for t in transcripts[:3])
    assert transcripts[3].clean_twin is None


def test_a_planned_clean_consultation_is_the_twin() -> None:
    transcripts = run_consultations(
        [make_plan(), make_plan(noise=NOISY)], script("Final Diagnosis: Flu"), EchoPatient(), quick()
    )
    assert [t.variant for t in transcripts] == ["clean", "memory_recall_l3"]


def test_twins_have_the_same_case_seed_and_repeat() -> None:
    plans = [make_plan(noise=NOISY, repeat=r, seed=s) for r, s in ((0, 1), (1, 1), (0, 2))]
    transcripts = run_consultations(plans, script("Final Diagnosis: Flu"), EchoPatient(), quick())
    assert sorted((t.repeat, t.seed) for t in transcripts if t.variant == "clean") == [(0, 1), (0, 2), (1, 1)]


def test_equal_plans_are_run_once() -> None:
    patient = EchoPatient()
    plans = [make_plan(), make_plan(), make_plan(task="other", variant="copy")]
    transcripts = run_consultations(plans, script("How long?", "Final Diagnosis: Flu"), patient, quick())
    assert patient.batches == [1]
    assert [t.variant for t in transcripts] == ["clean", "clean", "copy"]


def test_a_prompt_that_does_not_fit_is_the_outcome_context_limit() -> None:
    transcript = run_one(script("How long?", TooLong(tokens=90, limit=80)))
    assert ended(transcript) == ("context_limit", None, 1)


def test_one_failing_consultation_costs_no_other() -> None:
    def doctor(many: Sequence[Conversation]) -> list[Any]:
        return [Failed("HTTPError: 500") if "memory" in str(p) else "How long?" for p in many]

    noisy, clean = run_consultations([make_plan(noise=NOISY)], doctor, EchoPatient(), quick())
    assert noisy.outcome.stop_reason == "error"
    assert noisy.outcome.error == "doctor: HTTPError: 500"
    assert noisy.outcome.turns == 1
    assert clean.outcome.stop_reason == "turn_limit"


class FragilePatient(EchoPatient):
    def reply(self, exchanges: Sequence[Exchange]) -> list[Turn]:
        if any(e.setting.case.id == "card-902" for e in exchanges):
            raise RuntimeError("broken")
        return super().reply(exchanges)


def test_a_failing_patient_costs_one_consultation() -> None:
    plans = [make_plan(make_case("card-901")), make_plan(make_case("card-902"))]
    first, second = run_consultations(plans, script("How long?", "Final Diagnosis: Flu"), FragilePatient(), quick())
    assert first.outcome.stop_reason == "diagnosed"
    assert (second.outcome.stop_reason, second.outcome.error) == ("error", "patient: RuntimeError: broken")


def test_a_users_mistake_is_not_swallowed() -> None:
    class Misconfigured(EchoPatient):
        def reply(self, exchanges: Sequence[Exchange]) -> list[Turn]:
            raise UserError("no weights")

    with pytest.raises(UserError, match="no weights"):
        run_consultations([make_plan()], script("How long?"), Misconfigured(), quick())


def test_doctor_messages_are_heard_by_the_patient_and_keep_their_raw_text() -> None:
    transcript = run_one(script("Doctor: How long?", "Final Diagnosis: Flu"))
    doctor = [t for t in transcript.turns if t.speaker == "doctor"]
    assert all(t.heard_by == ("patient",) for t in doctor)
    assert [t.raw for t in doctor] == ["Doctor: How long?", None]


def test_transcripts_survive_json() -> None:
    for transcript in run_consultations([make_plan(noise=NOISY)], script("Hm?"), EchoPatient(), quick()):
        assert Transcript.model_validate_json(transcript.model_dump_json()) == transcript


def test_the_fingerprint_knows_the_instrument_and_not_the_doctor() -> None:
    flu = run_one(script("Final Diagnosis: Flu"))
    cold = run_one(script("Final Diagnosis: Cold"))
    short = run_one(script("Final Diagnosis: Flu"), max_turns=4)
    other = run_consultations(
        [make_plan(make_case(chief_complaint="Other"))], script("Final Diagnosis: Flu"), EchoPatient(), quick()
    )[0]
    assert flu.fingerprint == cold.fingerprint
    assert len({flu.fingerprint, short.fingerprint, other.fingerprint}) == 3


def test_the_reference_diagnosis_stands_in_no_prompt() -> None:
    case = make_case()
    assert case.diagnosis is not None
    seen: list[str] = []

    def doctor(many: Sequence[Conversation]) -> list[str]:
        seen.extend(json.dumps(p) for p in many)
        return ["How long?"] * len(many)

    run_consultations([make_plan(case, NOISY)], doctor, EchoPatient(), quick())
    assert seen
    assert not any(case.diagnosis.name in prompt for prompt in seen)


def test_progress_is_told_once_a_turn() -> None:
    told: list[dict[str, int]] = []
    run_consultations(
        [make_plan(noise=NOISY)],
        script("How long?", "Final Diagnosis: Flu"),
        EchoPatient(),
        quick(),
        progress=lambda **state: told.append(state),
    )
    assert told == [
        {"turn": 1, "open_": 2, "closed": 0, "messages": 2},
        {"turn": 2, "open_": 0, "closed": 2, "messages": 4},
    ]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=60), min_size=1, max_size=6))
def test_any_doctor_gets_an_outcome(replies: list[str]) -> None:
    transcript = run_one(script(*replies))
    assert transcript.outcome.stop_reason in ("diagnosed", "turn_limit")
    assert transcript.outcome.turns == sum(t.speaker == "doctor" for t in transcript.turns) <= 5
    assert Transcript.model_validate_json(transcript.model_dump_json()) == transcript
