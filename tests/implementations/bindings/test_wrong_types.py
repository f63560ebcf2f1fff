"""Tests that results count as bytes or lists only if they have a compatible type."""

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
    """An fsspec file and filesystem: every read returns the same object."""

    closed, path = False, "/file"

    def __init__(self, found: Any) -> None:
        self._found = found
        self.file = self

    def read(self, *_: Any, **__: Any) -> Any:
        """Return the object."""
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
def test_wrong_type_instead_of_bytes_is_another_outcome(found: Any) -> None:
    """Never EOF, and never as many zero bytes as a number says."""
    kinds = [outcome.kind for outcome in _outcomes(found)]
    assert kinds == [Kind.OTHER] * len(kinds)


def test_the_outcome_names_the_type() -> None:
    """And the expected type."""
    assert str(_outcomes(4)[0]) == snapshot("OTHER (WrongType: expected bytes, got int)")


@pytest.mark.parametrize("found", _RIGHT, ids=lambda found: type(found).__name__)
def test_bytes_like_objects_are_accepted(found: Any) -> None:
    """Of any class."""
    buffers = [(outcome.kind, outcome.buffer) for outcome in _outcomes(found)]
    assert buffers == [(Kind.RETURNED, b"\2\3\4\5")] * len(buffers)


@pytest.mark.parametrize("found", [None, 4, "ab", object()], ids=lambda x: type(x).__name__)
def test_wrong_type_instead_of_a_list_is_another_outcome(found: Any) -> None:
    """For a vectored read, and for lines."""
    opened = _Opened(found)
    outcomes = [
        bind_vectored(_VECTORED, lambda o, *_: o.read(), _fail)(opened),
        bind_ranges(_VECTORED, opened, raised)(opened),
        bind_python(Step("py_readlines", (None,)), lambda o: o)(opened),
    ]
    assert [outcome.kind for outcome in outcomes] == [Kind.OTHER] * 3


def test_part_with_a_wrong_type_is_a_separate_outcome() -> None:
    """Other parts of a vectored read are unaffected; a list of lines is wrong as a whole."""
    opened = _Opened([b"\2\3", 2])
    assert bind_vectored(_VECTORED, lambda o, *_: o.read(), _fail)(opened).kind is Kind.OTHER
    outcome = bind_ranges(_VECTORED, opened, raised)(opened)
    assert [part.kind for part in outcome.value] == [Kind.RETURNED, Kind.OTHER]
