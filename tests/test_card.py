"""Model cards: valid metadata, a section that can be renewed, and nothing else touched."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
import yaml
from huggingface_hub import ModelCard
from huggingface_hub.repocard import metadata_load
from leaderboard_helpers import small_run
from markdown_it import MarkdownIt
from site_helpers import base_entry, grid, renamed

from verisim_leaderboard.card import BEGIN, END, PLOT, card_text, markdown, section, write_card
from verisim_leaderboard.record import Difference, Entry, Score
from verisim_tasks.cli.main import main
from verisim_tasks.errors import UserError

CARD = """\
---
# who may use it
license: apache-2.0   # as the base model
language:
- en
model-index:
- name: org/tiny-1B
  results:
  - task: {type: text-generation}
    dataset: {type: other-benchmark, name: Other}
    metrics:
    - {type: accuracy, value: 0.25}

# how it was made
base_model: org/base
---

# Tiny

A model.   \n
## Use

Do *not* use it.
"""


@pytest.fixture(scope="module")
def entry() -> Entry:
    return base_entry()


def results(text: str) -> list[dict[str, object]]:
    card = ModelCard(text)  # raises where the metadata are not valid
    return [
        {"dataset": r.dataset_type, "task": r.dataset_config, "metric": r.metric_type, "value": r.metric_value}
        for r in card.data.eval_results or []
    ]


def test_a_new_card(entry: Entry, tmp_path: Path) -> None:
    written = write_card(entry, tmp_path / "README.md")
    assert written.changed == (tmp_path / "README.md", tmp_path / PLOT)
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    found = results(text)
    assert [(r["task"], r["metric"]) for r in found] == [
        ("verisim_clean", "accuracy"),
        ("verisim_mixed", "accuracy"),
        ("verisim_mixed", "accuracy_drop"),
        ("verisim_mixed", "turn_inflation"),
    ]
    assert found[0]["value"] == entry.headline.clean_accuracy.value
    head = metadata_load(tmp_path / "README.md")
    assert head is not None
    assert head["model-index"][0]["name"] == "org/tiny-1B"
    assert (tmp_path / PLOT).read_bytes().startswith(b"\x89PNG")
    for part in ("## Robustness", f"]({PLOT})", "### How to reproduce", "### Limits", "| memory recall |"):
        assert part in text


def test_a_second_time_changes_no_byte(entry: Entry, tmp_path: Path) -> None:
    card = tmp_path / "README.md"
    card.write_text(CARD, encoding="utf-8")
    write_card(entry, card)
    before = {p.name: (p.read_bytes(), p.stat().st_mtime_ns) for p in tmp_path.iterdir()}
    assert write_card(entry, card).changed == ()
    assert {p.name: (p.read_bytes(), p.stat().st_mtime_ns) for p in tmp_path.iterdir()} == before


def test_everything_else_keeps_its_bytes(entry: Entry) -> None:
    text = card_text(entry, CARD)
    assert text.startswith(CARD[: CARD.index("model-index")])
    assert (
        "\n\n# how it was made\nbase_model: org/base\n---\n\n# Tiny\n\nA model.   \n\n## Use\n\nDo *not* use it.\n"
        in text
    )
    assert results(text)[0] == {"dataset": "other-benchmark", "task": None, "metric": "accuracy", "value": 0.25}
    assert len(results(text)) == 5


def test_a_later_run_takes_the_place_of_an_earlier_one(entry: Entry) -> None:
    first = card_text(entry, CARD) + "\n## After\n\nmore\n"
    second = card_text(renamed(entry, "org/tiny-1B", accuracy=0.4321), first)
    assert second.endswith(f"{END}\n\n## After\n\nmore\n")
    assert second.count(BEGIN) == 1
    values = [r["value"] for r in results(second) if r["dataset"] == "verisim-tasks"]
    assert 0.4321 in values
    assert len(values) == 4
    assert card_text(entry, second) == first


@pytest.mark.parametrize("ends", ["\r\n", "\n"])
def test_line_ends_and_byte_order_mark_stay(entry: Entry, tmp_path: Path, ends: str) -> None:
    card = tmp_path / "README.md"
    card.write_bytes(b"\xef\xbb\xbf" + CARD.replace("\n", ends).encode())
    write_card(entry, card)
    raw = card.read_bytes()
    assert raw.startswith(b"\xef\xbb\xbf---")
    assert raw.count(b"\r\n") == (raw.count(b"\n") if ends == "\r\n" else 0)
    assert write_card(entry, card).changed == ()


def test_what_is_undefined_is_left_out_of_the_metadata(entry: Entry) -> None:
    nothing = Score(value=None, n=0, coverage=0.0, low=None, high=None, note="hidden: clean accuracy is below 20%")
    hidden = entry.model_copy(update={"headline": entry.headline.model_copy(update={"accuracy_drop": nothing})})
    text = card_text(hidden, None)
    assert [r["metric"] for r in results(text)] == ["accuracy", "accuracy", "turn_inflation"]
    assert "| Drop, points | - (hidden: clean accuracy is below 20%) | 0 |" in text


def test_a_custom_run_says_so(entry: Entry) -> None:
    custom = entry.model_copy(
        update={"kind": "custom", "differences": (Difference(setting="suite.max_turns", standard=20, found=10),)}
    )
    text = card_text(custom, None)
    assert "**A custom run, not comparable with others.**" in text
    assert "- suite.max\\_turns: 10, not 20" in text
    assert """--metadata '{"verisim": {"max_turns": 10}}'""" in text
    assert "custom run" in yaml.safe_load(text.split("---")[1])["model-index"][0]["results"][0]["dataset"]["name"]


def test_a_run_of_clean_and_mixed_alone(tmp_path: Path) -> None:
    short = base_entry([t for t in grid(2) if t.variant in ("clean", "mixed")]).model_copy(update={"curves": ()})
    write_card(short, tmp_path / "README.md")
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "clean against mixed accuracy" in text
    assert "--tasks verisim_core" in text
    assert "Accuracy lost, in points" not in text


@pytest.mark.parametrize(
    "name",
    [
        "<script>alert(1)</script>",
        "[x](javascript:alert(1))",
        f"a {END} b",
        "![x](//evil.example/x.png)",
        "a | b | c",
        "$(rm -rf ~) `id` ```",
        "name: {yaml: [1, 2",
        "- x\u202e --- ",
        "&lt;img src=x onerror=alert(1)&gt;",
    ],
)
def test_hostile_names_are_text(entry: Entry, name: str) -> None:
    args = entry.model.model_copy(update={"args": {"pretrained": name}, "canonical_name": name, "name": name})
    bad = entry.model_copy(update={"model": args, "versions": {name: name}})
    text = card_text(bad, None)
    assert results(text)
    assert card_text(bad, text) == text
    html = MarkdownIt("gfm-like", {"linkify": False}).render(text.split("---\n", 2)[2])
    assert "<script" not in html
    assert "javascript:" not in html.replace("(javascript:", "")
    assert 'src="//evil' not in html
    assert html.count("<img") == 1
    assert html.count("<table>") == 2


def test_quoted_for_a_shell(entry: Entry) -> None:
    model = entry.model.model_copy(update={"args": {"pretrained": "a b; rm -rf /"}})
    assert "--model_args 'pretrained=a b; rm -rf /'" in section(entry.model_copy(update={"model": model}))


def test_markdown() -> None:
    assert markdown("a_b <c> & `d`\n[e]") == "a\\_b &lt;c&gt; &amp; \\`d\\` \\[e\\]"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"{BEGIN}\nlost its end\n", "one line"),
        (f"{END}\n{BEGIN}\n", "one line"),
        (f"{BEGIN}\n{END}\n{BEGIN}\n{END}\n", "one line"),
        ("---\na: [1\n---\n", "no YAML"),
        ("---\njust words\n---\n", "no YAML mapping"),
        ("---\nmodel-index: words\n---\n", "not in the hub's form"),
        ("---\n'model-index':\n- {name: x, results: []}\n---\n", "unusual way"),
        ("---\nmodel-index:\n- name: x\n  results:\n  - {task: 1}\n---\n", "would not take"),
    ],
)
def test_a_card_that_cannot_be_renewed_is_left_alone(entry: Entry, tmp_path: Path, text: str, reason: str) -> None:
    card = tmp_path / "README.md"
    card.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=reason):
        write_card(entry, card)
    assert card.read_text(encoding="utf-8") == text
    assert [p.name for p in tmp_path.iterdir()] == ["README.md"]


def test_a_card_of_another_encoding_is_left_alone(entry: Entry, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_bytes("# Modèle\n".encode("latin-1"))
    with pytest.raises(UserError, match="UTF-8"):
        write_card(entry, tmp_path / "README.md")


def test_results_of_other_models_stay(entry: Entry) -> None:
    two = textwrap.dedent(
        """\
        ---
        model-index:
        - name: first
          results: []
        - name: second
          results: []
        ---
        """
    )
    head = yaml.safe_load(card_text(entry, two).split("---\n")[1])
    assert [m["name"] for m in head["model-index"]] == ["first", "second", "org/tiny-1B"]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = small_run(tmp_path)
    args = ["card", str(run.folder), "--cases", run.cases, "--name", "org/better-name"]
    assert main(args) == 0
    assert "README.md written" in capsys.readouterr().out
    assert metadata_load(run.folder / "README.md")["model-index"][0]["name"] == "org/better-name"  # type: ignore[index]
    assert main(args) == 0
    assert "nothing changed" in capsys.readouterr().out
    entry = run.add()
    assert main(["card", str(entry.parent), "--readme", str(tmp_path / "CARD.md")]) == 0
    assert (tmp_path / "CARD.md").is_file()
    assert main(["card", str(tmp_path / "nowhere")]) == 2
