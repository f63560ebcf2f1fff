"""The result of a run, as users of `fscontract.check` read it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from inline_snapshot import snapshot

from fscontract import check
from fscontract.contract.report.json import render
from fscontract.contract.runner.result import ClauseResult, NotSetUp, RunResult, RunVerdict, Verdict
from fscontract.contract.spec.clauses import Level

Make = Callable[..., ClauseResult]
MakeRun = Callable[..., RunResult]


@pytest.fixture(scope="module")
def memory() -> RunResult:
    """A run of one clause on the memory filesystem."""
    return check("memory", clauses="seek.negative")


def test_the_verdict_prints_as_conforms(memory: RunResult) -> None:
    """It compares equal to its text, too."""
    assert (str(memory.verdict), f"{memory.verdict}") == ("conforms", "conforms")
    assert memory.verdict == "conforms"


def test_the_repr_is_one_line_with_target_and_verdict(memory: RunResult) -> None:
    """A result has thousands of fields; a prompt shows one line."""
    assert repr(memory) == snapshot("<RunResult of 'memory': conforms: 1 clause holds>")


@pytest.mark.parametrize(
    ("outcomes", "incomplete", "verdict", "code", "code_if_known"),
    [
        ("pass undeclared", "", RunVerdict.CONFORMS, 0, 0),
        ("known lax", "", RunVerdict.CONFORMS, 0, 0),
        ("pass fail", "", RunVerdict.DOES_NOT_CONFORM, 1, 0),
        ("fixed", "", RunVerdict.DOES_NOT_CONFORM, 1, 0),
        ("fail error", "", RunVerdict.DOES_NOT_CONFORM, 1, 3),
        ("fail", "the run was interrupted", RunVerdict.DOES_NOT_CONFORM, 1, 3),
        ("pass", "the run was interrupted", RunVerdict.INCOMPLETE, 3, 3),
        ("pass error", "", RunVerdict.INCOMPLETE, 3, 3),
        ("undeclared", "", RunVerdict.NOTHING_VERIFIED, 5, 5),
        ("", "", RunVerdict.NOTHING_VERIFIED, 5, 5),
    ],
)
def test_outcomes_decide_verdict_and_exit_code(
    outcomes: str,
    incomplete: str,
    verdict: RunVerdict,
    code: int,
    code_if_known: int,
    make_result: Make,
    make_run: MakeRun,
) -> None:
    """A violation counts more than an incomplete run, and that more than no verification."""
    results = [make_result(Verdict(outcome)) for outcome in outcomes.split()]
    run = make_run(*results, incomplete=incomplete)
    assert (run.verdict, run.exit_code, run.exit_code_if_known) == (verdict, code, code_if_known)
    assert run.conforms == (code == 0)


def test_a_target_that_was_not_set_up_is_incomplete() -> None:
    """Exit code 3, beside a baseline, too."""
    entry = NotSetUp("s3://b", "no way in")
    assert (entry.verdict, entry.exit_code, entry.exit_code_if_known) == ("incomplete", 3, 3)


def test_counterexamples_are_found_by_clause_id(make_result: Make, make_run: MakeRun) -> None:
    """Those of known failures and missed SHOULDs are there, those of passed clauses are not."""
    failed, known = make_result(Verdict.FAIL, "a"), make_result(Verdict.KNOWN, "b")
    run = make_run(failed, make_result(Verdict.PASS, "c"), known)
    assert run.counterexamples == {"a": failed.counterexample, "b": known.counterexample}


def test_a_cause_is_named_after_the_failure_with_the_worst_consequence(
    make_result: Make, make_run: MakeRun
) -> None:
    """A SHOULD that is missed comes after those that fail."""
    how = "read: returned"
    run = make_run(
        make_result(Verdict.LAX, name="demo.lax", level=Level.SHOULD, how=how),
        make_result(Verdict.FAIL, name="demo.fails", how=how),
        make_result(Verdict.HANG, name="demo.hangs", how=how),
        make_result(Verdict.FAIL, name="demo.alone", how="seek: returned"),
    )
    causes = [cause.ids for cause in run.causes]
    assert causes == [("demo.hangs", "demo.fails", "demo.lax"), ("demo.alone",)]
    assert run.to_dict()["causes"] == [list(ids) for ids in causes]
    assert "3 of 4 verified clauses fail, by 2 likely causes" in run.verdict_line


def test_a_known_failure_has_no_part_in_a_cause(make_result: Make, make_run: MakeRun) -> None:
    other = make_result(Verdict.FAIL, name="demo.other", how="seek: returned")
    example = make_result(Verdict.FAIL, how="seek: returned").counterexample
    assert example is not None
    mixed = make_result(Verdict.FAIL, name="demo.mixed", how="read: returned")
    mixed = replace(mixed, others=(replace(example, known="as told"),))
    assert len(make_run(other, mixed).causes) == 2


def test_to_json_is_the_json_report(make_result: Make, make_run: MakeRun) -> None:
    """Character by character, also where a target's text holds what no terminal may get."""
    run = make_run(make_result(Verdict.FAIL, actual="a\x1b\u2028b"), target="x\x00")
    assert run.to_json() == render([run])
    assert json.loads(run.to_json()) == run.to_dict()


def test_a_notebook_shows_verdict_and_violations(make_result: Make, make_run: MakeRun) -> None:
    """Clauses that hold are not listed."""
    failed = make_result(Verdict.FAIL, "demo.broken", actual="returned 7")
    html = make_run(failed, make_result(Verdict.PASS, "demo.fine"))._repr_html_()
    for text in ("does not conform", "demo.broken", "f.seek(2); f.seek(-1)", "returned 7"):
        assert text in html
    assert "demo.fine" not in html


def test_a_notebook_escapes_text_of_the_target(make_result: Make, make_run: MakeRun) -> None:
    """Neither markup nor control characters reach the page."""
    failed = make_result(Verdict.FAIL, actual="<script>x</script>\x1b")
    html = make_run(failed, target="<b>t</b>")._repr_html_()
    assert "<script>" not in html
    assert "<b>t</b>" not in html
    assert "\x1b" not in html


def test_a_notebook_sets_no_colour_of_text_or_background(
    make_result: Make, make_run: MakeRun
) -> None:
    """Both are the theme's, dark or light."""
    html = make_run(make_result(Verdict.FAIL))._repr_html_()
    assert "color:" not in html.replace("border-left:4px solid", "")
    assert "background" not in html


def test_a_notebook_counts_violations_that_it_leaves_out(
    make_result: Make, make_run: MakeRun
) -> None:
    """The table has at most twenty rows."""
    run = make_run(*(make_result(Verdict.FAIL, f"demo.n{n}") for n in range(23)))
    html = run._repr_html_()
    assert html.count("<tr><td") == 20
    assert "3 more" in html


def test_a_notebook_says_why_a_run_is_incomplete(make_result: Make, make_run: MakeRun) -> None:
    """Without a violation there is no table."""
    html = make_run(make_result(), incomplete="the run was interrupted")._repr_html_()
    assert "the run was interrupted" in html
    assert "<table" not in html
