"""The arithmetic of PatientSim's scores against numbers worked out by hand."""

import pytest

from verisim_metrics.patientsim import recipe

E, N, C = "entailment", "neutral", "contradiction"
EXACT = {"abs": 1e-9, "rel": 0}

SENTENCES = [[E], [E, N], [E, C], [N, N], [], [C], [], [E, N, N], [N]]
"""Nine sentences: seven supported (3 entailed, 2 contradicted, 2 neutral), two that relate to nothing."""


@pytest.mark.parametrize(("labels", "want"), [([E, N], E), ([E, C], C), ([N], N), ([N, C], C), ([], None)])
def test_contradiction_beats_entailment_beats_neutral(labels, want):
    assert recipe.sentence_label(labels) == want


def test_hand_made_labels():
    counts = recipe.tally(SENTENCES)
    assert counts == recipe.Tally(information=9, supported=7, entailed=3, contradicted=2, neutral=2)
    entail, contradict = recipe.entail(counts), recipe.contradict(counts)
    assert entail.value == pytest.approx(0.428571428571, **EXACT)
    assert contradict.value == pytest.approx(0.285714285714, **EXACT)
    assert (entail.n, entail.of, entail.coverage) == (7, 9, pytest.approx(0.777777777778, **EXACT))


def test_pooling_adds_sentences_and_does_not_average_dialogues():
    one, two = recipe.tally([[E]]), recipe.tally([[E], [C], [N]])
    assert recipe.entail(one + two).value == pytest.approx(0.5, **EXACT)  # 2 of 4, not (1 + 1/3) / 2


def test_plausibility_and_icon_leave_out_what_was_not_rated():
    score = recipe.plausibility([4.0, 3.0, None, 3.0])
    assert score.value == pytest.approx(3.333333333333, **EXACT)
    assert (score.n, score.of) == (3, 4)
    assert recipe.icon([3.5, 2.0, 4.0]).value == pytest.approx(3.166666666667, **EXACT)


def test_icov_with_its_three_denominators():
    original = ["age", "pain", "alcohol", "tobacco", "allergies", "medication"]
    derived = ["age", "pain", "allergies", "insurance"]  # insurance is not in the original
    assert recipe.icov(original, derived).value == pytest.approx(0.5, **EXACT)
    assert recipe.icov(original, derived, items=recipe.K_ITEMS).value == pytest.approx(0.130434782609, **EXACT)
    asked = recipe.icov(original, derived, asked=["age", "pain", "alcohol", "insurance"])
    assert asked.value == pytest.approx(0.666666666667, **EXACT)
    assert asked.n == 3


def test_empty_is_none_with_a_reason_or_zero_as_published():
    empty = recipe.tally([[], []])
    for score in (recipe.entail(empty), recipe.plausibility([None]), recipe.icov([], ["age"]), recipe.icon([])):
        assert score.value is None
        assert score.reason
        assert score.n == 0
    assert recipe.entail(empty, "zero").value == 0.0
    assert recipe.plausibility([None], "zero").value == 0.0
    assert recipe.icov(["age"], ["age"], asked=[], empty="zero").value == 0.0
