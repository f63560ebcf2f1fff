"""The pages in a real browser: filters, links, keys, sizes, and nothing that runs or is loaded."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fscontract.contract.report import matrix_render as matrix_html
from fscontract.contract.report.html import render
from fscontract.contract.report.matrix import Findings, join, read_reports
from fscontract.contract.runner.result import ClauseResult, RunResult, Verdict
from fscontract.contract.spec.clauses import Level, clauses
from tests.contract.report.html.browsing import Browser, Tab
from tests.contract.report.html.test_run import HOSTILE
from tests.contract.report.matrices import judged, save
from tests.contract.report.test_matrix import NOW

pytestmark = pytest.mark.xdist_group("browser")

Make = Callable[..., ClauseResult]
MakeRun = Callable[..., RunResult]
Show = Callable[..., Tab]
#: What the rows say that are to be seen.
SHOWN = (
    "[...document.querySelectorAll('tr[data-clause]')].filter(r => r.checkVisibility())"
    ".map(r => r.dataset.clause)"
)
SAID = "document.querySelector('.run:not([hidden]) output').textContent"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all of them."""
    started = Browser(tmp_path_factory.mktemp("browser"))
    yield started
    started.close()


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Iterator[Show]:
    """Shows a page; in the end it has met no error, and has asked for nothing."""
    tabs: list[Tab] = []

    def show(text: str, fragment: str = "", width: int = 1280) -> Tab:
        path = tmp_path / "page.html"
        path.write_text(text, encoding="utf-8")
        tabs.append(Tab(browser, path, fragment, width))
        return tabs[-1]

    yield show
    for tab in tabs:
        assert tab.problems == []
        tab.close()


@pytest.fixture
def report(make_result: Make, make_run: MakeRun) -> str:
    """Of two targets: the first with a clause for each outcome, the second with a few others."""
    found = [make_result(v, name=f"demo.{v.value}", reason=f"why {v.value}") for v in Verdict]
    other = [make_result(Verdict.FAIL, name="demo.fail"), make_result(name="demo.more")]
    return render([make_run(*found), make_run(*other, target="other")])


def test_filters_show_what_fits_and_stay_in_the_address(report: str, show: Show) -> None:
    """By text, outcome, level and section, alone and together."""
    tab = show(report)
    assert len(tab.js(SHOWN)) == len(Verdict)
    _choose(tab, "outcome", "failing")
    assert tab.js(SHOWN) == ["demo.fail", "demo.fixed", "demo.hang", "demo.crash"]
    assert tab.js(SAID) == "4 of 12 clauses"
    assert tab.js("location.hash") == "#outcome=failing"
    _choose(tab, "text", "HANG what")
    assert tab.js(SHOWN) == ["demo.hang"]
    assert tab.js("location.hash") == "#text=HANG+what&outcome=failing"
    _choose(tab, "level", "MUST")
    _choose(tab, "section", "demo: Demo.one()")
    assert tab.js(SHOWN) == ["demo.hang"]
    tab.click(".filters [type=reset]")
    assert len(tab.js(SHOWN)) == len(Verdict)
    assert tab.js("location.hash") == ""


def test_what_fits_nothing_says_so(report: str, show: Show) -> None:
    """With a way back."""
    tab = show(report, "#text=nowhere")
    assert tab.js(SHOWN) == []
    assert tab.js("document.querySelector('.nothing').checkVisibility()")
    tab.click(".nothing a")
    assert len(tab.js(SHOWN)) == len(Verdict)


def test_a_filter_can_be_passed_on(report: str, show: Show) -> None:
    """The controls follow the address; invalid parts of it are ignored."""
    tab = show(report, "#outcome=unverified&text=why+un&level=HUGE")
    assert tab.js(SHOWN) == ["demo.undeclared", "demo.unexercised"]
    form = "document.querySelector('.filters').elements"
    assert tab.js(f"[{form}.text.value, {form}.outcome.value, {form}.level.value]") == [
        *("why un", "unverified", ""),
    ]


@pytest.mark.parametrize(
    ("fragment", "number"), [("#clause=demo.lax", 1), ("#target=2&clause=demo.more", 2)]
)
def test_a_clause_can_be_linked_to(fragment: str, number: int, report: str, show: Show) -> None:
    """It is in sight, marked, and of the target that is meant."""
    tab = show(report, fragment)
    assert tab.js("document.querySelector('.marked').id") == fragment[1:]
    assert _in_sight(tab, ".marked")
    assert tab.js("document.querySelector('.run:not([hidden])').dataset.target") == str(number)
    tab.press("Tab")
    assert tab.js("document.activeElement.closest('tr').id") == fragment[1:]


def test_a_finding_can_be_linked_to(report: str, show: Show) -> None:
    """It is opened; so it is from the row of its clause, whatever was filtered before."""
    tab = show(report, "#outcome=pass")
    tab.js(
        "[...document.querySelectorAll('a')].find(a => a.hash === '#finding=demo.known').click()"
    )
    assert tab.js("document.querySelector('.marked').open")
    assert _in_sight(tab, ".marked")
    tab.click(".marked .ways a")
    assert tab.js("document.querySelector('.marked').id") == "clause=demo.known"
    assert len(tab.js(SHOWN)) == len(Verdict)


def test_each_target_has_a_tab(report: str, show: Show) -> None:
    """The count is that of the target; its filters are apart from those of others."""
    tab = show(report, "#outcome=pass")
    tab.click(".tabs li:last-child a")
    assert tab.js(SHOWN) == ["demo.fail", "demo.more"]
    assert tab.js(SAID) == "2 clauses"
    assert tab.js("document.querySelectorAll('.tabs [aria-current]').length") == 1
    _choose(tab, "text", "more")
    assert tab.js("location.hash") == "#target=2&text=more"


def test_the_keyboard_will_do(report: str, show: Show) -> None:
    """The first stop leads past the head, / to the search, Escape empties it, the focus shows."""
    tab = show(report)
    tab.press("Tab")
    assert tab.js("document.activeElement.className") == "skip"
    assert _in_sight(tab, ".skip")
    assert tab.js("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    tab.press("Enter")
    assert tab.js("document.activeElement.id") == "main"
    tab.press("/", "/")
    assert tab.js("document.activeElement.name") == "text"
    tab.write("demo.lax")
    assert tab.js(SHOWN) == ["demo.lax"]
    tab.press("Escape")
    assert len(tab.js(SHOWN)) == len(Verdict)


def test_a_command_can_be_copied(report: str, show: Show) -> None:
    """Without a network."""
    tab = show(report)
    tab.click(".copy")
    changed = "new Promise(r => new MutationObserver(r).observe(b, {childList: true}))"
    said = f"(b => b.textContent === 'Copy' ? {changed}.then(() => b.textContent) : b.textContent)"
    assert tab.js(f"{said}(document.querySelector('.copy'))") == "Copied"


@pytest.mark.parametrize("width", [360, 800, 1280, 2560])
def test_the_page_fits_every_width(width: int, report: str, show: Show) -> None:
    """Nothing has to be moved sideways, and filters still hide rows."""
    tab = show(report, "#outcome=pass", width)
    assert tab.js("document.scrollingElement.scrollWidth <= innerWidth")
    assert tab.js(SHOWN) == ["demo.pass"]


def test_it_is_dark_where_that_is_wanted(report: str, show: Show) -> None:
    """And all text stands out from what is behind it, in both."""
    tab = show(report)
    light = {scheme: _light(tab, scheme) for scheme in ("light", "dark")}
    assert light["light"][0] > 0.8
    assert light["dark"][0] < 0.05
    for _, least in light.values():
        assert least >= 4.5


def test_paper_has_all_of_it(report: str, show: Show) -> None:
    """Every target and every finding, without what can't be used there."""
    tab = show(report)
    tab.media("print")
    tab.js("void dispatchEvent(new Event('beforeprint'))")
    assert tab.js("[...document.querySelectorAll('.run')].every(r => r.checkVisibility())")
    assert tab.js("[...document.querySelectorAll('details')].every(d => d.open)")
    assert not tab.js("document.querySelector('.filters').checkVisibility()")
    tab.js("void dispatchEvent(new Event('afterprint'))")
    assert not tab.js("[...document.querySelectorAll('details')].every(d => d.open)")


def test_hostile_texts_do_nothing(make_result: Make, make_run: MakeRun, show: Show) -> None:
    """In rows, drawings, lanes and names."""
    found = [
        make_result(v, name=f"demo.{v.value}", reason=HOSTILE, actual=HOSTILE) for v in Verdict
    ]
    lane = make_result(Verdict.FAIL, name="demo.t", interleaving=(f"1 T0 {HOSTILE}",))
    tab = show(render([make_run(*found, lane, target=HOSTILE)]))
    assert tab.js("document.querySelectorAll('img').length") == 0
    assert "alert(1)" in tab.js("document.querySelector('h1').textContent")


def test_a_script_that_got_in_would_not_run(report: str, show: Show) -> None:
    """The page's policy lets its own alone."""
    tab = show(report.replace("</main>", "<script>window.hit = 1</script><img src=x></main>"))
    assert tab.js("window.hit === undefined")
    refused = [p for p in tab.problems if "violates the following Content Security Policy" in p]
    assert len(refused) == 2
    tab.forget()


def test_a_thousand_clauses_are_fluent(make_result: Make, make_run: MakeRun, show: Show) -> None:
    """A filter computes styles and lays the page out once, and not once for each clause."""
    names = [f"demo.number-{n}" for n in range(1000)]
    every = [Verdict.PASS, Verdict.UNDECLARED, Verdict.PASS, Verdict.LAX]
    found = [make_result(every[n % 4], name=name) for n, name in enumerate(names)]
    tab = show(render([make_run(*found)]))
    tab.call("Performance.enable")
    for text in ("9", "99", "999", ""):
        before = _laid_out(tab)
        _choose(tab, "text", text)
        assert tab.js("location.hash") == (f"#text={text}" if text else "")
        assert tab.js("document.body.offsetHeight") > 0
        spent = [after - count for after, count in zip(_laid_out(tab), before, strict=True)]
        assert max(spent) <= 5, "a row that reads what it has just changed lays all out anew"
    _choose(tab, "text", "number-999")
    assert tab.js(SHOWN) == ["demo.number-999"]


def test_the_matrix_can_be_filtered(tmp_path: Path, show: Show) -> None:
    """Its page meets no error either."""
    outcomes = dict.fromkeys(list(clauses())[:40], "pass")
    path = save(tmp_path / "a.json", judged({**outcomes, HOSTILE: "fail"}, HOSTILE))
    tab = show(matrix_html.render_html(join(read_reports(Path(path)), "Matrix", NOW), Findings()))
    assert tab.js("document.querySelector('output').textContent") == "41 of 41 clauses"
    _choose(tab, "outcome", "fail")
    assert tab.js("document.querySelector('output').textContent") == "1 of 41 clauses"
    assert tab.js("location.hash") == "#outcome=fail"
    tab.go("#outcome=pass&level=MUST&text=seek&target=HUGE")
    assert tab.js("document.querySelector('.filters').elements.target.value") == ""
    shown = int(tab.js("document.querySelector('output').textContent").split()[0])
    musts = [name for name in outcomes if clauses()[name].level is Level.MUST]
    assert shown == sum("seek" in _said(name) for name in musts) > 0


def _laid_out(tab: Tab) -> tuple[int, int]:
    """Return the counts of style computations and layouts so far."""
    found = {m["name"]: m["value"] for m in tab.call("Performance.getMetrics")["metrics"]}
    return int(found["RecalcStyleCount"]), int(found["LayoutCount"])


def _said(name: str) -> str:
    """Return the key of a row of the matrix."""
    clause = clauses()[name]
    return f"{name} {clause.section} {clause.statement}".lower()


def _choose(tab: Tab, name: str, value: str) -> None:
    """Set a control, as a user would."""
    control = (
        f"document.querySelector('.run:not([hidden]) .filters, main > .filters').elements.{name}"
    )
    event = "new Event('input', {bubbles: true})"
    tab.js(f"({control}.value = {json.dumps(value)}, void {control}.dispatchEvent({event}))")


def _in_sight(tab: Tab, selector: str) -> bool:
    box = tab.js(f"document.querySelector('{selector}').getBoundingClientRect().toJSON()")
    height, width = tab.js("[innerHeight, innerWidth]")
    return bool(0 <= box["top"] < height and 0 <= box["left"] < width and box["height"] > 0)


def _light(tab: Tab, scheme: str) -> tuple[float, float]:
    """Return the lightness of the page, and the minimum contrast of its texts."""
    tab.media(scheme=scheme)
    pairs = tab.js(
        "[...new Set([...document.querySelectorAll('.run:not([hidden]) *, header *')]"
        ".filter(e => e.checkVisibility() && [...e.childNodes].some("
        "n => n.nodeType === 3 && n.data.trim()) && !(e instanceof SVGElement))"
        ".map(e => { let back = e; while (back && /, 0\\)$|transparent/.test("
        "getComputedStyle(back).backgroundColor)) back = back.parentElement;"
        "return getComputedStyle(e).color + ' on ' + getComputedStyle(back || document.body)"
        ".backgroundColor; }))]"
    )
    found = [[_luminance(colour) for colour in pair.split(" on ")] for pair in pairs]
    body = _luminance(tab.js("getComputedStyle(document.body).backgroundColor"))
    return body, min((max(p) + 0.05) / (min(p) + 0.05) for p in found)


def _luminance(colour: str) -> float:
    parts = [int(n) / 255 for n in re.findall(r"\d+", colour)[:3]]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
