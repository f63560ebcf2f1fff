"""Odd calls of a builder give way to ordinary ones where they do not matter."""

from __future__ import annotations

from typing import Any

import pytest

from fscontract.contract.api.openfile_options import (
    BUFFER_SIZE,
    FOOTER_CACHE,
    LENGTH,
    PREFIX,
    READ_POLICY,
    SPLIT_END,
    option_table,
)
from fscontract.contract.generate import open_arguments
from fscontract.contract.program.open_calls import Opening
from fscontract.contract.program.program import Program, Step
from fscontract.contract.runner.shrink import plainer, shrink


def plainest(*calls: tuple[Any, ...]) -> tuple[tuple[Any, ...], ...]:
    """Return the simplest form of the calls."""
    for _ in range(100):
        better = next(plainer(calls), None)
        if better is None:
            return calls
        calls = better
    raise AssertionError(f"no end: {calls!r:.200}")


@pytest.mark.parametrize(
    ("call", "plain"),
    [
        (("must", LENGTH, " 7 "), ("must_long", LENGTH, 0)),
        (("opt_double", SPLIT_END, 1.8), ("opt_long", SPLIT_END, 0)),
        (("opt_long", LENGTH, "len-1"), ("opt_long", LENGTH, 0)),
        (("opt_long", LENGTH, -1), ("opt_long", LENGTH, 0)),
        (("must", READ_POLICY, "nonsense"), ("must", READ_POLICY, "default")),
        (("opt", READ_POLICY, "a, Random"), ("opt", READ_POLICY, "default")),
        (("opt", FOOTER_CACHE, "maybe"), ("opt", FOOTER_CACHE, True)),
        (("opt", FOOTER_CACHE, "false"), ("opt", FOOTER_CACHE, False)),
        (("buffer_size", 16), ("opt_long", BUFFER_SIZE, 0)),
        (("must_double", "no.key", 7.5), ("must", "no.key", "1")),
        (("opt", "\0", "1"), ("opt", open_arguments.UNKNOWN, "1")),
        (("must", "fscontract.no-such-option", 1), ("must", open_arguments.UNKNOWN, "1")),
        (("opt", PREFIX + "unknown", "1"), ("opt", PREFIX + "unknown", "1")),
        (("with_file_status", "scheme", "len-1"), ("with_file_status", "own", None)),
        (("with_file_status", "name-subclass", 4), ("with_file_status", "name", None)),
        (("with_file_status", "none", None), ("with_file_status", "none", None)),
        (("opt", None, "1"), ("opt", None, "1")),
        (("opt", LENGTH, None), ("opt", LENGTH, None)),
    ],
    ids=str,
)
def test_a_call_becomes_an_ordinary_one(call: tuple[Any, ...], plain: tuple[Any, ...]) -> None:
    assert plainest(call) == (plain,)


def test_a_mandatory_call_becomes_optional_only_beside_optional_ones() -> None:
    """Alone it stays, for the two ways are different clauses."""
    must, opt = ("must_long", LENGTH, 0), ("opt", "no.key", "1")
    assert plainest(must) == (must,)
    assert plainest(must, opt) == (("opt_long", LENGTH, 0), opt)


@pytest.mark.parametrize("key", [*sorted(option_table().options), open_arguments.UNKNOWN])
def test_no_value_is_made_plainer_for_ever(key: str) -> None:
    """Shrinking would use all its runs up."""
    for call in (
        *open_arguments.values(key),
        *open_arguments.numbers(key),
        *open_arguments.by_every_method(key),
    ):
        plainest(call)


def test_a_failing_program_keeps_the_odd_value_that_it_fails_for() -> None:
    def blank_fails(program: Program) -> bool:
        opening = program.opening
        return opening is not None and any(" " in str(c[-1]) for c in opening.calls)

    calls = (("must", LENGTH, " 7 "), ("must", SPLIT_END, "9"))
    program = Program(5, (Step("read_byte"),), opening=Opening("file", calls))
    small = shrink(program, blank_fails)
    assert small == Program(0, (), opening=Opening("file", (("must", LENGTH, " 7 "),)))
