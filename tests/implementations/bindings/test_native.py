"""Tests of programs on this package's streams."""

from __future__ import annotations

import io
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

import pytest

from fscontract.contract.api.filesystem import Allocate, ByteBuffer, FileRange, Release
from fscontract.contract.binding import TargetError
from fscontract.contract.program.arguments import ProgramError
from fscontract.contract.program.content import content
from fscontract.contract.program.filesystem_calls import WITHOUT_STREAM
from fscontract.contract.program.outcome import FILL, INEXPRESSIBLE, Kind, Outcome, returned
from fscontract.contract.program.program import OF_FILE, OPERATIONS, Step
from fscontract.implementations.bindings.native import StreamBinding, bind_stream
from fscontract.implementations.bindings.range_buffers import RangeBuffers
from fscontract.implementations.memory import MemoryFileSystem

from .conftest import Calls


class Opened:
    """An opened stream whose every method is `call`."""

    def __init__(self, call: Any) -> None:
        self.stream = self
        self.call = call
        self.buffers = RangeBuffers()

    def take_back(self) -> None:
        """Undo nothing: no program follows."""

    def __getattr__(self, name: str) -> Any:
        return self.call


def memory() -> StreamBinding:
    """Return the binding to a new filesystem."""
    return StreamBinding(MemoryFileSystem(), "memory")


def vectored(*ranges: tuple[int, int] | None, allocate: str = "heap") -> Step:
    """Return a vectored read of the ranges."""
    return Step("read_vectored", (ranges, allocate, "absent"))


def answering(*futures: Future[Any] | None) -> Opened:
    """Return a stream whose vectored read sets these futures."""

    def read_vectored(ranges: Sequence[FileRange], *_: Any) -> None:
        for part, future in zip(ranges, futures, strict=True):
            part.data = future

    return Opened(read_vectored)


def done(value: object) -> Future[Any]:
    """Return a completed future."""
    future: Future[Any] = Future()
    future.set_result(value)
    return future


def test_every_operation_except_change_is_implemented() -> None:
    """Our streams implement every operation of programs on streams."""
    assert memory().operations == OPERATIONS.keys() - OF_FILE - WITHOUT_STREAM.keys()


def test_a_read_shows_the_whole_buffer(run: Calls) -> None:
    """Bytes around the window must be unchanged."""
    data = content(5)
    outcome = run(memory(), data, ("read_into", 4, 1, 2))[0]
    assert outcome == returned(2, bytes([FILL]) + data[:2] + bytes([FILL]))


def test_each_call_gets_a_new_buffer(run: Calls) -> None:
    """The next buffer does not contain bytes of an earlier call."""
    outcomes = run(memory(), content(2), ("read_into", 2, 0, 2), ("read_into", 2, 0, 2))
    assert outcomes[1] == returned(-1, bytes([FILL, FILL]))


@pytest.mark.parametrize(
    "call", [("read_into", None, 0, 1), ("pread", 0, None, 0, 1), ("read_buffer", None, 0, None)]
)
def test_a_null_buffer_reaches_the_stream(run: Calls, call: tuple[object, ...]) -> None:
    """Size None is passed as None, which the stream rejects."""
    assert run(memory(), content(2), call)[0].kind in (Kind.NULL, Kind.ILLEGAL_ARGUMENT)


def test_a_read_fully_returns_nothing_but_the_buffer(run: Calls) -> None:
    """Both forms fill the buffer and return None."""
    data = content(4)
    outcomes = run(memory(), data, ("read_fully", 1, 2, 0, 2), ("read_fully_all", 2, 2))
    assert outcomes == [returned(None, data[1:3]), returned(None, data[2:])]


def test_a_byte_buffer_shows_position_and_limit(run: Calls) -> None:
    """The transfer's result comes before the buffer's position and limit."""
    outcome = run(memory(), content(9), ("pread_buffer", 2, 5, 1, 4))[0]
    assert outcome.value == (3, 4, 4)
    assert outcome.buffer == bytes([FILL]) + content(9)[2:5] + bytes([FILL])


def test_an_impossible_byte_buffer_is_inexpressible(run: Calls) -> None:
    """No ByteBuffer starts after its limit."""
    assert run(memory(), b"", ("read_buffer", 4, 3, 2)) == [INEXPRESSIBLE]


def test_the_allocator_gives_buffers_of_fill() -> None:
    """A range that the stream does not touch shows FILL."""
    seen = []

    def read_vectored(ranges: Any, allocate: Allocate, *_: Any) -> None:
        seen.append(allocate(3))

    for kind in ("heap", "view"):
        bind_stream(vectored(allocate=kind))(Opened(read_vectored))
    assert [type(buffer) for buffer in seen] == [bytearray, memoryview]
    assert [bytes(buffer) for buffer in seen] == [bytes([FILL]) * 3] * 2


@pytest.mark.parametrize(("release", "arguments"), [("absent", 1), ("null", 2), ("given", 2)])
def test_release_is_given_as_the_program_says(release: str, arguments: int) -> None:
    """Omitted, None, or a function."""
    seen: list[tuple[Release | None, ...]] = []
    step = Step("read_vectored", ((), "null", release))
    bind_stream(step)(Opened(lambda _ranges, *rest: seen.append(rest)))
    assert len(seen[0]) == arguments
    assert seen[0][0] is None
    assert callable(seen[0][-1]) == (release == "given")


def test_each_range_has_its_outcome(run: Calls) -> None:
    """A vectored read reports length and bytes of every range."""
    data = content(9)
    outcome = run(memory(), data, ("read_vectored", ((5, 2), (0, 0)), "view", "given"))[0]
    assert outcome.value == (returned(2, data[5:7]), returned(0, b""))


def test_a_failed_range_fails_alone() -> None:
    """An exception in a future is the outcome of its range."""
    failed: Future[Any] = Future()
    failed.set_exception(EOFError("short"))
    outcome = bind_stream(vectored((0, 2), (9, 2)))(answering(done(b"ab"), failed))
    assert [part.kind for part in outcome.value] == [Kind.RETURNED, Kind.EOF]


def test_range_without_a_future_is_reported() -> None:
    """A forgotten range neither hangs nor passes."""
    outcome = bind_stream(vectored((0, 2)))(answering(None))
    assert outcome.value == (Outcome(Kind.OTHER, detail="no future"),)


def test_future_that_never_completes_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """The wait times out, and is not an error of the environment."""
    monkeypatch.setattr("fscontract.implementations.bindings.range_buffers.PATIENCE", 0.001)
    outcome = bind_stream(vectored((0, 2)))(answering(Future()))
    assert outcome.value[0].kind is Kind.OTHER
    assert "not done" in outcome.value[0].detail


def test_future_with_a_wrong_type_is_reported() -> None:
    """A number does not count as a buffer of that size."""
    outcome = bind_stream(vectored((0, 2)))(answering(done(2)))
    assert outcome.value[0] == Outcome(Kind.OTHER, detail="future returned int, expected bytes")


def test_result_of_a_stream_is_passed_on() -> None:
    """The model detects a wrong type."""
    assert bind_stream(Step("get_pos"))(Opened(lambda: "7")) == returned("7")


def test_an_exception_becomes_its_kind() -> None:
    """Exceptions of a stream never leave the binding."""

    def fail(*_: Any) -> None:
        raise IndexError("outside")

    assert bind_stream(Step("skip", (1,)))(Opened(fail)).kind is Kind.INDEX


def test_an_interrupt_leaves_the_binding() -> None:
    """Ctrl-C is not an outcome."""

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bind_stream(Step("close"))(Opened(interrupt))


def test_a_huge_buffer_is_rejected_when_bound() -> None:
    """A program can't make the checker allocate unlimited memory."""
    with pytest.raises(ProgramError, match="at most"):
        memory().bind(Step("read_into", (2**62, 0, 1)))


def test_stream_and_file_share_one_position(run: Calls) -> None:
    """A program may mix operations of both protocols."""
    data = content(6)
    outcomes = run(
        memory(), data, ("seek", 1), ("py_read", 2), ("get_pos",), ("read_byte",), ("py_tell",)
    )
    assert [o.value for o in outcomes] == [None, data[1:3], 3, data[3], 4]


def test_changes_are_made_through_the_filesystem() -> None:
    """A file is rewritten in place or deleted."""
    binding = memory()
    binding.prepare()
    path = binding.create(b"old")
    binding.change(path, b"newer")
    assert binding.status_length(path) == 5
    binding.change(path, None)
    with pytest.raises(FileNotFoundError):
        binding.open(path)
    binding.dispose()


def test_failed_change_gives_no_verdict() -> None:
    """A failed write of the suite is not the stream's fault."""
    with pytest.raises(TargetError, match=r"\Amemory: can't change /: .*\Z"):
        memory().change("/", b"")


def test_dispose_removes_the_prefix_and_nothing_else() -> None:
    """Existing files remain."""
    filesystem = MemoryFileSystem()
    with filesystem.create("/mine/file") as file:
        file.write(b"x")
    binding = StreamBinding(filesystem, "memory", "/mine")
    binding.prepare()
    binding.create(b"y")
    binding.dispose()
    assert [s.path for s in filesystem.list_status("/mine")] == ["/mine/file"]


def test_a_root_that_is_a_file_is_one_line() -> None:
    """A target that can't be prepared raises, and gets no verdict."""
    filesystem = MemoryFileSystem()
    with filesystem.create("/file"):
        pass
    with pytest.raises(TargetError, match=r"\Amem: can't create a directory: .*\Z"):
        StreamBinding(filesystem, "mem", "/file").prepare()


def test_only_filesystems_of_ours_are_recognised() -> None:
    """Other objects are left to other bindings."""
    assert StreamBinding.recognise(io.BytesIO(), "x") is None
    assert isinstance(StreamBinding.recognise(MemoryFileSystem(), "x"), StreamBinding)


def test_byte_buffers_are_new_for_each_call() -> None:
    """Position and limit are those in the program every time."""
    seen = []

    def read_buffer(buffer: ByteBuffer) -> int:
        seen.append((buffer.position, buffer.limit, buffer.capacity))
        buffer.position = buffer.limit
        return 1

    action = bind_stream(Step("read_buffer", (4, 1, None)))
    opened = Opened(read_buffer)
    action(opened)
    action(opened)
    assert seen == [(1, 4, 4)] * 2
