"""Tests of streams as Java objects: calls, exceptions, close, threads, capabilities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import jpype
import pytest

from fscontract.contract.api.errors import (
    AccessControlException,
    EOFException,
    FileNotFoundException,
    IllegalArgumentException,
    IndexOutOfBoundsException,
    InterruptedIOException,
    NullPointerException,
    PathIOException,
    RemoteFileChangedException,
    UnsupportedOperationException,
)
from fscontract.contract.api.filesystem import FSDataInputStream
from fscontract.contract.program.content import content
from fscontract.implementations.jvm.bridge import java_stream
from fscontract.implementations.memory import MemoryFileSystem
from tests.implementations.support import write

Java: TypeAlias = Callable[[str], Any]

DATA = content(20_000)
KINDS = ["allocate", "allocateDirect"]


@pytest.fixture
def ours(memory: MemoryFileSystem) -> FSDataInputStream:
    """An open Python stream over DATA."""
    write(memory, "/file", DATA)
    return memory.open("/file")


@pytest.fixture
def stream(ours: FSDataInputStream) -> Any:
    """The same stream as a Java object."""
    return java_stream(ours)


def _array(size: int) -> Any:
    return jpype.JArray(jpype.JByte)(size)


def _held(buffer: Any) -> bytes:
    """Return the bytes of a ByteBuffer from its beginning to its limit."""
    copy = _array(int(buffer.limit()))
    buffer.duplicate().flip().limit(buffer.limit()).get(copy)
    return bytes(copy)


# Bytes ---------------------------------------------------------------------------------------


def test_read_fills_only_the_range_of_the_array(stream: Any) -> None:
    """The rest of the array is unchanged."""
    array = _array(10)
    assert (stream.read(array, 3, 4), stream.getPos()) == (4, 4)
    assert bytes(array) == bytes(3) + DATA[:4] + bytes(3)
    assert stream.read(100, array, 0, 10) == 10
    assert (bytes(array), stream.getPos()) == (DATA[100:110], 4)
    stream.readFully(200, array)
    assert bytes(array) == DATA[200:210]


def test_single_byte_is_unsigned_and_eof_is_minus_one(stream: Any) -> None:
    """As InputStream.read specifies."""
    place = next(i for i, byte in enumerate(DATA) if byte > 127)
    stream.seek(place)
    assert stream.read() == DATA[place]
    stream.seek(len(DATA))
    assert (stream.read(), stream.read(_array(4)), stream.read(len(DATA), _array(4), 0, 4)) == (
        -1,
        -1,
        -1,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_byte_buffer_is_filled_from_its_position_to_its_limit(
    stream: Any, java: Java, kind: str
) -> None:
    """In Java's heap or outside it."""
    buffer = getattr(java("java.nio.ByteBuffer"), kind)(12)
    buffer.position(2).limit(6)
    assert (stream.read(buffer), buffer.position(), stream.getPos()) == (4, 6, 4)
    buffer.limit(9)
    assert (stream.read(jpype.JLong(50), buffer), buffer.position()) == (3, 9)
    buffer.limit(12)
    stream.readFully(jpype.JLong(70), buffer)
    assert _held(buffer) == bytes(2) + DATA[:4] + DATA[50:53] + DATA[70:73]


@pytest.mark.parametrize("kind", KINDS)
def test_a_failed_read_leaves_the_position_of_its_buffer(
    stream: Any, java: Java, kind: str
) -> None:
    """So the caller knows what it holds."""
    buffer = getattr(java("java.nio.ByteBuffer"), kind)(8)
    with pytest.raises(java("java.io.EOFException")):
        stream.readFully(jpype.JLong(len(DATA) - 4), buffer)
    assert buffer.position() == 0


@pytest.mark.parametrize("kind", KINDS)
def test_read_only_buffer_is_rejected(stream: Any, java: Java, kind: str) -> None:
    """Before anything is read."""
    buffer = getattr(java("java.nio.ByteBuffer"), kind)(8).asReadOnlyBuffer()
    with pytest.raises(java("java.nio.ReadOnlyBufferException")):
        stream.read(buffer)
    assert stream.getPos() == 0


def test_reads_larger_than_the_transfer_buffer(memory: MemoryFileSystem) -> None:
    """All of them by readFully, some by read."""
    size = (16 << 20) + 5
    data = content(size)
    write(memory, "/large", data)
    stream, array = java_stream(memory.open("/large")), _array(size)
    stream.readFully(0, array)
    assert bytes(array) == data
    assert 0 < stream.read(array) == stream.getPos() <= size


@pytest.mark.parametrize("kind", KINDS)
def test_a_vectored_read_fills_the_buffers_of_its_allocator(
    stream: Any, java: Java, kind: str
) -> None:
    """Each from position 0 to its limit, without bytes of other ranges."""
    ranges = java("java.util.ArrayList")()
    for offset in (9000, 0, 500):
        ranges.add(java("fs.FileRange").createFileRange(offset, 100))
    make, made = getattr(java("java.nio.ByteBuffer"), kind), []

    def allocate(size: int) -> Any:
        made.append(make(size))
        return made[-1]

    stream.readVectored(ranges, allocate)
    found = [one.getData().get() for one in ranges]
    assert [_held(buffer) for buffer in found] == [DATA[o : o + 100] for o in (9000, 0, 500)]
    assert all(any(buffer.equals(one) for one in made) for buffer in found)
    assert [buffer.position() for buffer in found] == [0, 0, 0]


def test_allocator_exception_is_set_on_the_future(stream: Any, java: Java) -> None:
    """As the original exception."""

    def allocate(size: int) -> Any:
        raise java("java.lang.OutOfMemoryError")("no memory")

    one = java("fs.FileRange").createFileRange(0, 100)
    stream.readVectored(java("java.util.Collections").singletonList(one), allocate)
    with pytest.raises(java("java.util.concurrent.ExecutionException")) as caught:
        one.getData().get()
    assert isinstance(caught.value.getCause(), java("java.lang.OutOfMemoryError"))


# Exceptions ----------------------------------------------------------------------------------

ERRORS: list[tuple[Exception, str]] = [
    (EOFException("at the end"), "java.io.EOFException"),
    (FileNotFoundException("/file", "gone"), "java.io.FileNotFoundException"),
    (AccessControlException("/file", "no"), "org.apache.hadoop.security.AccessControlException"),
    (RemoteFileChangedException("/file", "changed"), "java.io.IOException"),
    (PathIOException("/file", "broken"), "org.apache.hadoop.fs.PathIOException"),
    (InterruptedIOException("closed"), "java.io.InterruptedIOException"),
    (TimeoutError("too late"), "java.net.SocketTimeoutException"),
    (OSError("broken"), "java.io.IOException"),
    (IllegalArgumentException("odd"), "java.lang.IllegalArgumentException"),
    (IndexOutOfBoundsException("outside"), "java.lang.IndexOutOfBoundsException"),
    (NullPointerException("nothing"), "java.lang.NullPointerException"),
    (UnsupportedOperationException("never"), "java.lang.UnsupportedOperationException"),
]


@pytest.mark.parametrize(("error", "name"), ERRORS, ids=lambda x: type(x).__name__)
def test_exception_is_converted_to_the_java_class(
    ours: FSDataInputStream, java: Java, error: Exception, name: str
) -> None:
    """Same class, message and cause."""
    _fail_with(ours, error)
    with pytest.raises(java(name)) as caught:
        java_stream(ours).seek(1)
    assert caught.value.getClass().getName() == name
    message = str(error.args[0]).partition(":")[0]
    assert message in str(caught.value.getMessage())
    assert f"{type(error).__name__}: {message}" in str(caught.value.getCause())


def test_the_cause_shows_where_python_raised_it(stream: Any, java: Java) -> None:
    """In Java's stack trace, and as the cause in Python."""
    with pytest.raises(java("java.io.EOFException")) as caught:
        stream.seek(len(DATA) + 1)
    frames = caught.value.getCause().getStackTrace()
    assert "seek" in [str(frame.getMethodName()) for frame in frames]
    assert all(str(frame.getFileName()).endswith(".py") for frame in frames)
    cause = caught.value.__cause__
    while cause is not None and "fscontract.contract.api.errors.EOFException" not in str(cause):
        cause = cause.__cause__
    assert cause is not None


@pytest.mark.parametrize("error", [KeyError("bug"), KeyboardInterrupt()])
def test_exceptions_without_java_equivalent_are_unchanged(
    ours: FSDataInputStream, error: BaseException
) -> None:
    """A bug in a stream does not look like a failed read, nor does an interrupt."""
    _fail_with(ours, error)
    with pytest.raises(type(error)) as caught:
        java_stream(ours).seek(1)
    assert caught.value is error


def _fail_with(stream: FSDataInputStream, error: BaseException) -> None:
    def fail(position: int) -> None:
        raise error

    stream.seek = fail  # type: ignore[method-assign]


# Closing, capabilities -----------------------------------------------------------------------


def test_closing_twice_closes_once(ours: FSDataInputStream) -> None:
    """On both sides."""
    calls: list[str] = []
    ours.close = lambda: calls.append("close")  # type: ignore[method-assign]
    stream = java_stream(ours)
    stream.close()
    stream.close()
    assert calls == ["close"]


def test_closed_stream_raises_in_java(stream: Any, java: Java) -> None:
    """With an IOException that names the path."""
    stream.close()
    with pytest.raises(java("org.apache.hadoop.fs.PathIOException"), match=r"/file.*is closed"):
        stream.read()


def test_unbuffer_reaches_the_stream(ours: FSDataInputStream, stream: Any) -> None:
    """Hadoop forwards it, because the stream has the capability."""
    stream.unbuffer()
    assert ours.io_statistics()["stream_read_unbuffered"] == 1


@pytest.mark.parametrize(
    "name", ["in:unbuffer", "IN:ReadVectored", "in:readbytebuffer", "iostatistics", "in:none"]
)
def test_capabilities_are_those_of_the_stream(
    ours: FSDataInputStream, stream: Any, name: str
) -> None:
    """Case-insensitively."""
    assert stream.hasCapability(name) == ours.has_capability(name)


def test_statistics_are_those_of_the_stream_at_any_time(stream: Any) -> None:
    """Even if they were requested before the read."""
    counters = stream.getIOStatistics()
    stream.read(_array(7))
    assert counters.counters().get("stream_read_bytes") == 7


def test_a_buffered_stream_crosses_once_for_many_bytes(ours: FSDataInputStream) -> None:
    """One read fills Hadoop's buffer."""
    stream = java_stream(ours, 4096)
    assert bytes(stream.read() for _ in range(1000)) == DATA[:1000]
    assert ours.io_statistics()["stream_read_operations"] == 1


# Threads -------------------------------------------------------------------------------------


def test_java_threads_read_concurrently(stream: Any, java: Java) -> None:
    """Java threads share one stream, and each gets its own bytes."""
    pool = java("java.util.concurrent.Executors").newFixedThreadPool(4)
    starts = range(0, 19_000, 97)
    arrays = [_array(512) for _ in starts]
    reads = [_Read(stream, start, array) for start, array in zip(starts, arrays, strict=True)]
    runnable = java("java.lang.Runnable")
    for future in [pool.submit(jpype.JProxy(runnable, inst=read)) for read in reads]:
        future.get()
    pool.shutdown()
    assert [bytes(array) for array in arrays] == [DATA[s : s + 512] for s in starts]
    assert stream.getPos() == 0


class _Read:
    def __init__(self, stream: Any, start: int, array: Any) -> None:
        self._given = stream, start, array

    def run(self) -> None:
        stream, start, array = self._given
        stream.readFully(start, array)
