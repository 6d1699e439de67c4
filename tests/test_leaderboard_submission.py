import gzip
import hashlib
import json

import jsonschema
import pytest
from leaderboard_helpers import KNOWN, bank, consultations, parts_of, results_data, small_run, standard_of
from metrics_helpers import make_case, make_transcript

from verisim_leaderboard.audit import check
from verisim_leaderboard.declaration import Declaration, weights_digest
from verisim_leaderboard.entries import locate, parse_entry, read_entry, submissions
from verisim_leaderboard.entry import build_entry, entry_text
from verisim_leaderboard.entry_schema import entry_schema, published_schema, schema_text
from verisim_leaderboard.patient_side import patient_side, repeatable_scores
from verisim_leaderboard.record import Entry
from verisim_leaderboard.rescoring import rescore
from verisim_leaderboard.score_names import describe, known, ordered
from verisim_leaderboard.scores import NAMES
from verisim_leaderboard.submission import slug
from verisim_leaderboard.validation import impossible
from verisim_tasks.cli.main import main
from verisim_tasks.errors import UserError


@pytest.fixture
def run(tmp_path):
    return small_run(tmp_path)


@pytest.fixture
def added(run):
    """The entry's file, as ``add`` wrote it."""
    return run.add()


def refused(run, path, **more):
    return check(path, more.pop("standard", run.standard), cases=run.cases, **more)


def change(path, edit):
    data = json.loads(path.read_text(encoding="utf-8"))
    edit(data)
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def kinds(problems):
    return {p.kind for p in problems}


def text_of(problems):
    return "\n".join(map(str, problems))


# the schema


def test_the_published_schema_is_that_of_the_model():
    assert published_schema() == schema_text(), "run: verisim leaderboard schema --out leaderboard/schema/entry-v2.json"


def test_a_real_entry_is_valid_under_the_schema_and_a_changed_one_is_not(run):
    data = json.loads(entry_text(build_entry(run.folder, cases=run.cases, standard=run.standard)))
    schema = entry_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(data, schema)
    data["headline"]["mixed_accuracy"]["value"] = "high"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data, schema)


def test_every_computed_score_is_documented_and_unknown_ones_are_welcome():
    assert [name for name in NAMES if name not in known()] == []
    assert describe("my_score").label == "my score"
    assert ordered(["zeta", "turns", "alpha", "diagnostic_accuracy"]) == [
        "diagnostic_accuracy",
        "turns",
        "alpha",
        "zeta",
    ]


# what an entry holds


def test_a_standard_run(run, added):
    entry = read_entry(added)
    assert (entry.kind, entry.differences) == ("standard", ())
    assert (entry.model.canonical_name, entry.model.licence, entry.model.open_weights) == ("org/tiny-1B", "MIT", True)
    assert (entry.submitter, entry.model.revision) == ("A clinic", "a" * 40)
    assert entry.contamination.declared == "unknown"
    assert (entry.cost.turns, entry.cost.doctor_tokens, entry.cost.seconds) == (4 * 22, None, 12.5)
    (test,) = entry.tests
    assert (test.variant, test.n, test.changed, test.p, test.rank_biserial) == ("mixed", 4, 2, 0.5, 1.0)
    assert entry.robustness.worst is None
    assert "no dimension" in entry.robustness.note
    assert refused(run, added) == []


def test_untracked_cost_is_null(tmp_path):
    data = results_data()
    del data["total_evaluation_time_seconds"]
    run = small_run(tmp_path, data=data)
    cost = json.loads(run.add().read_text(encoding="utf-8"))["cost"]
    assert (cost["seconds"], cost["doctor_tokens"]) == (None, None)


def test_scores_that_only_lm_eval_holds_are_kept_apart(tmp_path):
    data = results_data()
    data["results"]["verisim_mixed"] = {
        "entail,none": 0.9, "entail_stderr,none": 0.01, "entail_n,none": 3, "icon,none": "N/A", "icon_n,none": 0,
        "my_score,none": 2.5, "errors,none": 0, "diagnostic_accuracy_micro,none": 0.5, "alias": "x",
    }  # fmt: skip
    entry = read_entry(small_run(tmp_path, data=data).add())
    reported = next(v for v in entry.variants if v.variant == "mixed").reported
    assert list(reported) == ["entail", "icon", "my_score"]
    assert (reported["entail"].value, reported["entail"].n, reported["entail"].stderr) == (0.9, 3, 0.01)
    assert (reported["entail"].coverage, reported["entail"].low) == (0.75, pytest.approx(0.8804, abs=1e-4))
    assert (reported["icon"].value, reported["icon"].n) == (None, 0)
    assert (reported["my_score"].value, reported["my_score"].n) == (2.5, None)


def test_a_task_with_an_instrument_of_its_own_is_set_aside(tmp_path):
    held = bank()
    other = [
        make_transcript(case_id=c.id, variant="mvme", instrument=parts_of(held, examiner="x"), doctor="d2")
        for c in held
    ]
    data = results_data()
    data["results"]["verisim_mvme"] = {"mvme_diagnosis,none": 2.5, "mvme_diagnosis_n,none": 4}
    data["configs"]["verisim_mvme"] = data["configs"]["verisim_mixed"]
    run = small_run(tmp_path, [*other, *consultations(held)], data=data)
    path = run.add()
    entry = read_entry(path)
    assert [v.variant for v in entry.variants] == ["clean", "mixed"]
    (task,) = entry.other_tasks
    assert (task.task, task.consultations, task.reported["mvme_diagnosis"].value) == ("verisim_mvme", 4, 2.5)
    assert refused(run, path) == []


def test_robustness_is_the_area_under_the_curve(tmp_path):
    held = bank()
    right = {1: 4, 2: 2, 3: 2, 4: 0}
    levels = [
        make_transcript(
            case_id=case.id,
            noise={"memory_recall": level},
            diagnosis="Acute appendicitis" if i < right[level] else "Migraine",
            twin=("Acute appendicitis", "diagnosed", 5),
            instrument=parts_of(held),
        )
        for level in right
        for i, case in enumerate(held)
    ]
    entry = read_entry(small_run(tmp_path, [*consultations(held), *levels]).add())
    (found,) = entry.robustness.dimensions
    area = (1 / 2 + 1 + 0.5 + 0.5 + 0) / 4
    assert (found.area.value, found.retained, found.area.n) == (pytest.approx(area), pytest.approx(area), 4)
    assert entry.robustness.worst == "memory_recall"
    by_holm = {t.variant: (t.p, t.p_holm) for t in entry.tests}
    assert by_holm["memory_recall_l4"] == (0.125, pytest.approx(5 * 0.125))  # five noisy variants


def test_truth_scores_of_the_built_in_nli_are_computed_again(tmp_path):
    first = small_run(tmp_path / "first")
    loaded = {case.id: case for case in bank()}
    found = patient_side(first.folder / "transcripts.jsonl", loaded, {"clean", "mixed"})
    data = results_data(suite={"nli": "builtin"})
    for variant, scores in found.items():
        data["results"][f"verisim_{variant}"] = {f"{name},none": value for name, value in scores.items()}
    run = small_run(tmp_path / "second", data=data)
    path = run.add()
    assert repeatable_scores(read_entry(path)) == sum(map(len, found.values()))
    assert refused(run, path) == []
    change(path, lambda d: d["variants"][1]["reported"]["patient_sentences"].update(value=99.0))
    assert "reported.mixed.patient_sentences is 99.0" in text_of(refused(run, path))
    assert refused(run, path, quick=True) == []


# standard or custom


@pytest.mark.parametrize(
    ("config", "suite", "setting"),
    [
        ({"limit": 4.0}, {}, "limit"),
        ({}, {"judge": {"model": "hf", "model_args": {"pretrained": "x"}}}, "suite.judge"),
        ({}, {"patient": "same"}, "suite.patient"),
        ({}, {"max_turns": 10}, "suite.max_turns"),
        ({}, {"seed": 5}, "suite.seed"),
        ({}, {"max_reply_tokens": 999}, "suite.max_reply_tokens"),
        ({}, {"unheard_of": 1}, "suite.unheard_of"),
    ],
)
def test_what_departs_from_the_standard_can_only_be_custom(tmp_path, config, suite, setting):
    run = small_run(tmp_path, data=results_data(config, suite))
    path = run.add()
    entry = read_entry(path)
    assert entry.kind == "custom"
    assert [d.setting for d in entry.differences] == [setting]
    assert refused(run, path) == []  # as custom it may stand

    change(path, lambda data: data.update(kind="standard", differences=[]))
    problems = refused(run, path)
    assert kinds(problems) == {"kind"}
    assert setting in text_of(problems)
    assert "only be custom" in text_of(problems)


def test_another_bank_can_only_be_custom(tmp_path):
    held = bank()
    other = [make_case("c0", chief_complaint="cough"), *held[1:]]
    run = small_run(tmp_path, standard=standard_of(other))
    path = run.add()
    assert [d.setting for d in read_entry(path).differences] == ["instrument.cases.digest"]
    change(path, lambda data: data.update(kind="standard", differences=[]))
    problems = refused(run, path)
    assert kinds(problems) == {"fingerprint"}
    assert "instrument.cases.digest" in text_of(problems)
    assert "are not the bank" in text_of(problems)


def test_a_custom_entry_must_say_what_differs(tmp_path):
    run = small_run(tmp_path, data=results_data({"limit": 4.0}))
    path = change(run.add(), lambda data: data["differences"][0].update(setting="suite.seed"))
    assert "limit is 4.0" in text_of(refused(run, path))


# refusals


def test_one_changed_score_is_refused(run, added):
    def better(data):
        data["variants"][1]["scores"]["key_facts"]["value"] += 0.01

    problems = refused(run, change(added, better))
    assert "score" in kinds(problems)
    assert "variants.mixed.scores.key_facts.value" in text_of(problems)


def test_a_better_headline_is_refused_even_without_transcripts(run, added):
    def better(data):
        data["headline"]["mixed_accuracy"].update(value=0.75, high=1.0)

    (added.parent / "transcripts.jsonl.gz").unlink()
    problems = refused(run, change(added, better))
    assert "headline's mixed_accuracy is 0.75, the mixed variant says 0.5" in text_of(problems)
    assert "no transcripts beside" in text_of(problems)


def test_a_removed_case_is_refused(tmp_path):
    held = bank()
    run = small_run(tmp_path, [t for t in consultations(held) if (t.variant, t.case_id) != ("mixed", "c3")])
    problems = refused(run, run.add())
    assert kinds(problems) == {"partial"}
    assert "mixed holds 3 of 4 cases" in text_of(problems)
    assert "cases that the transcripts lack: 1 (c3)" in text_of(problems)


def test_a_missing_task_is_refused(tmp_path):
    run = small_run(tmp_path, [t for t in consultations(bank()) if t.variant == "clean"])
    problems = refused(run, run.add())
    assert "missing" in kinds(problems)
    assert "the mixed variant was not run" in text_of(problems)


def test_a_failed_consultation_is_refused(tmp_path):
    found = consultations(bank())
    failed = found[1].model_copy(update={"outcome": found[1].outcome.model_copy(update={"stop_reason": "error"})})
    run = small_run(tmp_path, [found[0], failed, *found[2:]])
    assert "1 consultations ended in an error" in text_of(refused(run, run.add()))


def test_other_transcripts_are_refused(run, added):
    packed = added.parent / "transcripts.jsonl.gz"
    packed.write_bytes(gzip.compress(gzip.decompress(packed.read_bytes()) + b"\n"))
    problems = refused(run, added)
    assert kinds(problems) == {"digest"}


def test_another_instrument_in_the_transcripts_is_refused(run, added, tmp_path):
    other = small_run(tmp_path / "other", [make_transcript(instrument={"max_turns": 5}, case_id="c0")])
    problems = refused(run, added, transcripts=other.folder / "transcripts.jsonl")
    assert {"digest", "fingerprint", "score"} <= kinds(problems)


def test_an_unpinned_open_model_is_refused(run):
    path = run.add(Declaration(open_weights=True))
    problems = refused(run, path)
    assert kinds(problems) == {"unpinned"}
    for said in ("no licence", "no submitter", "--revision or --weights"):
        assert said in text_of(problems)
    closed = run.add(KNOWN.model_copy(update={"open_weights": False, "revision": None}), replace=True)
    assert refused(run, closed) == []


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (lambda d: d["variants"][0]["scores"]["censored"].update(value=1.5), "censored is 1.5, outside 0 to 1"),
        (lambda d: d["variants"][0]["scores"]["turns"].update(low=11.0), "outside its own interval"),
        (lambda d: d["variants"][0]["scores"]["turns"].update(low=None), "one end of an interval"),
        (lambda d: d["variants"][0]["scores"]["turns"].update(n=5), "n 5, but there are 4 cases"),
        (lambda d: d["variants"][0]["scores"]["turns"].update(n=0), "n is 0"),
        (lambda d: d["variants"][0]["scores"]["turns"].update(coverage=0.5), "but coverage 0.5"),
        (lambda d: d["variants"][0]["scores"]["turns"].update(value=21.0, high=22.0), "above the limit of 20"),
        (lambda d: d["variants"][1]["scores"]["diagnostic_accuracy"].update(value=0.6), "which no whole number over 4"),
        (lambda d: d["variants"][1]["scores"]["accuracy_drop"].update(value=40.0), "clean minus noisy accuracy is 50"),
        (lambda d: d["variants"].append(d["variants"][0]), "stands in the entry twice"),
        (lambda d: d["transcripts"].update(consultations=9), "the transcripts 9"),
        (lambda d: d["instrument"]["parts"].update(max_turns=19), "do not have the fingerprint"),
        (lambda d: d.update(kind="custom"), "0 differences"),
    ],
)
def test_impossible_values_are_named(added, edit, reason):
    assert reason in text_of(impossible(read_entry(change(added, edit))))


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (lambda d: d.update(more=1), "more: Extra inputs"),
        (lambda d: d["transcripts"].update(sha256="xyz"), "transcripts.sha256"),
        (lambda d: d["headline"]["clean_accuracy"].update(n=-1), "headline.clean_accuracy.n"),
        (lambda d: d.update(schema_version=1), "schema_version is 1, this suite reads 2"),
        (lambda d: d["contamination"].update(declared="maybe"), "contamination.declared"),
        (lambda d: d["model"].update(canonical_name="a\x1b[2Jb"), "model.canonical_name"),
        (lambda d: d.update(submitter=""), "submitter"),
    ],
)
def test_what_is_no_entry_is_refused_with_its_place(run, added, edit, reason):
    problems = parse_entry(change(added, edit))
    assert kinds(problems) == {"schema"}
    assert reason in text_of(problems)
    assert refused(run, added) == problems
    with pytest.raises(UserError, match="is not an entry"):
        read_entry(added)


# folders


def test_add_packs_the_transcripts_the_same_way_each_time(run, added):
    packed = added.parent / "transcripts.jsonl.gz"
    first = packed.read_bytes()
    assert gzip.decompress(first) == (run.folder / "transcripts.jsonl").read_bytes()
    assert read_entry(added).transcripts.sha256 == hashlib.sha256(gzip.decompress(first)).hexdigest()
    text = added.read_text(encoding="utf-8")
    with pytest.raises(UserError, match="--replace"):
        run.add()
    assert run.add(replace=True).read_text(encoding="utf-8") == text
    assert packed.read_bytes() == first
    assert [p.name for p in added.parent.parent.iterdir()] == [added.parent.name]


def test_the_folder_is_named_by_model_and_instrument(run, added):
    entry = read_entry(added)
    assert added.parent.name == slug(entry) == f"org-tiny-1b-{entry.instrument.fingerprint[:8]}"
    hostile = entry.model_copy(update={"model": entry.model.model_copy(update={"canonical_name": "../../<b>é"})})
    assert "/" not in slug(hostile)
    assert slug(hostile).startswith("b-")


def test_entries_are_found_by_file_folder_or_folder_of_folders(run, added):
    for place in (added, added.parent, added.parent.parent):
        assert locate(place).path == added
    (found,) = submissions(added.parent.parent)
    assert found.transcripts == added.parent / "transcripts.jsonl.gz"
    with pytest.raises(UserError, match=r"no entry\.json"):
        locate(run.folder)


def test_weights_are_hashed_by_content_and_name(tmp_path):
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "a.gguf").write_bytes(b"weights")
    (tmp_path / "m" / "README.md").write_text("x", encoding="utf-8")
    assert weights_digest(tmp_path / "m" / "a.gguf") == hashlib.sha256(b"weights").hexdigest()
    whole = weights_digest(tmp_path / "m")
    (tmp_path / "m" / "README.md").write_text("y", encoding="utf-8")
    assert weights_digest(tmp_path / "m") == whole
    (tmp_path / "m" / "a.gguf").rename(tmp_path / "m" / "b.gguf")
    assert weights_digest(tmp_path / "m") != whole
    with pytest.raises(UserError, match="no weights file"):
        weights_digest(tmp_path / "nowhere")


def test_restricted_text_never_becomes_an_entry(tmp_path):
    run = small_run(tmp_path, data=results_data(suite={"keep_restricted_text": True}))
    with pytest.raises(UserError, match="restricted text"):
        run.add()
    clean = small_run(tmp_path / "clean")
    path = change(clean.add(), lambda d: d["settings"]["suite"].update(keep_restricted_text=True))
    assert kinds(refused(clean, path)) == {"restricted"}


# rescore, and the commands


def test_rescoring_gives_back_what_was_scored(run, added):
    transcripts = run.folder / "transcripts.jsonl"
    assert rescore(read_entry(added), transcripts, run.cases) == []
    change(added, lambda d: d["cost"].update(turns=1))
    (wrong,) = rescore(read_entry(added), transcripts, run.cases)
    assert (wrong.path, wrong.first, wrong.second) == ("turns", 1, 88)


def cli(capsys, *args):
    code = main(["leaderboard", *map(str, args)])
    return code, capsys.readouterr()


def test_the_commands(run, tmp_path, capsys):
    entries = tmp_path / "entries"
    given = ["add", run.folder, "--entries", entries, "--cases", run.cases, "--licence", "MIT", "--open-weights"]
    code, said = cli(capsys, *given, "--submitter", "A clinic", "--revision", "b" * 40, "--parameters", "1e9")
    assert code == 0, said.out  # accepted, but the tests' bank is not the suite's
    assert "accepted as custom" in said.out
    assert "instrument.cases.digest" in said.out
    (path,) = entries.glob("*/entry.json")
    assert read_entry(path).model.parameters == 10**9
    transcripts = run.folder / "transcripts.jsonl"
    assert cli(capsys, "validate", entries) == (0, (f"{path}: valid\n", ""))
    code, said = cli(capsys, "rescore", path.parent, transcripts, "--cases", run.cases)
    assert (code, said.out) == (0, "every value is what the transcripts give\n")
    code, said = cli(capsys, "rank", entries)
    assert (code, "org/tiny-1B" in said.out, "custom run" in said.out) == (0, True, True)

    change(path, lambda d: d["variants"][0]["scores"]["turns"].update(value=10.5))
    code, said = cli(capsys, "check", entries, "--cases", run.cases)
    assert code == 1
    assert "refused: score: variants.clean.scores.turns.value is 10.5" in said.out
    code, said = cli(capsys, "rescore", path, transcripts, "--cases", run.cases)
    assert (code, "10.5 in the entry, 10.0 from the transcripts" in said.out) == (1, True)
    change(path, lambda d: d.update(kind="odd"))
    code, said = cli(capsys, "validate", path)
    assert (code, "schema: kind" in said.out) == (1, True)


def test_the_schema_command(tmp_path, capsys):
    assert cli(capsys, "schema", "--check")[0] == 0
    assert cli(capsys, "schema", "--out", tmp_path / "s.json")[0] == 0
    assert (tmp_path / "s.json").read_text(encoding="utf-8") == published_schema()
    assert json.loads(cli(capsys, "schema")[1].out) == entry_schema()


def test_a_users_mistake_is_one_sentence(run, tmp_path, capsys):
    for args, reason in (
        (["check", tmp_path / "none"], "no entry.json"),
        (["add", run.folder, "--weights", tmp_path / "none", "--cases", run.cases], "no weights file"),
        (["add", run.folder, "--parameters", "-1", "--cases", run.cases], "--parameters is -1"),
        (["rescore", tmp_path / "x.json", run.folder], "no entry.json"),
    ):
        code, said = cli(capsys, *args)
        assert code == 2
        assert reason in said.err
        assert said.err.count("\n") == 1


def test_the_entry_model_takes_what_the_schema_says(added):
    assert Entry.model_validate_json(added.read_text(encoding="utf-8")) == read_entry(added)
