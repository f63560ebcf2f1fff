"""Rules of fsspec's asynchronous filesystems."""

from __future__ import annotations

from typing import Any

import pytest

from fscontract.contract.program.outcome import Kind
from tests.contract.models.without_stream_calls import DATA, assert_judged_by, judged


@pytest.mark.parametrize(
    ("call", "right", "clause"),
    [
        (("fs_async_cat_file", 1, 3), b"bc", "async.cat-file.data"),
        (("fs_async_cat_file", -2, None), b"ef", "async.cat-file.data"),
        (("fs_async_cat_file", 4, 99), b"ef", "async.cat-file.limits"),
        (("fs_async_cat_file", 3, 1), b"", "async.cat-file.limits"),
        (
            ("fs_async_cat_ranges", ("file",), (1,), (3,), "default"),
            (b"bc",),
            "async.cat-ranges.data",
        ),
        (("fs_async_cat_ranges", ("file",), -1, 6, "default"), (b"f",), "async.cat-ranges.limits"),
        (
            ("fs_async_cat_ranges", ("file", "missing"), 0, 1, "return"),
            (b"a", True),
            "async.cat-ranges.errors",
        ),
        (("fs_async_cat", "file", "default"), DATA, "async.cat.data"),
        (("fs_async_cat", ("file", "missing"), "omit"), (("file", DATA),), "async.cat.errors"),
        (("fs_async_info", "size"), 6, "async.info"),
        (("fs_async_read", 4), DATA, "async.open.data"),
        (("fs_async_seek", 4), b"ef", "async.open.seek"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_coroutine_has_the_result_of_the_call_that_waits(
    call: tuple[Any, ...], right: Any, clause: str
) -> None:
    assert_judged_by(clause, call, right)


def test_missing_file_may_be_reported_in_one_way_only() -> None:
    assert judged("fs_async_cat_missing", raises=Kind.NOT_FOUND).missed == ()
    assert judged("fs_async_cat_missing", raises=Kind.IO).missed == ("async.cat-file.errors",)


def test_stream_may_refuse_to_seek_in_any_way() -> None:
    for kind in (Kind.UNSUPPORTED, Kind.ILLEGAL_ARGUMENT, Kind.OTHER):
        assert judged("fs_async_seek", 2, raises=kind).failure is None


def test_closed_stream_raises_value_error() -> None:
    assert judged("fs_async_closed", raises=Kind.ILLEGAL_ARGUMENT).missed == ()
    assert judged("fs_async_closed", gives=b"a").missed == ("async.open.closed",)
