"""Tests of a block reader over a source that has no files: a log of messages in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from fscontract.blockreader import (
    AbstractBlockReader,
    BlockReadException,
    Entity,
    ReaderContext,
    ReaderRecord,
    RecordConversionException,
)
from fscontract.errors import IllegalArgumentException
from fscontract.pipeline.blockreader.scaling import define_partitions
from fscontract.splitter import BlockMetadata

MESSAGES = tuple(b"message %d" % n for n in range(23))


@dataclass(frozen=True)
class TopicBlock(BlockMetadata):
    """Messages of a topic; offsets are message numbers."""

    topic: str = "orders"

    __hash__ = BlockMetadata.__hash__

    @property
    def source(self) -> str:
        """Name of the topic."""
        return self.topic


class Consumer:
    """Reads messages by number; `lost` ones raise OSError."""

    def __init__(self, messages: Sequence[bytes], lost: int | None = None) -> None:
        self.closed = False
        self._messages = messages
        self._lost = lost

    def fetch(self, number: int) -> bytes:
        """Return a message."""
        if number == self._lost:
            raise OSError("message expired")
        return self._messages[number]

    def close(self) -> None:
        """Close the connection."""
        self.closed = True


class MessageContext(ReaderContext[TopicBlock, Consumer]):
    """One record for each message of a block."""

    def initialize(self, stream: Consumer, block: TopicBlock, consecutive: bool) -> None:
        """Start with the block's first message."""
        super().initialize(stream, block, consecutive)
        self._consumer, self._number = stream, block.offset

    def next(self) -> Entity | None:
        """Return the next message."""
        number = self._number
        if number >= self.block.end:
            return None
        message = self._consumer.fetch(number)
        self._number += 1
        return Entity(message, 1, number)

    @property
    def position(self) -> int:
        """Number of the next message."""
        return self._number


class MessageReader(AbstractBlockReader[str, TopicBlock, Consumer]):
    """Reads messages as text, and records the consumers that it opened."""

    def __init__(self, messages: Sequence[bytes], lost: int | None = None, **options: Any) -> None:
        super().__init__(MessageContext(), **options)
        self.opened: list[Consumer] = []
        self._connect: Callable[[], Consumer] = lambda: Consumer(messages, lost)

    def setup_stream(self, block: TopicBlock) -> Consumer:
        """Connect to the topic."""
        self.opened.append(self._connect())
        return self.opened[-1]

    def convert_to_record(self, data: bytes) -> str | None:
        """Return the text of a message; drop empty ones."""
        return data.decode() or None


def blocks_of_topic(count: int, size: int) -> list[TopicBlock]:
    """Return blocks of `size` messages."""
    starts = range(0, count, size)
    return [
        TopicBlock(n, start, min(start + size, count), start + size >= count, n - 1)
        for n, start in enumerate(starts)
    ]


def _numbers(records: Sequence[ReaderRecord[str]]) -> list[int]:
    return [record.offset for record in records]


@pytest.mark.parametrize("size", [1, 4, 5, 100])
def test_every_message_is_in_one_record_for_any_blocks(size: int) -> None:
    with MessageReader(MESSAGES) as reader:
        blocks = blocks_of_topic(len(MESSAGES), size)
        records = [record for block in blocks for record in reader.process_block(block)]
    assert [r.record.encode() for r in records] == list(MESSAGES)
    assert _numbers(records) == list(range(len(MESSAGES)))
    assert [r.block_id for r in records] == [n // size for n in range(len(MESSAGES))]


def test_consumer_is_kept_for_the_next_block_and_closed_for_another_one() -> None:
    first, second, _, fourth, *_ = blocks_of_topic(len(MESSAGES), 4)
    with MessageReader(MESSAGES) as reader:
        for block in (first, second, fourth):
            assert list(reader.process_block(block))
        assert [consumer.closed for consumer in reader.opened] == [True, False]
    assert all(consumer.closed for consumer in reader.opened)


def test_readers_of_several_partitions_read_every_message_once() -> None:
    """The hash of a block selects its partition, as for blocks of files."""
    partitions = define_partitions([], 3, lambda: MessageReader(MESSAGES))
    found = [
        record.offset
        for partition in partitions
        for block in blocks_of_topic(len(MESSAGES), 2)
        if partition.takes(hash(block))
        for record in partition.reader.process_block(block)
    ]
    assert sorted(found) == list(range(len(MESSAGES)))
    assert found != sorted(found)


def test_an_expired_message_is_an_error_with_topic_block_and_number() -> None:
    blocks = blocks_of_topic(len(MESSAGES), 4)
    reader = MessageReader(MESSAGES, lost=6)
    records: list[ReaderRecord[str]] = []
    with pytest.raises(BlockReadException) as raised:
        records.extend(record for block in blocks for record in reader.process_block(block))
    assert str(raised.value) == "block 1 at offset 6: message expired: 'orders'"
    assert reader.opened[-1].closed
    assert reader.counters.blocks == 1


def test_a_message_that_is_not_text_is_a_conversion_error() -> None:
    (block,) = blocks_of_topic(2, 2)
    with pytest.raises(RecordConversionException, match=r"block 0 at offset 1.*'orders'"):
        list(MessageReader([b"ok", b"\xff"]).process_block(block))


def test_blocks_are_reported_and_messages_counted() -> None:
    reported: list[TopicBlock] = []
    blocks = blocks_of_topic(3, 2)
    with MessageReader([b"a", b"", b"c"], on_block=reported.append) as reader:
        for block in blocks:
            assert list(reader.process_block(block))
    assert reported == blocks
    counters = reader.counters
    assert (counters.blocks, counters.records, counters.bytes) == (2, 2, 3)


def test_batches_have_the_messages_and_their_numbers() -> None:
    (block,) = blocks_of_topic(3, 3)
    with MessageReader(MESSAGES) as reader:
        batches = list(reader.process_batches(block))
    assert [batch.records for batch in batches] == [[m] for m in MESSAGES[:3]]
    assert [list(batch.offsets) for batch in batches] == [[0], [1], [2]]
    assert {batch.block_id for batch in batches} == {0}


def test_a_block_that_ends_before_it_starts_is_rejected() -> None:
    with pytest.raises(IllegalArgumentException, match=r"invalid block \[3, 2\)"):
        BlockMetadata(0, 3, 2, True, -1)
    with pytest.raises(IllegalArgumentException, match=r"invalid block \[-1, 2\)"):
        BlockMetadata(0, -1, 2, True, -1)


def test_a_block_without_a_name_is_named_by_its_class_in_errors() -> None:
    assert BlockMetadata(0, 0, 2, True, -1).source == "BlockMetadata"
