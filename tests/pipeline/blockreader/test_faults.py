"""Tests of block readers under request failures: no record is lost or duplicated, or an error."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fscontract.contract.program.faults import FAULTS, Fault, FaultPlan
from fscontract.fakes.filesystem.filesystem import FakeFileSystem
from fscontract.fakes.strategies import fault_plans
from fscontract.pipeline.blockreader.lines import ReadAheadLineReaderContext
from fscontract.pipeline.blockreader.readers import FSReadAheadLineReader, as_bytes, blocks_of
from fscontract.pipeline.blockreader.source import BlockReadException

DATA = b"".join(b"%04d:%s\r\n" % (i, b"x" * (i % 23)) for i in range(200))
WANTED = [line for line in DATA.split(b"\r\n") if line]


def _read(plan: FaultPlan, size: int, buffer: int) -> list[bytes] | BlockReadException:
    """Return the records, or the error that ended them, after checking the records before it."""
    fs = FakeFileSystem(block_size=512)
    fs.write("/f", DATA)
    blocks = list(blocks_of(fs.get_file_status("/f"), size))
    context = ReadAheadLineReaderContext(buffer_size=buffer)
    reader = FSReadAheadLineReader(fs, as_bytes, context)
    fs.attach(plan)
    found: list[bytes] = []
    try:
        for block in blocks:
            found += [r.record for r in reader.process_block(block)]
    except BlockReadException as error:
        failed = error
    else:
        reader.close()
        return found
    assert reader._stream is None
    assert f"block {failed.block_id} at offset {failed.offset}" in str(failed)
    assert found == WANTED[: len(found)]
    return failed


@settings(max_examples=150, deadline=None)
@given(fault_plans(), st.sampled_from((100, 700, 10_000)), st.sampled_from((7, 300, 1 << 17)))
def test_any_plan_of_faults_gives_all_records_or_an_error(
    plan: FaultPlan, size: int, buffer: int
) -> None:
    """For any fault at any time."""
    found = _read(plan, size, buffer)
    assert isinstance(found, BlockReadException) or found == WANTED


@pytest.mark.parametrize("kind", FAULTS)
def test_each_kind_of_fault_gives_all_records_or_an_error(kind: str) -> None:
    """At each of the first requests."""
    for at in range(1, 5):
        found = _read(FaultPlan((Fault(kind, at),)), 700, 300)
        assert isinstance(found, BlockReadException) or found == WANTED


def test_recoverable_faults_lose_nothing() -> None:
    """After short bodies and connection resets, all records are returned."""
    plan = FaultPlan((Fault("short", 1, 50, amount=3), Fault("reset", 2), Fault("cut-body", 4)))
    assert _read(plan, 700, 300) == WANTED


def test_a_block_that_failed_can_be_read_again() -> None:
    """The records of both attempts together are those of the file."""
    fs = FakeFileSystem(retries=0)
    fs.write("/f", DATA)
    reader = FSReadAheadLineReader(fs, as_bytes, ReadAheadLineReaderContext(buffer_size=256))
    found: list[bytes] = []
    for block in blocks_of(fs.get_file_status("/f"), 700):
        fs.attach(FaultPlan((Fault("reset", 2),)))
        try:
            records = [r.record for r in reader.process_block(block)]
        except BlockReadException:
            fs.detach()
            records = [r.record for r in reader.process_block(block)]
        found += records
    assert found == WANTED
