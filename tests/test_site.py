"""The site as files: what is written, that it is the same each time, and what it refuses."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import threading
import urllib.error
import urllib.request
from importlib.resources import files
from pathlib import Path

import pytest
import yaml
from leaderboard_helpers import bank
from metrics_helpers import write_cases
from site_helpers import base_entry, grid, many, renamed, twins, write_entries, write_with_transcripts

from verisim_leaderboard.record import Difference, Entry
from verisim_leaderboard.site import build_site
from verisim_leaderboard.site.model_page import heat_class
from verisim_leaderboard.site.render import POLICY
from verisim_leaderboard.site.serve import make_server
from verisim_leaderboard.site.words import device_label, file_names, shown, variant_label
from verisim_tasks.cli.main import main
from verisim_tasks.errors import UserError
from verisim_tasks.records.noise import DIMENSIONS


@pytest.fixture(scope="module")
def entry() -> Entry:
    return base_entry()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, entry: Entry) -> Path:
    place = tmp_path_factory.mktemp("site")
    entries = write_entries(place / "entries", many(6, entry))
    write_with_transcripts(entries, renamed(entry, "org/with-transcripts"), [*twins(), *twins("c1")])
    cases = write_cases(place / "cases", bank())
    build_site(entries, place / "site", cases=str(cases))
    return place / "site"


def test_every_page_has_the_policy_and_nothing_inline(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) == 4 + 7 + 2
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert f'content="{POLICY}"'.replace("'", "&#39;") in text
        assert " style=" not in text
        assert "<style" not in text
        assert not re.search(r"\son[a-z]+=", text)
        assert not re.search(r"<script(?![^>]*(src=|type=\"application/json\"))", text)
        assert not re.search(
            r'(src|href)="(https?:)?//(?!arxiv\.org)', text.replace("https://arxiv.org", "//arxiv.org")
        )


def test_every_link_leads_somewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        for target in re.findall(r'(?:href|src)="([^"#]+)', page.read_text(encoding="utf-8")):
            if not target.startswith("https://arxiv.org/"):
                assert (page.parent / target).is_file(), (page, target)


def test_the_same_entries_give_the_same_bytes(site: Path, tmp_path: Path) -> None:
    again = build_site(site.parent / "entries", tmp_path / "again", cases=str(site.parent / "cases")).folder
    names = sorted(p.relative_to(site) for p in site.rglob("*") if p.is_file())
    assert names == sorted(p.relative_to(again) for p in again.rglob("*") if p.is_file())
    for name in names:
        assert (site / name).read_bytes() == (again / name).read_bytes(), name


def test_downloads_hold_what_the_entries_hold(site: Path) -> None:
    data = json.loads((site / "data" / "leaderboard.json").read_text(encoding="utf-8"))
    (board,) = data["boards"]
    assert [e["rank"] for e in board["entries"]][:2] == [1, 1]
    assert all((site / e["entry"]).is_file() for e in board["entries"])
    table = list(csv.DictReader(io.StringIO((site / "data" / "leaderboard.csv").read_text(encoding="utf-8"))))
    assert [row["model"] for row in table] == [e["model"]["canonical_name"] for e in board["entries"]]
    assert table[0]["doctor_tokens"] == ""  # untracked is empty, not 0
    first = board["entries"][0]
    assert float(table[0]["mixed_accuracy"]) == first["headline"]["mixed_accuracy"]["value"]
    scores = list(csv.DictReader(io.StringIO((site / "data" / "scores.csv").read_text(encoding="utf-8"))))
    assert {row["task"] for row in scores} == {v.task for v in base_entry().variants}


def test_spreadsheets_run_no_formula(tmp_path: Path, entry: Entry) -> None:
    build_site(write_entries(tmp_path / "e", [renamed(entry, "=HYPERLINK(1)", submitter="@SUM(1)")]), tmp_path / "s")
    text = (tmp_path / "s" / "data" / "leaderboard.csv").read_text(encoding="utf-8")
    assert "'=HYPERLINK(1)" in text
    assert "'@SUM(1)" in text


def test_each_instrument_has_its_own_board(tmp_path: Path, entry: Entry) -> None:
    other = entry.instrument.model_copy(update={"fingerprint": "../../etc/passwd"})
    found = [*many(3, entry), renamed(entry, "org/other", instrument=other)]
    site = build_site(write_entries(tmp_path / "e", found), tmp_path / "s").folder
    assert [p.name for p in site.glob("board-*.html")] == ["board-etc-pa.html"]
    assert "org/other" not in (site / "index.html").read_text(encoding="utf-8")
    assert "board-etc-pa.html" in (site / "index.html").read_text(encoding="utf-8")


def test_models_of_one_name_get_pages_of_their_own(tmp_path: Path, entry: Entry) -> None:
    site = build_site(
        write_entries(tmp_path / "e", [renamed(entry, "a b"), renamed(entry, "A/B")]), tmp_path / "s"
    ).folder
    folders = sorted(p.name for p in (site / "models").iterdir())
    assert len(folders) == 2
    assert folders[1] == f"{folders[0]}-2"


def test_a_custom_run_is_shown_with_what_differs_and_without_a_rank(tmp_path: Path, entry: Entry) -> None:
    difference = Difference(setting="limit", standard=None, found=5.0)
    custom = renamed(entry, "org/custom", kind="custom", differences=(difference,))
    site = build_site(write_entries(tmp_path / "e", [custom]), tmp_path / "s").folder
    page = next((site / "models").glob("*/index.html")).read_text(encoding="utf-8")
    assert "Not ranked: custom run: limit." in page
    assert "<code>limit</code>: 5.0, not None" in page


def test_an_entry_without_noise_levels_has_a_page(tmp_path: Path) -> None:
    short = base_entry([t for t in grid(2) if t.variant in ("clean", "mixed")])
    site = build_site(write_entries(tmp_path / "e", [short]), tmp_path / "s").folder
    page = next((site / "models").glob("*/index.html")).read_text(encoding="utf-8")
    assert "Headline" in page


def test_transcripts_of_another_run_are_refused(tmp_path: Path, entry: Entry) -> None:
    entries = write_with_transcripts(tmp_path / "e", entry, twins())
    file = entries / "with-transcripts" / "transcripts.jsonl"
    file.write_text(file.read_text(encoding="utf-8").replace("On Monday.", "On Tuesday."), encoding="utf-8")
    with pytest.raises(UserError, match=r"are not the transcripts of .*leaderboard check"):
        build_site(entries, tmp_path / "s")
    assert not (tmp_path / "s").exists()
    assert [p.name for p in tmp_path.iterdir()] == ["e"]
    assert build_site(entries, tmp_path / "s", dialogues="none").consultations == 0


def test_restricted_cases_show_no_text(tmp_path: Path, entry: Entry) -> None:
    secret = [
        c.model_copy(update={"provenance": c.provenance.model_copy(update={"restricted": True})}) for c in bank(1)
    ]
    cases = write_cases(tmp_path / "cases", secret)
    entries = write_with_transcripts(tmp_path / "e", entry, twins())
    site = build_site(entries, tmp_path / "s", cases=str(cases)).folder
    text = "".join(p.read_text(encoding="utf-8") for p in site.rglob("models/*/*.html"))
    assert "data-use agreement" in text
    for said in ("On Monday.", "A few days ago.", "Acute appendicitis."):
        assert said not in text


def test_pages_of_cases_hold_their_canary(site: Path) -> None:
    pages = list(site.rglob("case-*.html"))
    assert len(pages) == 2
    assert all('<meta name="canary" content="test">' in p.read_text(encoding="utf-8") for p in pages)


def test_another_folder_is_never_replaced(tmp_path: Path, entry: Entry) -> None:
    entries = write_entries(tmp_path / "e", [entry])
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(UserError, match="not a leaderboard site"):
        build_site(entries, tmp_path / "mine")
    build_site(entries, tmp_path / "s")
    (tmp_path / "s" / "old.html").write_text("old", encoding="utf-8")
    build_site(entries, tmp_path / "s")
    assert not (tmp_path / "s" / "old.html").exists()


def test_the_commands(tmp_path: Path, entry: Entry, capsys: pytest.CaptureFixture[str]) -> None:
    entries = write_entries(tmp_path / "e", [entry])
    assert main(["leaderboard", "build", "--entries", str(entries), "--out", str(tmp_path / "s")]) == 0
    assert "site of 1 entries, 0 consultations" in capsys.readouterr().out
    assert main(["leaderboard", "build", "--entries", str(tmp_path / "none"), "--out", str(tmp_path / "t")]) == 2
    assert "leaderboard add" in capsys.readouterr().err
    assert main(["leaderboard", "serve", str(tmp_path)]) == 2
    assert "no leaderboard site" in capsys.readouterr().err


def test_the_server_serves_the_site_alone_and_to_this_machine_alone(site: Path) -> None:
    with make_server(site, 0) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            host, port = server.server_address[0], server.server_address[1]
            assert host == "127.0.0.1"
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/index.html", timeout=10) as answer:
                assert answer.headers["X-Content-Type-Options"] == "nosniff"
                assert answer.headers["Content-Security-Policy"].startswith(POLICY)
            with pytest.raises(urllib.error.HTTPError, match="404"):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/../entries/000/entry.json", timeout=10)
            with pytest.raises(UserError, match="cannot be had"):
                make_server(site, port)
        finally:
            server.shutdown()
            thread.join()


def test_vendored_files_are_those_that_their_list_names() -> None:
    folder = files("verisim_leaderboard") / "site" / "vendor"
    text = (folder / "README.md").read_text(encoding="utf-8")
    named = dict(re.findall(r"^\| `([\w.-]+\.js)` .* `([0-9a-f]{64})` \|$", text, re.M))
    scripts = sorted(item.name for item in folder.iterdir() if item.name.endswith(".js"))
    assert sorted(named) == scripts
    for name in scripts:
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == named[name]
        assert (folder / name.replace(".min.js", ".LICENSE.txt")).is_file()


def test_words() -> None:
    assert file_names(["A/B", "a b", "Ünï", "<>", "..", "x" * 200]) == [
        "a-b",
        "a-b-2",
        "u-ni",
        "unnamed",
        "unnamed-2",
        "x" * 80,
    ]
    assert shown("a\u202eb\x00c\td\r\ne") == "a\ufffdb\ufffdc d\ne"
    assert variant_label("memory_recall_l3") == "Memory 3"
    assert variant_label("mixed") == "Mixed"
    assert device_label("never_seen") == "never seen"
    assert [heat_class(x) for x in (-3, -2.9, 2.9, 3, 8, 15, 25)] == ["gain", "h0", "h0", "h1", "h2", "h3", "h4"]


def test_every_device_of_the_noise_has_words() -> None:
    source = Path(__file__).parent.parent / "verisim_tasks"
    text = "".join(p.read_text(encoding="utf-8") for part in ("noise", "patient") for p in (source / part).glob("*.py"))
    calls = re.findall(r"event\((?:NAME|\"[a-z_]+\"), ([^)]*)", text)
    used = {name for call in calls for name in re.findall(r"\"([a-z_]{6,})\"", call)}
    assert len(used) >= 25
    words = yaml.safe_load((files("verisim_leaderboard") / "site" / "words.yaml").read_text(encoding="utf-8"))
    assert used - set(words["devices"]) == set()


PAIRS = (
    *(("ink", g) for g in ("ground", "raised", "marked")),
    *(("faint", g) for g in ("ground", "raised")),
    *((c, g) for c in ("accent", "good", "bad", "noise") for g in ("ground", "raised")),
    *(("h-ink", g) for g in ("gain", "h0", "h1", "h2", "h3")),
    ("h4-ink", "h4"),
)


@pytest.mark.parametrize("theme", [0, 1, 2])
def test_text_has_contrast(theme: int) -> None:
    style = (files("verisim_leaderboard") / "site" / "assets" / "site.css").read_text(encoding="utf-8")
    blocks = re.findall(r"color-scheme: (?:light|dark);(.*?)\}", style, re.S)
    colours = dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6})", blocks[theme]))
    for text, ground in PAIRS:
        assert _contrast(colours[text], colours[ground]) >= 4.5, (theme, text, ground)


def _contrast(first: str, second: str) -> float:
    light, dark = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    """WCAG 2.2, relative luminance."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_all_dimensions_have_a_word() -> None:
    assert [variant_label(f"{d}_l1") for d in DIMENSIONS] == [
        "Attention 1",
        "Reserve 1",
        "Memory 1",
        "Literacy 1",
        "Emotion 1",
        "Style 1",
    ]
