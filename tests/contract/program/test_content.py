"""Test content in which a byte from a wrong offset shows."""

from __future__ import annotations

import pytest

from fscontract.contract.program.content import content, replacement
from fscontract.contract.program.outcome import FILL


def test_bytes_of_a_short_file_are_unique() -> None:
    assert len(set(content(251))) == 251


def test_three_bytes_of_a_long_file_are_unique() -> None:
    data = content(100_000)
    assert len({data[i : i + 3] for i in range(len(data) - 2)}) == len(data) - 2


@pytest.mark.parametrize("length", [1, 251, 252, 5000])
def test_content_begins_with_255_and_has_neither_zero_nor_fill(length: int) -> None:
    data = content(length)
    assert len(data) == length
    assert FILL not in data
    assert 0 not in data
    assert data[0] == 255


@pytest.mark.parametrize("length", [5, 300])
@pytest.mark.parametrize("new", [None, 2, 400])
def test_replacement_differs_at_every_offset(length: int, new: int | None) -> None:
    old = content(length)
    data = replacement(old, new)
    assert len(data) == (length if new is None else new)
    assert all(a != b for a, b in zip(old, data, strict=False))
    assert FILL not in data
