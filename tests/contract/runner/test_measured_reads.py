"""Tests of the sizes that a target states or shows, and of the time that its reads take."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import fscontract
from fscontract.contract.generate.listed_calls import Call
from fscontract.contract.generate.sizes import LARGE, Pace
from fscontract.contract.runner import measured_reads, phases
from fscontract.contract.runner.context import RunContext
from fscontract.contract.runner.executor import Executor
from fscontract.contract.runner.measured_reads import OF_VECTORED, learn, pace_of_reads, stated
from fscontract.contract.runner.result import Boundary
from fscontract.contract.runner.runner import check
from fscontract.contract.runner.time_budget import HangTime
from fscontract.fakes.filesystem.filesystem import FakeBinding, FakeFileSystem
from fscontract.implementations.bindings.fsspec import FsspecBinding
from fscontract.implementations.memory import MemoryInputStream
from tests.contract.runner.conftest import MakeExecutor, binding_of, settings_for
from tests.unusual import streams


class Stated(MemoryInputStream):
    """It states the size of its blocks."""

    block_size = 12_345


class Secretive:
    """Looking at it raises an error."""

    @property
    def block_size(self) -> int:
        """Raise an error that is not an AttributeError."""
        raise RuntimeError("not yet")


class Cache:
    """A cache with pages."""

    def __init__(self) -> None:
        self.page_size = 777


class Layered:
    """A file over a raw one, with a cache; it refers to itself, too."""

    def __init__(self) -> None:
        self.raw = self
        self.cache = Cache()
        self._buffer_size = 5_000
        self.chunk_size = "large"
        self.blocks = 9


def sizes(found: tuple[Boundary, ...]) -> list[int]:
    """Return the sizes alone."""
    return [boundary.size for boundary in found]


def test_attributes_of_a_stream_and_of_what_is_below_it_state_sizes() -> None:
    found = dict(stated(Layered()))
    assert found == {5_000: "_buffer_size of Layered", 777: "page_size of Cache"}


def test_attributes_that_raise_state_nothing() -> None:
    assert stated(Secretive()) == []


def test_what_a_stream_states_comes_first_and_what_is_usual_is_added(
    executor: MakeExecutor,
) -> None:
    found = learn(executor(Stated), 64)
    assert found[0] == Boundary(12_345, "block_size of Stated")
    assert {64, io.DEFAULT_BUFFER_SIZE} <= set(sizes(found))


def test_a_size_is_listed_once(executor: MakeExecutor) -> None:
    found = sizes(learn(executor(Stated), 12_345))
    assert found.count(12_345) == 1


def test_sizes_that_no_file_reaches_are_left_out(executor: MakeExecutor) -> None:
    class Huge(MemoryInputStream):
        block_size = 1 << 40

    assert 1 << 40 not in sizes(learn(executor(Huge), 64))


def test_requests_that_an_injector_sees_show_a_size() -> None:
    binding = FakeBinding(FakeFileSystem())
    binding.prepare()
    try:
        found = learn(Executor(binding, frozenset(), 64), 64)
    finally:
        binding.dispose()
    assert "size of a request" in {boundary.source for boundary in found}


def test_a_target_that_can_not_be_read_has_the_usual_sizes(executor: MakeExecutor) -> None:
    class Broken(MemoryInputStream):
        def read_byte(self) -> int:
            raise OSError("no")

        def __init__(self, *arguments: Any) -> None:
            raise OSError("not even opened")

    assert {64, io.DEFAULT_BUFFER_SIZE} <= set(sizes(learn(executor(Broken), 64)))


def test_a_result_has_the_boundaries_and_reports_name_them() -> None:
    result = check(binding_of(Stated), settings_for("seek.pos"))
    assert Boundary(12_345, "block_size of Stated") in result.boundaries
    assert {"size": 12_345, "source": "block_size of Stated"} in result.to_dict()["boundaries"]


@pytest.mark.parametrize("block", [0, -5, True, 3.5])
def test_what_can_not_be_a_size_is_left_out(executor: MakeExecutor, block: Any) -> None:
    odd: Any = type("Odd", (MemoryInputStream,), {"block_size": block})
    assert block not in [size for size in sizes(learn(executor(odd), 64)) if size != 1]


def test_distances_of_vectored_reads_are_asked_for() -> None:
    """Hadoop's streams have methods for them; a method that fails states nothing."""

    def fails() -> int:
        raise OSError("closed")

    methods = {"minSeekForVectorReads": lambda: 3000, "maxReadSizeForVectorReads": fails}
    stream = SimpleNamespace(**methods)
    assert stated(stream) == [(3000, f"{OF_VECTORED}minSeekForVectorReads of SimpleNamespace")]


def test_a_stream_with_a_byte_at_a_time_does_not_hang_on_the_large_file() -> None:
    result = fscontract.check(streams.target(streams.OneByteAtATime), clauses=["read-fully.data"])
    assert result.conforms


def pace_of_lines(
    monkeypatch: pytest.MonkeyPatch, seconds: Callable[[int], float], at_once: float = 0.0
) -> float:
    """Return the pace of lines that a run measures, if those of N bytes take `seconds(N)`.

    Each other read takes `at_once`, in seconds.
    """
    passed, paces = [0.0], list[Pace]()

    class Timed(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            passed[0] += at_once
            return super().read(size)

        def readlines(self, hint: int | None = -1, /) -> list[bytes]:
            lines = super().readlines(hint)
            passed[0] += seconds(sum(map(len, lines)))
            return lines

    def measured(context: RunContext) -> Pace:
        with monkeypatch.context() as patch:
            patch.setattr(measured_reads, "clock", SimpleNamespace(monotonic=lambda: passed[0]))
            paces.append(pace_of_reads(context))
        return paces[0]

    monkeypatch.setattr(phases, "pace_of_reads", measured)
    fscontract.check(
        fscontract.PythonFileBinding(lambda path: Timed(Path(path).read_bytes()), None, "timed"),
        clauses=["python.readlines.all", "python.read.all"],
    )
    return paces[0].lines


@pytest.mark.parametrize("pace", [1e-9, 1e-7, 1e-3])
def test_lines_have_the_pace_of_those_that_are_timed(
    pace: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert pace_of_lines(monkeypatch, lambda count: pace * count) == pytest.approx(pace)


def test_no_long_line_is_timed_that_a_slow_stream_reads_byte_by_byte(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(HangTime, "bytes_in_time", 100)
    pace = pace_of_lines(monkeypatch, lambda count: 4.0 if count == 8 else 60.0, at_once=0.5)
    assert pace == pytest.approx(0.5)


def test_lines_of_a_slow_stream_with_a_buffer_are_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HangTime, "bytes_in_time", 100)
    assert pace_of_lines(monkeypatch, lambda count: 0.5, at_once=0.5) == pytest.approx(0.5 / 4_097)


def test_lines_that_take_longer_the_more_there_are_are_not_read_in_the_large_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A file may look for each line in a copy of all bytes that are left."""
    pace = Pace(lines=pace_of_lines(monkeypatch, lambda count: 2e-12 * count * count))
    assert (pace.allows(131_073), pace.allows(LARGE)) == (True, False)


def test_no_read_of_another_length_is_timed_on_a_given_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its length is given, however long such a read takes."""
    given, lengths, seconds = tmp_path / "given", list[int](), measured_reads._seconds
    given.write_bytes(b"a line\n" * 99)

    def timed(context: RunContext, length: int, call: Call) -> list[float]:
        lengths.append(length)
        return seconds(context, length, call)

    monkeypatch.setattr(measured_reads, "_seconds", timed)
    binding = FsspecBinding.from_url(f"file://{tmp_path}", {}, file="given", content=given)
    fscontract.check(binding, clauses=["python.readlines.all"], budget=5)
    assert {*lengths} == {given.stat().st_size}
