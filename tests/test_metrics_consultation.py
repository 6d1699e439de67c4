import pytest
from metrics_helpers import RIGHT, WRONG, answer, make_case, make_transcript, told

from verisim_metrics.consultation import SCORE_NAMES, asked_and_told, score_consultation, volunteered
from verisim_tasks.records.transcript import Denial

NOISE = {"memory_recall": 3}


def scores(*answers, case=None, **how):
    return score_consultation(make_transcript(*answers, **how), case or make_case())


def test_every_key_is_present_in_order():
    assert tuple(scores()) == SCORE_NAMES
    assert tuple(scores(reason="error")) == SCORE_NAMES


def test_key_facts_counts_distinct_facts_told_after_a_question():
    found = scores(answer(1, told("k1")), answer(2, told("k1", "k2", "plain")))
    assert found["key_facts"] == pytest.approx(2 / 5)  # k1 and k2 of k1, k2, k3, no_fever, drugs; the opening is out
    assert found["asked_facts"] == 3.0
    assert found["volunteered_facts"] == 0.0


def test_the_opening_answers_no_question_even_when_told_again():
    found = scores(answer(1, told("open")))
    assert (found["key_facts"], found["asked_facts"], found["volunteered_facts"]) == (0.0, 0.0, 0.0)


def test_volunteered_facts_are_counted_apart_until_asked_for():
    unasked = answer(1, told("k1", "k2", asked=False))
    found = scores(unasked, answer(2, told("k2")))
    assert found["key_facts"] == pytest.approx(1 / 5)
    assert found["volunteered_facts"] == 1.0
    transcript = make_transcript(unasked, answer(2, told("k2")))
    assert volunteered(transcript, make_case()) == {"k1"}


@pytest.mark.parametrize(("form", "recognisable"), [("blurred", True), ("colloquial", True), ("vague", False)])
def test_a_blur_counts_and_is_recognisable_as_the_record_says(form, recognisable):
    found = scores(answer(1, told("k1", form=form, recognisable=recognisable)))
    assert found["key_facts"] == pytest.approx(1 / 5)
    assert found["key_facts_recognisable"] == pytest.approx(recognisable / 5)


def test_a_fact_once_told_recognisably_stays_recognisable():
    found = scores(answer(1, told("k1")), answer(2, told("k1", form="vague", recognisable=False)))
    assert found["key_facts_recognisable"] == pytest.approx(1 / 5)


@pytest.mark.parametrize(
    ("kind", "fact_id", "counted"),
    [
        ("recorded", "no_fever", 1),
        ("justified", "drugs", 0),
        ("unrecorded", None, 0),
        ("recorded", "k1", 0),  # a present fact can never be truly denied
    ],
)
def test_only_true_denials_of_the_case_tell_a_fact(kind, fact_id, counted):
    denial = Denial(kind=kind, concept="x", fact_id=fact_id)
    found = scores(answer(1, denials=[denial]))
    assert found["key_facts"] == pytest.approx(counted / 5)
    assert found["key_facts_recognisable"] == pytest.approx(counted / 5)


def test_sensitive_facts_are_the_present_ones_told_after_a_question():
    first = answer(1, denials=[Denial(kind="justified", concept="x", fact_id="drugs")])
    assert scores(first)["sensitive_facts"] == 0.0
    assert scores(first, answer(2, told("drugs")))["sensitive_facts"] == 0.5
    assert scores(answer(1, told("drinks", asked=False), []))["sensitive_facts"] == 0.0
    assert scores(answer(1, denials=[Denial(kind="recorded", concept="x", fact_id="no_sti")]))["sensitive_facts"] == 0.0


def test_unknown_fact_ids_are_not_counted():
    transcript = make_transcript(answer(1, told("k1", "invented")))
    assert asked_and_told(transcript, make_case())[0] == {"k1"}


@pytest.mark.parametrize(
    ("noisy", "clean", "drop"), [(RIGHT, RIGHT, 0.0), (WRONG, RIGHT, 1.0), (None, RIGHT, 1.0), (RIGHT, WRONG, -1.0)]
)
def test_accuracy_drop_is_clean_minus_noisy(noisy, clean, drop):
    found = scores(noise=NOISE, diagnosis=noisy, twin=(clean, "diagnosed", 4), turns=7)
    assert found["accuracy_drop"] == drop
    assert found["clean_accuracy"] == float(clean == RIGHT)
    assert (found["turns"], found["clean_turns"]) == (7.0, 4.0)


def test_a_clean_consultation_is_its_own_twin():
    found = scores(diagnosis=WRONG, turns=9)
    assert (found["diagnostic_accuracy"], found["clean_accuracy"], found["accuracy_drop"]) == (0.0, 0.0, 0.0)
    assert found["clean_turns"] == 9.0


def test_without_a_twin_pairs_are_undefined_and_the_rest_is_not():
    found = scores(noise=NOISE, twin=None)
    assert (found["clean_accuracy"], found["accuracy_drop"], found["clean_turns"]) == (None, None, None)
    assert found["diagnostic_accuracy"] == 1.0


@pytest.mark.parametrize("how", [{"reason": "error"}, {"twin": (None, "error", 0)}])
def test_an_error_in_either_twin_excludes_both(how):
    found = scores(answer(1, told("k1")), noise=NOISE, **how)
    assert set(found.values()) == {None}


@pytest.mark.parametrize(
    ("reason", "twin_reason", "censored", "before"),
    [
        ("diagnosed", "diagnosed", 0.0, 1.0),
        ("turn_limit", "diagnosed", 1.0, 0.0),
        ("diagnosed", "turn_limit", 1.0, 1.0),
        ("context_limit", "diagnosed", 0.0, 0.0),
    ],
)
def test_censoring_and_conclusion(reason, twin_reason, censored, before):
    found = scores(noise=NOISE, reason=reason, twin=(RIGHT, twin_reason, 20))
    assert (found["censored"], found["diagnosed_before_limit"]) == (censored, before)


def test_no_diagnosis_is_wrong_in_name_and_category():
    found = scores(diagnosis=None, reason="context_limit")
    assert (found["diagnostic_accuracy"], found["diagnostic_category"]) == (0.0, 0.0)


def test_a_right_diagnosis_is_in_the_right_category():
    assert scores()["diagnostic_category"] == 1.0


def test_without_reference_or_facts_a_score_is_undefined():
    case = make_case(diagnosis=None, facts=[{**make_case().opening.model_dump(), "key": True}])
    found = scores(case=case)
    names = ("diagnostic_accuracy", "diagnostic_category", "accuracy_drop", "key_facts", "sensitive_facts")
    assert [found[name] for name in names] == [None] * 5
    assert found["turns"] == 5.0


def test_category_is_undefined_without_codes():
    case = make_case(diagnosis={"name": RIGHT})
    found = scores(case=case)
    assert (found["diagnostic_accuracy"], found["diagnostic_category"]) == (1.0, None)


def test_the_wrong_case_is_refused():
    with pytest.raises(ValueError, match="c1"):
        score_consultation(make_transcript(), make_case("c2"))
