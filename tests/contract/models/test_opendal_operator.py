"""Rules of the operators of OpenDAL and the files that they open."""

from __future__ import annotations

from typing import Any

import pytest

from fscontract.contract.program.outcome import Kind
from tests.contract.models.without_stream_calls import DATA, assert_judged_by, judged


@pytest.mark.parametrize(
    ("call", "right", "clause"),
    [
        (("od_read", None, None, "sync"), DATA, "read.whole"),
        (("od_read", 2, None, "async"), b"cdef", "read.range"),
        (("od_read", None, 2, "sync"), b"ab", "read.range"),
        (("od_read", 4, 9, "sync"), b"ef", "read.past-end"),
        (("od_read", 6, None, "sync"), b"", "read.past-end"),
        (("od_file", 2, 2, "async"), b"cd", "file.data"),
        (("od_file", 2, None, "async"), b"cdef", "file.rest"),
        (("od_file", 9, 2, "sync"), b"", "file.past-end"),
        (("od_seek", 4, "sync"), 4, "file.position"),
        (("od_stat", "sync"), 6, "stat.length"),
        (("od_exists", "file", "sync"), True, "exists.file"),
        (("od_exists", "missing", "sync"), False, "exists.missing"),
    ],
    ids=str,
)
def test_result_is_judged_by_the_clause_of_its_arguments(
    call: tuple[Any, ...], right: Any, clause: str
) -> None:
    assert_judged_by(f"operator.{clause}", call, right)


def test_read_of_a_missing_file_may_raise_anything() -> None:
    assert judged("od_missing", "sync", raises=Kind.OTHER).missed == ()
    assert judged("od_missing", "sync", gives=b"").missed == ("operator.read.missing",)


def test_file_may_return_fewer_bytes_and_raise_past_the_end() -> None:
    assert judged("od_file", 2, 3, "sync", gives=b"c").failure is None
    assert judged("od_file", 2, 3, "sync", gives=b"").failure is not None
    assert judged("od_file", 9, 2, "sync", raises=Kind.OTHER).failure is None
