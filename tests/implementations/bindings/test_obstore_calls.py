"""Calls of obstore's stores, and their spelling."""

from __future__ import annotations

from typing import Any

import pytest

from fscontract import check
from fscontract.contract.generate.filesystem_calls import programs
from fscontract.contract.program.filesystem_calls import OBSTORE_OPERATIONS
from fscontract.contract.program.outcome import Kind, Outcome
from fscontract.contract.program.program import Step, resolve_program
from fscontract.contract.runner.result import Verdict
from fscontract.contract.targets import resolve_target
from fscontract.fakes.mutants.correct_stores import (
    RightReader,
    RightResult,
    RightStore,
    RightStoreBinding,
    RightStream,
)

_DATA = b"abcdef"
_WAITS = pytest.mark.parametrize("waits", ["sync", "async"])


def _run(op: str, *args: Any) -> Outcome:
    binding = RightStoreBinding(RightStore(), "mine")
    binding.prepare()
    return binding.bind(Step(op, args))(binding.open(binding.create(_DATA)))


@_WAITS
@pytest.mark.parametrize(
    ("call", "value"),
    [
        (("ob_get", None, None), _DATA),
        (("ob_get", 2, None), b"cdef"),
        (("ob_get", 1, 3), b"bc"),
        (("ob_get_suffix", 2), b"ef"),
        (("ob_get_result", 1, 3, "range"), (1, 3)),
        (("ob_get_result", 1, 3, "size"), 6),
        (("ob_stream", 4), _DATA),
        (("ob_get_range", 1, 3, "length"), b"bc"),
        (("ob_get_ranges", (3, 0), (4, 2), "length"), (b"d", b"ab")),
        (("ob_get_ranges", (3, 0), (4, 2), "apart"), (b"d", b"ab")),
        (("ob_head",), 6),
        (("ob_reader", 2, 3), b"cde"),
        (("ob_reader", 2, None), b"cdef"),
        (("ob_reader_size",), 6),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) and value else "",
)
def test_each_call_has_its_value(call: tuple[Any, ...], value: Any, waits: str) -> None:
    outcome = _run(*call, waits)
    assert (outcome.kind, outcome.value) == (Kind.RETURNED, value)


@_WAITS
@pytest.mark.parametrize("method", ["get", "head", "get_range", "open_reader"])
def test_missing_object_is_an_outcome(method: str, waits: str) -> None:
    assert _run("ob_missing", method, waits).kind is Kind.NOT_FOUND


def test_short_chunk_before_the_last_one_is_wrong() -> None:
    class Halves(RightResult):
        def stream(self, min_chunk_size: int) -> RightStream:
            return super().stream(max(min_chunk_size // 2, 1))

    binding = RightStoreBinding(RightStore(result_class=Halves), "mine")
    binding.prepare()
    opened = binding.open(binding.create(_DATA))
    outcome = binding.bind(Step("ob_stream", (4, "sync")))(opened)
    assert "expected chunks of 4 bytes, got [2, 2, 2]" in outcome.detail


@pytest.mark.parametrize("target", ["right", "obstore+memory:///"])
def test_right_store_and_that_of_memory_satisfy_every_clause(target: str) -> None:
    binding: Any = RightStoreBinding(RightStore(), "mine")
    binding = binding if target == "right" else resolve_target(target, {})
    result = check(binding, clauses=["obstore-store"])
    assert {c.outcome for c in result.clauses} == {Verdict.PASS}


def test_reader_that_returns_single_bytes_satisfies_the_clauses() -> None:
    class Short(RightReader):
        def read(self, size: int | None = -1, /) -> bytes:
            return super().read(min(size, 1) if size is not None and size > 0 else size)

    binding = RightStoreBinding(RightStore(reader_class=Short), "mine")
    result = check(binding, clauses=["store.reader"])
    assert {c.outcome for c in result.clauses} == {Verdict.PASS}


def test_every_program_is_spelled_as_a_call_of_the_store() -> None:
    binding = RightStoreBinding(RightStore(), "mine")
    for program in programs(frozenset(OBSTORE_OPERATIONS)):
        text = binding.spell(resolve_program(program, program.length, 4096))
        assert "store." in text
        assert "@" not in text
        assert ("await " in text) == (program.steps[0].args[-1] == "async")
