"""Bytes that no file has violate a MUST, also where the documentation recommends the result."""

from __future__ import annotations

from typing import Any

import pytest

from fscontract.contract.program.outcome import Kind
from tests.contract.models.without_stream_calls import judged

_RANGES = (("file", "file"), (1, 0), (3, 9), "default")
_CALLS: list[tuple[str, tuple[Any, ...], Any, str]] = [
    ("fs_cat_file", (2, 9), b"cdef", "filesystem.cat-file.range"),
    ("fs_cat_file", (None, 9), b"abcdef", "filesystem.cat-file.one-limit"),
    ("fs_cat_ranges", _RANGES, (b"bc", b"abcdef"), "filesystem.cat-ranges.data"),
    ("fs_head", (9,), b"abcdef", "filesystem.head.data"),
    ("fs_tail", (9,), b"abcdef", "filesystem.tail.data"),
    ("fs_async_cat_file", (2, 9), b"cdef", "async.cat-file.data"),
    ("fs_async_cat_ranges", _RANGES, (b"bc", b"abcdef"), "async.cat-ranges.data"),
    ("pa_read_at", (2, 9), b"cdef", "arrow.read-at.range"),
    ("pa_get_stream", (2, 9), b"cdef", "arrow.get-stream.range"),
    ("ob_get_ranges", ((2,), (9,), "end", "sync"), (b"cdef",), "store.get-ranges.data"),
]


@pytest.mark.parametrize(("op", "args", "right", "clause"), _CALLS, ids=str)
def test_bytes_of_no_file_violate_the_clause_of_the_data(
    op: str, args: tuple[Any, ...], right: Any, clause: str
) -> None:
    padded = (*right[:-1], right[-1] + b"\0") if isinstance(right, tuple) else right + b"\0"
    assert judged(op, *args, gives=right).failure is None
    failure = judged(op, *args, gives=padded).failure
    assert failure is not None
    assert (failure.clause, failure.aspect) == (clause, "value")


@pytest.mark.parametrize(("op", "args", "right", "clause"), _CALLS, ids=str)
def test_fewer_bytes_and_exceptions_only_miss_a_recommendation(
    op: str, args: tuple[Any, ...], right: Any, clause: str
) -> None:
    fewer = (*right[:-1], right[-1][:1]) if isinstance(right, tuple) else right[:1]
    found = judged(op, *args, gives=fewer), judged(op, *args, raises=Kind.IO)
    assert [(one.failure, len(one.missed)) for one in found] == [(None, 1)] * 2
