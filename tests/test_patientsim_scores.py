"""PatientSim scores of transcripts: what counts, what is left out, and that nothing but the text decides."""

from typing import Any

import numpy as np
import pytest

from verisim_metrics.patientsim import items_of, score_patient
from verisim_metrics.patientsim.profile import categories_of
from verisim_metrics.patientsim.relations import TextRelation
from verisim_metrics.patientsim.utterances import utterances
from verisim_tasks.cases.bank import load_cases
from verisim_tasks.errors import UserError
from verisim_tasks.records.case import Case
from verisim_tasks.records.transcript import (
    ClaimVerdict,
    Denial,
    Disclosure,
    Outcome,
    Segment,
    Transcript,
    Turn,
    Verification,
    VerifiedDraft,
)


def fact(fact_id: str, category: str, concept: str, statement: str, lay: str, **more: Any) -> dict[str, Any]:
    return {"id": fact_id, "category": category, "concept": concept, "statement": statement, "lay": lay, **more}


CASE = Case.model_validate(
    {
        "canary": "test",
        "id": "c1",
        "specialty": "gastroenterology",
        "provenance": {"source": "test", "licence": "MIT"},
        "demographics": {"age": 30, "sex": "female"},
        "chief_complaint": "abdominal pain",
        "facts": [
            fact(
                "f1",
                "chief_complaint",
                "abdominal pain",
                "Abdominal pain for two days",
                "My belly has hurt for [two days|time|a while].",
            ),
            fact("f2", "present_illness_positive", "vomiting", "Vomited twice", "I threw up twice."),
            fact(
                "f3",
                "present_illness_negative",
                "fever",
                "Denies fever",
                "No, I haven't had a fever.",
                polarity="denied",
            ),
            fact(
                "f4",
                "alcohol",
                "alcohol use",
                "Drinks a bottle of wine a day",
                "I drink a bottle of wine a day.",
                sensitive=True,
            ),
            fact("f5", "medication", "ibuprofen", "Ibuprofen 400 mg as needed", "I take ibuprofen now and then."),
        ],
    }
)


class WordNli:
    """Says contradiction for what it is told to, entailment where the sentence shares a long word, else neutral."""

    name = "words"

    def __init__(self, *wrong: str) -> None:
        self.wrong = wrong
        self.asked: list[tuple[str, str]] = []

    def predict(self, pairs):
        self.asked += pairs
        return np.array([self._row(*pair) for pair in pairs])

    def _row(self, premise: str, hypothesis: str) -> list[float]:
        if any(word in hypothesis for word in self.wrong):
            return [0.1, 0.1, 0.8]
        shared = set(premise.lower().split()) & set(hypothesis.lower().strip(".").split())
        return [0.8, 0.1, 0.1] if any(len(w) > 3 for w in shared) else [0.1, 0.8, 0.1]


def patient(index: int, text: str = "", *segments: Segment, **more: Any) -> Turn:
    joined = " ".join(s.text for s in segments) or text
    return Turn(index=index, speaker="patient", text=joined, segments=segments, **more)


def doctor(index: int, text: str) -> Turn:
    return Turn(index=index, speaker="doctor", text=text)


def transcript(*turns: Turn, reason: str = "diagnosed", case_id: str = "c1") -> Transcript:
    outcome = Outcome(diagnosis="x", stop_reason=reason, turns=3)  # type: ignore[arg-type]
    return Transcript(
        task="t",
        variant="clean",
        case_id=case_id,
        noise={},
        seed=1,
        roles={},
        turns=turns,
        outcome=outcome,
        fingerprint="f",
    )


OPENING = patient(0, "My belly has hurt for two days.")


def only(*turns: Turn, nli: Any = None, **how: Any):
    return score_patient([transcript(*turns)], [CASE], nli or WordNli(), **how).records[0]


def test_sentences_are_typed_related_and_labelled():
    answer = patient(
        1, "I threw up twice. I'm so scared. Is it serious? Thank you, doctor. The bus was late this morning."
    )
    record = only(OPENING, doctor(1, "Anything else?"), answer)
    assert record.sentences == {
        "politeness": 1, "emotion": 1, "inquiry": 1, "meta_information": 0, "information": 3
    }  # fmt: skip
    counts = record.text.counts
    assert (counts.information, counts.supported, counts.entailed, counts.contradicted) == (3, 2, 2, 0)


def test_a_contradiction_counts_as_one():
    record = only(OPENING, doctor(1, "Fever?"), patient(1, "I have had a high fever."), nli=WordNli("high fever"))
    assert record.text.counts.contradicted == 1


def test_a_short_answer_is_read_with_its_question():
    nli = WordNli()
    only(OPENING, doctor(1, "I see. Have you had a fever?"), patient(1, "No."), nli=nli)
    assert ("Denies fever", "Have you had a fever? No.") in nli.asked


def test_denials_by_segment_are_left_out_and_counted():
    answer = patient(
        1,
        "",
        Segment(text="No, no rash that I've noticed.", kind="denial", device="unrecorded"),
        Segment(text="No, I don't drink.", kind="denial", device="deny_first"),
        Segment(text="No, I haven't had a fever.", kind="denial", fact_ids=("f3",)),
        denials=(Denial(kind="recorded", concept="fever", fact_id="f3"),),
    )
    record = only(OPENING, doctor(1, "Rash, drink, fever?"), answer)
    assert record.left_out == {"justified": 1, "unrecorded": 1}
    assert record.text.counts.information == 2
    assert record.tagged.counts.supported == 1
    assert record.untagged == 1  # the opening carries no segments here


def test_denials_without_segments_go_by_the_verifier_or_by_the_turn():
    said = VerifiedDraft(text="...", claims=(ClaimVerdict(text="No rash at all", verdict="unrecorded_denial"),))
    verified = patient(1, "No rash at all. I threw up twice.", verification=Verification(drafts=(said,)))
    assert only(OPENING, doctor(1, "Rash?"), verified).left_out["unrecorded"] == 1
    bare = patient(1, "No.", denials=(Denial(kind="justified", concept="alcohol", fact_id="f4"),))
    assert only(OPENING, doctor(1, "Do you drink?"), bare).left_out["justified"] == 1


def test_a_sentence_maps_to_its_segment_by_position():
    twice = "I threw up twice."
    answer = patient(
        1,
        "",
        Segment(text=twice, kind="noise", device="tangent"),
        Segment(text=twice, kind="fact", fact_ids=("f2",)),
        disclosed=(Disclosure(fact_id="f2"),),
    )
    found = [u.fact_ids for u in utterances([transcript(OPENING, doctor(1, "Hm?"), answer)])[0]]
    assert found == [(), (), ("f2",)]


def test_coverage_by_text_and_by_tags_stand_apart():
    told = Segment(text="I threw up twice.", kind="fact", fact_ids=("f2",))
    answer = patient(1, "", told, asked=("f2", "item:alcohol"), disclosed=(Disclosure(fact_id="f2"),))
    record = only(OPENING, doctor(1, "Have you been sick?"), answer)
    assert record.tagged.coverage.derived == ("present_illness_positive",)
    assert record.tagged.coverage.asked == ("alcohol", "present_illness_positive")
    assert record.text.coverage.derived == ("present_illness_positive", "chief_complaint")
    scores = record.tagged.coverage.scores()
    assert scores["icov_asked"].value == pytest.approx(1 / 2)
    assert scores["icov_all"].value == pytest.approx(1 / 23)
    assert scores["icov"].value == pytest.approx(1 / len(categories_of(items_of(CASE))))
    assert 0.3 < record.tagged.icon_embed.value <= 1.0


def test_plausibility_and_icon_only_with_a_judge():
    answer = patient(1, "The bus was late this morning. I threw up twice.")
    turns = (OPENING, doctor(1, "Anything?"), answer)
    without = score_patient([transcript(*turns)], [CASE], WordNli()).pooled["text"]
    assert (without["plausibility"].value, without["plausibility"].reason) == (None, "no judge")
    assert (without["icon"].value, without["icon"].reason) == (None, "no judge")
    asked: list[tuple[str, str]] = []

    def judge(pairs):
        asked.extend(pairs)
        return [3.0] * len(pairs)

    report = score_patient([transcript(*turns)], [CASE], WordNli(), judge, icon_judge=lambda pairs: [2.0] * len(pairs))
    assert [sentence for _, sentence in asked] == ["The bus was late this morning."]
    assert "Ibuprofen" in asked[0][0]
    assert report.pooled["text"]["plausibility"].value == 3.0
    assert report.pooled["text"]["icon"].value == 2.0
    with pytest.raises(ValueError, match="judge gave"):
        score_patient([transcript(*turns)], [CASE], WordNli(), lambda pairs: [9.0] * len(pairs))


def test_errors_and_withheld_text_are_counted_not_scored():
    failed = transcript(OPENING, reason="error")
    withheld = transcript(
        patient(0, "[restricted]"),
        doctor(1, "[restricted]"),
        patient(1, "[restricted]", disclosed=(Disclosure(fact_id="f2"),)),
    )
    report = score_patient([failed, withheld], [CASE], WordNli())
    assert [r.text for r in report.records] == [None, None]
    assert all(r.reason for r in report.records)
    assert report.records[1].tagged.coverage.derived == ("present_illness_positive",)
    assert report.pooled["text"]["entail"].value is None
    assert score_patient([failed], [CASE], WordNli(), empty="zero").pooled["text"]["entail"].value == 0.0
    with pytest.raises(UserError, match="no case 'other'"):
        score_patient([transcript(OPENING, case_id="other")], [CASE], WordNli())


def test_batch_size_and_company_change_no_score():
    answers = [
        "I threw up twice.",
        "No.",
        "I have had a high fever.",
        "I'm thirty. I take ibuprofen.",
        "Not that I know of.",
    ]
    all_of = [transcript(OPENING, doctor(1, "Have you had a fever?"), patient(1, text)) for text in answers]
    one = score_patient(all_of, [CASE], WordNli("high fever"), chunk=1)
    many = score_patient(all_of, [CASE], WordNli("high fever"), chunk=64)
    assert one == many
    alone = [score_patient([t], [CASE], WordNli("high fever")).records[0] for t in all_of]
    assert list(many.records) == alone


def test_each_pair_is_predicted_once():
    nli = WordNli()
    score_patient([transcript(OPENING)] * 5, [CASE], nli, chunk=2)
    assert len(nli.asked) == len(set(nli.asked)) > 0


def test_complete_lists_end_in_an_item():
    items = {item.id: item for item in items_of(CASE)}
    assert items["closed-allergies"].text == "Allergies: no known allergies"
    assert "Ibuprofen 400 mg" in items["closed-medication"].text
    assert "implied-age" in items
    found = TextRelation().related(["I'm allergic to peanuts.", "I take warfarin every day."], items_of(CASE))
    assert [i.id for i in found[0]] == ["closed-allergies"]
    assert "closed-medication" in [i.id for i in found[1]]


def test_every_case_of_the_bank_has_a_profile_without_marks_or_diagnosis():
    for case in load_cases():
        items = items_of(case)
        assert len({item.id for item in items}) == len(items)
        assert {f.id for f in case.facts} <= {item.id for item in items}
        assert not any("|" in item.lay for item in items)
        assert {"age", "gender", "allergies", "chief_complaint", "medication"} <= set(categories_of(items))


def test_paraphrases_are_related_and_small_talk_is_not():
    case = next(c for c in load_cases() if c.id == "card-001")
    expected = {
        "I smoke two packs a day.": "f24",
        "My chest hurts terribly.": "f14",
        "My sugar's been high for years.": "f17",
        "I have a pacemaker.": "f28",
        "I'm 45.": "implied-age",
        "My uncle has gout.": "closed-family_medical_history",
        "The car park was full.": None,
        "My neighbour told me a joke.": None,
    }
    found = TextRelation().related(list(expected), items_of(case))
    for (text, want), items in zip(expected.items(), found, strict=True):
        assert (want in [i.id for i in items]) if want else not items, text
