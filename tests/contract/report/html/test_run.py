"""The page of `check --html`: what is in it, and that nothing in it can do harm."""

from __future__ import annotations

import base64
import hashlib
import itertools
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from fscontract.contract.program.program import Program, Step
from fscontract.contract.report.html import render
from fscontract.contract.report.html.run import lanes
from fscontract.contract.report.html.timeline import Movement, movements, timeline
from fscontract.contract.runner.result import (
    ClauseResult,
    Counterexample,
    NotSetUp,
    RunResult,
    Verdict,
)
from fscontract.contract.spec.clauses import Level

Make = Callable[..., ClauseResult]
MakeRun = Callable[..., RunResult]
HOSTILE = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(2)>\x00\x1b\ud800\u202e"
_EMPTY = {"meta", "input", "col", "rect", "line", "circle", "path"}


class Page(HTMLParser):
    """The tags of a page with their attributes, the text, and whether every tag is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in _EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, self.getpos()

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, tag: str, **wanted: str) -> list[dict[str, str]]:
        """The attributes of the tags that have these classes or values."""
        return [
            found
            for name, found in self.tags
            if name == tag
            and all(v in found.get(k.rstrip("_"), "").split() for k, v in wanted.items())
        ]


@pytest.fixture
def page(make_result: Make, make_run: MakeRun) -> Page:
    """Return the page of two targets, one of which could not be set up, with a clause per
    outcome.
    """
    found = [
        make_result(v, name=f"demo.{v.value}", reason=f"why {v.value}", replay="r.json")
        for v in Verdict
    ]
    found.append(make_result(level=Level.SHOULD, name="demo.should"))
    return Page(render([make_run(*found), NotSetUp("s3://b", "no way in")]))


def test_every_tag_is_closed(page: Page) -> None:
    """In its order, so that a browser has nothing to guess."""
    assert page.open == []


def test_ids_are_there_once(page: Page) -> None:
    """And every link within the page leads to one, or to a state of it."""
    ids = [found["id"] for _, found in page.tags if "id" in found]
    assert len(ids) == len(set(ids))
    for link in page.all("a"):
        name = link["href"].removeprefix("#")
        keys = {part.split("=")[0] for part in name.split("&") if "=" in part}
        assert name in ids or keys <= {"target", "outcome", "level"}, link


def test_every_clause_has_a_row(page: Page) -> None:
    """With its level and outcome, under the name by which it can be linked to."""
    rows = [row for row in page.all("tr") if "data-clause" in row]
    assert len(rows) == len(Verdict) + 1
    for row in rows:
        assert row["id"] == f"clause={row['data-clause']}"
    assert {row["data-outcome"] for row in rows} == {v.value for v in Verdict}
    assert [row["data-level"] for row in rows] == ["MUST"] * len(Verdict) + ["SHOULD"]


def test_the_verdict_and_the_sums_stand_on_top(page: Page) -> None:
    """In one line, and by level and outcome with links to just those clauses."""
    assert "does not conform: 3 of 9 verified clauses fail" in page.text
    (link,) = (a for a in page.all("a") if a["href"] == "#level=SHOULD&outcome=pass")
    assert link
    assert "could not be set up" in page.text
    assert "no way in" in page.text


def test_what_was_not_verified_stands_first_class(page: Page) -> None:
    """By outcome and reason, with all its clauses."""
    text = " ".join(page.text.split())
    before, after = text.split("Not verified 4", 1)
    assert "Violations" in before
    for verdict in ("undeclared", "inexpressible", "unexercised", "error"):
        assert f"why {verdict}" in after
        assert f"demo.{verdict}" in after


def test_a_failure_is_drawn_with_what_to_run(page: Page) -> None:
    """Its step is marked, with what was expected and what came."""
    assert len(page.all("details")) == 7
    text = " ".join(page.text.split())
    assert "expected EOF or IO came returned" in text
    assert "fscontract replay r.json" in text
    assert "fscontract explain demo.fail" in text
    assert {b["data-copy"] for b in page.all("button", class_="copy")} >= {
        "fscontract replay r.json",
        "fscontract explain demo.fail",
    }
    marked = page.all("tr", class_="offending")
    assert len(marked) == 5


def test_intermittent_failure_says_so(make_result: Make, make_run: MakeRun) -> None:
    failed = make_result(Verdict.FAIL, intermittent=True)
    text = " ".join(Page(render([make_run(failed)])).text.split())
    assert "Runs fails in some of them only" in text


def test_calls_and_difference_are_shown(make_result: Make, make_run: MakeRun) -> None:
    """Beside the drawing, which has the neutral form."""
    failed = make_result(Verdict.FAIL, calls="f.seek(-1, 1)", difference="byte 18: expected [01]")
    text = " ".join(Page(render([make_run(failed)])).text.split())
    assert "Calls f.seek(-1, 1)" in text
    assert "differs at byte 18: expected [01]" in text


def test_traceback_can_be_opened(make_result: Make, make_run: MakeRun) -> None:
    """Escaped, below the failure that it belongs to."""
    failed = make_result(Verdict.FAIL, traceback=("in <seek>", "KeyError: 1"))
    made = Page(render([make_run(failed)]))
    assert len(made.all("details", class_="trace")) == 1
    assert "in <seek>\nKeyError: 1" in made.text


def test_tables_have_headings(page: Page) -> None:
    """Each a caption or a region with a name, and cells that are headings say of what."""
    assert all("scope" in heading for heading in page.all("th"))
    assert len(page.all("caption")) + len(page.all("table", class_="reasons")) == len(
        page.all("table")
    )


def test_it_can_be_used_without_a_mouse(page: Page) -> None:
    """A way past the head, a name for each control, and a count that is read out."""
    (skip,) = page.all("a", class_="skip")
    assert skip["href"] == "#main"
    assert "aria-live" in page.all("output")[0]
    assert page.all("form")[0]["role"] == "search"
    assert all(
        svg.get("aria-hidden") or svg.get("aria-label") for svg in page.all("svg", class_="track")
    )


def test_hostile_texts_are_shown_and_do_nothing(make_result: Make, make_run: MakeRun) -> None:
    """Whatever a target, a message, a reason or a version says."""
    shown = [
        make_result(
            *(v, f"demo.{v.value}"),
            reason=HOSTILE,
            actual=HOSTILE,
            replay=HOSTILE,
            outcomes=(HOSTILE, HOSTILE),
        )
        for v in Verdict
    ]
    threads = make_result(Verdict.FAIL, name="demo.t", interleaving=(HOSTILE, f"1 T0 {HOSTILE}"))
    run = make_run(*shown, threads, target=HOSTILE)
    run.versions[HOSTILE] = HOSTILE
    text = render([run, NotSetUp(HOSTILE, HOSTILE)])
    page = Page(text)
    assert len(page.all("script")) == 1
    assert page.all("img") == []
    assert page.open == []
    assert not any(name.startswith("on") or name == "style" for _, a in page.tags for name in a)
    assert "alert(1)" in page.text
    assert not set("\x00\x1b\ud800\u202e") & set(text)
    assert "\\x00\\x1b\\ud800\\u202e" in text


def test_nothing_is_loaded_and_only_the_own_script_runs(page: Page, make_run: MakeRun) -> None:
    """By the page's own policy, which names script and style by their hashes."""
    text = render([make_run()])
    (policy,) = [m["content"] for m in Page(text).all("meta") if "http-equiv" in m]
    for tag in ("style", "script"):
        (source,) = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
        assert "url(" not in source
        assert "@import" not in source
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert page.all("link") == []
    assert not any("src" in found for _, found in page.tags)


def test_links_of_further_targets_name_their_target(make_result: Make, make_run: MakeRun) -> None:
    """Links of the first target omit it, so that they are the same as for a single one."""
    page = Page(render([make_run(make_result()), make_run(make_result(), target="b")]))
    ids = [row["id"] for row in page.all("tr") if "data-clause" in row]
    assert ids == ["clause=demo.one", "target=2&clause=demo.one"]


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([("seek", 7)], Movement("seek", 0, 7, ((7, 7),))),
        ([("seek", -1)], Movement("seek", 0, 0, ((-1, -1),))),
        ([("seek", 2), ("read_byte",)], Movement("read", 2, 3, ((2, 3),))),
        ([("read_into", 20, 0, 20)], Movement("read", 0, 10, ((0, 20),))),
        ([("seek", 2), ("pread", 4, 3, 0, 3)], Movement("pread", 2, 2, ((4, 7),))),
        ([("read_fully_all", 4, 3)], Movement("pread", 0, 0, ((4, 7),))),
        ([("read_vectored", ((1, 2), (5, 1)), "heap", "absent")],
         Movement("pread", 0, 0, ((1, 3), (5, 6)))),
        ([("py_seek", -3, 2), ("py_read", None)], Movement("read", 7, 10, ((7, 10),))),
        ([("py_readline", None), ("read_byte",)], Movement("read", None, None)),
        ([("seek", 9), ("skip", 5)], Movement("seek", 9, 10)),
        ([("seek", 3), ("close",)], Movement("stay", 3, 3)),
        ([("change", "truncate")], Movement("change", 0, 0, ((0, 10),))),
    ],
)  # fmt: skip
def test_calls_move_a_stream(steps: list[tuple[Any, ...]], expected: Movement) -> None:
    """The last one from where the others left it, in a file of 10 bytes."""
    calls = [Step(op, tuple(arguments)) for op, *arguments in steps]
    assert movements(calls, 10, 1)[-1] == expected


def test_every_operation_can_be_drawn() -> None:
    """Streams have a position each; anchors are put in first."""
    program = Program(
        70_000,
        (Step("seek", ("buf+1",)), Step("seek", ("len-1",), 1), Step("seek", ("max",)),
         Step("pread", ("buf-1", 4, 0, 4))),
        streams=2,
    )  # fmt: skip
    drawn = timeline(Counterexample(program, (), "", step=4), 65_536)
    assert drawn is not None
    assert [tick.name for tick in drawn.ticks] == [
        *("0", "buf-1", "buf+1", "buf+3", "69,999", "len 70,000", "max"),
    ]
    assert [row.text for row in drawn.rows] == [
        *("f.seek(buf+1)", "f#1.seek(len-1)", "f.seek(max)", "f.pread(buf-1, 4, 0, 4)"),
    ]
    assert [row.offending for row in drawn.rows] == [False, False, False, True]
    places = [tick.x for tick in drawn.ticks]
    assert places == sorted(places)
    assert min(b - a for a, b in itertools.pairwise(places)) > 4


def test_calls_that_went_well_say_what_they_did() -> None:
    """Those before the one at fault; where it is not known they were at least permitted."""
    program = Program(3, (Step("seek", (1,)), Step("get_pos"), Step("read_byte")))
    outcomes = ("returned", "returned <1>", "returned 9")
    shown = Counterexample(program, ("returns 7",), "returned 9", step=3, outcomes=outcomes)
    drawn = timeline(shown, 0)
    assert drawn is not None
    assert [row.outcome for row in drawn.rows] == list(outcomes)
    unknown = timeline(replace(shown, outcomes=()), 0)
    assert unknown is not None
    assert {row.outcome for row in unknown.rows} == {""}


def test_a_program_that_fails_before_its_first_call_marks_its_opening() -> None:
    """As one of which no step in particular is at fault."""
    program = Program(3, (Step("seek", (1,)),))
    drawn = timeline(Counterexample(program, (), "", step=0), 0)
    assert drawn is not None
    assert drawn.early
    assert drawn.plain
    assert not any(row.offending for row in drawn.rows)


def test_threads_have_lanes() -> None:
    """In which they run, wait in the midst of a call, or do nothing."""
    found = lanes(
        ("1  T0 seek(2)  starts", "2  T0 paused at memory.py:3", "3  T1 seek(4)  starts",
         "4  T1 seek(4) returned", "5  T0 continues", "6  T0 seek(2) returned", "no thread ends")
    )  # fmt: skip
    assert found is not None
    assert found.threads == (0, 1)
    assert [event.lanes for event in found.events] == [
        ("runs", "idle"), ("runs", "idle"), ("waits", "runs"), ("waits", "runs"),
        ("runs", "idle"), ("runs", "idle"), ("idle", "idle"),
    ]  # fmt: skip
    assert [event.last for event in found.events] == [False] * 6 + [True]
    assert lanes(("nothing of a thread",)) is None
    assert lanes(()) is None
