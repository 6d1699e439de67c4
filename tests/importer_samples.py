"""Small records in every format, written for the tests."""

# ruff: noqa: E501 - a sample stays on one line
from __future__ import annotations

from typing import Any

AGENTCLINIC: dict[str, Any] = {
    "OSCE_Examination": {
        "Objective_for_Doctor": "Assess the patient.",
        "Patient_Actor": {
            "Demographics": "44-year-old woman",
            "History": "The patient reports a 2-week history of burning chest pain and a dry cough. "
            "She takes lisinopril, metformin, and naproxen. She denies fever, palpitations, or weight loss. Her husband noticed she snores.",
            "Symptoms": {"Primary_Symptom": "Burning chest pain", "Secondary_Symptoms": ["Cough", "No vomiting"]},
            "Past_Medical_History": "Hypertension, type 2 diabetes mellitus",
            "Social_History": "Non-smoker, drinks wine occasionally. Works as an accountant.",
            "Review_of_Systems": "Heartburn worsens at night. No known drug allergies.",
        },
        "Physical_Examination_Findings": {
            "Vital_Signs": {"Temperature": "98.6°F", "Blood_Pressure": "130/80 mmHg", "Heart_Rate": "72 bpm"},
            "Abdomen": {"Palpation": "Mild epigastric tenderness"},
        },
        "Test_Results": {"Blood": {"Hemoglobin": "13 g/dL", "WBC": "Pending"}},
        "Correct_Diagnosis": "Gastroesophageal reflux disease (GERD)",
    }
}
NEJM: dict[str, Any] = {
    "question": "What is the most likely diagnosis?",
    "image_url": "https://example.org/1.jpg",
    "patient_info": "A 30-year-old man presents with a painful rash on his left hand for 3 days. He denies fever.",
    "physical_exams": "Grouped vesicles on a red base.",
    "answers": [{"text": "Herpetic whitlow", "correct": True}, {"text": "Cellulitis", "correct": False}],
}
MEDIQ: dict[str, Any] = {
    "id": 7,
    "context": ["A 61-year-old man comes to the physician because of a cough for 2 months."],
    "facts": [
        "1. The patient is a 61-year-old man.",
        "2. He has had a cough for 2 months.",
        "3. He has lost 5 kg.",
        "4. He denies fever.",
        "5. His temperature is 37.1°C.",
        "6. A chest X-ray shows a mass in the left lung.",
    ],
    "question": "Which of the following is the most likely diagnosis?",
    "options": {"A": "Lung cancer", "B": "Asthma"},
    "answer": "Lung cancer",
    "answer_idx": "A",
    "patient": {"age": "61", "gender": "male"},
}
PATIENTSIM: dict[str, Any] = {
    "hadm_id": "20000001",
    "split": "persona_eval",
    "age": "57",
    "gender": "Female",
    "race": "white",
    "marital_status": "married",
    "insurance": "Medicare",
    "occupation": "retired",
    "living_situation": "lives with husband",
    "children": "two sons",
    "exercise": "none",
    "tobacco": "former smoker",
    "alcohol": "denies",
    "illicit_drug": "denies",
    "sexual_history": "Not recorded",
    "allergies": "penicillin; sulfa",
    "family_medical_history": "mother with stroke",
    "medical_device": "none",
    "medical_history": "hypertension; gout",
    "chiefcomplaint": "abdominal pain",
    "pain": "7",
    "medication": "allopurinol; lisinopril",
    "arrival_transport": "AMBULANCE",
    "disposition": "ADMITTED",
    "diagnosis": "acute pancreatitis",
    "present_illness_positive": "epigastric pain radiating to the back; nausea; vomiting since 2 days",
    "present_illness_negative": "fever; diarrhea",
}
VERISIM: dict[str, Any] = {
    "patient_id": "Q1",
    "demographics": {"age": 50, "sex": "F"},
    "chief_complaint": "Headache for 2 days",
    "symptoms": [
        {"text": "headache", "cui": "C0018681", "severity": "severe", "onset": "2 days ago", "duration": "ongoing"}
    ],
    "medications": [{"text": "metoprolol", "cui": "C0025859", "dose": "50mg", "frequency": "BID"}],
    "conditions": [{"text": "hypertension", "cui": "C0020538", "diagnosed_year": 2010}],
    "procedures": [{"text": "appendectomy", "cui": "C0003611", "year": 1999, "indication": "appendicitis"}],
    "allergies": [{"text": "penicillin", "cui": "C0030842", "reaction": "rash"}],
    "noise_profile": [{"type": "memory_recall", "level": 2}, {"type": "emotional_state", "level": 1}],
}
AIHOSPITAL: dict[str, Any] = {
    "id": 12,
    "profile": "女，42岁",
    "medical_record": {
        "主诉": "反复咳嗽3周",
        "现病史": "3周前受凉后出现咳嗽，夜间明显。偶有胸痛。无发热，无咯血",
        "既往史": "高血压病5年。否认糖尿病",
        "个人史": "不吸烟。偶尔饮酒",
        "查体": "双肺呼吸音清",
        "辅助检查": "胸片未见异常",
        "诊断结果": "支气管哮喘",
        "诊断依据": "夜间咳嗽",
        "诊治经过": "吸入治疗",
    },
}


def _entry(kind: str, **fields: Any) -> dict[str, Any]:
    return {"fullUrl": f"urn:uuid:{kind}", "resource": {"resourceType": kind, **fields}}


def _code(code: str, display: str, system: str = "http://snomed.info/sct") -> dict[str, Any]:
    return {"coding": [{"system": system, "code": code, "display": display}], "text": display}


_ACTIVE = {"coding": [{"system": "http://terminology.hl7.org/CodeSystem/condition-clinical", "code": "active"}]}
_ME = {"reference": "urn:uuid:Patient"}
FHIR: dict[str, Any] = {
    "resourceType": "Bundle",
    "type": "transaction",
    "entry": [
        _entry("Patient", id="p1", birthDate="1970-05-01", gender="male"),
        _entry("Condition", id="c1", clinicalStatus=_ACTIVE, subject=_ME, onsetDateTime="2020-01-02T10:00:00+00:00",
               code=_code("10509002", "Acute bronchitis (disorder)")),
        _entry("Condition", id="c2", clinicalStatus=_ACTIVE, subject=_ME, onsetDateTime="2020-01-02T10:00:00+00:00",
               code=_code("49727002", "Cough (finding)")),
        _entry("Condition", id="c3", clinicalStatus=_ACTIVE, subject=_ME, onsetDateTime="2001-01-02T10:00:00+00:00",
               code=_code("59621000", "Essential hypertension (disorder)")),
        _entry("Condition", id="c4", clinicalStatus=_ACTIVE, subject=_ME, onsetDateTime="2019-01-02T10:00:00+00:00",
               code=_code("160903007", "Full-time employment (finding)")),
        _entry("Observation", id="o1", status="final", subject=_ME, effectiveDateTime="2020-01-02T10:00:00+00:00",
               code=_code("8310-5", "Body temperature", "http://loinc.org"), valueQuantity={"value": 37.4, "unit": "Cel"}),
        _entry("Observation", id="o2", status="final", subject=_ME, effectiveDateTime="2020-01-02T10:00:00+00:00",
               code=_code("2339-0", "Glucose", "http://loinc.org"), valueQuantity={"value": 92, "unit": "mg/dL"}),
        _entry("MedicationRequest", id="m1", status="active", intent="order", subject=_ME, authoredOn="2019-05-01",
               medicationCodeableConcept=_code("314076", "lisinopril 10 MG Oral Tablet", "http://www.nlm.nih.gov/research/umls/rxnorm")),
        _entry("AllergyIntolerance", id="a1", patient=_ME, code=_code("91936005", "Allergy to penicillin")),
        _entry("Procedure", id="r1", status="completed", subject=_ME, code=_code("80146002", "Appendectomy (procedure)"),
               performedPeriod={"start": "1988-01-01T10:00:00+00:00", "end": "1988-01-01T11:00:00+00:00"}),
    ],
}  # fmt: skip

SAMPLES: dict[str, list[dict[str, Any]]] = {
    "agentclinic": [AGENTCLINIC, NEJM],
    "mediq": [MEDIQ],
    "craftmd": [MEDIQ],
    "patientsim": [PATIENTSIM],
    "verisim": [VERISIM],
    "aihospital": [AIHOSPITAL],
    "fhir": [FHIR],
}
