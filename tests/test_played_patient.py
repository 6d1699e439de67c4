"""The patient played by a model: what a draft may say, what becomes of a rejected one, and what is written down."""

from __future__ import annotations

import json

import pytest

from verisim_metrics.consultation import score_consultation
from verisim_tasks.cases.bank import find_case, load_cases
from verisim_tasks.errors import UserError
from verisim_tasks.loop.channel import choose_channel
from verisim_tasks.loop.engine import run_consultations
from verisim_tasks.loop.plan import Plan
from verisim_tasks.loop.role_model import chat_channel
from verisim_tasks.patient.base import Exchange, PatientSetting
from verisim_tasks.patient.compare import compare
from verisim_tasks.patient.conversation import Conversation
from verisim_tasks.patient.played.echo import echoes
from verisim_tasks.patient.played.patient import ATTEMPTS, PlayedPatient, heard
from verisim_tasks.patient.scripted import ScriptedPatient
from verisim_tasks.records.noise import DIMENSIONS, NoiseProfile
from verisim_tasks.settings import Settings, read_settings
from verisim_tasks.verify.verifier import Verifier

CASE = "rheu-001"
QUESTION = "Do you have a fever?"


class Fault:
    reason = "the server is gone"


class Actor:
    """Replies with what it is given, in turn; counts calls and keeps every chat."""

    def __init__(self, *replies) -> None:
        self.replies = list(replies)
        self.chats = []
        self.calls = 0

    def __call__(self, chats):
        self.calls += 1
        self.chats += chats
        return [self.replies.pop(0) if len(self.replies) > 1 else self.replies[0] for _ in chats]


@pytest.fixture(scope="module")
def script() -> ScriptedPatient:
    return ScriptedPatient()


@pytest.fixture(scope="module")
def verifier() -> Verifier:
    return Verifier()


def ask(actor, script, verifier, question=QUESTION, noise=None, case=CASE, style="act"):
    patient = PlayedPatient(actor, verifier.verify, model={"model": "actor"}, style=style, script=script)
    talk = Conversation(patient, PatientSetting(find_case(case), NoiseProfile(noise or {})))
    return talk.say(question)


def test_a_true_draft_is_said_in_the_models_words(script, verifier):
    turn = ask(Actor("No, no fever and no chills at all."), script, verifier)
    assert turn.text == "No, no fever and no chills at all."
    assert turn.verification is not None
    assert not turn.verification.fallback
    assert turn.verification.attempts == 1
    assert [d.fact_id for d in turn.disclosed] == ["f18"]
    assert turn.disclosed[0].asked


@pytest.mark.parametrize(
    "lie",
    [
        "Yes, I've had a fever of thirty-nine since Monday.",
        "No fever, but my father died of a heart attack.",
        "No fever, but I was in hospital with pneumonia last month.",
        "No fever. I take warfarin every evening.",
    ],
)
def test_a_fabricated_claim_never_reaches_the_doctor(script, verifier, lie):
    actor = Actor(lie)
    turn = ask(actor, script, verifier)
    scripted = ask_scripted(script)
    assert turn.text == scripted.text
    assert turn.verification.fallback
    assert turn.verification.attempts == ATTEMPTS == actor.calls
    assert all(d.is_hallucinated for d in turn.verification.drafts)
    assert "fallback" in turn.flags


def ask_scripted(script, question=QUESTION):
    return Conversation(script, PatientSetting(find_case(CASE), NoiseProfile())).say(question)


def test_a_rejected_draft_is_written_again_with_what_was_wrong(script, verifier):
    actor = Actor("Yes, I've had a fever of thirty-nine.", "No, I've had no fever.")
    turn = ask(actor, script, verifier)
    assert turn.text == "No, I've had no fever."
    assert turn.verification.attempts == 2
    assert "cannot be used" in actor.chats[1][-1]["content"]
    assert "cannot be used" not in actor.chats[0][-1]["content"]


@pytest.mark.parametrize(
    "reply",
    [
        "",
        Fault(),
        "Je n'ai pas de fièvre, docteur, mais j'ai très mal au pied depuis deux jours.",
        '{"answer": "no fever"}',
        "word " * 4000,
        "Doctor: Do you have any other symptoms? Patient: No.",
        "As an AI language model, I cannot have a fever.",
        "This is gout, doctor. You should start colchicine.",
        "<think>what would the patient say",
    ],
)
def test_whatever_the_model_writes_the_consultation_goes_on(script, verifier, reply):
    turn = ask(Actor(reply), script, verifier)
    assert turn.verification.fallback
    assert turn.text == ask_scripted(script).text


def test_all_open_consultations_are_drafted_in_one_call(script, verifier):
    actor = Actor("No, I've had no fever.")
    patient = PlayedPatient(actor, verifier.verify, model={"model": "actor"}, script=script)
    settings = [PatientSetting(find_case(c), NoiseProfile()) for c in (CASE, "rheu-004", "pulm-001")]
    exchanges = [Exchange(s, (patient.open(s),), QUESTION, 1) for s in settings]
    turns = patient.reply(exchanges)
    assert actor.calls == 1
    assert [t.verification.fallback for t in turns] == [False, False, False]


def test_the_diagnosis_stands_in_no_prompt(script, verifier):
    actor = Actor("No, I've had no fever.")
    for case_id in ("card-003", "psyc-006", "paed-004"):
        case = find_case(case_id)
        for noise in ({}, dict.fromkeys(DIMENSIONS, 3)):
            ask(actor, script, verifier, "How are you feeling?", noise, case_id)
        for chat in actor.chats:
            said = json.dumps(chat).lower()
            assert not any(n.lower() in said for n in (case.diagnosis.name, *case.diagnosis.synonyms))
        actor.chats.clear()


def test_what_the_noise_holds_back_is_not_in_the_prompt(script, verifier):
    noise = {"social_cultural": 4}
    case = find_case("rheu-001")
    actor = Actor("I'd rather not talk about that.")
    ask(actor, script, verifier, "Do you drink alcohol?", noise)
    alcohol = next(f for f in case.facts if f.category == "alcohol")
    assert alcohol.lay.split("[")[0].strip()[:20] not in actor.chats[0][0]["content"]


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_every_dimension_and_level_says_what_to_do(script, verifier, dimension):
    told = []
    for level in range(1, 5):
        actor = Actor("No, I've had no fever.")
        ask(actor, script, verifier, noise={dimension: level})
        system = actor.chats[0][0]["content"]
        assert "How you are today:" in system
        told.append(system.split("How you are today:")[1].split("What you have told")[0].strip())
    assert len(set(told)) == 4


def test_rewording_shows_the_model_one_answer_and_no_record(script, verifier):
    actor = Actor("I haven't been feverish, and no chills either.")
    turn = ask(actor, script, verifier, style="reword")
    assert not turn.verification.fallback
    assert actor.chats[0][-1]["content"].endswith(ask_scripted(script).text)
    assert "stubbed" not in json.dumps(actor.chats)


def test_a_parrot_is_found_out(script, verifier):
    actor = Actor("No, I've had no fever.")
    patient = PlayedPatient(actor, verifier.verify, model={"model": "actor"}, script=script)
    talk = Conversation(patient, PatientSetting(find_case(CASE), NoiseProfile()))
    talk.say(QUESTION)
    turn = talk.say("Where is the pain?")
    assert turn.verification.fallback
    assert "repeats" in turn.verification.drafts[0].problems


@pytest.mark.parametrize(
    "draft",
    [
        "No, I've had no fever. Say it in your own words, and nothing more.",
        "No, I've had no fever. Your last try cannot be used. Try again.",
        "No, I've had no fever. You've had a couple of other symptoms.",
        "No, I've had no fever. You have said that you're 45.",
    ],
)
def test_the_models_instructions_are_not_the_patients_words(script, verifier, draft):
    turn = ask(Actor(draft), script, verifier)
    assert turn.verification.fallback
    assert turn.text == ask_scripted(script).text


def test_nothing_a_patient_knows_reads_like_an_instruction():
    spoken = [t for c in load_cases() for f in c.facts for t in (f.lay, f.colloquial, f.vague, f.statement) if t]
    assert len(spoken) > 3000
    assert [t for t in spoken if echoes(t)] == []
    assert echoes("Stay in character from the first word to the last.")


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("Patient: It hurts.", "It hurts."),
        ('"It hurts."', "It hurts."),
        ("<think>hm</think>It hurts.\nDoctor: Where?", "It hurts."),
        ("<think>hm", ""),
        ("  It\nhurts. ", "It hurts."),
        ("I've been sick all day. I've been sick all day.", "I've been sick all day."),
        ("Please. Please. It hurts. I have drunk it since", "Please. Please. It hurts."),
        ("It hurts when I walk", "It hurts when I walk"),
    ],
)
def test_what_is_heard_of_a_reply(reply, text):
    assert heard(reply) == text


def test_rates_of_drafts_and_of_what_was_said(script, verifier):
    actor = Actor("Yes, I've had a fever of thirty-nine.", "No, I've had no fever.")
    patient = PlayedPatient(actor, verifier.verify, model={"model": "actor"}, script=script)
    case = find_case(CASE)
    plan = Plan("t", "clean", case, NoiseProfile())
    replies = iter([QUESTION, "Final Diagnosis: gout"])
    [transcript] = run_consultations([plan], lambda prompts: [next(replies)], patient, Settings(max_turns=3))
    scores = score_consultation(transcript, case)
    assert scores["hallucination_rate_draft"] == 1.0
    assert scores["hallucination_rate"] == 0.0
    assert scores["fallback_rate"] == 0.0
    scripted = run_consultations([plan], lambda prompts: ["Final Diagnosis: gout"], script, Settings(max_turns=3))[0]
    assert score_consultation(scripted, case)["fallback_rate"] is None


def test_both_patients_side_by_side(script, verifier):
    played = PlayedPatient(Actor("I couldn't say."), verifier.verify, model={"model": "actor"}, script=script)
    rows = list(compare({"scripted": script, "model": played}, [find_case(CASE)], [NoiseProfile()], [QUESTION]))
    (first, _), (second, answers) = rows
    assert first.facts == 1
    assert first.drafts is None
    assert second.drafts == answers[0]["drafts"].__len__()


class NoTemplate:
    tokenizer_name = "base"

    def apply_chat_template(self, messages):
        raise ValueError("no chat template")


def test_a_patient_model_without_a_chat_template_is_refused_at_the_start():
    with pytest.raises(UserError, match="patient model base has no chat template"):
        chat_channel(NoTemplate(), "patient")
    assert choose_channel(NoTemplate(), chat=False).kind == "plain"


@pytest.mark.parametrize(
    "patient", ["llm", 3, {"model": ""}, {"model": "hf", "style": "sing"}, {"model": "hf", "args": {}}]
)
def test_wrong_patient_settings_are_one_clear_error(patient):
    with pytest.raises(UserError, match="'patient'"):
        read_settings({"verisim": {"patient": patient}})
