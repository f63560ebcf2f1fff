"""Rules of `get` of fsspec filesystems."""

from __future__ import annotations

from typing import Any

import pytest

from fscontract.contract.models.acceptor import judge_all
from fscontract.contract.models.stream_state import Judgement, opened
from fscontract.contract.program.filesystem_calls import COPIES, TREE_FILES
from fscontract.contract.program.outcome import Kind, Outcome, returned

_DATA = b"ab,cd,ef"
_ONE, _TWO = TREE_FILES["one"], TREE_FILES["sub/two"]


def _judged(op: str, *args: Any, gives: Any = None, raises: Kind | None = None) -> Judgement:
    outcome = returned(gives) if raises is None else Outcome(raises)
    return judge_all(op, args, (opened(_DATA),), frozenset({"fsspec-filesystem"}), outcome)


@pytest.mark.parametrize(
    ("copied", "clause", "files"),
    [
        ("file", "file", (("copy", _DATA),)),
        ("file into directory", "file-into-directory", (("one", _ONE),)),
        ("file into new directory", "file-into-directory", (("new/one", _ONE),)),
        ("lists", "lists", (("first", _TWO), ("second", _DATA))),
        ("list into directory", "list-into-directory", (("one", _ONE), ("two", _TWO))),
        ("directory", "directory", (("new/one", _ONE), ("new/sub/two", _TWO))),
        ("directory into directory", "directory", (("tree/one", _ONE), ("tree/sub/two", _TWO))),
        ("content of directory", "directory", (("one", _ONE), ("sub/two", _TWO))),
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
