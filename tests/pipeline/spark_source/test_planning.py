"""Tests of the distribution of blocks to partitions."""

from __future__ import annotations

import pickle
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from fscontract.pipeline.blocks import FileMetadata
from fscontract.pipeline.spark_source.planning import (
    MIB,
    BlockRun,
    BlocksPartition,
    Packing,
    pack,
    spread,
)
from fscontract.pipeline.splitter.splitter import count_blocks


def run(length: int, block_size: int, data_offset: int = 0, first_id: int = 0) -> BlockRun:
    """Return all blocks of a file."""
    count = count_blocks(length, block_size, data_offset)
    name = f"f{first_id}"
    file = FileMetadata(
        f"/{name}", name, length, False, count, block_size, data_offset, 0, name, first_id
    )
    return BlockRun(file, 0, count)


@st.composite
def runs(draw: st.DrawFn) -> list[BlockRun]:
    """Draw files of all sizes with some block size, whose blocks have consecutive ids."""
    size = draw(st.integers(1, 50))
    found: list[BlockRun] = []
    number = 0
    for length in draw(st.lists(st.integers(1, 300), max_size=8)):
        found.append(run(length, size, draw(st.integers(0, length - 1)), number))
        number += len(found[-1])
    return found


def blocks(parts: Sequence[Sequence[BlockRun]]) -> list[int]:
    """Return the sorted ids of all blocks."""
    return sorted(b.block_id for part in parts for one in part for b in one.blocks())


@given(runs(), st.integers(1, 400), st.integers(0, 100))
def test_packed_blocks_are_each_there_once(found: list[BlockRun], most: int, cost: int) -> None:
    """No partition exceeds its maximum, unless it is one block; none is empty."""
    parts = pack(found, most, cost)
    assert blocks(parts) == list(range(sum(map(len, found))))
    for part in parts:
        assert sum(one.size for one in part) <= most or sum(map(len, part)) == 1


@given(runs(), st.integers(1, 20))
def test_spread_blocks_are_each_there_once(found: list[BlockRun], count: int) -> None:
    """In `count` partitions, or one per block if there are fewer; always the same."""
    parts = spread(found, count)
    total = sum(map(len, found))
    assert blocks(parts) == list(range(total))
    assert len(parts) == min(count, total)
    assert all(parts)
    assert spread(found, count) == parts


def test_spread_blocks_are_about_even() -> None:
    """Of one long file and many short ones."""
    found = [run(1000, 10), *(run(10, 10, 0, 100 + i) for i in range(100))]
    sizes = [sum(one.size for one in part) for part in spread(found, 4)]
    assert max(sizes) - min(sizes) <= 20


@given(runs(), st.integers(1, 5))
def test_a_run_knows_its_bytes(found: list[BlockRun], most: int) -> None:
    """Also in part."""
    for one in found:
        for part in one.cut(most):
            made = list(part.blocks())
            assert (part.start, part.size) == (made[0].offset, sum(b.size for b in made))
            assert len(made) == len(part) <= most


def test_partitions_are_split_as_spark_splits() -> None:
    """By maxPartitionBytes, the open cost and the parallelism."""
    packing = Packing(128 * MIB, 4 * MIB, 2)
    assert packing.split_size([1024 * MIB]) == 128 * MIB
    assert packing.split_size([100 * MIB]) == 52 * MIB
    assert packing.split_size([0, 0]) == 4 * MIB


def test_a_partition_can_be_sent() -> None:
    """In a small pickle, for any number of blocks."""
    part = BlocksPartition([run(10**12, 100)])
    data = pickle.dumps(part)
    assert len(data) < 1000
    assert pickle.loads(data).runs == part.runs
