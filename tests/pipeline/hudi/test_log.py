"""Tests of log files: complete blocks are read, and torn ones are detected."""

from __future__ import annotations

from contextlib import suppress

import pytest

from fscontract.implementations.memory import MemoryFileSystem
from fscontract.pipeline.hudi.io import CorruptFileException
from fscontract.pipeline.hudi.log import (
    INSTANT,
    Log,
    LogBlock,
    data_block,
    empty_block,
    encode_log,
    read_log,
    records_of,
    rollback_block,
    rolled_back,
)
from tests.pipeline.hudi.support import put

ONE = data_block("20260101000000001", "{}", [(b"a", b"1"), (b"b", b"2")])
TWO = data_block("20260101000000002", "{}", [(b"c", b"3")])


def log(content: bytes) -> Log:
    """Return the log of a file with these bytes."""
    fs = MemoryFileSystem()
    put(fs, "/file.log", content)
    with fs.open("/file.log") as stream:
        return read_log(stream, "/file.log", len(content))


def records(found: Log) -> list[tuple[bytes, bytes]]:
    """Return the entries of all blocks."""
    return [entry for block in found.blocks for entry in records_of(found, block)[1]]


def test_blocks_are_read_as_they_were_written() -> None:
    found = log(encode_log([empty_block("20260101000000000"), ONE, TWO]))
    assert [block.header[INSTANT][-1] for block in found.blocks] == ["0", "1", "2"]
    assert records(found) == [(b"a", b"1"), (b"b", b"2"), (b"c", b"3")]
    assert found.torn is None


def test_the_first_log_of_a_file_group_is_hudis() -> None:
    """Bytes written by Hudi 1.0."""
    content = encode_log([empty_block("0" * 17)])
    assert content.hex() == (
        "2348554449230000000000000042000000010000000100000001000000000000001130303030303030303030"
        "303030303030300000000000000009000000030000000100000000000000000000000048"
    )


def test_command_block_names_the_rolled_back_instant() -> None:
    found = log(encode_log([ONE, rollback_block("20260101000000003", "20260101000000001")]))
    assert [rolled_back(found, block) for block in found.blocks] == [None, "20260101000000001"]


def test_torn_tail_is_detected_at_any_position() -> None:
    """The blocks before it are read."""
    content = encode_log([ONE, TWO])
    first = len(encode_log([ONE]))
    for length in range(first + 1, len(content)):
        found = log(content[:length])
        assert len(found.blocks) == 1
        assert found.torn is not None
        assert found.torn.offset == first
    assert log(content[:first]).torn is None


def test_a_block_behind_a_torn_one_is_read() -> None:
    """After a writer that died, and another one that appended."""
    found = log(encode_log([ONE])[:-20] + encode_log([TWO]))
    assert records(found) == [(b"c", b"3")]
    assert found.torn is not None


def test_no_damaged_byte_gives_other_records() -> None:
    """Except in the header, which has no checksum; its instant must match the file name."""
    content = encode_log([ONE])
    expected = records(log(content))
    filling = range(len(content) - 4096 + 200, len(content) - 30)
    for position in range(len(content)):
        if position in filling and position % 97:
            continue
        damaged = bytearray(content)
        damaged[position] ^= 1 << position % 8
        found = log(bytes(damaged))
        with suppress(CorruptFileException):
            assert records(found) == expected or found.torn is not None


@pytest.mark.parametrize("kind", [0, 1, 2, 3, 5])
def test_a_block_of_another_type_is_rejected(kind: int) -> None:
    found = log(encode_log([LogBlock(kind, {INSTANT: "1"}, b"content")]))
    with pytest.raises(CorruptFileException, match=r"unexpected type|unknown command"):
        _ = rolled_back(found, found.blocks[0]) or records(found)
