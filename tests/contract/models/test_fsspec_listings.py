"""Rules of the listings of an fsspec filesystem."""

from __future__ import annotations

from typing import Any

import pytest

from fscontract.contract.models.acceptor import judge_all
from fscontract.contract.models.fsspec_listings import TABLES
from fscontract.contract.models.stream_state import Judgement, opened
from fscontract.contract.models.without_stream import right_values
from fscontract.contract.program.filesystem_calls import LISTED_FILES, LISTING_OPERATIONS, OTHER
from fscontract.contract.program.outcome import Kind, Outcome, returned
from fscontract.contract.program.program import Step

_FILE, _DIRECTORY = ("one", "file", 14), ("sub", "directory", None)
_WALKED = (
    ("", ("sub",), ("one",)),
    ("sub", ("deep",), ("a.b", "empty", "two")),
    ("sub/deep", ("a",), (".three",)),
    ("sub/deep/a", ("b",), ()),
    ("sub/deep/a/b", ("c",), ()),
    ("sub/deep/a/b/c", (), ("six",)),
)
_IN_SUB = ("sub/a.b", "sub/deep", "sub/empty", "sub/two")
_FILES = ("one", "sub/a.b", "sub/deep/.three", "sub/deep/a/b/c/six", "sub/empty", "sub/two")
_SIZES = tuple(zip(_FILES, (14, 5, 1, 9, 0, 10), strict=True))
_SUB = "sub", "sub/deep", "sub/deep/a", "sub/deep/a/b", "sub/deep/a/b/c"
_ALL = tuple(sorted((*_FILES, *_SUB)))

_DETAILS_BELOW = (
    *(("sub/a.b", "file", 5), ("sub/deep", "directory", None)),
    *(("sub/empty", "file", 0), ("sub/two", "file", 10)),
)
_KINDS = (True, True, True, False, False, False)


def _judged(op: str, *args: Any, gives: Any = None, raises: Kind | None = None) -> Judgement:
    outcome = returned(gives) if raises is None else Outcome(raises)
    return judge_all(op, args, (opened(b"data"),), frozenset({"fsspec-filesystem"}), outcome)


@pytest.mark.parametrize(
    ("call", "right", "wrong"),
    [
        (("fs_ls", "names"), ("one", "sub"), ("one", "sub", "sub/two")),
        (("fs_ls", "details"), (_FILE, _DIRECTORY), (("one", "file", 0), _DIRECTORY)),
        (("fs_ls", "names with a slash"), ("one", "sub"), ()),
        (("fs_ls", "names below"), _IN_SUB, _IN_SUB[:1]),
        (("fs_ls", "details below"), _DETAILS_BELOW, _DETAILS_BELOW[1:]),
        (("fs_find", "all levels"), _FILES, _FILES[1:]),
        (("fs_find", "1 level"), ("one",), ("one", "sub/two")),
        (("fs_find", "2 levels"), ("one", "sub/a.b", "sub/empty", "sub/two"), ("one",)),
        (("fs_find", "directories"), _ALL, _FILES),
        (("fs_find", "details"), tuple((n, "file", size) for n, size in _SIZES), ()),
        (("fs_find", "1 level of details"), (_FILE,), (_FILE, _DIRECTORY)),
        (("fs_glob", "*"), ("one", "sub"), ("sub",)),
        (("fs_glob", "**/two"), ("sub/two",), ()),
        (("fs_glob", "sub/*.o"), (), ("sub/two",)),
        (("fs_glob", "*/"), ("sub",), ("one", "sub")),
        (("fs_walk", "all levels"), _WALKED, _WALKED[:1]),
        (("fs_walk", "1 level"), _WALKED[:1], _WALKED),
        (("fs_walk", "2 levels"), _WALKED[:2], _WALKED),
        (("fs_walk", "bottom up"), _WALKED[::-1], _WALKED),
        (("fs_walk", "pruned"), _WALKED[:1], _WALKED),
        (("fs_du", "total"), 39, 14),
        (("fs_du", "files and directories"), _ALL, _FILES),
        (("fs_entry",), ("file", 4), ("file", 0)),
        (("fs_glob_with", "details"), _DETAILS_BELOW, _IN_SUB),
        (("fs_glob_with", "all levels"), _ALL, ("one", "sub")),
        (("fs_glob_with", "1 level"), ("one", "sub"), _ALL),
        (("fs_du", "files"), _SIZES, _SIZES[:1]),
        (("fs_du", "files of 1 level"), _SIZES[:1], _SIZES),
        (("fs_directory", "isdir"), _KINDS, (True, *_KINDS[:-1])),
        (("fs_cat_tree",), tuple(sorted(LISTED_FILES.items())), (("one", b"the first file"),)),
        (("fs_expand", "directory"), ("", *_ALL), ("one",)),
        (("fs_expand", "patterns"), ("one", "sub/a.b", "sub/two"), ("one",)),
        (("fs_listed_again", "ls"), ("first", "second"), ("first",)),
        (("fs_listed_again", "info"), 2, 1),
        (("fs_listed_again", "exists"), (True, False), (True, True)),
        (("fs_many", "find"), (1050, 0), (1000, 0)),
        (("fs_named", "ls", "percent"), ("100%25",), ("100%",)),
        (("fs_named", "info", "words"), ("two words", "file", len(OTHER)), ("", "file", 1)),
        (("fs_named", "cat_file", "plus"), OTHER, b""),
        (("fs_named", "exists", "mixed"), True, False),
        (("fs_time", "of creation"), True, False),
        (("fs_directory", "isfile"), False, True),
        (("fs_directory", "info"), "directory", "file"),
    ],
    ids=lambda value: " ".join(map(str, value))[:40] if isinstance(value, tuple) else "",
)
def test_each_call_has_one_right_result(call: tuple[Any, ...], right: Any, wrong: Any) -> None:
    (clause,) = _judged(*call, gives=right).exercised
    for failed in (_judged(*call, gives=wrong), _judged(*call, raises=Kind.NOT_FOUND)):
        assert failed.failure is not None
        assert failed.failure.clause == clause


def test_glob_may_leave_directories_out() -> None:
    assert _judged("fs_glob", "*", gives=("one",)).failure is None
    files = "sub/a.b", "sub/empty", "sub/two"
    assert _judged("fs_glob", "sub/*", gives=files).failure is None


def test_directory_itself_may_be_found_and_expanded() -> None:
    for call in (("fs_find", "directories"), ("fs_expand", "directory")):
        for found in (_ALL, ("", *_ALL)):
            assert _judged(*call, gives=found).failure is None
    assert _judged("fs_expand", "directory", gives=_FILES).failure is None


def test_a_size_may_be_unknown() -> None:
    entries = ("one", "file", None), _DIRECTORY
    assert _judged("fs_ls", "details", gives=entries).failure is None


def test_every_operation_has_rules_and_right_values() -> None:
    assert TABLES.keys() == LISTING_OPERATIONS.keys()
    assert right_values(Step("fs_walk", ("all levels",)), opened(b"")) == (_WALKED,)
