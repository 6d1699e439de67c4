"""Splitting diagnosis texts into diseases."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verisim_metrics.mvme.entities import MAX_ENTITIES, entities

CASES: dict[str, tuple[str, ...]] = {
    "1. Type 2 diabetes\n2. Hypertension": ("Type 2 diabetes", "Hypertension"),
    "1) Asthma 2) Eczema": ("Asthma", "Eczema"),
    "①肺炎②胸腔积液": ("肺炎", "胸腔积液"),
    "1、胃溃疡 2、贫血": ("胃溃疡", "贫血"),
    "(1)左侧声带息肉\n(2)慢性舌扁桃体炎": ("左侧声带息肉", "慢性舌扁桃体炎"),
    "Acute appendicitis with perforation; secondary: anaemia": ("Acute appendicitis", "perforation", "anaemia"),
    "Pneumonia complicated by sepsis": ("Pneumonia", "sepsis"),
    "糖尿病合并肾病，伴高血压": ("糖尿病", "肾病", "高血压"),
    "妊娠合并贫血": ("妊娠合并贫血",),
    "Primary diagnosis: **Gout**": ("Gout",),
    "初步诊断：急性支气管炎，可能由细菌感染引起。": ("急性支气管炎",),
    "肾癌可能性大": ("肾癌",),
    "Possible migraine, no evidence of stroke": ("migraine",),
    "Acute myocardial infarction. Pulmonary embolism ruled out.": ("Acute myocardial infarction",),
    "妊娠期高血压，但尚未发展到子痫前期。": ("妊娠期高血压",),
    "无法给出具体的诊断结果，建议您尽快就诊。": (),
    "Cannot determine a diagnosis; further tests are needed.": (),
    "右耳廓肿物（乳头状瘤）": ("乳头状瘤",),
    "慢性阻塞性肺疾病（COPD）": ("慢性阻塞性肺疾病",),
    "Stage 3 chronic kidney disease (eGFR 45)": ("Stage 3 chronic kidney disease",),
    "Pneumonia, left lower lobe": ("Pneumonia",),
    "Hand, foot and mouth disease": ("Hand, foot and mouth disease",),
    "无症状性菌尿症": ("无症状性菌尿症",),
    "左股骨颈、干和远端的粉碎性骨折": ("左股骨颈干远端的粉碎性骨折",),
    "": (),
}


@pytest.mark.parametrize("text", CASES)
def test_the_diseases_of_a_text(text: str) -> None:
    assert entities(text) == CASES[text]


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=200))
def test_any_text_gives_clean_entities(text: str) -> None:
    found = entities(text)
    assert all(e.strip() == e and e for e in found)
    assert len({e.casefold() for e in found}) == len(found)


@pytest.mark.parametrize("unit", ["肺炎，", "(", "pneumonia and ", "可能", "\ue0000\ue000", "诊断为"])
def test_huge_text_is_cut(unit: str) -> None:
    assert len(entities(unit * 20_000)) <= MAX_ENTITIES
