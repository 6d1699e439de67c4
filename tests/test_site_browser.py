"""The site in Chromium, opened from files: what a person does with it, by mouse, by keyboard and on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from leaderboard_helpers import bank
from metrics_helpers import write_cases
from site_helpers import (
    Watch,
    base_entry,
    browser,
    many,
    renamed,
    twins,
    watched,
    write_entries,
    write_with_transcripts,
)

from verisim_leaderboard.site import build_site

WIDE = {"viewport": {"width": 1280, "height": 900}}
PHONE = {"viewport": {"width": 360, "height": 740}, "is_mobile": True, "has_touch": True}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("browser")
    entry = base_entry()
    entries = write_entries(place / "entries", many(16, entry))
    write_with_transcripts(entries, renamed(entry, "org/talks", accuracy=0.99, submitter="A clinic"), twins())
    cases = write_cases(place / "cases", bank())
    return build_site(entries, place / "site", cases=str(cases)).folder


@pytest.fixture(scope="module")
def chrome() -> Iterator[Any]:
    with browser() as started:
        yield started


@pytest.fixture
def opened(chrome: Any, site: Path) -> Iterator[tuple[Any, Watch]]:
    context = chrome.new_context(**WIDE)
    page, watch = watched(context)
    page.goto((site / "index.html").as_uri())
    yield page, watch
    watch.assert_quiet()
    inside = site.as_uri()
    assert [url for url in watch.requests if not url.startswith(inside)] == []
    context.close()


def models(page: Any) -> list[str]:
    return list(page.locator("#board tbody th a").all_inner_texts())


def numbers(page: Any, column: str) -> list[float]:
    place = page.evaluate(f"document.querySelector('th[data-column={column}]').cellIndex")
    cells = page.locator(f"#board tbody tr > :nth-child({place + 1})").all_inner_texts()
    return [float(cell.split("\n")[0]) for cell in cells if cell != "–"]


def test_sort(opened: tuple[Any, Watch]) -> None:
    page, _ = opened
    head = page.locator("th[data-column=accuracy_drop]")
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert numbers(page, "accuracy_drop") == sorted(numbers(page, "accuracy_drop"))
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert numbers(page, "accuracy_drop") == sorted(numbers(page, "accuracy_drop"), reverse=True)
    assert page.locator("th[data-column=rank]").get_attribute("aria-sort") == "none"
    assert page.locator("#status").inner_text() == "17 of 17 entries fit, sorted by Drop, points, descending."
    size = page.locator("th[data-column=size] button")
    for _ in range(2):  # unknown sizes stand last in both directions
        size.click()
        assert page.locator("#board tbody tr:last-child td:nth-child(7)").inner_text() == "–"


def test_filter(opened: tuple[Any, Watch]) -> None:
    page, _ = opened
    page.get_by_label("Size").select_option("70B and more")
    sizes = page.locator("#board tbody tr td:nth-child(7)").all_inner_texts()
    assert sizes == ["70.0B", "405.0B"] * 2 or sorted(set(sizes)) == ["405.0B", "70.0B"]
    page.get_by_label("Weights").select_option("open weights")
    assert set(page.locator("#board tbody tr td:nth-child(8)").all_inner_texts()) == {"open"}
    page.get_by_label("Search").fill("nothing of this name")
    assert models(page) == []
    assert page.get_by_text("No entry fits.").is_visible()


def test_search(opened: tuple[Any, Watch]) -> None:
    page, _ = opened
    page.get_by_label("Search").fill("CLINIC talks")
    assert models(page) == ["org/talks"]
    page.get_by_label("Search").fill("")
    assert len(models(page)) == 17


def test_pages_of_a_long_table(chrome: Any, tmp_path: Path) -> None:
    site = build_site(write_entries(tmp_path / "e", many(60)), tmp_path / "s").folder
    page, watch = watched(chrome.new_context(**WIDE))
    page.goto((site / "index.html").as_uri())
    assert len(models(page)) == 50
    first = models(page)
    assert page.get_by_role("button", name="Previous").is_disabled()
    page.get_by_role("button", name="Next").click()
    assert not set(first) & set(models(page))
    assert page.locator("#status").inner_text().startswith("60 of 60 entries fit, 51 to 60 shown, sorted by Rank")
    page.locator("th[data-column=model] button").click()  # a new order starts on the first page
    assert page.get_by_role("button", name="Previous").is_disabled()
    page.get_by_label("Entries a page").select_option("all")
    assert len(models(page)) == 60
    assert page.get_by_role("button", name="Next").is_disabled()
    watch.assert_quiet()


def test_column_groups(opened: tuple[Any, Watch]) -> None:
    page, _ = opened
    head = page.locator("th[data-column=task_memory_recall_l3]")
    assert not head.is_visible()
    page.get_by_label("Single tasks").check()
    assert head.is_visible()
    assert page.get_by_text("Accuracy by task, % (never ranked)").is_visible()
    page.get_by_label("Single tasks").uncheck()
    assert not head.is_visible()


def test_open_a_model_and_a_transcript(opened: tuple[Any, Watch]) -> None:
    page, _ = opened
    page.get_by_role("link", name="org/talks").click()
    page.wait_for_load_state("load")
    assert page.locator("h1").inner_text() == "org/talks"
    assert page.locator(".plots svg").count() == 6
    assert page.locator(".plots svg circle").count() == 30
    assert page.locator("#slopes g.slope").count() == 7
    assert page.locator("#intervals g.interval").count() == 25
    assert page.locator("#slopes svg").get_attribute("aria-label").startswith("Accuracy of the same cases")
    assert page.locator(".heat-map tbody tr").count() == 6
    page.locator("#consultations ~ .scroll a", has_text="c0").click()
    page.wait_for_load_state("load")
    assert page.locator("h1").inner_text() == "Case c0"
    noisy = page.locator("#noisy")
    assert noisy.locator(".turn").count() == 3
    assert noisy.locator(".mark.held").inner_text() == "held back k1"
    assert noisy.locator(".mark.told").last.inner_text() == "told k2, blurred"
    assert noisy.locator(".mark.noise").inner_text() == "noise Memory: time made vaguer (k2)"
    assert noisy.locator(".part-noise").inner_text().strip() == "Well, um."
    assert page.locator("#clean .part-fact").count() == 0  # without segments the words stand as they are
    lost = page.locator("#facts tr.lost")
    assert lost.inner_text().split("\t") == ["k1", "key", "told at 1", "held back at 1"]
    page.get_by_label("noisy", exact=True).check()
    assert not page.locator("#clean").is_visible()


def test_keyboard_alone(opened: tuple[Any, Watch]) -> None:
    page, _ = opened
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('th')?.dataset.column") == "clean_accuracy":
            break
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    assert page.locator("th[data-column=clean_accuracy]").get_attribute("aria-sort") == "descending"
    assert page.evaluate("document.activeElement.closest('th')?.dataset.column") == "clean_accuracy"
    for _ in range(10):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('#board tbody a')"):
            break
    page.keyboard.press("Enter")
    page.wait_for_url("**/models/*/index.html")


def test_theme(opened: tuple[Any, Watch]) -> None:
    page, _ = opened
    ground = "getComputedStyle(document.body).backgroundColor"
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(ground) == "rgb(18, 23, 30)"
    button = page.get_by_role("button", name="Theme")
    button.click()
    assert button.inner_text() == "Theme: light"
    assert page.evaluate(ground) == "rgb(255, 255, 255)"
    page.emulate_media(color_scheme="light")
    button.click()
    assert page.evaluate(ground) == "rgb(18, 23, 30)"
    page.reload()
    assert page.evaluate(ground) == "rgb(18, 23, 30)"
    assert page.get_by_role("button", name="Theme").inner_text() == "Theme: dark"


def test_phone_width(chrome: Any, site: Path) -> None:
    context = chrome.new_context(**PHONE)
    page, watch = watched(context)
    for file in [*site.glob("*.html"), *site.glob("models/org-talks*/*.html")]:
        page.goto(file.as_uri())
        page.wait_for_timeout(50)
        assert page.evaluate("[document.documentElement.scrollWidth, innerWidth]") == [360, 360], file
        assert page.evaluate("parseFloat(getComputedStyle(document.querySelector('main p')).fontSize)") >= 14
    watch.assert_quiet()
    context.close()


def test_without_scripts_the_table_is_there(chrome: Any, site: Path) -> None:
    context = chrome.new_context(java_script_enabled=False)
    page, watch = watched(context)
    page.goto((site / "index.html").as_uri())
    assert len(models(page)) == 17
    assert not page.locator("#controls").is_visible()
    watch.assert_quiet()
    context.close()


def test_tables_and_fields_say_what_they_are(opened: tuple[Any, Watch], site: Path) -> None:
    page, _ = opened
    for file in [*site.glob("*.html"), *site.glob("models/org-talks*/*.html")]:
        page.goto(file.as_uri())
        assert page.locator("h1").count() == 1
        assert page.locator("html").get_attribute("lang") == "en"
        assert page.evaluate("[...document.querySelectorAll('th')].filter(e => !e.scope).length") == 0
        unnamed = "[...document.querySelectorAll('input,select')].filter(e => !e.labels.length).length"
        assert page.evaluate(unnamed) == 0
        assert (
            page.evaluate("[...document.querySelectorAll('svg')].filter(e => !e.ariaLabel && !e.ariaHidden).length")
            == 0
        )
        assert (
            page.evaluate(
                "(ids => ids.length - new Set(ids).size)([...document.querySelectorAll('[id]')].map(e => e.id))"
            )
            == 0
        )
