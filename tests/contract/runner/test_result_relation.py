"""Relations tell two bugs of one listing apart."""

from __future__ import annotations

from typing import Any

import pytest

from fscontract.contract.models.stream_state import opened
from fscontract.contract.program.outcome import Kind, Outcome, returned
from fscontract.contract.program.program import Step
from fscontract.contract.runner.result_relation import call_name, of_result

_NAMES = Step("fs_ls", ("names below",))
_DETAILS = Step("fs_ls", ("details",))
_DIRECTORY = ("sub", "directory", None)


@pytest.mark.parametrize(
    ("step", "value", "expected"),
    [
        (_NAMES, ("sub/deep", "sub/empty", "sub/two"), "without sub/a.b"),
        (_NAMES, ("sub/a.b", "sub/deep"), "without sub/empty, without sub/two"),
        (_NAMES, ("sub/a.b", "sub/deep", "sub/empty", "sub/two", "x"), "with others"),
        (_NAMES, ("sub/a.b", "sub/a.b", "sub/deep", "sub/empty", "sub/two"), "repeated"),
        (_DETAILS, (("one", "file", 1), _DIRECTORY), "other one"),
        (Step("fs_walk", ("1 level",)), (("", (), ("one",)),), "other itself"),
        (Step("fs_walk", ("1 level",)), (), "without itself"),
        (Step("fs_du", ("total",)), 1, "too small"),
        (Step("fs_size"), 9, "too large"),
        (Step("fs_size"), "4", "a str"),
        (
            Step("fs_directory", ("isdir",)),
            (True, False, True, False, False, True),
            "item 2, item 6",
        ),
        (Step("fs_directory", ("isdir",)), (True,), "another length"),
        (Step("fs_many", ("find",)), (1000, 0), "item 1"),
        (Step("fs_directory", ("isfile",)), True, ""),
        (Step("pa_select", ("missing",)), (), ""),
    ],
    ids=str,
)
def test_result_differs_by_its_entries(step: Step, value: Any, expected: str) -> None:
    assert of_result(step, opened(b"data"), returned(value)) == expected


def test_order_is_a_difference_only_of_equal_entries() -> None:
    right = ("first", "second")
    step = Step("fs_listed_again", ("ls",))
    assert of_result(step, opened(b""), returned(right[::-1])) == "in another order"


def test_other_calls_and_exceptions_are_not_compared() -> None:
    assert of_result(Step("fs_cat_file", (None, None)), opened(b""), returned(b"x")) is None
    assert of_result(_NAMES, opened(b""), Outcome(Kind.IO)) is None


def test_a_listing_is_named_by_its_arguments() -> None:
    assert call_name(_NAMES) == "fs_ls names below"
    assert call_name(Step("fs_cat_file", (None, 2))) == "fs_cat_file"
