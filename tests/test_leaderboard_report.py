import io

import pytest
from leaderboard_helpers import KNOWN, bank, consultations, parts_of, results_data, small_run
from metrics_helpers import RIGHT, WRONG, answer, make_transcript, told
from PIL import Image
from rich.console import Console

from verisim_leaderboard.entry import build
from verisim_leaderboard.moments import LATE, LONG, LOST, telling_moments
from verisim_leaderboard.plots import write_plots
from verisim_leaderboard.report import report, sentences, sparkline
from verisim_tasks.cli.main import main
from verisim_tasks.loop.restricted import without_text
from verisim_tasks.records.transcript import NoiseEvent, Turn

HOSTILE = "[bold]x[/bold] [link=http://x]y[/link]"


def doctor(index, text):
    return Turn(index=index, speaker="doctor", text=text)


def withheld(index, *facts, text="I can't say."):
    return answer(index).model_copy(update={"withheld": facts, "text": text})


def levels(cases):
    """memory_recall at all levels: the higher, the more are wrong."""
    return [
        make_transcript(
            doctor(1, "When did it start?"),
            withheld(1, "k1"),
            doctor(2, "And before that?"),
            answer(2, told("k1") if i else ()),
            case_id=case.id,
            noise={"memory_recall": level},
            diagnosis=WRONG if i < level else RIGHT,
            turns=5 + level,
            instrument=parts_of(cases),
        )
        for level in (1, 2, 3, 4)
        for i, case in enumerate(cases)
    ]


@pytest.fixture
def run(tmp_path):
    held = bank()
    return small_run(tmp_path, [*consultations(held), *levels(held)])


@pytest.fixture
def built(run):
    return build(run.folder, cases=run.cases, standard=run.standard)


def printed(thing, width=160):
    target = io.StringIO()
    Console(file=target, width=width).print(thing)
    return target.getvalue()


def test_sparklines_share_a_scale_and_mark_gaps():
    assert sparkline([0.0, 0.5, None, 1.0], 0.0, 1.0) == "▁▅·█"
    assert sparkline([-1.0, 2.0], 0.0, 1.0) == "▁█"
    assert sparkline([], 0.0, 1.0) == ""


def test_the_summary_says_what_was_found(built):
    text = printed(report(built.entry, []))
    for part in (
        "memory recall",
        "█▇▅▃▁",
        "100 75 50 25 0",
        "Worst dimension: memory recall: 50%",
        "0 of 5 noisy variants",
    ):
        assert part in text
    assert "88 doctor messages" not in text  # the levels count too
    assert "tokens untracked" in text


def test_a_core_run_says_why_there_is_no_worst_dimension(tmp_path):
    entry = small_run(tmp_path)
    found = list(sentences(build(entry.folder, cases=entry.cases, standard=entry.standard).entry))
    assert found[0] == "No worst dimension: no dimension was run at all levels with the clean variant."


def test_moments_are_chosen_by_rule(built):
    cases = built.cases
    held = bank()
    event = NoiseEvent(dimension="communication_style", level=4, device="tangent")
    detour = make_transcript(
        doctor(1, "Any pain?"),
        answer(1).model_copy(update={"events": (event,), "text": "What weather."}),
        case_id="c3",
        noise={"communication_style": 4},
        turns=19,
        instrument=parts_of(held),
    )
    found = {m.title: m for m in telling_moments([*levels(held), detour], cases)}
    assert set(found) == {LOST, LATE, LONG}
    lost = found[LOST]
    assert (lost.case_id, lost.variant) == ("c0", "memory_recall_l1")
    assert "'Migraine'" in lost.why
    assert lost.lines == (("Doctor", "When did it start?"), ("Patient", "I can't say."))
    late = found[LATE]
    assert late.case_id != "c0"
    assert "held back at turn 1, told at turn 2: k1" in late.why
    assert len(late.lines) == 4
    assert "19 turns, 5 without noise; shown here: tangent" in found[LONG].why


def test_there_may_be_no_moment(built):
    assert telling_moments(consultations(bank(), wrong=0), built.cases) == []
    assert telling_moments([without_text(t) for t in levels(bank())], built.cases) == []
    assert telling_moments(levels(bank()), {}) == []


def test_words_of_models_are_printed_as_text(built):
    hostile = make_transcript(
        doctor(1, HOSTILE), withheld(1, "k1", text=HOSTILE), case_id="c0", noise={"memory_recall": 4}, diagnosis=WRONG
    )
    text = printed(report(built.entry, telling_moments([hostile], built.cases)))
    assert text.count(HOSTILE) == 2


def test_a_terminal_obeys_no_model(built):
    hostile = make_transcript(
        withheld(1, "k1", text="a\x1b]0;x\x07b"), case_id="c0", noise={"memory_recall": 4}, diagnosis="\x1b[2J"
    )
    text = printed(report(built.entry, telling_moments([hostile], built.cases)))
    assert LOST in text
    assert "\x1b" not in text


def test_plots_are_pictures_and_the_same_each_time(built, tmp_path):
    names = [p.name for p in write_plots(built.entry, tmp_path / "a")]
    assert names == ["clean_and_mixed.png", "accuracy_by_level.png", "drop_heat_map.png"]
    write_plots(built.entry, tmp_path / "b")
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
        with Image.open(tmp_path / "a" / name) as picture:
            assert min(picture.size) > 200


def test_a_name_is_no_mathematics(built, tmp_path):
    named = built.entry.model_copy(
        update={"model": built.entry.model.model_copy(update={"canonical_name": r"a$\frac{$b"})}
    )
    assert len(write_plots(named, tmp_path)) == 3


def test_the_command(run, tmp_path, capsys):
    assert main(["report", str(run.folder), "--cases", run.cases, "--out", str(tmp_path / "plots")]) == 0
    said = capsys.readouterr().out
    assert LOST in said
    assert said.count("plot written to") == 3
    assert main(["report", str(run.folder), "--cases", run.cases, "--no-plots"]) == 0
    assert "plot written" not in capsys.readouterr().out
    taken = tmp_path / "taken"
    taken.write_text("x", encoding="utf-8")
    assert main(["report", str(run.folder), "--cases", run.cases, "--out", str(taken)]) == 2
    assert "choose another --out" in capsys.readouterr().err


def test_a_weak_model_has_no_worst_dimension(tmp_path):
    held = bank()
    wrong = [
        t.model_copy(update={"outcome": t.outcome.model_copy(update={"diagnosis": WRONG})})
        for t in [*consultations(held), *levels(held)]
    ]
    run = small_run(tmp_path, wrong, data=results_data({"limit": 4.0}))
    entry = build(run.folder, cases=run.cases, standard=run.standard).entry
    assert entry.robustness.worst is None
    text = printed(report(entry, []))
    assert "hidden: clean accuracy is below 20%" in text
    assert "custom: limit is 4.0, not None" in text
    assert KNOWN.canonical_name in text
