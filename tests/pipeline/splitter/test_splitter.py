"""Tests that blocks cover any file under any settings, for any division into windows."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.contract.api.filesystem import FileStatus
from fscontract.contract.models.splitter import Acceptor, Plan, Version, blocks_of
from fscontract.pipeline.blocks import MAX_SEQUENCE, FileBlockMetadata, FileInfo, FileMetadata
from fscontract.pipeline.splitter.splitter import (
    AbstractFileSplitter,
    BlockMetadataIterator,
    count_blocks,
)

LENGTHS = st.lists(st.integers(0, 60), max_size=6)


class Listed(AbstractFileSplitter):
    """Splits files of given lengths, whose names are numbers."""

    def __init__(self, lengths: list[int], offset: int = 0, **settings: Any) -> None:
        super().__init__(**settings)
        self.lengths = lengths
        self.offset = offset
        self.taken = 0

    def get_file_info(self) -> FileInfo | None:
        """Return the next number."""
        if self.taken >= len(self.lengths):
            return None
        self.taken += 1
        return FileInfo("/d", str(self.taken - 1))

    def get_default_block_size(self) -> int:
        """Return a default, because these files have no block size."""
        return 7

    def get_file_status(self, info: FileInfo) -> FileStatus:
        """Return a status with the length."""
        return FileStatus(info.path, self.lengths[int(info.relative_path)])

    def get_data_offset(self, info: FileInfo, status: FileStatus) -> int:
        """Return the same offset for all files."""
        return self.offset


def _drain(splitter: Listed, acceptor: Acceptor) -> Iterator[Any]:
    out: list[Any] = []
    splitter.files_metadata_output = splitter.blocks_metadata_output = out.append
    for number in range(1000):
        splitter.begin_window(number)
        splitter.process()
        splitter.end_window()
        acceptor.begin()
        for record in out:
            acceptor.see(record)
        yield from out
        if not out:
            acceptor.finish()
            return
        out.clear()
    raise AssertionError("it never ends")


@given(LENGTHS, st.integers(1, 12), st.integers(1, 9), st.integers(0, 30))
def test_blocks_cover_every_file_once_in_order_and_linked(
    lengths: list[int], size: int, threshold: int, offset: int
) -> None:
    """Checked by the model, and by the bytes."""
    splitter = Listed(lengths, offset, block_size=size, blocks_threshold=threshold, operator_id=5)
    versions = {f"/d/{number}": [Version(length)] for number, length in enumerate(lengths)}
    acceptor = Acceptor(Plan(size, threshold, 5, offset, versions))
    records = list(_drain(splitter, acceptor))
    assert acceptor.violations == []
    for number, length in enumerate(lengths):
        blocks = [
            (r.offset, r.end)
            for r in records
            if isinstance(r, FileBlockMetadata) and r.path == f"/d/{number}"
        ]
        assert blocks == list(blocks_of(length, size, offset))
        covered = [byte for start, end in blocks for byte in range(start, end)]
        assert covered == list(range(offset, length))


@given(LENGTHS, st.integers(1, 5), st.lists(st.integers(1, 9), min_size=1, max_size=5))
def test_thresholds_and_checkpoints_cut_the_same_plan_otherwise(
    lengths: list[int], size: int, thresholds: list[int]
) -> None:
    """A new splitter for each window, restored from the previous checkpoint."""
    whole: list[Any] = []
    cut: list[Any] = []
    one = Listed(lengths, block_size=size, blocks_threshold=10**6)
    one.files_metadata_output = one.blocks_metadata_output = whole.append
    one.begin_window(0)
    one.process()
    one.end_window()
    taken, checkpoint = 0, Listed([], block_size=size).checkpoint()
    for number in range(sum(lengths) + len(lengths) + 1):
        part = Listed(
            lengths, block_size=size, blocks_threshold=thresholds[number % len(thresholds)]
        )
        part.files_metadata_output = part.blocks_metadata_output = cut.append
        part.restore(checkpoint)
        part.taken = taken
        part.begin_window(number)
        part.process()
        part.end_window()
        taken, checkpoint = part.taken, part.checkpoint()
    assert cut == whole


@given(st.integers(0, 10**15), st.integers(1, 10**9), st.integers(0, 10**15))
def test_the_number_of_blocks_needs_no_blocks(length: int, size: int, offset: int) -> None:
    """It is computed, for a file of any size."""
    count = count_blocks(length, size, offset)
    if offset >= length:
        assert count == 0
    else:
        first, last = offset // size, (length - 1) // size
        assert count == last - first + 1


def _file(blocks: int) -> FileMetadata:
    return FileMetadata("/f", "f", blocks, False, blocks, 1, 0, 0, "f", 0)


def test_iterator_starts_at_any_block() -> None:
    """Anywhere in the file, without iterating."""
    blocks = BlockMetadataIterator(_file(10**12), 10**12 - 1)
    assert [block.offset for block in blocks] == [10**12 - 1]
    with pytest.raises(IllegalArgumentException):
        BlockMetadataIterator(_file(3), 4)


def test_a_plan_of_many_blocks_takes_the_memory_of_one() -> None:
    """Measured while 20,000 blocks of 10 million are created and dropped."""
    blocks = BlockMetadataIterator(_file(10**7))
    next(blocks)
    tracemalloc.start()
    try:
        for _ in islice(blocks, 20_000):
            pass
        current, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert blocks.emitted == 20_001
    assert peak < 16_384, (current, peak)


def test_ids_never_wrap_around() -> None:
    """An operator that has used up its ids raises."""
    splitter = Listed([3], block_size=1)
    state = f'"sequence": {MAX_SEQUENCE - 2}'
    splitter.restore(splitter.checkpoint().replace('"sequence": 0', state))
    splitter.begin_window(1)
    with pytest.raises(OverflowError, match="fewer than 3 block ids left"):
        splitter.process()


@pytest.mark.parametrize(
    "settings",
    [{"block_size": 0}, {"blocks_threshold": 0}, {"operator_id": -1}, {"operator_id": 1 << 31}],
)
def test_settings_out_of_their_domain_are_rejected(settings: dict[str, int]) -> None:
    """The constructor raises."""
    with pytest.raises(IllegalArgumentException, match=next(iter(settings))):
        Listed([], **settings)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"checkpoint": 2}',
        '{"checkpoint": 1}',
        '{"checkpoint": 1, "operator": 0, "sequence": -1, "pending": null}',
        '{"checkpoint": 1, "operator": 0, "sequence": 0, "pending": 3}',
        '{"checkpoint": 1, "operator": 0, "sequence": 0, "pending": ["x", 0]}',
        '{"checkpoint": 1, "operator": 4, "sequence": 0, "pending": null}',
    ],
)
def test_invalid_checkpoint_is_rejected(text: str) -> None:
    """With one line, before anything is changed."""
    splitter = Listed([1], block_size=1)
    before = splitter.checkpoint()
    with pytest.raises(IllegalArgumentException):
        splitter.restore(text)
    assert splitter.checkpoint() == before
