"""Hadoop's contract tests of streams, run against the bridged filesystems.

Each section corresponds to one of Hadoop's classes AbstractContract...Test, whose jars are not
distributed. The contract options are the strictest: strict exceptions, no seek past EOF.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import jpype
import pytest

from fscontract.contract.api.filesystem import FileSystem
from fscontract.contract.program.content import content
from fscontract.implementations.jvm.bridge import java_stream
from fscontract.implementations.memory import MemoryFileSystem
from tests.implementations.support import write

Java: TypeAlias = Callable[[str], Any]

DATA = content(64 * 1024)
KINDS = ["allocate", "allocateDirect"]


@pytest.fixture
def place(fs: FileSystem, java: Java) -> Any:
    """The path of a file with DATA."""
    write(fs, "/dir/file", DATA)
    return java("fs.Path")("/dir/file")


@pytest.fixture
def empty(fs: FileSystem, java: Java) -> Any:
    """The path of an empty file."""
    write(fs, "/dir/empty", b"")
    return java("fs.Path")("/dir/empty")


def _array(size: int) -> Any:
    return jpype.JArray(jpype.JByte)(size)


def _either(java: Java, *names: str) -> tuple[Any, ...]:
    return tuple(java(f"java.lang.{name}") for name in names)


# OpenTest ------------------------------------------------------------------------------------


def test_an_empty_file_ends_at_once(bridged: Any, empty: Any) -> None:
    """In every kind of read."""
    with bridged.open(empty) as stream:
        assert (stream.getPos(), stream.read(), stream.read(_array(1), 0, 1)) == (0, -1, -1)
        stream.readFully(0, _array(1), 0, 0)
        stream.seek(0)
        assert (stream.getPos(), stream.read(_array(1), 0, 0)) == (0, 0)


@pytest.mark.parametrize("child", [False, True])
def test_a_directory_is_not_opened(fs: FileSystem, bridged: Any, java: Java, child: bool) -> None:
    """FileNotFoundException, from the open or from the first read."""
    path = java("fs.Path")("/folder")
    bridged.mkdirs(path)
    if child:
        write(fs, "/folder/child", b"data")
    with pytest.raises(java("java.io.FileNotFoundException")):
        bridged.open(path).read()


def test_two_streams_of_a_file_are_independent(bridged: Any, place: Any) -> None:
    """Closing one, even twice, does not affect the other."""
    one, other = bridged.open(place), bridged.open(place)
    assert one.read() == other.read() == DATA[0]
    one.close()
    one.close()
    assert other.read() == DATA[1]
    other.close()


def test_unknown_optional_keys_are_ignored(bridged: Any, empty: Any) -> None:
    """Of any type, and an unknown length."""
    builder = bridged.openFile(empty).opt("fs.test.boolean", True).opt("fs.test.int", jpype.JInt(4))
    builder = builder.opt("fs.test.text", "x").optLong("fs.option.openfile.length", -1)
    with builder.build().get() as stream:
        assert stream.read() == -1


@pytest.mark.parametrize("method", ["must", "mustLong"])
def test_unknown_mandatory_key_fails_in_build(bridged: Any, java: Java, method: str) -> None:
    """Even if the file does not exist."""
    builder = bridged.openFile(java("fs.Path")("/missing")).opt("fs.test.key", "x")
    builder = getattr(builder, method)("fs.test.key", jpype.JLong(1))
    with pytest.raises(java("java.lang.IllegalArgumentException")):
        builder.build()


def test_missing_file_fails_when_awaited(bridged: Any, java: Java) -> None:
    """build() succeeds; awaitFuture, or the first read, raises FileNotFoundException."""
    await_future = java("util.functional.FutureIO").awaitFuture
    opening = bridged.openFile(java("fs.Path")("/missing")).build()
    with pytest.raises(java("java.io.FileNotFoundException")):
        await_future(opening).read()
    opening = bridged.openFile(java("fs.Path")("/missing")).build()
    with pytest.raises(java("java.io.FileNotFoundException")):
        await_future(opening, 1, java("java.util.concurrent.TimeUnit").DAYS).read()


@pytest.mark.parametrize("kind", ["own", "listed", "located", "plain"])
def test_a_status_opens_its_file(bridged: Any, place: Any, java: Java, kind: str) -> None:
    """A requested one, those of listings, and a plain one with another scheme."""
    own = bridged.getFileStatus(place)
    status = {
        "own": lambda: own,
        "listed": lambda: bridged.listStatus(place)[0],
        "located": lambda: bridged.listLocatedStatus(place.getParent()).next(),
        "plain": lambda: java("fs.FileStatus")(
            own.getLen(), False, 1, 512, 0, java("fs.Path")("gopher:///localhost:/file")
        ),
    }[kind]()
    with bridged.openFile(place).withFileStatus(status).build().get() as stream:
        array = _array(len(DATA))
        stream.readFully(0, array)
    assert bytes(array) == DATA


def test_a_located_status_pins_the_version(
    fs: FileSystem, bridged: Any, place: Any, java: Java
) -> None:
    """As the status of the file itself does: its etag is passed to Python."""
    located = bridged.listLocatedStatus(place).next()
    write(fs, "/dir/file", DATA[::-1])
    with pytest.raises(java("java.lang.Exception")) as caught:
        bridged.openFile(place).withFileStatus(located).build().get().read()
    error, io_error = caught.value, java("java.io.IOException")
    assert isinstance(error, io_error) or isinstance(error.getCause(), io_error)


def test_length_without_status_is_accepted(bridged: Any, place: Any, java: Java) -> None:
    """With a list of policies and a buffer size."""
    option = "fs.option.openfile"
    builder = bridged.openFile(place).withFileStatus(jpype.JObject(None, java("fs.FileStatus")))
    builder = builder.opt(f"{option}.read.policy", "unknown, sequential, random")
    builder = builder.optLong(f"{option}.buffer.size", 32768).optLong(f"{option}.length", len(DATA))
    with builder.build().get() as stream:
        array = _array(len(DATA))
        stream.readFully(0, array)
    assert bytes(array) == DATA


@pytest.mark.parametrize("length", [4096.0, 43.2e60])
def test_a_length_may_be_a_floating_point_number(bridged: Any, place: Any, length: float) -> None:
    """A value that exceeds a long does not set the length."""
    builder = bridged.openFile(place).mustDouble("fs.option.openfile.length", length)
    with builder.build().get() as stream:
        array = _array(512)
        stream.readFully(0, array)
    assert bytes(array) == DATA[:512]


def test_arguments_of_a_read_are_checked(bridged: Any, place: Any, java: Java) -> None:
    """With the exceptions in Hadoop's tests."""
    outside = _either(java, "IndexOutOfBoundsException")
    outside_or_illegal = _either(java, "IllegalArgumentException", "IndexOutOfBoundsException")
    null = jpype.JObject(None, jpype.JArray(jpype.JByte))
    with bridged.open(place) as stream:
        with pytest.raises(_either(java, "IllegalArgumentException", "NullPointerException")):
            stream.read(null, 0, 10)
        for offset, length, classes in (
            (-1, 10, outside),
            (0, -1, outside_or_illegal),
            (0, 11, outside),
        ):
            with pytest.raises(classes):
                stream.read(_array(10), offset, length)
        assert (stream.read(_array(10), 0, 0), stream.getPos()) == (0, 0)


def test_reads_at_eof_return_eof(bridged: Any, place: Any) -> None:
    """For one byte, and for several."""
    with bridged.open(place) as stream:
        stream.seek(len(DATA))
        for _ in range(2):
            assert (stream.read(), stream.read(_array(10), 0, 10)) == (-1, -1)


def test_reads_of_a_byte_and_of_several_follow_each_other(bridged: Any, place: Any) -> None:
    """Alternately."""
    found = bytearray()
    with bridged.open(place) as stream:
        while len(found) < 3000:
            found.append(stream.read())
            array = _array(37)
            count = stream.read(array)
            found += bytes(array)[:count]
    assert bytes(found) == DATA[: len(found)]


# SeekTest ------------------------------------------------------------------------------------


def test_seeks_go_forward_and_back(bridged: Any, place: Any) -> None:
    """The position follows."""
    with bridged.open(place) as stream:
        for position in (0, 128, 63, 32768, 40000, 8191, 0, len(DATA) - 1):
            stream.seek(position)
            assert (stream.getPos(), stream.read()) == (position, DATA[position])
            assert stream.getPos() == position + 1
        assert (stream.read(), stream.read(_array(1))) == (-1, -1)


@pytest.mark.parametrize("position", [-1, len(DATA) + 1])
def test_a_seek_outside_of_the_file_is_rejected(
    bridged: Any, place: Any, java: Java, position: int
) -> None:
    """EOFException, and the position does not move."""
    with bridged.open(place) as stream:
        stream.seek(1)
        with pytest.raises(java("java.io.EOFException")):
            stream.seek(position)
        assert (stream.getPos(), stream.read()) == (1, DATA[1])


def test_positioned_reads_leave_the_position(bridged: Any, place: Any) -> None:
    """pread and readFully."""
    with bridged.open(place) as stream:
        stream.seek(39_999)
        assert stream.read() == DATA[39_999]
        array = _array(256)
        assert (stream.read(128, array, 0, 256), bytes(array)) == (256, DATA[128:384])
        stream.readFully(1, array)
        assert bytes(array) == DATA[1:257]
        assert (stream.getPos(), stream.read()) == (40_000, DATA[40_000])


def test_arguments_of_positioned_reads_are_checked(bridged: Any, place: Any, java: Java) -> None:
    """With the exceptions in Hadoop's tests, and without moving the position."""
    eof = java("java.io.EOFException")
    illegal = _either(java, "IllegalArgumentException", "IndexOutOfBoundsException")
    null = jpype.JObject(None, jpype.JArray(jpype.JByte))
    with bridged.open(place) as stream:
        for read in (stream.read, stream.readFully):
            for position, offset, length in ((0, 0, -16), (0, -1, 16), (0, 0, 17), (0, 9, 8)):
                with pytest.raises(illegal):
                    read(position, _array(16), offset, length)
            with pytest.raises(eof):
                read(-1, _array(16), 0, 16)
        with pytest.raises(java("java.lang.IllegalArgumentException")):
            stream.read(0, null, 0, 16)
        for position in (len(DATA) + 1, len(DATA) - 8):
            with pytest.raises(eof):
                stream.readFully(position, _array(16), 0, 16)
        assert stream.read(len(DATA) + 16, _array(16), 0, 1) == -1
        assert stream.getPos() == 0


def test_a_closed_stream_reads_nothing(bridged: Any, place: Any, java: Java) -> None:
    """IOException from each call except the position and another close."""
    stream = bridged.open(place)
    stream.seek(7)
    stream.close()
    calls: list[Callable[[], Any]] = [
        lambda: stream.seek(0),
        stream.available,
        stream.read,
        lambda: stream.read(_array(1), 0, 1),
        lambda: stream.read(0, _array(1), 0, 1),
        lambda: stream.readFully(0, _array(1)),
        lambda: stream.skip(1),
        lambda: stream.readVectored(_ranges(java, (0, 1)), _allocator(java, "allocate")),
    ]
    for call in calls:
        with pytest.raises(java("java.io.IOException")):
            call()
    assert stream.getPos() == 7
    stream.close()


# UnbufferTest --------------------------------------------------------------------------------


def test_unbuffer_keeps_the_position(bridged: Any, place: Any) -> None:
    """Before, between and after reads, repeatedly, and at EOF."""
    with bridged.open(place) as stream:
        assert stream.hasCapability("in:unbuffer")
        for position in (0, 0, 128, 129, 64_000, len(DATA)):
            stream.readFully(position, _array(min(100, len(DATA) - position)))
            stream.seek(position)
            stream.unbuffer()
            stream.unbuffer()
            assert stream.getPos() == position
            assert stream.read() == (DATA[position] if position < len(DATA) else -1)


def test_unbuffer_of_an_empty_file_changes_nothing(bridged: Any, empty: Any) -> None:
    """Reads still return EOF."""
    with bridged.open(empty) as stream:
        stream.unbuffer()
        assert (stream.getPos(), stream.read()) == (0, -1)


@pytest.mark.parametrize("position", [0, 5, len(DATA)])
def test_unbuffer_of_a_closed_stream_keeps_the_last_position(
    bridged: Any, place: Any, position: int
) -> None:
    """getPos() returns it before and after."""
    stream = bridged.open(place)
    stream.seek(position)
    stream.close()
    assert stream.getPos() == position
    stream.unbuffer()
    assert stream.getPos() == position


def test_a_stream_closed_in_python_has_no_position(memory: MemoryFileSystem, java: Java) -> None:
    """It raises IOException, and closing it in Java succeeds."""
    write(memory, "/file", DATA)
    ours = memory.open("/file")
    stream = java_stream(ours)
    ours.close()
    with pytest.raises(java("java.io.IOException")):
        stream.getPos()
    stream.close()


def test_close_succeeds_if_the_position_fails(
    memory: MemoryFileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For any exception of get_pos: otherwise a descriptor would leak."""
    write(memory, "/file", DATA)
    ours = memory.open("/file")

    def fail() -> int:
        raise KeyError("bug")

    monkeypatch.setattr(ours, "get_pos", fail)
    with pytest.raises(KeyError):
        java_stream(ours).close()
    assert ours.closed  # type: ignore[attr-defined]


# VectoredReadTest ----------------------------------------------------------------------------


def _ranges(java: Java, *pairs: tuple[int, int] | None) -> Any:
    made = java("java.util.ArrayList")()
    for pair in pairs:
        made.add(None if pair is None else java("fs.FileRange").createFileRange(*pair))
    return made


def _allocator(java: Java, kind: str) -> Any:
    return getattr(java("java.nio.ByteBuffer"), kind)


def _bytes_of(found: Any) -> bytes:
    buffer = found.getData().get()
    array = _array(int(buffer.remaining()))
    buffer.get(array)
    return bytes(array)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "pairs",
    [
        [(i * 100, 100) for i in range(10)],
        [(0, len(DATA))],
        [(0, 100), (4_101, 100), (16_384, 100)],
        [(50_000, 100), (30, 10), (8_000, 1), (29, 1)],
        [(0, 500), (500, 500), (1_000, 500)],
        [(7, 0), (len(DATA), 0)],
        [],
    ],
    ids=["many", "whole", "apart", "unsorted", "consecutive", "nothing", "none"],
)
def test_ranges_have_their_bytes(
    bridged: Any, place: Any, java: Java, kind: str, pairs: list[tuple[int, int]]
) -> None:
    """In any order, and the position does not move."""
    with bridged.open(place) as stream:
        ranges = _ranges(java, *pairs)
        stream.readVectored(ranges, _allocator(java, kind))
        found = [_bytes_of(one) for one in ranges]
        assert found == [DATA[offset : offset + length] for offset, length in pairs]
        assert (stream.getPos(), stream.read()) == (0, DATA[0])


@pytest.mark.parametrize(
    ("pairs", "name"),
    [
        ([(0, 100), (50, 100)], "java.lang.IllegalArgumentException"),
        ([(8, 10), (8, 10)], "java.lang.IllegalArgumentException"),
        ([(0, -50)], "java.lang.IllegalArgumentException"),
        ([(-1, 50)], "java.io.EOFException"),
        ([(0, 10), None], "java.lang.NullPointerException"),
    ],
)
def test_invalid_ranges_are_rejected(
    bridged: Any, place: Any, java: Java, pairs: list[Any], name: str
) -> None:
    """By the call."""
    with bridged.open(place) as stream, pytest.raises(java(name)):
        stream.readVectored(_ranges(java, *pairs), _allocator(java, "allocate"))


def test_list_and_release_are_required(bridged: Any, place: Any, java: Java) -> None:
    """NullPointerException for null."""
    no_list = jpype.JObject(None, java("java.util.List"))
    no_release = jpype.JObject(None, java("java.util.function.Consumer"))
    null = java("java.lang.NullPointerException")
    with bridged.open(place) as stream:
        with pytest.raises(null):
            stream.readVectored(no_list, _allocator(java, "allocate"))
        with pytest.raises(null):
            stream.readVectored(_ranges(java, (0, 10)), _allocator(java, "allocate"), no_release)


@pytest.mark.parametrize("pair", [(len(DATA) + 1, 100), (0, len(DATA) + 1)])
def test_a_range_past_the_end_fails_and_another_does_not(
    bridged: Any, place: Any, java: Java, pair: tuple[int, int]
) -> None:
    """EOFException, from the call or from the future of that range."""
    ranges = _ranges(java, pair)

    def read() -> None:
        stream.readVectored(ranges, _allocator(java, "allocate"))
        ranges.get(0).getData().get()

    with bridged.open(place) as stream, pytest.raises(java("java.lang.Exception")) as caught:
        read()
    error, eof = caught.value, java("java.io.EOFException")
    assert isinstance(error, eof) or isinstance(error.getCause(), eof)


def test_vectored_reads_do_not_affect_other_reads(bridged: Any, place: Any, java: Java) -> None:
    """Two in progress, and reads before, between and after."""
    with bridged.open(place) as stream:
        assert stream.read() == DATA[0]
        first = _ranges(java, (0, 100), (300, 100))
        second = _ranges(java, (50, 200), (20_000, 100))
        stream.readVectored(first, _allocator(java, "allocate"))
        stream.readVectored(second, _allocator(java, "allocateDirect"))
        array = _array(100)
        stream.readFully(100, array)
        assert bytes(array) == DATA[100:200]
        assert [_bytes_of(one) for one in second] == [DATA[50:250], DATA[20_000:20_100]]
        assert [_bytes_of(one) for one in first] == [DATA[:100], DATA[300:400]]
        assert stream.read() == DATA[1]


# StreamIOStatisticsTest ----------------------------------------------------------------------


def test_stream_counts_the_bytes_read(bridged: Any, place: Any, java: Java) -> None:
    """By every kind of read, without seeks; also after close."""
    support = java("fs.statistics.IOStatisticsSupport")

    def count(source: Any) -> int:
        found = support.retrieveIOStatistics(source).counters()
        return int(found.get("stream_read_bytes"))

    with bridged.open(place) as stream:
        found = [count(stream)]
        for call in (
            stream.read,
            lambda: stream.seek(len(DATA) - 3),
            lambda: stream.read(_array(10)),
            lambda: stream.readFully(5, _array(20)),
            lambda: stream.read(7, _array(30), 0, 30),
        ):
            call()
            found.append(count(stream))
    assert [*found, count(stream)] == [0, 1, 1, 4, 24, 54, 54]
