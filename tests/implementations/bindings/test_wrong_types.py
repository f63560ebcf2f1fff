"""What a call returns counts for bytes, or for a list, only if it is like them."""

from __future__ import annotations

from array import array
from typing import Any

import pytest
from inline_snapshot import snapshot
from obstore import Bytes

from fscontract.contract.program.outcome import Kind, Outcome, raised
from fscontract.contract.program.program import Step
from fscontract.implementations.bindings.file_operations import bind_file, bind_python
from fscontract.implementations.bindings.positioned_reads import (
    bind_pread,
    bind_ranges,
    bind_vectored,
)

_PREAD = Step("pread", (0, 4, 0, 4))
_FULLY = Step("read_fully", (0, 4, 0, 4))
_VECTORED = Step("read_vectored", (((0, 2), (2, 2)), "heap", "absent"))
_WRONG: list[Any] = [None, 4, "text", [1, 2, 3, 4], object(), 2**40]
_RIGHT: list[Any] = [
    b"\2\3\4\5",
    bytearray(b"\2\3\4\5"),
    memoryview(b"\2-\3-\4-\5-")[::2],
    Bytes(b"\2\3\4\5"),
    array("B", b"\2\3\4\5"),
]


class _Opened:
    """A file of fsspec's, and the filesystem that has it: every read returns one thing."""

    closed, path = False, "/file"

    def __init__(self, found: Any) -> None:
        self._found = found
        self.file = self

    def read(self, *_: Any, **__: Any) -> Any:
        """What there is."""
        return self._found

    cat_file = read_block = cat_ranges = readlines = read


def _fail(error: Exception, _: Any = None) -> Outcome:
    return raised(error)


def _outcomes(found: Any) -> list[Outcome]:
    opened = _Opened(found)
    steps = (_PREAD, _FULLY)
    return [
        bind_pread(_PREAD, lambda o, *_: o.read(), _fail)(opened),
        *(bind_ranges(step, opened, raised)(opened) for step in steps),
        bind_file(Step("read_into", (4, 0, 4)), lambda o: o)(opened),
    ]


@pytest.mark.parametrize("found", _WRONG, ids=lambda found: type(found).__name__)
def test_what_is_no_bytes_is_an_outcome_of_another_kind(found: Any) -> None:
    """Never the end of a file, and never as many zero bytes as a number says."""
    kinds = [outcome.kind for outcome in _outcomes(found)]
    assert kinds == [Kind.OTHER] * len(kinds)


def test_the_outcome_names_the_type() -> None:
    """And what was expected in its place."""
    assert str(_outcomes(4)[0]) == snapshot("OTHER (WrongType: expected bytes, got int)")


@pytest.mark.parametrize("found", _RIGHT, ids=lambda found: type(found).__name__)
def test_what_is_like_bytes_will_do(found: Any) -> None:
    """Whatever class it is of."""
    buffers = [(outcome.kind, outcome.buffer) for outcome in _outcomes(found)]
    assert buffers == [(Kind.RETURNED, b"\2\3\4\5")] * len(buffers)


@pytest.mark.parametrize("found", [None, 4, "ab", object()], ids=lambda x: type(x).__name__)
def test_what_is_no_list_is_an_outcome_of_another_kind(found: Any) -> None:
    """Of a vectored read, and of lines."""
    opened = _Opened(found)
    outcomes = [
        bind_vectored(_VECTORED, lambda o, *_: o.read(), _fail)(opened),
        bind_ranges(_VECTORED, opened, raised)(opened),
        bind_python(Step("py_readlines", (None,)), lambda o: o)(opened),
    ]
    assert [outcome.kind for outcome in outcomes] == [Kind.OTHER] * 3


def test_a_part_that_is_no_bytes_is_an_outcome_of_its_own() -> None:
    """The others of a vectored read are what they are; of lists, all of it is wrong."""
    opened = _Opened([b"\2\3", 2])
    assert bind_vectored(_VECTORED, lambda o, *_: o.read(), _fail)(opened).kind is Kind.OTHER
    outcome = bind_ranges(_VECTORED, opened, raised)(opened)
    assert [part.kind for part in outcome.value] == [Kind.RETURNED, Kind.OTHER]
