"""Calls of PyArrow's filesystems, and their spelling."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyarrow import fs

from fscontract import check
from fscontract.contract.generate.filesystem_calls import programs
from fscontract.contract.program.filesystem_calls import ARROW_OPERATIONS, OTHER
from fscontract.contract.program.outcome import Kind, Outcome
from fscontract.contract.program.program import Step, resolve_program
from fscontract.contract.runner.result import Verdict
from fscontract.fakes.mutants.correct_arrow import RightArrow, RightArrowFile
from fscontract.implementations.bindings.pyarrow import PyArrowBinding

_DATA = b"abcdef"


def _run(filesystem: Any, op: str, *args: Any) -> Outcome:
    binding = PyArrowBinding(filesystem, "mine", "mine")
    binding.prepare()
    return binding.bind(Step(op, args))(binding.open(binding.create(_DATA)))


@pytest.mark.parametrize(
    ("call", "value"),
    [
        (("pa_read_at", 1, 2), b"bc"),
        (("pa_get_stream", 4, 9), b"ef"),
        (("pa_independent", 1, 3), b"bcd"),
        (("pa_file_position",), b"b"),
        (("pa_read_buffer", 2, None), b"cdef"),
        (("pa_input_stream", 4, 3), _DATA),
        (("pa_compressed", "detect"), OTHER),
        (("pa_size",), 6),
        (("pa_metadata",), True),
        (("pa_info", "file", "path"), True),
        (("pa_info", "file", "size"), 6),
        (("pa_infos", ("other", "missing", "file")), ("File", "NotFound", "File")),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_each_call_has_its_value(call: tuple[Any, ...], value: Any) -> None:
    outcome = _run(RightArrow(), *call)
    assert (outcome.kind, outcome.value) == (Kind.RETURNED, value)


def test_missing_file_is_an_outcome() -> None:
    for opens in ("open_input_file", "open_input_stream"):
        assert _run(RightArrow(), "pa_missing", opens).kind is Kind.NOT_FOUND


def test_information_in_another_order_is_right() -> None:
    class Reversed(RightArrow):
        def get_file_info(self, paths: Any) -> Any:
            found = super().get_file_info(paths)
            return found[::-1] if isinstance(found, list) else found

    outcome = _run(Reversed(), "pa_infos", ("other", "missing"))
    assert outcome.value == ("File", "NotFound")


def test_right_filesystem_satisfies_every_clause() -> None:
    result = check(PyArrowBinding(RightArrow(), "mine", "mine"), clauses=["pyarrow-filesystem"])
    assert {c.outcome for c in result.clauses} == {Verdict.PASS}


def test_file_that_returns_short_buffers_satisfies_the_clauses() -> None:
    class Short(RightArrowFile):
        def read_buffer(self, nbytes: int | None = None) -> Any:
            return super().read_buffer(min(nbytes, 1) if nbytes else nbytes)

    target = PyArrowBinding(RightArrow(Short), "mine", "mine")
    result = check(target, clauses=["arrow.read-buffer"])
    assert {c.outcome for c in result.clauses} == {Verdict.PASS}


def test_local_filesystem_of_pyarrow_misses_one_recommendation(tmp_path: Path) -> None:
    """S19."""
    target = PyArrowBinding(fs.LocalFileSystem(), str(tmp_path), "local")
    result = check(target, clauses=["pyarrow-filesystem"])
    found = {c.clause.id: c.outcome for c in result.clauses if c.outcome is not Verdict.PASS}
    assert found == {"arrow.get-stream.file-position": Verdict.LAX}


def test_every_program_is_spelled_without_an_opened_stream() -> None:
    binding = PyArrowBinding(RightArrow(), "mine", "mine")
    for program in programs(frozenset(ARROW_OPERATIONS)):
        text = binding.spell(resolve_program(program, program.length, 4096))
        assert "fs." in text
        assert "f = " not in text
