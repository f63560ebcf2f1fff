"""The Markdown report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from inline_snapshot import snapshot

from fscontract.contract.report.markdown import cell, render
from fscontract.contract.runner.result import ClauseResult, NotSetUp, RunResult, Verdict

Make = Callable[..., ClauseResult]
MakeRun = Callable[..., RunResult]


def test_a_cell_can_not_break_out_of_its_table() -> None:
    """Bars, line breaks, tags and emphasis are escaped."""
    assert cell("a|b\nc <img> `x` *y*") == snapshot(r"a\|b c &lt;img&gt; \`x\` \*y\*")


def test_every_row_of_a_table_has_as_many_cells(make_result: Make, make_run: MakeRun) -> None:
    """Whatever the target said."""
    results = [make_result(v, name=f"demo.{v.value}", reason="a|b") for v in Verdict]
    text = render([make_run(*results)])
    tables = [block.splitlines() for block in text.split("\n\n") if block.startswith("|")]
    assert len(tables) == 5
    for rows in tables:
        assert len({row.replace("\\|", "").count("|") for row in rows}) == 1


def test_the_verdict_stands_on_top(make_result: Make, make_run: MakeRun) -> None:
    """Below the name of the target."""
    text = render([make_run(make_result(Verdict.FAIL))])
    assert text.startswith(
        "## fscontract: memory\n\n**does not conform: 1 of 1 verified clause fails**\n"
    )
    assert "### Violations" in text
    assert "### Known" not in text


def test_what_was_out_of_the_way_is_a_list(make_result: Make, make_run: MakeRun) -> None:
    run = replace(make_run(make_result()), warnings=("late: <b>", "ended early: so"))
    assert "\n\n- Warning: late: &lt;b&gt;\n- Warning: ended early: so\n\n|" in render([run])
    assert "Warning" not in render([make_run(make_result())])


def test_each_target_has_a_section(make_result: Make, make_run: MakeRun) -> None:
    """One that could not be set up too."""
    text = render([make_run(make_result()), NotSetUp("s3://b", "no way in")])
    assert text.count("\n## fscontract") == 1
    assert "**could not be set up**: no way in" in text
