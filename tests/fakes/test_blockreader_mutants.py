"""Mutation tests of the block reader checks: each mutant is found by its clause."""

from __future__ import annotations

import pytest

from fscontract.contract.scenarios.blockreader import SCENARIOS
from fscontract.contract.scenarios.check import check_reader
from fscontract.contract.spec.clauses import clauses, select
from fscontract.contract.spec.known_failures import failures
from fscontract.fakes.mutants.registry import Mutant, mutant_named, mutants
from fscontract.pipeline.blockreader.batches import RecordBatch
from fscontract.pipeline.blockreader.binding import ReaderBinding
from fscontract.pipeline.blockreader.lines import ReadAheadLineReaderContext, Separator
from fscontract.pipeline.blocks import NO_BLOCK
from tests.pipeline_checks import check_pipeline


@pytest.mark.parametrize("mutant", mutants("blockreader"), ids=str)
def test_the_clause_that_a_mutant_breaks_is_named(mutant: Mutant) -> None:
    """Told to look for one clause, the check finds the mutant that breaks it."""
    assert mutant.clause in mutant.broken(), mutant.says


def test_a_reader_without_end_is_found_by_the_count_of_its_records() -> None:
    """The whole check of it also terminates."""
    endless = mutant_named("record.short-reads-EndlessWhenShort")
    found = check_reader(endless.binding())
    assert "without end" in found["record.short-reads"].actual


@pytest.mark.parametrize("name", ["record.whole-CutByTheBlock", "record.order-Backwards"])
def test_a_bug_of_records_violates_no_clause_of_blocks(name: str) -> None:
    """Scenarios of blocks compare with the records that the same reader usually delivers."""
    mutant = mutant_named(name)
    found = check_reader(mutant.binding())
    assert mutant.clause in found
    assert not any(clause.startswith("block.") for clause in found), sorted(found)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("record.none-lost-StopsAtTheEnd", "record.none-lost-Comments"),
        ("block.failure-closes-FirstFailureLeaks", "block.failure-closes-FailedStreamStays"),
        ("block.failure-named-BareErrors", "block.emitted-after-ReportsFailedBlocks"),
    ],
)
def test_a_second_bug_is_seen_beside_a_known_one(first: str, second: str) -> None:
    """In the same scenario, it shows with other sizes of blocks, or in another comparison."""
    known, other = mutant_named(first), mutant_named(second)
    both = known.combined(other)
    assert both is not None
    judged = select([known.clause, other.clause])
    listed = failures(check_pipeline(known.binding(), judged), "the first bug")
    assert check_pipeline(known.binding(), judged, listed).conforms
    assert not check_pipeline(both.binding(), judged, listed).conforms


def test_our_reader_breaks_nothing() -> None:
    """Every scenario, on the reader that the mutants are made from."""
    assert check_reader(ReaderBinding()) == {}


class Naive(ReadAheadLineReaderContext):
    """Reads the whole file for each block, and looks for a delimiter at each byte."""

    def _begin(self, goes_on: bool) -> None:
        assert self._source.length is not None
        data, start = self._source.read(0, self._source.length), self._data_offset
        value = self._delimiter.value if isinstance(self._delimiter, Separator) else None
        block, at = self.block, start
        self._left: list[tuple[int, bytes, int]] = []
        while at < len(data):
            length = _delimiter_at(data, at, value)
            at += length or 1
            if length or at == len(data):
                found = (start, data[start : at - length], at)
                first = start == block.offset and block.previous_block_id == NO_BLOCK
                if first or block.offset < start <= self._end:
                    self._left.append(found)
                start = at

    def _find(self) -> RecordBatch | None:
        if not self._left:
            return None
        start, record, end = self._left.pop(0)
        return RecordBatch(self.block.block_id, [record], start, end, offsets=[start])


def _delimiter_at(data: bytes, at: int, value: bytes | None) -> int:
    """The length of the delimiter at an offset; 0 if there is none."""
    ends = (b"\r\n", b"\r", b"\n") if value is None else (value,)
    return next((len(end) for end in ends if data.startswith(end, at)), 0)


def test_a_reader_that_looks_at_each_byte_keeps_carriage_returns() -> None:
    """It shares nothing with ours that could be wrong about delimiters."""
    binding = ReaderBinding()
    binding.read_ahead = Naive
    wanted = {
        "record.delimiter",
        "record.delimiter-cut",
        "record.cr",
        "record.crlf",
        "record.crlf-blocks",
    }
    assert check_reader(binding, wanted) == {}


def test_every_testable_clause_is_judged_by_a_scenario() -> None:
    testable = {c.id for c in clauses().values() if c.document == "blockreader" and c.testable}
    assert testable == SCENARIOS.clauses
