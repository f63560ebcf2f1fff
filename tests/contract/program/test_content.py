"""Test content in which a byte from a wrong offset shows."""

from __future__ import annotations

import io
import itertools
from pathlib import Path

import pytest

from fscontract.contract.program.content import DENSE, SparseContent, content, replacement
from fscontract.contract.program.outcome import FILL


def test_bytes_of_a_short_file_are_unique() -> None:
    assert len(set(content(251))) == 251


def test_three_bytes_of_a_long_file_are_unique() -> None:
    data = content(100_000)
    assert len({data[i : i + 3] for i in range(len(data) - 2)}) == len(data) - 2


@pytest.mark.parametrize("length", [1, 251, 252, 5000])
def test_content_has_neither_zero_nor_fill(length: int) -> None:
    data = content(length)
    assert len(data) == length
    assert FILL not in data
    assert 0 not in data


def test_content_of_five_bytes_begins_with_255() -> None:
    assert content(5)[0] == 255


#: Lengths of files of one run, and the copies of some that it changes.
_FILES = [
    *((n, 0) for n in (0, 1, 2, 5, 17, 127, 128, 129, 255, 256, 257, 4095, 4096, 4097, 4099, 8193)),
    *((n, 0) for n in (32_767, 32_768, 65_535, 65_536, 131_071, 3_149_827, 3_149_828)),
    *((n, copy) for n in (5, 1000) for copy in range(1, 40)),
]


def test_no_two_files_have_the_same_bytes_at_the_same_place() -> None:
    heads = [content(n, copy)[:500] for n, copy in _FILES]
    new = [replacement(content(n, copy))[:500] for n, copy in _FILES if n in (5, 1000)]
    alike = [
        (one, other)
        for one, other in itertools.combinations([*heads, *new], 2)
        if _longest_run(one, other) > (3 if min(len(one), len(other)) > 251 else 1)
    ]
    assert alike == []


def _longest_run(one: bytes, other: bytes) -> int:
    """Return how many neighbouring bytes are equal, at most."""
    same = "".join("x" if a == b else " " for a, b in zip(one, other, strict=False))
    return max(map(len, same.split()), default=0)


@pytest.mark.parametrize("length", [1, 2, 5, 200])
def test_longer_replacement_continues_the_file(length: int) -> None:
    old = content(length)
    data = replacement(old, 249)
    assert len(set(data)) == 249
    assert replacement(old) == data[:length]


@pytest.mark.parametrize("length", [5, 300])
@pytest.mark.parametrize("new", [None, 2, 400])
def test_replacement_differs_at_every_offset(length: int, new: int | None) -> None:
    old = content(length)
    data = replacement(old, new)
    assert len(data) == (length if new is None else new)
    assert all(a != b for a, b in zip(old, data, strict=False))
    assert FILL not in data


GIBIBYTES = (1 << 32) + 300_007


def test_a_file_of_several_gibibytes_takes_no_memory() -> None:
    data = content(GIBIBYTES)
    assert isinstance(data, SparseContent)
    assert len(data) == GIBIBYTES
    assert sum(len(piece) for _, piece in data.pieces) < 1 << 20
    assert not isinstance(content(1 << 20), SparseContent)


@pytest.mark.parametrize("at", [0, 1 << 31, (1 << 31) - 9, 1 << 32, (1 << 32) - 9, GIBIBYTES - 9])
def test_a_sparse_file_has_unique_bytes_at_its_ends_and_around_limits(at: int) -> None:
    data = content(GIBIBYTES)
    part = data[at : at + 9]
    assert 0 not in part
    assert data.find(part) == at
    assert part in data
    assert data[at] == part[0]


def test_there_are_zeros_between() -> None:
    data = content(GIBIBYTES)
    assert data[1 << 20 : (1 << 20) + 5] == bytes(5)
    edge = content(GIBIBYTES)[: 1 << 16]
    assert data[(1 << 16) - 2 : (1 << 16) + 2] == edge[-2:] + bytes(2)


def test_slices_end_with_the_file() -> None:
    data = content(GIBIBYTES)
    assert len(data[GIBIBYTES - 3 : GIBIBYTES + 9]) == 3
    assert data[GIBIBYTES + 1 : GIBIBYTES + 9] == b""
    assert data[-1:] == data[GIBIBYTES - 1 :]
    assert data[-1] == data[GIBIBYTES - 1]


def test_bytes_that_are_nowhere_are_not_found() -> None:
    data = content(DENSE + 1)
    assert b"\x01\x01" not in data
    assert data.find(b"\x01") == -1
    assert data.find(data[:4], 1) == -1
    assert bytes(4) in data


def test_what_is_written_is_what_was_described(tmp_path: Path) -> None:
    data = content(DENSE + 12_345)
    assert isinstance(data, SparseContent)
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        data.write_to(file)
    assert path.stat().st_size == len(data)
    with path.open("rb") as file:
        for at in (0, 65_530, DENSE // 2, len(data) - 65_540):
            file.seek(at)
            assert file.read(20) == data[at : at + 20]


def test_as_a_buffer_sparse_content_is_empty() -> None:
    """A target that can't hold it must not be given it as bytes."""
    assert io.BytesIO(content(DENSE + 1)).getvalue() == b""
