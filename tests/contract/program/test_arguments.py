"""Arguments are numbers, or anchors that fit any file."""

from __future__ import annotations

import pytest

from fscontract.contract.program.arguments import (
    Argument,
    is_anchor,
    is_number,
    plain,
    resolve,
    show,
    tuples,
)


@pytest.mark.parametrize("text", ["len", "buf", "max", "len-1", "buf+4096"])
def test_anchor_is_a_number(text: str) -> None:
    assert is_anchor(text)
    assert is_number(text)


@pytest.mark.parametrize("value", ["end", "len-", "len-x", "len\n", "1", "LEN", None, 1])
def test_other_value_is_not_an_anchor(value: Argument) -> None:
    assert not is_anchor(value)


@pytest.mark.parametrize("value", [True, 1.0, None, "1"])
def test_only_ints_and_anchors_are_numbers(value: Argument) -> None:
    assert is_number(1)
    assert not is_number(value)


@pytest.mark.parametrize(
    ("anchor", "number"),
    [("len", 100), ("len-1", 99), ("buf+2", 66), ("max", 2**63 - 1), ("max+1", 2**63)],
)
def test_anchor_resolves_to_an_offset_of_the_file(anchor: str, number: int) -> None:
    assert resolve(anchor, length=100, buffer=64) == number


def test_anchors_inside_tuples_are_resolved() -> None:
    assert resolve((("len-4", 4), None), 100, 64) == ((96, 4), None)


def test_text_that_is_not_an_anchor_stays() -> None:
    assert resolve("in:unbuffer", 100, 64) == "in:unbuffer"


def test_lists_of_json_become_tuples_and_lists_again() -> None:
    data = [[0, 4], [8, None]]
    assert tuples(data) == ((0, 4), (8, None))
    assert plain(tuples(data)) == data


@pytest.mark.parametrize(
    ("value", "text"),
    [("len-1", "len-1"), ("heap", "'heap'"), (((0, "len"), None), "[[0, len], None]"), (7, "7")],
)
def test_argument_is_shown_with_bare_anchors_and_quoted_text(value: Argument, text: str) -> None:
    assert show(value) == text
