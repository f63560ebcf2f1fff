"""Tests of the distribution of reads to tasks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fscontract.implementations.spark.input_stream import Piece, pieces, rounds, tasks_for

RANGES = st.lists(st.tuples(st.integers(0, 100), st.integers(0, 100)), max_size=20)


@given(RANGES, st.integers(1, 30), st.integers(30, 90), st.integers(1, 4))
def test_every_byte_is_in_exactly_one_task(
    ranges: list[tuple[int, int]], piece: int, job: int, parallelism: int
) -> None:
    """In one job, and no job exceeds its maximum number of bytes."""
    numbered = [(number, *pair) for number, pair in enumerate(ranges)]
    found = []
    for cut in rounds(pieces(numbered, piece), job):
        assert 0 < sum(p.length for p in cut) <= job
        groups = tasks_for(cut, parallelism)
        assert 0 < len(groups) <= parallelism
        found += [p for group in groups for p in group]
    bytes_of = sorted((p.number, p.offset + i) for p in found for i in range(p.length))
    assert bytes_of == sorted((n, start + i) for n, start, size in numbered for i in range(size))


def test_small_reads_are_one_task_and_large_ones_several() -> None:
    """A task costs as much as reading a megabyte."""
    small = [Piece(n, n * 100, 10) for n in range(20)]
    large = [Piece(n, n << 22, 1 << 22) for n in range(4)]
    assert [len(tasks_for(cut, 4)) for cut in (small, large)] == [1, 4]
