"""Who hears what, where there is an examiner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from loop_helpers import EchoPatient, make_case, make_plan, quick, script

from verisim_tasks.loop.channel import chat_messages, plain_text
from verisim_tasks.loop.engine import ask_questions, run_consultations
from verisim_tasks.loop.prompts import Conversation
from verisim_tasks.loop.restricted import WITHHELD, without_text
from verisim_tasks.loop.routing import patient_side
from verisim_tasks.records.case import Case
from verisim_tasks.records.transcript import Transcript


@dataclass(frozen=True)
class Result:
    id: str


@dataclass(frozen=True)
class Reply:
    ordered: tuple[str, ...] = ()
    results: tuple[Result, ...] = ()
    not_recorded: tuple[str, ...] = ()
    text: str = ""
    remainder: str = ""


class OrderLines:
    """Takes every line that begins with ``Order:`` for an order."""

    def __init__(self, *, broken: bool = False) -> None:
        self.heard: list[str] = []
        self.broken = broken

    def examine(self, case: Case, message: str) -> Reply:
        self.heard.append(message)
        if self.broken:
            raise RuntimeError("no light")
        lines = message.splitlines()
        orders = [line.removeprefix("Order:").strip() for line in lines if line.startswith("Order:")]
        if not orders:
            return Reply(remainder=message)
        rest = "\n".join(line for line in lines if not line.startswith("Order:"))
        absent = tuple(o for o in orders if o != "ECG")
        text = "\n".join("ECG: normal" if o == "ECG" else f"{o}: not recorded" for o in orders)
        return Reply(tuple(orders), (Result("t01"),) if "ECG" in orders else (), absent, text, rest)

    def describe(self) -> dict[str, Any]:
        return {"name": "lines", "broken": self.broken}


def run(doctor: Any, examiner: OrderLines | None = None, patient: EchoPatient | None = None) -> Transcript:
    return run_consultations(
        [make_plan()], doctor, patient or EchoPatient(), quick(), examiner=examiner or OrderLines()
    )[0]


def heard(transcript: Transcript) -> list[tuple[int, str, tuple[str, ...]]]:
    return [(t.index, t.speaker, t.heard_by) for t in transcript.turns]


def test_a_question_goes_to_the_patient_alone() -> None:
    transcript = run(script("How long?", "Final Diagnosis: Flu"))
    assert [t.speaker for t in transcript.turns] == ["patient", "doctor", "patient", "doctor"]
    assert transcript.turns[1].heard_by == ("patient",)
    assert transcript.turns[1].patient_heard is None


def test_an_order_goes_to_the_examiner_alone() -> None:
    patient = EchoPatient()
    transcript = run(script("Order: ECG", "Final Diagnosis: Flu"), patient=patient)
    assert heard(transcript)[1:3] == [(1, "doctor", ("examiner",)), (1, "examiner", ("doctor",))]
    assert patient.heard == []
    assert transcript.turns[2].text == "ECG: normal"
    assert transcript.turns[2].asked == ("ECG",)
    assert [d.fact_id for d in transcript.turns[2].disclosed] == ["t01"]
    assert transcript.outcome.turns == 2


def test_question_and_order_in_one_message_are_one_turn_heard_by_both() -> None:
    patient = EchoPatient()
    transcript = run(script("How long?\nOrder: ECG\nOrder: lipase", "Final Diagnosis: Flu"), patient=patient)
    assert heard(transcript)[1:4] == [
        (1, "doctor", ("patient", "examiner")),
        (1, "examiner", ("doctor",)),
        (1, "patient", ("doctor",)),
    ]
    assert patient.heard == ["How long?"]
    assert transcript.turns[1].patient_heard == "How long?"
    assert transcript.turns[2].flags == ("not_recorded",)
    assert transcript.outcome.turns == 2


def test_the_doctor_sees_results_as_results_and_the_patient_never_does() -> None:
    prompts: list[Conversation] = []

    def doctor(many: Sequence[Conversation]) -> list[str]:
        prompts.extend(many)
        return [["How long?\nOrder: ECG", "Any pain?", "Final Diagnosis: Flu"][len(prompts) - 1]] * len(many)

    transcript = run(doctor)
    assert "An examiner carries out what you order" in prompts[0][0].content
    assert prompts[1][3].role == "note"
    assert prompts[1][3].content == "Examination results:\n- ECG: normal"
    assert "(Examination results: - ECG: normal)" in plain_text(prompts[1])
    assert chat_messages(prompts[1])[-1]["content"].startswith("Examination results:\n- ECG: normal\n\n")
    words = [t.text for t in patient_side(transcript.turns)]
    assert "ECG" not in " ".join(words)
    assert "How long?" in words


def test_results_that_a_doctor_makes_up_are_cut() -> None:
    examiner = OrderLines()
    transcript = run(script("Order: ECG\nExamination results:\n- ECG: dreadful", "Final Diagnosis: Flu"), examiner)
    assert examiner.heard == ["Order: ECG"]
    assert transcript.turns[1].text == "Order: ECG"
    assert "dreadful" in (transcript.turns[1].raw or "")
    assert "both_sides" in transcript.turns[1].flags


def test_neither_the_last_message_nor_a_diagnosis_is_an_order() -> None:
    examiner = OrderLines()
    run(script("Order: ECG\nFinal Diagnosis: Flu"), examiner)
    run_consultations([make_plan()], script("Order: ECG"), EchoPatient(), quick(max_turns=1), examiner=examiner)
    assert examiner.heard == []


def test_a_broken_examiner_costs_its_own_consultations() -> None:
    transcript = run(script("Order: ECG"), OrderLines(broken=True))
    assert transcript.outcome.stop_reason == "error"
    assert transcript.outcome.error == "examiner: RuntimeError: no light"


def test_without_an_examiner_an_order_is_said_to_the_patient() -> None:
    patient = EchoPatient()
    plain = run_consultations([make_plan()], script("Order: ECG", "Final Diagnosis: Flu"), patient, quick())[0]
    assert patient.heard == ["Order: ECG"]
    assert "examiner" not in plain.instrument


def test_the_examiner_is_part_of_the_instrument() -> None:
    doctor = script("Final Diagnosis: Flu")
    one, other = run(doctor, OrderLines()), run(doctor, OrderLines(broken=True))
    none = run_consultations([make_plan()], doctor, EchoPatient(), quick())[0]
    assert len({one.fingerprint, other.fingerprint, none.fingerprint}) == 3


def test_nothing_that_was_said_leaves_a_restricted_case() -> None:
    bare = without_text(run(script("How long?\nOrder: ECG", "Final Diagnosis: Flu")))
    assert {t.text for t in bare.turns} == {WITHHELD}
    assert all(t.patient_heard is None for t in bare.turns)


def test_questions_can_be_put_apart_from_a_consultation() -> None:
    plans = [make_plan(), make_plan(make_case("card-902"))]
    turns = ask_questions(plans, [("How long?", "Order: ECG"), ("Any pain?",)], EchoPatient(), OrderLines())
    assert [[t.speaker for t in own] for own in turns] == [
        ["patient", "doctor", "patient", "doctor", "examiner"],
        ["patient", "doctor", "patient"],
    ]
    assert turns[0][3].heard_by == ("examiner",)
