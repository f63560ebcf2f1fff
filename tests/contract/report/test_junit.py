"""The JUnit report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest
from inline_snapshot import snapshot

from fscontract.contract.report.junit import render
from fscontract.contract.runner.result import ClauseResult, NotSetUp, RunResult, Verdict

Make = Callable[..., ClauseResult]
MakeRun = Callable[..., RunResult]


def _suites(text: str) -> list[Element]:
    root = ElementTree.fromstring(text)
    assert root.tag == "testsuites"
    return list(root)


@pytest.mark.parametrize(
    ("outcome", "tag"),
    [
        ("pass", None),
        ("lax", "system-out"),
        ("fail", "failure"),
        ("hang", "failure"),
        ("crash", "failure"),
        ("fixed", "failure"),
        ("error", "error"),
        ("known", "skipped"),
        ("undeclared", "skipped"),
        ("inexpressible", "skipped"),
        ("unexercised", "skipped"),
    ],
)
def test_outcomes_are_kept_apart(
    outcome: str, tag: str | None, make_result: Make, make_run: MakeRun
) -> None:
    """A violation is a failure, a broken environment an error, no verdict a skip."""
    (suite,) = _suites(render([make_run(make_result(Verdict(outcome), reason="why"))]))
    (case,) = suite
    assert [child.tag for child in case] == ["properties", *([tag] if tag else [])]


def test_a_case_carries_clause_level_seed_and_verdict(make_result: Make, make_run: MakeRun) -> None:
    """As properties, in every case."""
    (suite,) = _suites(render([make_run(make_result())]))
    assert [(p.get("name"), p.get("value")) for p in suite.iter("property")] == [
        ("clause", "demo.one"),
        ("level", "MUST"),
        ("seed", "7"),
        ("verdict", "pass"),
    ]


def test_a_failure_has_the_whole_block(make_result: Make, make_run: MakeRun) -> None:
    """Expected and actual are in the message, the program in the text."""
    (suite,) = _suites(render([make_run(make_result(Verdict.FAIL))]))
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert failure.get("message") == snapshot("returned, expected EOF or IO")
    assert "f.seek(2); f.seek(-1)" in (failure.text or "")


def test_the_suite_counts_its_cases(make_result: Make, make_run: MakeRun) -> None:
    """Tests, failures, errors and skipped, as CI servers show them."""
    results = [make_result(v, name=f"demo.{v.value}") for v in Verdict]
    (suite,) = _suites(render([make_run(*results)]))
    counts = {k: suite.get(k) for k in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "12", "failures": "4", "errors": "1", "skipped": "5"}
    assert suite.get("timestamp") == "2026-05-04T03:02:01"


def test_control_characters_do_not_break_the_document(make_result: Make, make_run: MakeRun) -> None:
    """XML 1.0 has no way to write them."""
    text = render([make_run(make_result(Verdict.FAIL, actual="IO (\x00\x1b\ud800\ufffe<&>)"))])
    failure = _suites(text)[0].find("testcase/failure")
    assert failure is not None
    assert (failure.get("message") or "").startswith("IO (\\x00\\x1b\\ud800\\ufffe<&>)")


def test_a_target_that_was_not_set_up_is_an_error(make_result: Make, make_run: MakeRun) -> None:
    """It has a separate suite beside those that ran."""
    ran, broken = _suites(render([make_run(make_result()), NotSetUp("s3://b", "no way in")]))
    assert ran.get("errors") == "0"
    assert broken.get("errors") == "1"
    error = broken.find("testcase/error")
    assert error is not None
    assert error.get("message") == "no way in"


def test_what_was_out_of_the_way_is_what_the_suite_says_beside_its_cases(
    make_result: Make, make_run: MakeRun
) -> None:
    run = make_run(make_result())
    (suite,) = _suites(render([replace(run, warnings=("late: <b>\x00", "ended early: so"))]))
    assert [child.tag for child in suite] == ["testcase", "system-err"]
    assert suite[1].text == snapshot("late: <b>\\x00\nended early: so")
    assert [child.tag for child in _suites(render([run]))[0]] == ["testcase"]
