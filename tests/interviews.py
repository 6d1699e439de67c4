"""Fixed interviews that tests hold with every patient: plain, sensitive, compound, repeated, soothing questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from verisim_tasks.patient.base import Exchange, Patient, PatientSetting
from verisim_tasks.records.case import Case
from verisim_tasks.records.noise import DIMENSIONS, NoiseProfile
from verisim_tasks.records.transcript import Turn

QUESTIONS: tuple[str, ...] = (
    "Hello, I'm the doctor. What brings you in today?",
    "When did it start?",
    "Can you describe it for me?",
    "Does anything make it worse?",
    "Does anything make it better?",
    "Have you had any fever, chills or night sweats?",
    "Any nausea, vomiting or diarrhoea?",
    "Have you had any chest pain or shortness of breath?",
    "Have you noticed any weight loss?",
    "Do you have any rash?",
    "Do you have any long-term medical conditions?",
    "What medicines are you taking?",
    "Are you allergic to anything?",
    "Do any illnesses run in your family?",
    "Do you smoke?",
    "Do you drink alcohol?",
    "Do you use any recreational drugs?",
    "Are you sexually active?",
    "I ask all my patients this and it stays confidential. Do you drink alcohol or use any drugs?",
    "I'm sorry, that sounds hard. Don't worry, you are in good hands. Have you missed any of your medicines?",
    "How has your mood been?",
    "Tell me more about what has been happening.",
    "Is there anything else you would like to tell me?",
    "Do you have any long-term medical conditions?",
    "What medicines are you taking?",
    "Do you have any dyspnoea, palpitations or syncope?",
    "Thank you. Take care.",
)


def profiles() -> list[NoiseProfile]:
    """Clean, every dimension at every level, and three mixtures."""
    single = [NoiseProfile({d: level}) for d in DIMENSIONS for level in (1, 2, 3, 4)]
    mixed = [
        NoiseProfile({"memory_recall": 3, "emotional_state": 2}),
        NoiseProfile({"social_cultural": 3, "communication_style": 3}),
        NoiseProfile({"cognitive_processing": 2, "health_literacy": 3}),
    ]
    return [NoiseProfile(), *single, *mixed]


def hold(
    patient: Patient, settings: Sequence[PatientSetting], questions: Sequence[str] = QUESTIONS
) -> list[tuple[PatientSetting, list[Turn]]]:
    """The same interview with many patients in step; each with all its turns."""
    dialogues = [[patient.open(setting)] for setting in settings]
    for index, question in enumerate(questions, start=1):
        exchanges = [
            Exchange(setting, tuple(turns), question, index) for setting, turns in zip(settings, dialogues, strict=True)
        ]
        for turns, answer in zip(dialogues, patient.reply(exchanges), strict=True):
            turns += [Turn(index=index, speaker="doctor", text=question), answer]
    return list(zip(settings, dialogues, strict=True))


def everybody(cases: Sequence[Case], seed: int = 1234) -> Iterator[PatientSetting]:
    """Every case with every profile that suits it."""
    for case in cases:
        for noise in profiles():
            if not set(noise) & set(case.incompatible_noise):
                yield PatientSetting(case, noise, seed)
