import hashlib
import json
import os

import pytest
from metrics_helpers import INSTRUMENT, RIGHT, WRONG, answer, make_case, make_transcript, told, write_cases
from metrics_helpers import write_transcripts as write
from rich.console import Console

from verisim_leaderboard.entry import ENTRY_FILE, build_entry, case_bank_digest, entry_text, write_entry
from verisim_leaderboard.record import Entry
from verisim_leaderboard.results import newest_results, public
from verisim_leaderboard.table import print_entry
from verisim_metrics.consultation import score_consultation
from verisim_tasks.cases.bank import load_cases
from verisim_tasks.cli.main import main
from verisim_tasks.errors import UserError
from verisim_tasks.loop.instrument import describe_instrument
from verisim_tasks.records.noise import DIMENSIONS
from verisim_tasks.tasks import scores

MIXED = {"memory_recall": 2, "emotional_state": 1}
NAN = float("nan")


def results_data(**changes):
    metadata = {"version": 1.0, "verisim": {"max_turns": 20, "max_reply_tokens": 256, "run_dir": "/home/me/run"}}
    tasks = ("verisim_clean", "verisim_mixed", "verisim_memory_recall_l3")
    variants = {task: {**metadata, "variant": task.removeprefix("verisim_")} for task in tasks}
    return {
        "results": {
            "verisim_clean": {"alias": "x", "diagnostic_accuracy,none": 1.0, "diagnostic_accuracy_stderr,none": "N/A"},
            "verisim_mixed": {"diagnostic_accuracy,none": 0.5, "accuracy_drop,none": NAN, "turn_inflation,none": 0.45},
        },
        "configs": {task: {"task": task, "metadata": variants[task]} for task in tasks},
        "config": {
            "model": "hf",
            "model_args": {"pretrained": "/opt/models/tiny", "token": "hf_abc", "max_length": 2048},
            "limit": 4.0,
            "batch_size": 16,
        },
        "date": 1767225600.5,
        "model_name": "/opt/models/tiny",
        "lm_eval_version": "0.4.13",
        "transformers_version": "5.0.0",
        "pretty_env_info": "PyTorch version: 2\n[pip3] numpy==2.4.6\n[pip3] torch==2.13.0\n[pip3] mypy==1.0",
        **changes,
    }


def transcripts():
    """Four cases: clean 4 of 4 right in 10 turns each; mixed 2 of 4 right, 58 turns for 40; memory_recall_l3 on two."""
    found = []
    for i in range(4):
        case = f"c{i}"
        key = told("k1", "k2")
        found.append(make_transcript(answer(1, key), case_id=case, turns=10))
        found.append(
            make_transcript(
                answer(1, key[:1]),
                case_id=case,
                noise=MIXED,
                variant="mixed",
                diagnosis=RIGHT if i < 2 else WRONG,
                turns=(10, 14, 14, 20)[i],
                reason="turn_limit" if i == 3 else "diagnosed",
                twin=(RIGHT, "diagnosed", 10),
            )
        )
    for i, reason in enumerate(("diagnosed", "error")):
        noise = {"memory_recall": 3}
        twin = (RIGHT, "diagnosed", 10)
        found.append(make_transcript(case_id=f"c{i}", noise=noise, turns=12, reason=reason, twin=twin))
    return found


@pytest.fixture
def run(tmp_path):
    """A results folder as ``verisim run`` leaves it, and its case folder."""
    folder = tmp_path / "results"
    (folder / "tiny").mkdir(parents=True)
    (folder / "tiny" / "results_2026-01-01T00-00-00.json").write_text(json.dumps(results_data()), encoding="utf-8")
    write(folder / "transcripts.jsonl", transcripts())
    write_cases(tmp_path / "cases", [make_case(f"c{i}") for i in range(4)])
    return folder


@pytest.fixture
def cases(run):
    return str(run.parent / "cases")


@pytest.fixture
def entry(run, cases):
    return build_entry(run, cases=cases)


def variant(entry, name):
    return next(v for v in entry.variants if v.variant == name)


def test_headline_is_what_hand_counting_gives(entry):
    head = entry.headline
    assert (head.clean_accuracy.value, head.mixed_accuracy.value) == (1.0, 0.5)
    assert (head.accuracy_drop.value, head.accuracy_drop_relative.value) == (50.0, 0.5)
    assert head.turn_inflation.value == pytest.approx(58 / 40 - 1)
    assert head.censored.value == 0.25
    assert head.accuracy_drop.low <= 50.0 <= head.accuracy_drop.high
    assert (head.mixed_accuracy.n, head.mixed_accuracy.coverage) == (4, 1.0)


def test_an_error_is_counted_and_left_out_of_both_twins(entry):
    recall = variant(entry, "memory_recall_l3")
    assert (recall.counts.errors, recall.counts.excluded, recall.counts.consultations) == (1, 1, 2)
    assert (recall.scores["turns"].value, recall.scores["turns"].n, recall.scores["turns"].coverage) == (12.0, 1, 0.5)
    assert recall.scores["clean_turns"].value == 10.0
    assert recall.scores["turn_inflation"].value == pytest.approx(0.2)
    assert (recall.scores["turns"].low, recall.scores["turns"].high) == (None, None)


def test_counts(entry):
    assert (entry.counts.cases, entry.counts.consultations, entry.counts.errors, entry.counts.censored) == (4, 10, 1, 1)


def test_curves_have_five_levels_over_the_cases_of_the_dimension(entry):
    assert [c.dimension for c in entry.curves] == ["memory_recall"]
    points = entry.curves[0].points
    assert [p.level for p in points] == [0, 1, 2, 3, 4]
    assert [p.cases for p in points] == [2, 0, 0, 2, 0]  # level 0: the two cases that level 3 was run on
    assert (points[0].scores["accuracy_drop"].value, points[0].scores["turn_inflation"].value) == (0.0, 0.0)
    assert points[0].scores["key_facts"].value == pytest.approx(2 / 5)
    assert (points[1].scores["diagnostic_accuracy"].value, points[1].scores["diagnostic_accuracy"].n) == (None, 0)


def test_groups_name_what_is_missing_and_pool_ratios(entry):
    groups = {g.group: g for g in entry.groups}
    assert set(groups) == {"memory_recall", "level_3", "noisy"}
    assert groups["memory_recall"].missing == ("memory_recall_l1", "memory_recall_l2", "memory_recall_l4")
    noisy = groups["noisy"]
    assert noisy.micro["turn_inflation"].value == pytest.approx((58 + 12) / 50 - 1)
    assert noisy.macro["turn_inflation"].value == pytest.approx((0.45 + 0.2) / 2)
    assert noisy.macro["diagnostic_accuracy"].value == pytest.approx((0.5 + 1.0) / 2)


def test_repeats_are_averaged_within_a_case(run, cases):
    once = [t for t in transcripts() if t.variant == "clean"]
    again = make_transcript(case_id="c0", turns=30, diagnosis=WRONG, repeat=1)
    write(run / "transcripts.jsonl", [*once, again])
    clean = variant(build_entry(run, cases=cases), "clean")
    assert clean.scores["diagnostic_accuracy"].value == pytest.approx((0.5 + 3) / 4)  # not 4 of 5
    assert clean.scores["turns"].value == pytest.approx((20 + 30) / 4)


def test_the_entry_is_strict_json_and_loads_again(run, cases, entry):
    text = entry_text(entry)

    def refuse(constant):
        raise AssertionError(constant)

    data = json.loads(text, parse_constant=refuse)
    assert Entry.model_validate(data) == entry
    assert "N/A" not in text
    assert entry_text(build_entry(run, cases=cases)) == text  # no clock, no chance


def test_extra_fields_and_nan_are_refused(entry):
    data = json.loads(entry_text(entry))
    with pytest.raises(ValueError, match="extra"):
        Entry.model_validate({**data, "more": 1})
    data["headline"]["clean_accuracy"]["value"] = NAN
    with pytest.raises(ValueError, match="finite"):
        Entry.model_validate(data)


def test_model_settings_versions_and_digest(run, entry):
    assert (entry.model.name, entry.model.kind) == ("tiny", "hf")
    assert entry.model.args == {"max_length": 2048, "pretrained": "tiny", "token": "[removed]"}
    assert entry.date == "2026-01-01T00:00:00+00:00"
    assert entry.versions == {"lm_eval": "0.4.13", "numpy": "2.4.6", "torch": "2.13.0", "transformers": "5.0.0"}
    assert entry.settings.suite == {"max_turns": 20, "max_reply_tokens": 256}
    assert (entry.settings.limit, entry.settings.batch_size, entry.settings.seeds) == (4.0, "16", (1234,))
    assert entry.instrument.parts == INSTRUMENT
    assert entry.transcripts.sha256 == hashlib.sha256((run / "transcripts.jsonl").read_bytes()).hexdigest()
    assert "/opt" not in entry_text(entry)
    assert "/home" not in entry_text(entry)
    assert "hf_abc" not in entry_text(entry)


def test_versions_and_cases_recorded_beside_the_transcripts_are_used(run, cases):
    info = {"settings": {"cases": cases}, "versions": {"verisim-tasks": "9.9", "torch": None}}
    (run / "run.json").write_text(json.dumps(info), encoding="utf-8")
    entry = build_entry(run)
    assert entry.versions["verisim-tasks"] == "9.9"
    assert entry.counts.cases == 4


def test_agreement_with_lm_eval_is_silent(entry):
    assert entry.warnings == ()


def test_the_tasks_own_aggregates_agree_with_the_entry(run, cases):
    """What the tasks hand to lm-eval, repeats and errors included, is what the entry computes."""
    again = [t.model_copy(update={"repeat": 1}) for t in transcripts()[:5]]
    everything = [*transcripts(), *again]
    by_id = {case.id: case for case in load_cases(cases)}
    data = results_data()
    for task in sorted({t.task for t in everything}):
        docs = [[t for t in everything if t.task == task and t.case_id == case] for case in sorted(by_id)]
        emitted = [
            scores.case_metrics([score_consultation(t, by_id[t.case_id]) for t in doc], doc) for doc in docs if doc
        ]
        aggregated = {
            f"{name},none": aggregate([doc[name] for doc in emitted])
            for name, aggregate in scores.aggregations().items()
        }
        data["results"][task] = aggregated
        assert aggregated["diagnostic_accuracy,none"] > 0
    write(run / "transcripts.jsonl", everything)
    (run / "results_2026-03-01T00-00-00.json").write_text(json.dumps(data), encoding="utf-8")
    assert build_entry(run, cases=cases).warnings == ()


@pytest.mark.parametrize(
    ("task", "metric", "value"),
    [("verisim_mixed", "turn_inflation", 0.5), ("verisim_clean", "diagnostic_accuracy", 0.75)],
)
def test_disagreement_with_lm_eval_is_stated(run, cases, task, metric, value):
    data = results_data()
    data["results"][task][f"{metric},none"] = value
    (run / "tiny" / "results_2026-02-01T00-00-00.json").write_text(json.dumps(data), encoding="utf-8")  # newer
    (warning,) = build_entry(run, cases=cases).warnings
    assert task in warning
    assert metric in warning
    assert f"{value:g} in lm-eval's results" in warning


def test_a_task_without_transcripts_is_stated(run, cases):
    write(run / "transcripts.jsonl", [t for t in transcripts() if t.variant != "memory_recall_l3"])
    assert any("verisim_memory_recall_l3" in w for w in build_entry(run, cases=cases).warnings)


def test_doubled_consultations_count_once_and_are_stated(run, cases, entry):
    write(run / "transcripts.jsonl", [*transcripts(), transcripts()[0]])
    found = build_entry(run, cases=cases)
    assert found.variants == entry.variants
    assert any("more than once" in w for w in found.warnings)


def test_cases_other_than_the_run_used_are_stated(run, cases):
    parts = {"cases": {"count": 4, "digest": "0" * 64}}
    write(run / "transcripts.jsonl", [t.model_copy(update={"instrument": parts}) for t in transcripts()])
    assert any("digests differ" in w for w in build_entry(run, cases=cases).warnings)


def test_the_case_digest_is_the_instruments(cases):
    bank = load_cases(cases)
    assert case_bank_digest({c.id: c for c in bank}) == describe_instrument(bank, {}, 20)["cases"]["digest"]


def test_the_drop_of_a_weak_model_is_hidden_with_its_reason(run, cases):
    wrong = [
        t.model_copy(update={"clean_twin": t.clean_twin.model_copy(update={"diagnosis": WRONG})})
        for t in transcripts()
        if t.variant == "mixed"
    ]
    write(run / "transcripts.jsonl", wrong)
    head = build_entry(run, cases=cases).headline
    assert head.accuracy_drop.value is None
    assert "20%" in head.accuracy_drop.note
    assert head.turn_inflation.value is not None
    assert (head.clean_accuracy.value, head.clean_accuracy.n, head.clean_accuracy.coverage) == (None, 0, None)


def test_the_newest_results_are_read(run):
    (run / "results_2025-12-31T23-59-59.json").write_text(json.dumps(results_data()), encoding="utf-8")
    assert newest_results(run).path.name == "results_2026-01-01T00-00-00.json"


def test_secrets_and_paths_are_not_published():
    given = {"api_key": "x", "hf_token": "x", "max_tokens": 5, "tokenizer": "gpt2", "nested": {"password": "x"}}
    assert public("args", given) == {
        "api_key": "[removed]",
        "hf_token": "[removed]",
        "max_tokens": 5,
        "tokenizer": "gpt2",
        "nested": {"password": "[removed]"},
    }
    assert public("base_url", "http://me:pw@host/v1?sig=1") == "http://host/v1"
    assert public("pretrained", "org/model") == "org/model"


def cli(capsys, *args):
    code = main(["entry", *map(str, args)])
    return code, capsys.readouterr()


def test_command_writes_the_entry_and_prints_the_table(run, cases, capsys):
    code, said = cli(capsys, run, "--cases", cases)
    assert code == 0
    written = (run / ENTRY_FILE).read_text(encoding="utf-8")
    assert Entry.model_validate_json(written).headline.mixed_accuracy.value == 0.5
    for part in ("memory_recall_l3", "15-25%", "34-55%", "50.0", "45.0"):
        assert part in said.out
    assert sorted(p.name for p in run.iterdir()) == ["tiny", "transcripts.jsonl", ENTRY_FILE]  # nothing half-written
    assert cli(capsys, run, "--cases", cases)[0] == 0  # the entry itself is no results file


def test_command_writes_where_it_is_told(run, cases, tmp_path, capsys):
    out = tmp_path / "new" / "mine.json"
    assert cli(capsys, run, "--out", out, "--cases", cases)[0] == 0
    assert out.exists()
    assert not (run / ENTRY_FILE).exists()


def _no_results(run):
    (run / "tiny" / "results_2026-01-01T00-00-00.json").unlink()


def _broken_results(run):
    (run / "tiny" / "results_2026-01-01T00-00-00.json").write_text('{"results": {\n oops', encoding="utf-8")


def _no_transcripts(run):
    (run / "transcripts.jsonl").unlink()


def _two_transcript_files(run):
    for name in ("a", "b"):
        (run / name).mkdir()
        write(run / name / "transcripts.jsonl", transcripts())
    (run / "transcripts.jsonl").unlink()


def _empty_transcripts(run):
    (run / "transcripts.jsonl").write_text("\n", encoding="utf-8")


def _broken_line(run):
    with (run / "transcripts.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"task": "verisim_clean"\n')


def _unknown_field(run):
    with (run / "transcripts.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({**json.loads(transcripts()[0].model_dump_json()), "mood": "x"}) + "\n")


def _other_instrument(run):
    write(run / "transcripts.jsonl", [*transcripts(), make_transcript(instrument={"max_turns": 5})])


def _other_doctor(run):
    write(run / "transcripts.jsonl", [*transcripts(), make_transcript(doctor="another", repeat=1)])


def _unknown_case(run):
    write(run / "transcripts.jsonl", [*transcripts(), make_transcript(case_id="zz")])


@pytest.mark.parametrize(
    ("spoil", "parts"),
    [
        (_no_results, ["no results*.json", "--output_path"]),
        (_broken_results, ["results_2026", "line 2"]),
        (_no_transcripts, ["transcripts.jsonl", "--transcripts"]),
        (_two_transcript_files, ["2 transcripts.jsonl", "--transcripts"]),
        (_empty_transcripts, ["holds no transcript"]),
        (_broken_line, ["transcripts.jsonl, line 11"]),
        (_unknown_field, ["line 11", "mood"]),
        (_other_instrument, ["line 11", "fingerprint"]),
        (_other_doctor, ["line 11", "'another'", "'some-model'"]),
        (_unknown_case, ["line 11", "'zz'", "--cases"]),
    ],
)
def test_bad_input_is_one_sentence_and_exit_2(run, cases, capsys, spoil, parts):
    spoil(run)
    code, said = cli(capsys, run, "--cases", cases)
    assert code == 2
    assert said.out == ""
    for part in parts:
        assert part in said.err
    assert said.err.count("\n") == 1
    assert not (run / ENTRY_FILE).exists()


def test_a_missing_folder_is_exit_2(tmp_path, capsys):
    code, said = cli(capsys, tmp_path / "nowhere")
    assert code == 2
    assert "nowhere" in said.err


def test_transcripts_may_lie_below_or_be_named(run, cases, tmp_path):
    moved = run / "tiny" / "deep"
    moved.mkdir()
    (run / "transcripts.jsonl").rename(moved / "transcripts.jsonl")
    assert build_entry(run, cases=cases).counts.consultations == 10
    away = tmp_path / "away.jsonl"
    (moved / "transcripts.jsonl").rename(away)
    assert build_entry(run, transcripts=away, cases=cases).transcripts.file == "away.jsonl"
    with pytest.raises(UserError, match="missing"):
        build_entry(run, transcripts=tmp_path / "missing", cases=cases)


def test_an_unwritable_place_leaves_nothing_behind(entry, tmp_path):
    taken = tmp_path / "file"
    taken.write_text("x", encoding="utf-8")
    with pytest.raises(UserError, match="--out"):
        write_entry(entry, taken / "entry.json")
    folder = tmp_path / "folder"
    (folder / "entry.json").mkdir(parents=True)
    with pytest.raises(UserError, match="--out"):
        write_entry(entry, folder / "entry.json")
    assert os.listdir(folder) == ["entry.json"]


def test_names_are_printed_as_text_not_markup(entry, capsys):
    hostile = entry.model_copy(update={"model": entry.model.model_copy(update={"name": "[bold]x[/bold] [red]"})})
    print_entry(hostile, Console(width=200, force_terminal=False))
    assert "[bold]x[/bold] [red]" in capsys.readouterr().out


def test_every_dimension_gets_its_group_and_curve(run, cases):
    grid = [
        make_transcript(case_id=f"c{i}", noise={d: level}, twin=(RIGHT, "diagnosed", 5), variant=f"{d}_l{level}")
        for d in DIMENSIONS
        for level in (1, 2, 3, 4)
        for i in range(2)
    ]
    write(run / "transcripts.jsonl", [*transcripts()[:8], *grid])
    entry = build_entry(run, cases=cases)
    assert [c.dimension for c in entry.curves] == list(DIMENSIONS)
    assert [g.group for g in entry.groups] == [*DIMENSIONS, *(f"level_{level}" for level in (1, 2, 3, 4)), "noisy"]
    assert all(not g.missing for g in entry.groups)
