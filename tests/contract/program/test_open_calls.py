"""Openings as data: their text, their JSON, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import pytest
from inline_snapshot import snapshot

from fscontract.contract.program.arguments import ProgramError
from fscontract.contract.program.open_calls import METHODS, SCENES, Opening

OPENING = Opening(
    "file",
    (("opt", "a.key", "len"), ("must_long", "b.key", "len-1"), ("with_file_status", "own", "len")),
)


def test_opening_survives_json() -> None:
    assert Opening.from_json(OPENING.to_json()) == OPENING


def test_anchors_of_numbers_are_resolved_and_text_stays() -> None:
    assert OPENING.resolved(10, 64).calls == (
        ("opt", "a.key", "len"),
        ("must_long", "b.key", 9),
        ("with_file_status", "own", 10),
    )


@pytest.mark.parametrize("text", ["inf", "-inf"])
def test_infinity_is_resolved_to_a_float(text: str) -> None:
    opening = Opening("file", (("opt_double", "a.key", text),))
    assert math.isinf(opening.resolved(10, 64).calls[0][2])


def test_text_of_an_opening_is_an_expression() -> None:
    opening = Opening("file", (("opt", "a.key", "text"), ("must_long", "b.key", "len-1")))
    assert opening.text(10) == (
        "open_file(10 bytes).opt('a.key', 'text').must_long('b.key', len-1).build()"
    )


def test_text_of_a_missing_file_names_the_scene() -> None:
    assert "open_file(missing)" in Opening("missing").text(10)


def test_long_values_are_cut_in_the_text() -> None:
    opening = Opening("file", (("opt", "k", "x" * 1000), ("opt_long", "k", 10**1000)))
    text = opening.text(10)
    assert "(1000 characters)" in text
    assert "(3322 bits)" in text
    assert len(text) < 200


MESSAGES = {
    "not an object": [],
    "calls that are no list": {"calls": 1},
    "unknown file": {"file": "socket"},
    "unknown method": {"calls": [["set", "k", "v"]]},
    "missing argument": {"calls": [["opt", "k"]]},
    "key that is a number": {"calls": [["opt", 7, "v"]]},
    "number that is text": {"calls": [["opt_long", "k", "seven"]]},
    "unknown status": {"calls": [["with_file_status", "mine", None]]},
}


def message(data: Any) -> str:
    """Return why an opening is refused."""
    with pytest.raises(ProgramError) as caught:
        Opening.from_json(data)
    return str(caught.value)


@pytest.mark.parametrize("data", MESSAGES.values(), ids=MESSAGES)
def test_refusal_of_an_opening_names_the_place(data: Any) -> None:
    assert message(data).startswith("open: ")


def test_refusals_of_openings_say_what_is_allowed() -> None:
    assert {name: message(data) for name, data in MESSAGES.items()} == snapshot(
        {
            "not an object": "open: expected an object with file and calls",
            "calls that are no list": "open: expected an object with file and calls",
            "unknown file": (
                "open: file must be file or late or missing or directory or unreadable or "
                "foreign, got 'socket'"
            ),
            "unknown method": (
                "open: call 1: expected a list that starts with opt or must or opt_long or "
                "must_long or opt_double or must_double or buffer_size or with_file_status"
            ),
            "missing argument": "open: call 1: opt takes key, value; got 1 arguments",
            "key that is a number": "open: call 1: opt key: expected text or null, got 7",
            "number that is text": (
                "open: call 1: opt_long number: expected a whole number or "
                "an anchor like 'len-1', got 'seven'"
            ),
            "unknown status": (
                "open: call 1: with_file_status status: expected none or "
                "own or parents or scheme or subclass "
                "or located or name or name-subclass or stale, got 'mine'"
            ),
        }
    )


def test_all_methods_and_scenes_are_accepted() -> None:
    values = {"key": "k", "value": "v", "number": 1, "real": 1.0, "status": "own", "length": None}
    calls = [[method, *(values[name] for name in names)] for method, names in METHODS.items()]
    for scene in SCENES:
        assert len(Opening.from_json({"file": scene, "calls": calls}).calls) == len(METHODS)
