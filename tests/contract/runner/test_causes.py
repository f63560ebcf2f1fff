"""Failures that one defect makes are shown as one cause, those of two defects as two.

`python -m benchmarks.causes` counts the causes of every mutant, and of pairs.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.causes import checked, chosen_mutants
from fscontract import PythonFileBinding, check
from fscontract.contract.program.program import Program, Step
from fscontract.contract.runner.result import (
    USES,
    Cause,
    ClauseResult,
    RunResult,
    Verdict,
    causes_of,
    group_by_traits,
)
from fscontract.fakes.mutants.registry import Mutant, mutant_named
from tests.contract.conftest import MakeResult
from tests.few_programs import run_few

#: Mutants that violate several clauses.
SEVERAL = (
    "close.state-NeverCloses",
    "seek.lax-eof-RaisesBeyond",
    "open.cost-buffered-ByteByByte",
    "filesystem.get-file.missing-MissingIsSkipped",
    "filesystem.cat-file.past-end-PastEndRaises",
    "filesystem.info.type-TypeIsOfContent",
    "filesystem.pickle.other-process-CopiedAsAnother",
    "close.release-InACycle",
    "model.len-eq-status-StatusInBlocks",
    "python.closed.before-ClosedAtOnce",
    "arrow.info.type-TypeIsUnknown",
)
#: The part of all mutants whose failures have to be of one cause.
_ONE_CAUSE = 0.95
#: The beginnings of the names of mutants that few programs miss.
_MISSED = (
    *("consistency.opened", "pread.isolation", "read-vectored.multiple"),
    *("pread.data-PreadEarlyAtPart", "open.length-overstated"),
)
#: Mutants with several causes: one also accepts a buffer that is read-only, and two break several
#: libraries by a seek or a read, whose own clauses are not checked with theirs.
_SEVERAL_CAUSES = (
    "python.readinto.progress-IntoDropsTail",
    "readers.zip.members-RewindsAtTheEnd",
    "readers.csv.columns-ReadLosesAByte",
)
#: The mutants of the ordinary run.
_SAMPLE = [
    mutant
    for mutant in chosen_mutants()[:: len(chosen_mutants()) // 12]
    if not str(mutant).startswith((*_MISSED, *_SEVERAL_CAUSES))
]
#: Pairs of mutants whose failures have nothing in common.
PAIRS = [
    ("seek.negative-NegativeIsZero", "read-byte.value-SignedByte"),
    (
        "filesystem.cat-ranges.scalars-NumbersAreForTheFirst",
        "filesystem.get.glob-PatternIsRecursive",
    ),
]


class _Unclosable:
    """A reader without close() and other methods, as of an uploaded part of a file."""

    def __init__(self, path: str) -> None:
        with open(path, "rb") as file:
            self._data = io.BytesIO(file.read())
        self.read, self.seek, self.tell = self._data.read, self._data.seek, self._data.tell


def test_a_file_without_close_is_not_a_closed_one_that_reads(tmp_path: Path) -> None:
    """No clause on closed files is verified, in examples and in other programs."""
    opener: Any = _Unclosable
    result = check(PythonFileBinding(opener, str(tmp_path), "unclosable"), budget=10)
    lacking, *others = (cause.ids for cause in result.causes)
    assert {"python.with.closes", "close.no-raise"} <= {*lacking}
    assert not [one for one in lacking if one.endswith((".closed", ".open", "close.state"))]
    assert others == [("python.seek.negative",)]  # of BytesIO


class _ByteForNothing:
    """A reader without readinto() that takes a length of 0 for one of a byte."""

    def __init__(self, path: str) -> None:
        with open(path, "rb") as file:
            self._data = io.BytesIO(file.read())
        self.seek, self.tell, self.close = self._data.seek, self._data.tell, self._data.close

    def read(self, size: int = -1) -> bytes:
        return self._data.read(size or 1)


def test_failures_of_the_same_call_are_of_one_cause(tmp_path: Path) -> None:
    """The binding calls read(0) for an operation of Hadoop and for one of Python."""
    opener: Any = _ByteForNothing
    clauses = ("read-into.zero", "python.read.zero")
    result = check(PythonFileBinding(opener, str(tmp_path), "nothing"), clauses=clauses)
    assert [{*cause.ids} for cause in result.causes] == [{*clauses}]


def test_failures_with_a_common_trait_are_of_one_cause() -> None:
    """Directly, or through another failure."""
    assert group_by_traits([{"a"}, {"b"}, {"c"}, {"b", "a"}]) == [[0, 1, 3], [2]]


def test_a_failure_that_uses_what_fails_is_a_consequence() -> None:
    """Two that use the same, which does not fail, have nothing in common."""
    users = {"cat", f"{USES}info"}, {"size", f"{USES}info"}
    assert group_by_traits([*users, {"info"}]) == [[0, 1, 2]]
    assert group_by_traits([*users, {"isfile"}]) == [[0], [1], [2]]


def test_failure_without_a_change_of_the_file_shows_a_cause(make_result: MakeResult) -> None:
    """Also if it does less harm, and takes more calls."""
    read = Step("read_byte")
    changed = Program(3, (Step("change", ("truncate",)), read))
    programs = {"demo.changed": changed, "demo.unchanged": Program(3, (read, read, read))}
    results = [
        make_result(Verdict.FAIL, name, program=program, traits=("the same",))
        for name, program in programs.items()
    ]
    assert [cause.ids for cause in causes_of(results)] == [("demo.unchanged", "demo.changed")]


def test_failures_without_traits_are_of_causes_of_their_own() -> None:
    assert group_by_traits([set(), set()]) == [[0], [1]]


@pytest.mark.parametrize("name", SEVERAL)
def test_the_failures_of_one_defect_are_of_one_cause(name: str) -> None:
    (cause,) = checked(mutant_named(name)).causes
    assert cause.others


def test_a_missed_should_at_a_wrong_position_is_no_second_cause() -> None:
    """The stream opens at the last byte of a file of one byte, where none is available."""
    (cause,) = checked(mutant_named("open.state-OpensAtOne")).causes
    assert cause.ids == ("open.state",)


@pytest.mark.parametrize(
    ("name", "clause"),
    [
        ("open.state-OpensClosed", "open.state"),
        ("open.build-future-SniffsTheFormat", "open.build-future"),
    ],
)
def test_a_stream_that_is_opened_wrong_fails_by_one_clause(name: str, clause: str) -> None:
    """Neither refused arguments nor a missed SHOULD at a wrong position is another failure."""
    (cause,) = checked(mutant_named(name)).causes
    assert cause.ids == (clause,)


@pytest.mark.parametrize("mutant", _SAMPLE, ids=str)
def test_the_failures_of_a_mutant_are_of_one_cause(
    mutant: Mutant, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_few(monkeypatch)
    causes = [cause.ids for cause in checked(mutant).causes]
    assert len(causes) == 1, causes


@pytest.mark.deep
def test_at_least_95_of_100_mutants_have_one_cause() -> None:
    """Of those whose clauses a run finds violated."""
    causes = {str(m): [cause.ids for cause in checked(m).causes] for m in chosen_mutants()}
    shown = {name: found for name, found in causes.items() if found}
    several = {name: found for name, found in shown.items() if found[1:]}
    assert len(several) <= (1 - _ONE_CAUSE) * len(shown), several


def _of_both(first: RunResult, second: RunResult) -> list[ClauseResult]:
    return [r for run in (first, second) for cause in run.causes for r in _results(cause)]


def _results(cause: Cause) -> Iterator[ClauseResult]:
    yield cause.clause
    yield from cause.others


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_the_failures_of_two_defects_are_of_two_causes(first: str, second: str) -> None:
    both = mutant_named(first), mutant_named(second)
    runs = [checked(mutant) for mutant in both]
    assert len(causes_of(_of_both(*runs))) == 2
