"""Rules of fsspec filesystems that read without a stream."""

from __future__ import annotations

import io
from typing import Any

import pytest

from fscontract.contract.models.acceptor import judge_all
from fscontract.contract.models.fsspec_filesystem import TABLES
from fscontract.contract.models.stream_state import Judgement, opened
from fscontract.contract.models.without_stream import right_values
from fscontract.contract.program.filesystem_calls import COPIES, GZIPPED, OTHER, TREE_FILES
from fscontract.contract.program.outcome import Kind, Outcome, returned
from fscontract.contract.program.program import Step
from fscontract.contract.spec.clauses import Level, clauses

_DATA = b"ab,cd,ef"
_MISSING = Outcome(Kind.NOT_FOUND)


def _judged(op: str, *args: Any, gives: Any = None, raises: Kind | None = None) -> Judgement:
    outcome = returned(gives) if raises is None else Outcome(raises)
    return judge_all(op, args, (opened(_DATA),), frozenset({"fsspec-filesystem"}), outcome)


@pytest.mark.parametrize(
    ("what", "clause"),
    [
        ("filesystem", "other-process"),
        ("open file", "open-file-other-process"),
        ("compressed open file", "compressed-other-process"),
    ],
)
def test_another_process_reads_the_same_bytes(what: str, clause: str) -> None:
    _assert_pickled("fs_other_process", what, clause)


@pytest.mark.parametrize(
    ("what", "clause"),
    [
        ("filesystem", "filesystem"),
        ("open file", "open-file"),
        ("compressed open file", "compressed"),
    ],
)
def test_pickled_copy_reads_the_same_bytes(what: str, clause: str) -> None:
    _assert_pickled("fs_pickle", what, clause)


def _assert_pickled(op: str, what: str, clause: str) -> None:
    right = OTHER if what == "compressed open file" else _DATA
    assert _judged(op, what, gives=right).missed == ()
    for wrong in (
        _judged(op, what, gives=b"a"),
        _judged(op, what, gives=GZIPPED),
        _judged(op, what, raises=Kind.OTHER),
    ):
        assert wrong.missed == (f"filesystem.pickle.{clause}",)


@pytest.mark.parametrize(
    ("begin", "end", "clause"),
    [
        (None, None, "whole"),
        (2, 5, "range"),
        (3, 3, "range"),
        (2, None, "one-limit"),
        (None, 0, "one-limit"),
        (-3, None, "negative"),
        (0, -99, "negative"),
        (6, 9, "past-end"),
        (8, None, "past-end"),
        (5, 2, "reversed"),
        (-1, -4, "reversed"),
    ],
)
def test_cat_file_is_a_slice_and_names_its_limits(
    begin: int | None, end: int | None, clause: str
) -> None:
    name = f"filesystem.cat-file.{clause}"
    for op in ("fs_cat_file", "fs_read_bytes"):
        right = _judged(op, begin, end, gives=_DATA[begin:end])
        assert (right.exercised, right.missed) == ((name,), ())
        wrong = _judged(op, begin, end, gives=_DATA[3:4])
        charged = wrong.missed[0] if wrong.failure is None else wrong.failure.clause
        assert charged == name


@pytest.mark.parametrize(("op", "part"), [("head", slice(1024)), ("tail", slice(-1024, None))])
def test_ends_without_a_size_are_of_1024_bytes(op: str, part: slice) -> None:
    long = bytes(range(256)) * 5
    assert right_values(Step(f"fs_{op}", (None,)), opened(long)) == (long[part],)


def test_read_text_returns_what_read_of_a_file_returns() -> None:
    whole = ("ab,cd,ef",)
    for way in ("read", "read_text"):
        right = _judged("fs_text", "file", way, "utf-8", "strict", None, gives=whole)
        assert right.exercised == ("filesystem.text.read",)


@pytest.mark.parametrize(
    ("begin", "end", "clause"), [(0, 2, "positional"), (3, 3, "range"), (5, 2, "reversed")]
)
def test_only_a_proper_range_is_charged_to_its_positional_arguments(
    begin: int, end: int, clause: str
) -> None:
    right = _judged("fs_cat_file_positional", begin, end, gives=_DATA[begin:end])
    assert (right.exercised, right.missed) == ((f"filesystem.cat-file.{clause}",), ())


@pytest.mark.parametrize(
    ("at", "count", "right", "wrong"),
    [
        (0, 1, [b"ab,"], [b"a", b"ab"]),
        (1, 3, [b"cd,"], [b"b,c", b"cd", b",cd,"]),
        (3, 2, [b"cd,", b""], [b"cd"]),
        (4, 99, [b"ef"], [b"d,ef", b",ef"]),
        (0, None, [_DATA], [b"cd,ef"]),
        (7, 1, [b""], [b"f"]),
        (0, 0, [b"", b"ab,"], [b"a"]),
    ],
)
def test_blocks_begin_and_end_behind_delimiters(
    at: int, count: int | None, right: list[bytes], wrong: list[bytes]
) -> None:
    delimiter = b",".hex()
    for block in right:
        assert _judged("fs_read_block", at, count, delimiter, gives=block).failure is None
    for block in wrong:
        failure = _judged("fs_read_block", at, count, delimiter, gives=block).failure
        assert failure is not None
        assert failure.clause == "filesystem.read-block.delimiter"


def test_two_blocks_share_each_record_in_one_reading_of_the_limits() -> None:
    delimiter = b",".hex()
    for limit in range(1, len(_DATA)):
        first = _DATA[: _DATA.find(b",", limit) + 1] or _DATA
        first = first if b"," in _DATA[limit:] else _DATA
        second = _DATA[len(first) :]
        assert _judged("fs_read_block", 0, limit, delimiter, gives=first).failure is None
        assert _judged("fs_read_block", limit, None, delimiter, gives=second).failure is None


def test_results_of_ranges_are_in_the_order_of_the_arguments() -> None:
    asked = ("file", "other", "file"), (3, 0, 0), (5, 2, 2), "default"
    right = _DATA[3:5], OTHER[:2], _DATA[:2]
    assert _judged("fs_cat_ranges", *asked, gives=right).exercised == (
        "filesystem.cat-ranges.data",
    )
    failure = _judged("fs_cat_ranges", *asked, gives=right[::-1]).failure
    assert failure is not None
    assert failure.clause == "filesystem.cat-ranges.data"


def test_exception_of_a_range_is_not_its_bytes() -> None:
    asked = ("file", "missing"), (0, 0), (1, 1), "return"
    clause = ("filesystem.cat-ranges.return",)
    assert _judged("fs_cat_ranges", *asked, gives=(_DATA[:1], True)).exercised == clause
    for wrong in ((_DATA[:1], b""), (True, True), (_DATA[:1],)):
        assert _judged("fs_cat_ranges", *asked, gives=wrong).missed == clause


def test_any_exception_of_a_missing_file_ends_cat() -> None:
    asked = ("file", "missing"), "default"
    assert _judged("fs_cat", *asked, raises=Kind.OTHER).failure is None
    failure = _judged("fs_cat", *asked, gives=(("file", _DATA),)).failure
    assert failure is not None
    assert (failure.clause, failure.aspect) == ("filesystem.cat.raise", "accepted")


def test_size_may_be_unknown_and_is_no_truth_value() -> None:
    assert _judged("fs_size", gives=len(_DATA)).failure is None
    assert _judged("fs_size", gives=None).failure is None
    assert _judged("fs_size", gives=len(_DATA) + 1).failure is not None
    assert _judged("fs_exists", "file", gives=1).failure is not None


@pytest.mark.parametrize("newline", [None, "", "\n", "\r", "\r\n"])
def test_text_is_that_of_text_io_wrapper(newline: str | None) -> None:
    lines = tuple(io.TextIOWrapper(io.BytesIO(OTHER), "utf-8", newline=newline))
    asked = "other", "lines", "utf-8", "strict", newline
    assert _judged("fs_text", *asked, gives=lines).exercised == ("filesystem.text.lines",)
    assert _judged("fs_text", *asked, gives=(*lines, "")).failure is not None


def test_optional_rules_are_those_of_should_clauses() -> None:
    for op, table in TABLES.items():
        levels = {clauses()[name].level for name in table.all_clauses}
        assert levels <= {Level.MUST, Level.SHOULD}, op
    missed = _judged("fs_get_leaves", gives=True).missed
    assert clauses()[missed[0]].level is Level.SHOULD


def test_result_after_a_change_may_be_of_either_content() -> None:
    state = opened(_DATA)._replace(versions=(_DATA, b"new"), changed=True)
    for content in (_DATA, b"new"):
        outcome = returned(content)
        judged = judge_all("fs_cat_file", (None, None), (state,), frozenset(), outcome)
        assert judged.failure is None


_ONE, _TWO = TREE_FILES["one"], TREE_FILES["sub/two"]


def _below(directory: str) -> tuple[tuple[str, bytes], ...]:
    names = ("one", _ONE), ("sub/empty", b""), ("sub/two", _TWO)
    return tuple((directory + name, data) for name, data in names)


@pytest.mark.parametrize(
    ("copied", "clause", "files"),
    [
        ("file", "file", (("copy", _DATA),)),
        ("file into directory", "file-into-directory", (("one", _ONE),)),
        ("file into new directory", "file-into-directory", (("new/one", _ONE),)),
        ("lists", "lists", (("first", _TWO), ("second", _DATA))),
        ("list into directory", "list-into-directory", (("one", _ONE), ("two", _TWO))),
        ("directory", "directory", _below("new/")),
        ("directory into directory", "directory", _below("tree/")),
        ("content of directory", "directory", _below("")),
        ("pattern", "glob", (("one", _ONE),)),
    ],
)
def test_copies_have_the_documented_names_and_the_bytes(
    copied: str, clause: str, files: tuple[tuple[str, bytes], ...]
) -> None:
    assert _judged("fs_get", copied, gives=files).exercised == (f"filesystem.get.{clause}",)
    (name, data), *others = files
    for wrong in (((f"{name}x", data), *others), ((name, data + b"x"), *others), ()):
        failure = _judged("fs_get", copied, gives=wrong).failure
        assert failure is not None
        assert failure.clause == f"filesystem.get.{clause}"


@pytest.mark.parametrize("copied", COPIES)
def test_only_a_copy_into_a_new_directory_may_fail(copied: str) -> None:
    failed = _judged("fs_get", copied, raises=Kind.NOT_FOUND).failure is not None
    assert failed == (copied != "file into new directory")


def test_a_missing_path_raises_and_leaves_no_file() -> None:
    assert _judged("fs_get_missing", raises=Kind.NOT_FOUND).missed == ()
    assert _judged("fs_get_missing", gives=False).missed == ("filesystem.get.missing",)
    assert _judged("fs_get_missing_leaves", gives=False).missed == ()
    left = _judged("fs_get_missing_leaves", gives=True)
    assert left.missed == ("filesystem.get.leaves-nothing",)
