"""Tables of calls whose results do not depend on a stream."""

from __future__ import annotations

from typing import Any

import pytest

from fscontract.contract.models.acceptor import judge_all
from fscontract.contract.models.filesystem_rules import (
    MISSING,
    Rule,
    RuleTable,
    operations,
    right_values,
)
from fscontract.contract.models.stream_state import Failure, opened
from fscontract.contract.models.transition_table import Accepted, Call
from fscontract.contract.program.outcome import Kind, Outcome, returned
from fscontract.contract.program.program import Step
from tests.contract.models.without_stream_calls import judged

_DATA = b"abc"


def _size(data: bytes) -> Rule:
    return Rule("filesystem.size", (len(data), None))


def _exists(data: bytes) -> Rule:
    return Rule("filesystem.exists.file", (True,))


def _head(data: bytes, count: int) -> Rule:
    return Rule("filesystem.head.past-end", (data[:count],), MISSING, should=True)


_TABLE: RuleTable = {
    "fs_size": (_size, ("filesystem.size",)),
    "fs_exists": (_exists, ("filesystem.exists.file",)),
    "fs_head": (_head, ("filesystem.head.past-end",)),
}


def _judged(op: str, outcome: Outcome, *args: Any, data: tuple[bytes, ...] = (_DATA,)) -> Any:
    state = opened(data[0])._replace(versions=data)
    call = Call(op, args, state, frozenset())
    (row,) = operations(_TABLE)[op].rows
    assert row.when(call)
    return row.accept(call, outcome)


def test_value_of_the_rule_is_right_and_another_fails_its_clause() -> None:
    assert isinstance(_judged("fs_size", returned(3)), Accepted)
    failed = _judged("fs_size", returned(4))
    assert isinstance(failed, Failure)
    assert (failed.clause, failed.aspect) == ("filesystem.size", "value")


def test_one_is_not_true() -> None:
    assert isinstance(_judged("fs_exists", returned(1)), Failure)
    assert isinstance(_judged("fs_exists", returned(True)), Accepted)


def test_wrong_result_of_an_optional_rule_is_missed() -> None:
    missed = _judged("fs_head", returned(b"x"), 2)
    assert missed.missed == ("filesystem.head.past-end",)
    assert _judged("fs_head", Outcome(Kind.NOT_FOUND), 2).missed == ()


def test_each_content_of_a_changed_file_is_right() -> None:
    for value in (3, 1):
        assert isinstance(_judged("fs_size", returned(value), data=(_DATA, b"x")), Accepted)


def test_right_values_are_those_of_the_rule() -> None:
    state = opened(_DATA)
    assert right_values(_TABLE, Step("fs_size"), state) == (3, None)
    assert right_values(_TABLE, Step("seek", (0,)), state) == ()


def test_acceptor_uses_the_tables_of_every_api() -> None:
    judged = judge_all("fs_size", (), (opened(_DATA),), frozenset(), returned(7))
    assert judged.failure is not None


#: Calls whose right results the documentation recommends, with the clauses of invented bytes.
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
