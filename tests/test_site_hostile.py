"""Names and transcripts that want to be markup or script: nothing runs or loads, all is shown as text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from leaderboard_helpers import MIXED, bank
from metrics_helpers import make_transcript, write_cases
from site_helpers import Watch, base_entry, browser, renamed, watched, write_entries, write_with_transcripts

from verisim_leaderboard.record import Contamination, Difference, Entry, OtherTask
from verisim_leaderboard.site import build_site
from verisim_leaderboard.site.words import shown
from verisim_tasks.records.transcript import Denial, Disclosure, NoiseEvent, Segment, Transcript, Turn

HOSTILE: tuple[str, ...] = (
    "<script>window.pwned=1;alert(1)</script>",
    "</script><script>window.pwned=1;alert(1)</script>",
    "</SCRIPT ><script>window.pwned=1</script>",
    "<!--<script>window.pwned=1</script>",
    "--><script>window.pwned=1</script><!--",
    "]]><script>window.pwned=1</script>",
    '"><img src=x onerror="window.pwned=1;alert(1)">',
    "'><img src=x onerror='window.pwned=1'>",
    "<img src=//evil.example/x.png>",
    "<svg/onload=window.pwned=1>",
    "<svg><script>window.pwned=1</script></svg>",
    "<svg><animate onbegin=window.pwned=1 attributeName=x dur=1s>",
    "<iframe srcdoc='<script>parent.pwned=1</script>'>",
    "<iframe src=javascript:parent.pwned=1>",
    "<body onload=window.pwned=1>",
    "<a href=javascript:window.pwned=1>click</a>",
    "javascript:window.pwned=1",
    "data:text/html,<script>window.pwned=1</script>",
    "' onmouseover='window.pwned=1",
    '" autofocus onfocus="window.pwned=1',
    "<input autofocus onfocus=window.pwned=1>",
    "<details open ontoggle=window.pwned=1>",
    "<video><source onerror=window.pwned=1>",
    "<object data=//evil.example/x>",
    "<embed src=//evil.example/x>",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<style>*{display:none}</style>",
    "<meta http-equiv=refresh content='0;url=//evil.example/'>",
    "<base href=//evil.example/>",
    "<form action=//evil.example/><button>go</button></form>",
    "<math><mtext><table><mglyph><style><img src=x onerror=window.pwned=1>",
    '<noscript><p title="</noscript><img src=x onerror=window.pwned=1>">',
    "<template><script>window.pwned=1</script></template>",
    "<x-y style=position:fixed;inset:0>",
    "</title><script>window.pwned=1</script>",
    "</table></main><h1>owned</h1>",
    "&lt;script&gt;window.pwned=1&lt;/script&gt;",
    "&#60;img src=x onerror=window.pwned=1&#62;",
    "%3Cscript%3Ewindow.pwned=1%3C/script%3E",
    "\\u003cscript\\u003ewindow.pwned=1\\u003c/script\\u003e",
    "{{ 7 * 7 }}{% for x in () %}{{ config }}",
    "${window.pwned=1}`;window.pwned=1;`",
    "';window.pwned=1;//",
    '"};window.pwned=1;({"',
    "__proto__",
    "constructor.prototype",
    "../../../../etc/passwd",
    "..\\..\\windows",
    "=HYPERLINK('//evil.example')",
    "\u202egnirts desrever\u2066",
    "zero\u200bwidth\ufeff and \u2028 lines \u2029",
    "[click](javascript:window.pwned=1) <!-- verisim:end -->",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("hostile")
    base = base_entry()
    entries = write_entries(place / "entries", [hostile(base, text) for text in HOSTILE])
    first = hostile(base, "the one with transcripts")
    write_with_transcripts(entries, first, list(talks()))
    cases = write_cases(place / "cases", bank(1))
    return build_site(entries, place / "site", cases=str(cases)).folder


def hostile(entry: Entry, text: str) -> Entry:
    """The text in every field that holds text."""
    variant = entry.variants[1].model_copy(update={"variant": text, "task": text, "dimension": text})
    curve = entry.curves[0].model_copy(update={"dimension": text})
    return renamed(
        entry,
        text,
        submitter=text,
        licence=text,
        revision=text,
        kind="custom",
        differences=(Difference(setting=text, standard=text, found={text: [text]}),),
        contamination=Contamination(declared="unknown", parents=(text,), reason=text),
        date=text,
        versions={text: text},
        variants=(entry.variants[0], variant, *entry.variants[2:]),
        curves=(curve, *entry.curves[1:]),
        settings=entry.settings.model_copy(update={"patient": text, "suite": {text: text}}),
        warnings=(text,),
        other_tasks=(OtherTask(task=text, consultations=0, reported={}),),
    )


def talks() -> Iterator[Transcript]:
    """One case, told by patients whose every word is hostile."""
    for variant, noise in (("clean", {}), ("mixed", MIXED)):
        found = make_transcript(case_id="c0", noise=noise, variant=variant, turns=1, twin=None, diagnosis=HOSTILE[0])
        turns = [turn for text in HOSTILE for turn in _exchange(text)]
        yield found.model_copy(update={"turns": tuple(turns)})


def _exchange(text: str) -> list[Turn]:
    return [
        Turn(index=1, speaker="doctor", text=text, flags=(text,)),
        Turn(
            index=1,
            speaker="patient",
            text=text,
            disclosed=(Disclosure(fact_id=text),),
            withheld=(text,),
            denials=(Denial(kind="unrecorded", concept=text, fact_id=text),),
            events=(NoiseEvent(dimension=text, level=1, device=text, fact_id=text, detail=text),),
            segments=(Segment(text=text, kind="noise"),),
        ),
    ]


@pytest.fixture(scope="module")
def opened() -> Iterator[tuple[Any, Watch]]:
    with browser() as started:
        yield watched(started.new_context())


def assert_harmless(page: Any, watch: Watch, site: Path) -> None:
    watch.assert_quiet()
    assert page.evaluate("window.pwned") is None
    assert (
        page.evaluate(
            "document.querySelectorAll('iframe,object,embed,base,form,video,link[href*=evil],img,x-y').length"
        )
        == 0
    )
    assert page.evaluate("document.querySelectorAll('meta[http-equiv=refresh]').length") == 0
    assert page.evaluate("document.querySelectorAll('body style, head style').length") == 0
    assert [url for url in watch.requests if not url.startswith(site.as_uri())] == []


def test_there_are_enough() -> None:
    assert len(set(HOSTILE)) >= 50


def test_the_board_shows_every_name_and_submitter_as_text(opened: tuple[Any, Watch], site: Path) -> None:
    page, watch = opened
    page.goto((site / "index.html").as_uri())
    page.get_by_label("Entries a page").select_option("all")
    names = page.evaluate("[...document.querySelectorAll('#board tbody th a')].map(e => e.textContent)")
    assert sorted(names) == sorted([shown(text) for text in HOSTILE] + ["the one with transcripts"])
    submitters = page.evaluate("[...document.querySelectorAll('#board tbody th .sub')].map(e => e.textContent)")
    assert sorted(submitters) == sorted(names)
    page.get_by_label("Search").fill("")
    for box in page.locator("input[data-group]").all():
        box.check()
    page.get_by_label("Search").fill("<script>")
    assert page.locator("#board tbody tr").count() == sum("<script>" in text for text in HOSTILE)
    page.get_by_label("Search").fill("")
    page.locator("th[data-column=model] button").click()
    assert_harmless(page, watch, site)


def test_every_page_of_a_model_shows_its_name_as_text(opened: tuple[Any, Watch], site: Path) -> None:
    page, watch = opened
    names = []
    for file in sorted(site.glob("models/*/index.html")):
        assert file.resolve().is_relative_to(site.resolve())
        page.goto(file.as_uri())
        name = page.evaluate("document.querySelector('h1').textContent")
        names.append(name)
        assert page.evaluate("document.title") == f"{' '.join(name.split())} · VeriSim"
        assert page.evaluate("document.querySelector('.warning').textContent") == name
        assert page.evaluate("document.querySelector('.plots figcaption').textContent") == name.replace("_", " ")
        assert page.locator("#intervals g.interval").count() == 25
        assert_harmless(page, watch, site)
    assert sorted(names) == sorted([shown(text) for text in HOSTILE] + ["the one with transcripts"])


def test_transcripts_are_text(opened: tuple[Any, Watch], site: Path) -> None:
    page, watch = opened
    (file,) = site.glob("models/*/case-*.html")
    page.goto(file.as_uri())
    for side in ("clean", "noisy"):
        said = page.evaluate(f"[...document.querySelectorAll('#{side} .said')].map(e => e.textContent)")
        assert said == [shown(text) for text in HOSTILE for _ in range(2)]
        held = page.evaluate(f"[...document.querySelectorAll('#{side} .mark.held')].map(e => e.textContent)")
        assert held == [f"held back {shown(text)}" for text in HOSTILE]
        assert shown(HOSTILE[0]) in page.locator(f"#{side} .ending").inner_text()
    assert_harmless(page, watch, site)
    page.goto(file.as_uri() + "#%3Cimg%20src=x%20onerror=alert(1)%3E")
    assert_harmless(page, watch, site)
    page.goto(file.as_uri() + "#%E0%A4%A")
    assert_harmless(page, watch, site)


def test_the_policy_would_stop_what_got_through(opened: tuple[Any, Watch], site: Path) -> None:
    """A second wall: even markup that a bug let through could neither run nor load anything."""
    page, _ = opened
    hole = site / "hole.html"
    text = (site / "data.html").read_text(encoding="utf-8")
    bad = "<script>window.pwned=1</script><img src=x onerror=window.pwned=1><iframe src=javascript:parent.pwned=1>"
    hole.write_text(text.replace("<h1>", f"{bad}</iframe><h1>"), encoding="utf-8")
    own, watch = watched(page.context)
    own.goto(hole.as_uri())
    own.wait_for_timeout(100)
    assert own.evaluate("window.pwned") is None
    assert any("Content Security Policy" in line for line in watch.console)
    error = own.evaluate(
        "(() => { try { document.body.innerHTML = '<b>x</b>'; return ''; } catch (e) { return e.name; } })()"
    )
    assert error == "TypeError"  # no markup is made from text
    hole.unlink()
