"""Tests of rows and deletions in log blocks."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace

import pytest

from fscontract.pipeline.hudi.io import CorruptFileException, MetadataException
from fscontract.pipeline.hudi.log import (
    COMMAND,
    DELETE,
    HFILE,
    INSTANT,
    SCHEMA,
    Log,
    LogBlock,
    rollback_block,
)
from fscontract.pipeline.hudi.log_records import (
    AVRO,
    CDC,
    CORRUPT,
    Deletion,
    DeletionsBlock,
    RowsBlock,
    deletions_in,
    log_records,
)
from fscontract.pipeline.hudi.log_records import delete_block as deletion_of_keys
from tests.pipeline.hudi.row_tables import avro_block, delete_block, parquet_block, time

FIRST, SECOND, THIRD = time(1), time(2), time(3)


def content(
    *blocks: LogBlock, shows: Callable[[str], bool] = lambda instant: True
) -> list[list[str]]:
    """Return the keys of rows and deletions of each block."""
    found = []
    for block in log_records([Log("/t/log", blocks, None)], shows):
        if isinstance(block, RowsBlock):
            found.append(block.table["id"].to_pylist())
        else:
            found.append([deletion.key for deletion in block.deletions])
    return found


def test_blocks_are_read_in_order() -> None:
    blocks = [
        avro_block(FIRST, [("a", 1, "x"), ("b", 1, "x")]),
        delete_block(SECOND, {"c": None}),
        parquet_block(THIRD, [("d", 1, "x")]),
        avro_block(THIRD, []),
    ]
    assert content(*blocks) == [["a", "b"], ["c"], ["d"], []]


def test_blocks_of_invisible_instants_are_skipped_even_if_unsupported() -> None:
    blocks = [avro_block(FIRST, [("a", 1, "x")]), LogBlock(CDC, {INSTANT: SECOND}, b"")]
    assert content(*blocks, shows=lambda instant: instant == FIRST) == [["a"]]


def test_a_rollback_removes_earlier_blocks_of_its_target_in_all_logs() -> None:
    first = Log("/t/1", (avro_block(FIRST, [("a", 1, "x")]), avro_block(SECOND, [])), None)
    second = Log("/t/2", (rollback_block(THIRD, FIRST), avro_block(FIRST, [])), None)
    found = list(log_records([first, second], lambda instant: True))
    assert [block.where for block in found] == [
        "/t/1, block at offset 0",
        "/t/2, block at offset 0",
    ]
    assert all(isinstance(block, RowsBlock) and not len(block.table) for block in found)


def test_a_deletion_has_its_ordering_value_except_for_the_default() -> None:
    log = Log("/t/log", (delete_block(FIRST, {"a": 0, "b": None}),), None)
    (block,) = log_records([log], lambda instant: True)
    assert isinstance(block, DeletionsBlock)
    assert block.deletions == (Deletion("a", "LongWrapper", 0), Deletion("b"))


AVRO_BLOCK = avro_block(FIRST, [("a", 1, "x")])


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (LogBlock(HFILE, {INSTANT: FIRST}, b""), "unsupported HFile data block"),
        (LogBlock(CDC, {INSTANT: FIRST}, b""), "unsupported CDC block"),
        (LogBlock(CORRUPT, {INSTANT: FIRST}, b""), "unsupported corrupt block"),
        (LogBlock(9, {INSTANT: FIRST}, b""), "unsupported type 9 of log block"),
        (replace(AVRO_BLOCK, header={**AVRO_BLOCK.header, 7: "true"}), "partial updates"),
        (replace(AVRO_BLOCK, header={**AVRO_BLOCK.header, 4: FIRST}), "log compaction"),
        (replace(AVRO_BLOCK, header={INSTANT: FIRST}), "no schema in its header"),
        (replace(AVRO_BLOCK, header={INSTANT: FIRST, SCHEMA: "{"}), "can't read the Avro schema"),
        (replace(AVRO_BLOCK, content=AVRO_BLOCK.content[:-1]), "exceeds the block"),
        (replace(AVRO_BLOCK, content=AVRO_BLOCK.content + b"x"), "1 unexpected bytes at the end"),
        (replace(AVRO_BLOCK, content=b"\0\0"), "can't read the log block"),
        (LogBlock(AVRO, AVRO_BLOCK.header, struct.pack(">ii", 1, 0)), "unsupported version 1"),
        (LogBlock(DELETE, {INSTANT: FIRST}, struct.pack(">ii", 2, 0)), "version 2 of deletions"),
        (LogBlock(DELETE, {INSTANT: FIRST}, struct.pack(">ii", 3, 9)), "expected 9 bytes"),
        (replace(parquet_block(FIRST, []), content=b"PAR1"), "can't read the log block"),
    ],
)
def test_what_cannot_be_read_is_refused_with_file_and_reason(block: LogBlock, message: str) -> None:
    with pytest.raises(MetadataException, match=message) as raised:
        content(block)
    assert "/t/log, block at offset 0" in str(raised.value)


def test_blocks_without_partial_updates_may_say_so() -> None:
    assert content(replace(AVRO_BLOCK, header={**AVRO_BLOCK.header, 7: "false"})) == [["a"]]


def test_a_block_without_instant_is_refused() -> None:
    with pytest.raises(MetadataException, match="log block at 0 has no instant"):
        content(LogBlock(AVRO, {}, b""))


def test_an_unknown_command_is_damage() -> None:
    with pytest.raises(CorruptFileException, match="unknown command"):
        content(LogBlock(COMMAND, {INSTANT: FIRST}, b""))


def test_a_torn_log_is_damage() -> None:
    torn = CorruptFileException("/t/log", 7, "incomplete log block")
    with pytest.raises(CorruptFileException, match="incomplete log block, at offset 7"):
        list(log_records([Log("/t/log", (), torn)], lambda instant: True))


def test_deletions_of_keys_are_the_bytes_that_hudi_writes() -> None:
    block = deletion_of_keys(FIRST, "{}", "record_index", ["TXN-005"])
    content = "\0\0\0\3\0\0\0\x1b\2\2\x0eTXN-005\2\x18record_index\4\0\0"
    assert block.content == content.encode("latin-1")
    assert (block.type, block.header) == (DELETE, {INSTANT: FIRST, SCHEMA: "{}"})


def test_deletions_of_keys_are_read_as_they_were_written() -> None:
    keys = ["", "a", "id:7,city:\U0001f600"]
    block = deletion_of_keys(FIRST, "{}", "record_index", keys)
    assert list(deletions_in(block.content)) == [Deletion(key) for key in keys]
