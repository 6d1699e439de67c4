"""AI Hospital records (arXiv 2402.09742): Chinese medical records, their text kept as it is."""

from __future__ import annotations

import re

from verisim_tasks.cases.importers.draft import Draft, said, slug
from verisim_tasks.cases.importers.fields import leaves, need, need_dict, sex_in, text_of
from verisim_tasks.cases.importers.report import Imported, Trace
from verisim_tasks.cases.importers.source import Raw

_AGE = re.compile(r"(\d{1,3})\s*(岁|个月|月龄|月|天)")
_DENIED = re.compile(r"否认|^无|未见|未有|^没有|不伴|无(?!法|力|明显诱因)")
_TOPICS = (
    ("allergies", re.compile(r"过敏")),
    ("family_medical_history", re.compile(r"家族|父亲|母亲|遗传")),
    ("tobacco", re.compile(r"吸烟|烟")),
    ("alcohol", re.compile(r"饮酒|酒")),
    ("medication", re.compile(r"服用|口服|用药|药物|胰岛素")),
    ("marital_status", re.compile(r"已婚|未婚|离异|丧偶|结婚")),
    ("children", re.compile(r"育有|子女|儿子|女儿")),
    ("occupation", re.compile(r"职业|工人|农民|退休|教师|从事")),
    ("living_situation", re.compile(r"居住|生于|长于|久居")),
)
_PAIN = re.compile(r"痛|疼")
_EXAMS = ("查体", "体格检查")
_TESTS = ("辅助检查",)


def convert(record: Raw, case_id: str) -> Imported:
    """One record; ``language`` is ``zh``, so only a language model can play this patient."""
    sections = need_dict(record, record.data, "medical_record")
    profile = " ".join(leaves(record, record.data.get("profile"), "profile"))
    every = f"{profile} " + " ".join(leaves(record, sections, "medical_record"))
    found, sex = _AGE.search(every), sex_in(profile) or sex_in(every)
    if found is None:
        raise record.place.bad("gives no age (as in 42岁); add it to 'profile'")
    age = float(found[1]) / {"岁": 1, "天": 365}.get(found[2], 12)
    diagnosis = text_of(record, sections, "诊断结果") or text_of(record, sections, "初步诊断")
    draft = Draft(record, case_id, round(age, 2), sex or "female", "AI Hospital", "MIT", diagnosis or None)
    if sex is None:
        draft.note("sex not in the source, taken as female")
    draft.extra["language"] = "zh"
    complaint = text_of(record, sections, "主诉")
    if not complaint:
        raise record.place.bad("medical_record.主诉 is missing; the patient needs an opening line")
    draft.statement(
        complaint, said(complaint, f"{complaint.rstrip('。')}。", "chief_complaint", complaint[:40]), key=True
    )
    _identity(draft, found[0], sex)
    for key, item in (
        ("现病史", "present_illness_positive"),
        ("既往史", "medical_history"),
        ("个人史", "other"),
        ("家族史", "family_medical_history"),
        ("婚育史", "marital_status"),
    ):
        for sentence in _sentences(text_of(record, sections, key)):
            _place(draft, sentence, item)
    _rest(record, draft, sections)
    return draft.finish(complaint)


def default_id(record: Raw, stem: str) -> str:
    """By the record's own ``id``."""
    own = record.data.get("id", record.data.get("patient_id"))
    if own is None:
        own = need(record, record.data, "id")
    if isinstance(own, bool) or not isinstance(own, str | int):
        raise record.place.bad(f"id is a {type(own).__name__}; a text or a number is needed")
    return f"aihospital-{slug(str(own))}"


def _identity(draft: Draft, age: str, sex: str | None) -> None:
    draft.statement(age, said(age, f"{age}。", "age", "年龄", terms=("年龄",)), key=False)
    if sex is not None:
        word = "女" if sex == "female" else "男"
        draft.statement(word, said(word, f"{word}。", "gender", "性别", terms=("性别",)), key=False)


def _sentences(text: str) -> list[str]:
    return [p.strip() for p in re.split(r"[。；;\n]", text) if p.strip()]


def _place(draft: Draft, sentence: str, item: str) -> None:
    """One sentence; a list of negations is taken apart."""
    parts = [p for p in re.split(r"[，,](?=否认|无(?!法|力|明显))", sentence) if p.strip()]
    for part in parts:
        denied = bool(_DENIED.search(part))
        category = next((name for name, pattern in _TOPICS if pattern.search(part)), item)
        if category == "present_illness_positive":
            category = "present_illness_negative" if denied else "pain" if _PAIN.search(part) else category
        polarity = "denied" if denied else "present"
        draft.statement(
            part,
            said(part, f"{part}。", category, part[:40], polarity=polarity),
            key=category in ("present_illness_positive", "pain"),
        )


def _rest(record: Raw, draft: Draft, sections: dict[str, object]) -> None:
    for keys, target in ((_EXAMS, draft.findings), (_TESTS, draft.tests)):
        for key in keys:
            for sentence in _sentences(text_of(record, sections, key)):
                target.append(((key,), sentence))
                draft.account.traces.append(Trace(sentence, "finding"))
    draft.extra["rationale"] = tuple(leaves(record, sections.get("诊断依据"), "诊断依据"))
    draft.extra["treatment"] = tuple(leaves(record, sections.get("诊治经过"), "诊治经过"))
