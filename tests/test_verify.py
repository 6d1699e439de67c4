"""The verifier: verdicts, whole answers, history, hostile text, and the two labelled sets."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from verisim_tasks.cases.bank import find_case
from verisim_tasks.patient.base import Exchange, PatientSetting
from verisim_tasks.patient.speech import opening
from verisim_tasks.records.noise import NoiseProfile
from verisim_tasks.records.transcript import Disclosure, Turn
from verisim_tasks.verify import Draft, Findings, Verifier, judge_rows
from verisim_tasks.verify.audit import load_profiles

MINE = Path(__file__).parent / "data" / "claims_mine.jsonl"
REWORDINGS = MINE.with_name("rewordings_mine.jsonl")
EXTERNAL = os.environ.get("VERISIM_EXTERNAL_DATA")
FLAGGED = ("unsupported", "contradicted")


@pytest.fixture(scope="module")
def verifier() -> Verifier:
    return Verifier()


def check(
    verifier: Verifier,
    case_id: str,
    text: str,
    question: str = "",
    noise: dict[str, int] | None = None,
    turns: Sequence[Turn] | None = None,
) -> Findings:
    case = find_case(case_id)
    setting = PatientSetting(case, NoiseProfile(noise or {}))
    exchange = Exchange(setting, tuple(turns) if turns is not None else (opening(case),), question, 1)
    return verifier.verify([Draft(exchange, text)])[0]


@pytest.mark.parametrize(
    ("case_id", "question", "text", "verdict"),
    [
        ("pulm-002", "", "My chest has been hurting since this morning.", "supported"),
        ("pulm-002", "", "I've been having palpitations.", "unsupported"),
        ("pulm-002", "", "I have asthma.", "contradicted"),
        ("pulm-002", "Do you have asthma?", "Yes.", "contradicted"),
        ("pulm-002", "Have you had a fever?", "No, never.", "supported"),
        ("pulm-002", "Are you short of breath?", "Not really.", "contradicted"),
        ("pulm-002", "Have you had any headaches?", "No.", "unrecorded_denial"),
        ("pulm-002", "", "Parking here is a nightmare.", "not_clinical"),
        ("pulm-002", "", "I was in hospital for pneumonia as a child.", "unsupported"),
        ("card-003", "", "My mother died of a heart attack.", "unsupported"),
        ("card-003", "", "I am 65 years old.", "contradicted"),
        ("card-003", "", "I live with my wife.", "contradicted"),
        ("card-003", "", "I smoke ten cigarettes a day.", "contradicted"),
        ("card-003", "Do you take blood thinners?", "I take warfarin.", "unsupported"),
        ("gast-004", "", "The pain moved to the left side.", "contradicted"),
        ("neur-002", "", "My double vision is worse in the morning.", "contradicted"),
    ],
)
def test_verdicts(verifier: Verifier, case_id: str, question: str, text: str, verdict: str) -> None:
    assert verdict in {c.verdict for c in check(verifier, case_id, text, question).claims}


def test_what_a_concept_does_not_cover_makes_a_claim_unsupported(verifier: Verifier) -> None:
    case = load_profiles(None)["pulm-002"]
    plain, bloody, productive = verifier.judge_claims(
        case, ["patient has a dry cough", "patient has a cough with blood", "patient brings up green phlegm"]
    )
    assert plain.verdict == "supported"
    assert bloody.is_wrong
    assert productive.is_wrong


def test_a_true_blur_is_supported_and_another_number_is_not(verifier: Verifier) -> None:
    question = "How long have you been breathless?"
    assert check(verifier, "card-003", "For a few weeks now.", question).ok
    assert not check(verifier, "card-003", "For six months.", question).ok


def test_a_first_denial_is_justified_only_by_noise(verifier: Verifier) -> None:
    question = "Do you smoke cannabis?"
    clean = check(verifier, "psyc-003", "No.", question)
    shy = check(verifier, "psyc-003", "No.", question, {"social_cultural": 3})
    assert not clean.ok
    assert shy.ok
    assert {d.kind for d in shy.denials} == {"justified"}


def test_an_unjustified_gap_is_an_omission(verifier: Verifier) -> None:
    question = "When did the pain start?"
    found = check(verifier, "pulm-002", "I can't remember.", question)
    assert "unjustified_omission" in {p.kind for p in found.problems}
    assert check(verifier, "pulm-002", "I can't remember.", question, {"memory_recall": 3}).ok


def test_earlier_turns_are_kept_to(verifier: Verifier) -> None:
    case = find_case("card-003")
    turns = (
        opening(case),
        Turn(index=1, speaker="doctor", text="Do you have a headache?"),
        Turn(index=1, speaker="patient", text="No, no headache.", disclosed=()),
    )
    assert check(verifier, "card-003", "No, no headache.", "Any headache?", turns=turns).ok
    turned = check(verifier, "card-003", "Yes, I have a bad headache.", "Any headache?", turns=turns)
    assert "contradicts_history" in {p.kind for p in turned.problems}
    told = Turn(index=1, speaker="patient", text="I woke gasping twice.", disclosed=(Disclosure(fact_id="f07"),))
    assert check(verifier, "card-003", "As I said, it was twice.", "How often?", turns=(*turns[:2], told)).ok


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "empty"),
        ("...", "empty"),
        ("As an AI language model I cannot feel pain.", "machine_talk"),
        ("Doctor: How long have you had this? Patient: Two days.", "speaks_as_doctor"),
        ("You should take an aspirin and rest.", "speaks_as_doctor"),
        ("I think I have heart failure.", "names_diagnosis"),
        ('{"answer": "yes"}', "markup"),
        ("Ich habe seit gestern starke Schmerzen in der Brust und kann nicht schlafen.", "other_language"),
        ("我胸口疼。", "other_language"),
        ("I get out of breath. " * 500, "too_long"),
    ],
)
def test_whole_answer_checks(verifier: Verifier, text: str, kind: str) -> None:
    found = check(verifier, "card-003", text, "How are you?")
    assert kind in {p.kind for p in found.problems}
    assert not found.ok


def test_feedback_names_claim_and_record_and_never_the_diagnosis(verifier: Verifier) -> None:
    found = check(
        verifier, "card-003", "I have congestive heart failure and I had a pacemaker put in.", "Tell me more."
    )
    assert "pacemaker" in found.feedback
    assert "heart failure" not in found.feedback.lower()


def test_another_extractor_may_be_given_and_fall_back(verifier: Verifier) -> None:
    case = find_case("card-003")
    exchange = Exchange(PatientSetting(case, NoiseProfile({})), (opening(case),), "", 1)
    draft = Draft(exchange, "My ankles are swollen.")
    judge = Verifier(extract=lambda drafts: [["patient has a pacemaker"], None])
    given_claims, by_rule = judge.verify([draft, draft])
    assert not given_claims.ok
    assert by_rule.ok
    assert by_rule.disclosed == ("f08",)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=300), question=st.text(max_size=80))
def test_no_text_breaks_the_verifier(verifier: Verifier, text: str, question: str) -> None:
    assert isinstance(check(verifier, "card-003", text, question), Findings)


HOSTILE = ["<b>pain</b> " * 900, "no " * 3000, "a" * 10_000, "\U0001f600" * 500, "?!" * 2000, "\x00\ufffe"]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text(verifier: Verifier, text: str) -> None:
    assert not check(verifier, "card-003", text, "Any pain?").ok


def _figures(verifier: Verifier, path: Path, profiles: str | None) -> tuple[float, float, int]:
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    judged = judge_rows(rows, load_profiles(profiles), verifier)
    bad = [r for r in judged if r["label"] in FLAGGED]
    good = [r for r in judged if r["label"] not in FLAGGED]
    missed = sum(r["verdict"] not in FLAGGED for r in bad)
    return 1 - missed / len(bad), sum(r["verdict"] in FLAGGED for r in good) / len(good), missed


def test_own_rewordings(verifier: Verifier) -> None:
    rows = [json.loads(line) for line in REWORDINGS.read_text("utf-8").splitlines()]
    found = {"reworded": [], "false": []}  # type: dict[str, list[bool]]
    for kind, accepted in found.items():
        asked = [r for r in rows if kind in r]
        accepted += [check(verifier, r["case"], r[kind], r["question"]).ok for r in asked]
    assert found["reworded"].count(False) <= 0.05 * len(found["reworded"])
    assert found["false"].count(False) >= 0.80 * len(found["false"])


@pytest.mark.skipif(not EXTERNAL, reason="VERISIM_EXTERNAL_DATA is not set")
def test_published_claims(verifier: Verifier) -> None:
    folder = Path(EXTERNAL or "") / "verisim_reference"
    rows = [json.loads(line) for line in (folder / "claims_dev.jsonl").read_text("utf-8").splitlines()]
    judged = judge_rows(rows, load_profiles(str(folder)), verifier)
    flagged = [r["verdict"] in FLAGGED for r in judged]
    assert all(f for f, r in zip(flagged, judged, strict=True) if r["label"] == "unsupported")
    assert sum(f for f, r in zip(flagged, judged, strict=True) if r["label"] != "unsupported") <= 2


def test_own_claims_on_bank_cases(verifier: Verifier, tmp_path: Path) -> None:
    own = tmp_path / "bank.jsonl"
    rows = [line for line in MINE.read_text("utf-8").splitlines() if '"patient_id": "P00' not in line]
    own.write_text("\n".join(rows), "utf-8")
    caught, false_alarms, _ = _figures(verifier, own, None)
    assert caught >= 0.92  # the bar is 95%
    assert false_alarms <= 0.05


THIRD = 3
"""Of the larger sets one case in three is judged here, in one order: a cold machine spends its time on their sentences.

The floors hold for all of their cases as well; first-sight figures are of all.
"""
WHOLE = (
    *("claims_labelled", "claims_blind6", "claims_blind7", "claims_blind8", "claims_train6"),
    *("rewordings", "rewordings_false_second"),
)


@pytest.mark.parametrize(
    ("name", "caught", "false_alarms"),
    [  # the bar is 95% and 5%; claims_blind2 was run once before anybody who worked on the verifier read it
        ("claims_labelled", 0.90, 0.08),
        ("claims_dev2", 0.93, 0.12),
        ("claims_blind2", 0.90, 0.32),
        ("claims_blind3", 0.89, 0.40),  # at first sight
        ("claims_train3", 0.88, 0.32),  # by the same writer, of other cases, at first sight
        ("claims_blind4", 0.97, 0.03),
        ("claims_train4", 0.97, 0.03),
        ("claims_blind5", 0.94, 0.05),
        ("claims_train5", 0.92, 0.13),
        ("claims_train6", 0.92, 0.05),  # at first sight 47 of 51 and 7 of 169; profiles 18 of 18 and 2 of 62
        ("claims_blind6", 0.95, 0.07),  # at first sight: 69 of 72 and 6 of 88; profiles 45 of 45 and 2 of 55
        ("claims_blind7", 0.91, 0.12),  # at first sight: 66 of 72 and 10 of 88; profiles 41 of 45 and 0 of 55
        ("claims_blind8", 0.90, 0.12),  # at first sight: 65 of 72 and 10 of 88; profiles 44 of 45 and 0 of 55
    ],
)
def test_claims_labelled_by_somebody_who_had_not_read_the_verifier(
    verifier: Verifier, name: str, caught: float, false_alarms: float
) -> None:
    """At first sight claims_blind4 had 64 of 72 caught and 9 of 88 flagged, claims_train4 170 of 180 and 19 of 220.

    The second half of claims_train4, not looked at until the first half and claims_blind4 were mended, had 84 of 90
    and 10 of 110 then, as against 84 and 11 before: mending single kinds hardly carries over to another writer.
    claims_blind5 had at first sight 45 of 45 and 4 of 55 on the published profiles, 68 of 72 and 8 of 88 on bank cases.
    The second half of claims_train5, measured once before it was looked at, had 62 of 66 and 42 of 234.
    """
    rows = [json.loads(line) for line in MINE.with_name(f"{name}.jsonl").read_text("utf-8").splitlines()]
    bank = {row["patient_id"] for row in rows if not row["patient_id"].startswith("P0")}
    kept = sorted(bank)[:: 1 if name in WHOLE else THIRD]
    rows = [row for row in rows if row["patient_id"] in kept]
    judged = judge_rows(rows, {case_id: find_case(case_id) for case_id in kept}, verifier)
    bad = [r["verdict"] in FLAGGED for r in judged if r["label"] in FLAGGED]
    good = [r["verdict"] in FLAGGED for r in judged if r["label"] not in FLAGGED]
    assert sum(bad) >= caught * len(bad)
    assert sum(good) <= false_alarms * len(good)


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [  # share rejected; the bar is at most 10% of the true ones
        ("rewordings", 0.0, 0.10),
        ("rewordings_false", 0.80, 1.0),
        ("rewordings_second", 0.0, 0.47),
        ("rewordings_false_second", 0.80, 1.0),
        ("rewordings_third", 0.0, 0.26),  # at first sight, as the two below
        ("rewordings_false_third", 0.85, 1.0),
        ("rewordings_train3", 0.0, 0.38),
        ("rewordings_train4", 0.0, 0.30),  # at first sight 47 of 160
        ("rewordings_false_train4", 0.85, 1.0),  # at first sight 69 of 80
    ],
)
def test_rewordings_by_somebody_who_had_not_read_the_verifier(
    verifier: Verifier, name: str, least: float, most: float
) -> None:
    rows = [json.loads(line) for line in MINE.with_name(f"{name}.jsonl").read_text("utf-8").splitlines()]
    kept = sorted({r["case"] for r in rows})[:: 1 if name in WHOLE else THIRD]
    rejected = [not check(verifier, r["case"], r["reworded"], r["question"]).ok for r in rows if r["case"] in kept]
    assert least * len(rejected) <= sum(rejected) <= most * len(rejected)


def test_ordinary_words_for_what_a_fact_says_are_borne_out_by_the_fact(verifier: Verifier) -> None:
    case = find_case("card-001")
    true, invented = verifier.judge_claims(
        case, ["I was just folding the washing when it came", "I was shovelling the snow when it came"]
    )
    assert true.verdict == "supported"
    assert invented.is_wrong


def test_a_denial_of_a_whole_list_is_held_to_the_list(verifier: Verifier) -> None:
    taking, device = verifier.judge_claims(
        find_case("card-003"), ["patient takes no medicines", "patient has no pacemaker or other device"]
    )
    assert taking.verdict == "contradicted"
    assert device.verdict == "supported"


@pytest.mark.parametrize(
    ("case_id", "question", "text"),
    [
        ("infe-001", "Any emergency pills?", "I've never been on PrEP or had the emergency tablets."),
        ("paed-003", "", "She didn't choke, I was watching her."),
        ("neur-003", "Did he see a doctor?", "He wouldn't hear of seeing a doctor."),
        ("neur-003", "Has he had any falls?", "Six weeks ago he hit his head, the right-hand side."),
        ("derm-003", "How much do you drink?", "Every evening it's around six beers and three brandies."),
        ("infe-003", "", "I've not had sex with anyone in six months."),
        ("card-003", "", "Gave me a right fright."),
        ("rheu-002", "How bad is the headache?", "I'd put it at six."),
        ("paed-001", "Is he up to date with his vaccinations?", "No, and I feel so guilty."),
        ("infe-003", "", "I know I shouldn't have."),
    ],
)
def test_ways_of_saying_what_the_record_says(verifier: Verifier, case_id: str, question: str, text: str) -> None:
    assert check(verifier, case_id, text, question).ok


@pytest.mark.parametrize(
    ("case_id", "question", "text"),
    [
        ("endo-002", "Does it burn?", "It does sting a bit when I wee, is that to do with it?"),
        ("pulm-001", "Any dizziness?", "When I got up this morning I fainted and hit the floor."),
        ("card-003", "Do you drink?", "I have a glass or two of rum every night."),
        ("neur-003", "How was his memory?", "He'd been getting forgetful for a year or so."),
    ],
)
def test_what_nearly_stands_in_the_record_is_not_borne_out(
    verifier: Verifier, case_id: str, question: str, text: str
) -> None:
    assert not check(verifier, case_id, text, question).ok


@pytest.mark.parametrize(
    ("case_id", "claim", "verdict"),
    [
        ("psyc-005", "I was knocked out during the assault", "contradicted"),  # "knock me out", of sleep, is an image
        ("neph-002", "I've been weeing more than usual", "unsupported"),  # named only beside a denial
        ("infe-002", "patient slept under a mosquito net", "contradicted"),
        ("card-003", "patient still takes his furosemide twice a day", "contradicted"),
        ("card-006", "I fainted at my desk", "contradicted"),
        ("infe-006", "the cough started two weeks ago", "contradicted"),  # another fact has two weeks
        ("infe-004", "my dog was covered in ticks this summer", "unsupported"),
        ("endo-003", "patient moved to a new flat last month", "unsupported"),
        ("card-003", "I lost my job last month", "unsupported"),
        ("pulm-006", "I never went for the chest X-ray", "supported"),
        ("endo-005", "I never actually took the antidepressant I was given", "supported"),
        ("psyc-005", "I have a couple of glasses of wine most evenings so I can sleep", "supported"),
        ("card-006", "I haven't passed out", "supported"),
        ("card-006", "patient got divorced about a year and a half ago", "supported"),
        ("endo-002", "I weigh forty-seven kilos", "supported"),
        ("endo-002", "I weigh sixty kilos", "contradicted"),
        ("card-003", "you have such a kind face, dear", "not_clinical"),
        ("card-005", "patient's father died suddenly before he was sixty", "supported"),
        ("card-005", "The pain came on out of the blue while I was cleaning my teeth", "supported"),
        ("derm-001", "the cetirizine takes the itch away", "contradicted"),
        ("endo-001", "I've put on seven kilos in the last four months", "contradicted"),
        ("paed-005", "my daughter has lost more than two kilos since the school nurse last weighed her", "supported"),
        ("psyc-002", "patient has spent thousands on credit cards in the past week", "supported"),
        ("psyc-002", "I've stopped taking my mood tablets", "supported"),
        ("card-003", "patient thanks the nurse for the glass of water", "not_clinical"),
    ],
)
def test_kinds_of_ordinary_claims(verifier: Verifier, case_id: str, claim: str, verdict: str) -> None:
    assert verifier.judge_claims(find_case(case_id), [claim])[0].verdict == verdict
