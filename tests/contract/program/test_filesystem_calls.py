"""Calls of an fsspec filesystem as parts of programs."""

from __future__ import annotations

import re
from typing import Any

import pytest

from fscontract.contract.generate.filesystem_calls import programs
from fscontract.contract.program.arguments import ProgramError
from fscontract.contract.program.filesystem_calls import (
    FILESYSTEM_OPERATIONS,
    LISTING_OPERATIONS,
    READER_OPERATIONS,
    others_of,
)
from fscontract.contract.program.program import Program, Step

_EVERY = frozenset(FILESYSTEM_OPERATIONS)


def test_programs_of_filesystems_are_data() -> None:
    made = programs(_EVERY)
    assert {step.op for program in made for step in program.steps} == _EVERY
    assert [Program.from_json(program.to_json()) for program in made] == made
    assert len(programs(_EVERY, remote=True)) < 250
    assert len(made) <= 400


@pytest.mark.parametrize("remote", [False, True])
def test_the_first_programs_have_each_operation_once(remote: bool) -> None:
    """So a run on a slow store, which ends early, has tried each call."""
    made = programs(_EVERY, remote)
    first = [program.steps[0].op for program in made[: len(_EVERY)]]
    assert sorted(first) == sorted(_EVERY)
    assert len(set(made)) == len(made)


def test_programs_on_the_only_file_need_no_other() -> None:
    made = programs(_EVERY, fixed=bytes(range(5, 60)))
    assert {program.length for program in made} == {55}
    assert not any(others_of(step.args) for program in made for step in program.steps)
    assert programs(frozenset({"read_byte"})) == []


@pytest.mark.parametrize(("fixed", "is_listed"), [(None, True), (b"alone", False)])
def test_the_directory_of_the_only_file_is_not_listed(fixed: bytes | None, is_listed: bool) -> None:
    """A server of files may have no listings."""
    every = frozenset(LISTING_OPERATIONS)
    called = {step.op for program in programs(every, fixed=fixed) for step in program.steps}
    assert ("fs_entry" in called) is is_listed


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (["fs_cat_file", "x", 1], "begin: expected a whole number, an anchor or null, got 'x'"),
        (["fs_cat_ranges", ["file"], [None], 1, "raise"], "begins: expected a whole number, or"),
        (["fs_cat", ["nowhere"], "raise"], "paths: expected a list of file, other, missing"),
        (["fs_cat", "file", "skip"], "on_error: expected 'default' or 'raise' or 'return'"),
        (["fs_read_block", 0, 1, "zz"], "delimiter: expected hexadecimal bytes, got 'zz'"),
        (["fs_text", "file", "read", "utf-7", "strict", None], "encoding: expected 'utf-8' or"),
    ],
    ids=lambda value: str(value[0]) if isinstance(value, list) else "",
)
def test_invalid_arguments_are_named(call: list[Any], expected: str) -> None:
    with pytest.raises(ProgramError, match=re.escape(expected)):
        Step.from_json(call)


@pytest.mark.parametrize("remote", [False, True])
def test_each_format_has_a_largest_file_that_is_the_same_with_every_seed(remote: bool) -> None:
    """So a bug that needs several blocks is found with every seed."""
    readers = frozenset(READER_OPERATIONS)
    first, second = ({*programs(readers, remote, seed=seed)} for seed in (1, 2))
    largest = max(p.steps[0].args[1] for p in first)
    common = [p.steps[0] for p in first & second]
    assert {step.op for step in common} == readers
    assert {step.args[1] for step in common} == {largest}
    assert first != second
