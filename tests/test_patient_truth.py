"""The full grid, sentence by sentence: every stretch is a told fact, a recorded noise event, or a lexicon phrase."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator

import pytest
from interviews import everybody, hold

from verisim_tasks.cases.bank import load_cases
from verisim_tasks.language.lexicon import default_lexicon, load_yaml
from verisim_tasks.language.words import words
from verisim_tasks.noise.markup import blur, plain, spans
from verisim_tasks.noise.table import phrase_table
from verisim_tasks.patient.base import PatientSetting
from verisim_tasks.patient.scripted import ScriptedPatient
from verisim_tasks.patient.wording import informed
from verisim_tasks.records.case import Case, Fact
from verisim_tasks.records.transcript import Segment, Turn

Grid = list[tuple[PatientSetting, list[Turn]]]


@pytest.fixture(scope="module")
def grid() -> Grid:
    return hold(ScriptedPatient(), list(everybody(load_cases())))


def answers(grid: Grid) -> Iterator[tuple[PatientSetting, list[Turn], Turn]]:
    for setting, turns in grid:
        for turn in turns:
            if turn.speaker == "patient":
                yield setting, turns, turn


def wordings(fact: Fact, case: Case) -> set[str]:
    """Every way in which the fact may truly be said: each form, with any of its marked spans blurred."""
    lexicon = default_lexicon()
    concept = lexicon.named(fact.concept) or next((c for t in fact.terms if (c := lexicon.named(t))), None)
    forms = [fact.lay, informed(fact.lay, case), fact.colloquial, fact.vague, concept.vague if concept else None]
    said = set()
    for form in forms:
        if form is None:
            continue
        kinds = {s.kind for s in spans(form)}
        for chosen in (set(), {"time"}, kinds - {"time"}, kinds):
            said.add(" ".join(words(blur(form, lambda s, chosen=chosen: s.kind in chosen)[0])))
        said.add(" ".join(words(plain(form))))
    return said


def is_softened(text: str, fact: Fact, case: Case) -> bool:
    """The fact's words with softer words for some of them."""
    soft = sorted({s for row in load_yaml("phrases", "euphemisms.yaml") for s in row["soft"]}, key=len, reverse=True)
    pattern = "|".join(re.escape(" ".join(words(s))) for s in soft)
    shape = re.sub(rf"\b(?:{pattern})\b", "\0", " ".join(words(text)))
    return any(re.fullmatch(re.escape(shape).replace(re.escape("\0"), r".{1,40}?"), w) for w in wordings(fact, case))


def phrases() -> list[re.Pattern[str]]:
    lists = [ps for group in phrase_table().values() for ps in group.values()]
    patterns = {re.sub(r"\\\{\w+\\\}", ".{1,120}", re.escape(p)) for ps in lists for p in ps}
    return [re.compile(p, re.IGNORECASE) for p in sorted(patterns)]


def test_every_sentence_has_a_true_source(grid: Grid) -> None:
    known = phrases()
    seen: set[tuple[str, Segment]] = set()
    for setting, _, turn in answers(grid):
        assert turn.text == " ".join(s.text for s in turn.segments)
        for segment in turn.segments:
            if (setting.case.id, segment) in seen:
                continue
            seen.add((setting.case.id, segment))
            if segment.fact_ids:
                fact = setting.case.fact(segment.fact_ids[0])
                said = " ".join(words(segment.text))
                assert said in wordings(fact, setting.case) or (
                    fact.sensitive and is_softened(segment.text, fact, setting.case)
                ), segment
            else:
                spoken = any(p.fullmatch(segment.text) for p in known)
                assert spoken or re.fullmatch(r"I haven't noticed any [^.]+\.", segment.text), segment
    assert len(seen) > 4000


def test_noise_in_words_is_recorded_as_an_event(grid: Grid) -> None:
    for setting, _, turn in answers(grid):
        devices = {e.device for e in turn.events}
        for segment in turn.segments:
            if segment.kind == "noise":
                assert setting.noise, segment
                assert devices, segment
        for event in turn.events:
            assert setting.noise.level(event.dimension) == event.level > 0


def test_nothing_is_denied_that_is_true_but_for_recorded_justified_denials(grid: Grid) -> None:
    justified = 0
    for setting, _, turn in answers(grid):
        for denial in turn.denials:
            if denial.kind == "recorded":
                assert denial.fact_id
                assert setting.case.fact(denial.fact_id).polarity == "denied"
            elif denial.kind == "justified":
                justified += 1
                assert denial.fact_id
                assert setting.case.fact(denial.fact_id).sensitive
                assert setting.noise.level("social_cultural") >= 3
            else:
                assert denial.fact_id is None
                present = {f.concept for f in setting.case.facts if f.polarity == "present"}
                assert denial.concept not in present
    assert justified > 20


def test_a_withheld_fact_is_not_denied_in_the_same_breath(grid: Grid) -> None:
    for setting, _, turn in answers(grid):
        denied = {d.fact_id for d in turn.denials}
        assert not denied & set(turn.withheld), (setting.case.id, turn)


def test_what_was_told_is_never_denied_later(grid: Grid) -> None:
    for setting, turns in grid:
        told: set[str] = set()
        for turn in turns:
            false = {d.fact_id for d in turn.denials if d.kind == "justified"}
            assert not told & false, (setting.case.id, str(setting.noise))
            told |= {d.fact_id for d in turn.disclosed}


def leaks(text: str, case: Case) -> list[str]:
    said = f" {' '.join(words(text))} "
    names = (case.diagnosis.name, *case.diagnosis.synonyms) if case.diagnosis else ()
    return [n for n in names if f" {' '.join(words(n))} " in said]


def test_the_diagnosis_is_never_said(grid: Grid) -> None:
    assert not [leaks(t.text, s.case) for s, _, t in answers(grid) if leaks(t.text, s.case)]


def test_a_caregiver_never_denies_abuse(grid: Grid) -> None:
    for setting, _, turn in answers(grid):
        if setting.case.informant.role == "caregiver":
            for denial in turn.denials:
                fact = setting.case.fact(denial.fact_id) if denial.fact_id else None
                assert not (denial.kind == "justified" and fact and "abuse" in fact.statement.lower())


def test_level_zero_is_brief_and_complete(grid: Grid) -> None:
    for setting, _, turn in answers(grid):
        if setting.noise.is_clean:
            assert len(turn.text.split()) < 50, turn.text
            assert not turn.events
            assert not turn.withheld


def test_devices_have_at_least_twelve_phrasings() -> None:
    short = {(f, d): len(ps) for f, group in phrase_table().items() for d, ps in group.items() if len(set(ps)) < 12}
    assert not short


def test_two_patients_with_the_same_profile_do_not_sound_alike(grid: Grid) -> None:
    asides: dict[str, Counter[str]] = defaultdict(Counter)
    for setting, _, turn in answers(grid):
        if setting.noise == {"emotional_state": 4} or dict(setting.noise) == {"emotional_state": 4}:
            asides[setting.case.id].update(s.text for s in turn.segments if s.kind == "noise")
    firsts = [next(iter(c)) for c in asides.values() if c]
    assert len(set(firsts)) >= 8


def test_levels_nest(grid: Grid) -> None:
    """What a level withholds on the first question, every higher level withholds or denies too."""
    first: dict[tuple[str, str, int], dict[str, bool]] = defaultdict(dict)
    for setting, turns in grid:
        if len(setting.noise) != 1:
            continue
        ((dimension, level),) = setting.noise.items()
        for turn in turns:
            told = {d.fact_id for d in turn.disclosed}
            for key in turn.asked:
                first[(setting.case.id, dimension, level)].setdefault(key, key in told)
    broken = 0
    compared = 0
    for (case_id, dimension, level), table in first.items():
        above = first.get((case_id, dimension, level + 1), {})
        for key, told in table.items():
            if key in above:
                compared += 1
                broken += above[key] and not told
    assert compared > 3000
    assert broken / compared < 0.02
