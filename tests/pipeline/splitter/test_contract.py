"""Tests of the splitters against all clauses of their contract, on each filesystem."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fscontract.contract.api.filesystem import FileSystem
from fscontract.contract.runner.result import RunResult
from fscontract.contract.spec.clauses import select
from fscontract.pipeline.splitter.binding import LocalSplitterBinding
from tests.pipeline_checks import check_pipeline

#: Clauses that S3 may affect, to avoid running all of them there.
ON_S3 = (
    "split.scan-once",
    "split.recursive",
    "split.replay-same",
    "split.window-once",
    "split.noop",
)


def _check(factory: Callable[[], FileSystem], *patterns: str) -> RunResult:
    binding = LocalSplitterBinding("ours", factory)
    result = check_pipeline(binding, select(patterns), timeout=100)
    broken = {c.clause.id: str(c.counterexample) for c in result.clauses if c.outcome != "pass"}
    assert broken == {}
    assert result.conforms
    return result


@pytest.mark.parametrize("factory", ["memory", "local", "fake"], indirect=True)
def test_every_clause_of_the_document_holds(factory: Callable[[], FileSystem]) -> None:
    """No clause is excluded."""
    assert len(_check(factory).clauses) > 80


@pytest.mark.parametrize("factory", ["s3"], indirect=True)
def test_some_clauses_hold_on_s3(factory: Callable[[], FileSystem]) -> None:
    """Of scans, and of windows stored there."""
    assert len(_check(factory, *ON_S3).clauses) == len(ON_S3)


@pytest.mark.deep
@pytest.mark.parametrize("factory", ["s3"], indirect=True)
def test_every_clause_holds_on_s3(factory: Callable[[], FileSystem]) -> None:
    """As on any filesystem."""
    assert len(_check(factory, "splitter").clauses) > 80
