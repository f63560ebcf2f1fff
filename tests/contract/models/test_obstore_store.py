"""Rules of the stores of obstore."""

from __future__ import annotations

from typing import Any

import pytest

from fscontract.contract.program.outcome import Kind
from tests.contract.models.without_stream_calls import DATA, assert_judged_by, judged


@pytest.mark.parametrize(
    ("call", "right", "clause"),
    [
        (("ob_get", None, None, "sync"), DATA, "get.whole"),
        (("ob_get", 2, None, "async"), b"cdef", "get.offset"),
        (("ob_get", 1, 3, "sync"), b"bc", "get.range"),
        (("ob_get", 4, 9, "sync"), b"ef", "get.past-end"),
        (("ob_get_suffix", 2, "sync"), b"ef", "get.suffix"),
        (("ob_get_suffix", 9, "sync"), DATA, "get.suffix"),
        (("ob_get_result", 4, 9, "range", "sync"), (4, 6), "result.range"),
        (("ob_get_result", 1, 3, "size", "sync"), 6, "result.size"),
        (("ob_stream", 4, "async"), DATA, "stream"),
        (("ob_get_range", 1, 3, "length", "sync"), b"bc", "get-range.range"),
        (("ob_get_range", 4, 9, "end", "sync"), b"ef", "get-range.past-end"),
        (("ob_get_ranges", (3, 0), (4, 2), "end", "sync"), (b"d", b"ab"), "get-ranges.data"),
        (("ob_get_ranges", (0, 4), (1, 9), "end", "sync"), (b"a", b"ef"), "get-ranges.past-end"),
        (("ob_head", "sync"), 6, "head.size"),
        (("ob_reader", 2, 2, "async"), b"cd", "reader.data"),
        (("ob_reader", 2, None, "async"), b"cdef", "reader.rest"),
        (("ob_reader_size", "sync"), 6, "reader.size"),
    ],
    ids=str,
)
def test_result_is_judged_by_the_clause_of_its_arguments(
    call: tuple[Any, ...], right: Any, clause: str
) -> None:
    assert_judged_by(f"store.{clause}", call, right)


@pytest.mark.parametrize(("op", "given"), [("ob_get", ()), ("ob_get_range", ("end",))])
def test_empty_range_raises_and_one_at_the_end_may(op: str, given: tuple[str, ...]) -> None:
    for begin, end in ((2, 2), (7, 9)):
        assert judged(op, begin, end, *given, "sync", raises=Kind.OTHER).failure is None
        failure = judged(op, begin, end, *given, "sync", gives=b"").failure
        assert failure is not None
        assert failure.clause.endswith(".empty")
    assert judged(op, 6, 8, *given, "sync", gives=b"").failure is None
    assert judged(op, 6, 8, *given, "sync", raises=Kind.OTHER).failure is None


def test_missing_object_raises_file_not_found_only() -> None:
    assert judged("ob_missing", "get", "sync", raises=Kind.NOT_FOUND).failure is None
    assert judged("ob_missing", "get", "sync", raises=Kind.OTHER).failure is not None


def test_reader_may_return_fewer_bytes_but_not_none() -> None:
    assert judged("ob_reader", 2, 3, "sync", gives=b"c").failure is None
    assert judged("ob_reader", 2, 3, "sync", gives=b"").failure is not None
