"""Rules of the listings of an fsspec filesystem."""

from __future__ import annotations

from typing import Any

import pytest

from fscontract.contract.models.acceptor import judge_all
from fscontract.contract.models.fsspec_listings import TABLES
from fscontract.contract.models.stream_state import Judgement, opened
from fscontract.contract.models.without_stream import right_values
from fscontract.contract.program.filesystem_calls import LISTING_OPERATIONS
from fscontract.contract.program.outcome import Kind, Outcome, returned
from fscontract.contract.program.program import Step

_FILE, _DIRECTORY = ("one", "file", 14), ("sub", "directory", None)
_WALKED = (("", ("sub",), ("one",)), ("sub", ("deep",), ("two",)), ("sub/deep", (), (".three",)))


def _judged(op: str, *args: Any, gives: Any = None, raises: Kind | None = None) -> Judgement:
    outcome = returned(gives) if raises is None else Outcome(raises)
    return judge_all(op, args, (opened(b"data"),), frozenset({"fsspec-filesystem"}), outcome)


@pytest.mark.parametrize(
    ("call", "right", "wrong"),
    [
        (("fs_ls", "names"), ("one", "sub"), ("one", "sub", "sub/two")),
        (("fs_ls", "details"), (_FILE, _DIRECTORY), (("one", "file", 0), _DIRECTORY)),
        (("fs_find", "all levels"), ("one", "sub/deep/.three", "sub/two"), ("one", "sub/two")),
        (("fs_find", "1 level"), ("one",), ("one", "sub/two")),
        (("fs_find", "2 levels"), ("one", "sub/two"), ("one",)),
        (("fs_glob", "*"), ("one", "sub"), ("sub",)),
        (("fs_glob", "**/two"), ("sub/two",), ()),
        (("fs_walk",), _WALKED, _WALKED[:1]),
        (("fs_du", True), 25, 14),
        (("fs_du", False), (("one", 14), ("sub/deep/.three", 1), ("sub/two", 10)), 25),
        (("fs_directory", "isdir"), (True, False, False), (True, True, False)),
        (("fs_directory", "isfile"), False, True),
        (("fs_directory", "info"), "directory", "file"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_each_call_has_one_right_result(call: tuple[Any, ...], right: Any, wrong: Any) -> None:
    (clause,) = _judged(*call, gives=right).exercised
    for failed in (_judged(*call, gives=wrong), _judged(*call, raises=Kind.NOT_FOUND)):
        assert failed.failure is not None
        assert failed.failure.clause == clause


def test_glob_may_leave_directories_out() -> None:
    assert _judged("fs_glob", "*", gives=("one",)).failure is None
    assert _judged("fs_glob", "sub/*", gives=("sub/two",)).failure is None


def test_a_size_may_be_unknown() -> None:
    entries = ("one", "file", None), _DIRECTORY
    assert _judged("fs_ls", "details", gives=entries).failure is None


def test_every_operation_has_rules_and_right_values() -> None:
    assert TABLES.keys() == LISTING_OPERATIONS.keys()
    assert right_values(Step("fs_walk"), opened(b"")) == (_WALKED,)
