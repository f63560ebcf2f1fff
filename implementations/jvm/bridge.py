"""Our streams as Java's: Hadoop's own readers read through them, in the Java of this process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fscontract.contract.bytebuffer import ByteBuffer
from fscontract.contract.ports import FileRange, FSDataInputStream
from fscontract.implementations.jvm.machine import java_class
from fscontract.implementations.jvm.proxies import VectoredBuffers, new_proxy, promise, view_of
from fscontract.implementations.jvm.shim import shim_class


def java_stream(stream: FSDataInputStream, buffer_size: int = 0) -> Any:
    """An org.apache.hadoop.fs.FSDataInputStream over one of our streams, which it closes.

    Starts a Java machine with Hadoop's jars, if there is none yet; TargetError if it can't. Each
    call crosses to Python, so a reader of single bytes wants a buffer of `buffer_size` bytes,
    which is Hadoop's BufferedFSInputStream and has no reads into ByteBuffers.
    """
    bridged = shim_class("BridgedInputStream")(stream_proxy(stream))
    if buffer_size:
        bridged = java_class("org.apache.hadoop.fs.BufferedFSInputStream")(bridged, buffer_size)
    return java_class("org.apache.hadoop.fs.FSDataInputStream")(bridged)


def stream_proxy(stream: FSDataInputStream) -> Any:
    """What the shim BridgedInputStream delegates to."""
    return new_proxy("PythonStream", _operations(stream))


def _operations(stream: FSDataInputStream) -> dict[str, Callable[..., Any]]:
    """The methods of the shim PythonStream."""
    return {
        "close": stream.close,
        "getPos": stream.get_pos,
        "seek": stream.seek,
        "seekToNewSource": stream.seek_to_new_source,
        "readByte": stream.read_byte,
        "skip": stream.skip,
        "available": stream.available,
        "unbuffer": stream.unbuffer,
        "read": _into_array(stream.read_into, 0),
        "pread": _into_array(stream.pread, 1),
        "readFully": _into_array(stream.read_fully, 1),
        "readBuffer": _into_buffer(stream.read_buffer, 0),
        "preadBuffer": _into_buffer(stream.pread_buffer, 1),
        "readFullyBuffer": _into_buffer(stream.read_fully_buffer, 1),
        "readVectored": lambda *arguments: _read_vectored(stream, *arguments),
        "hasCapability": lambda name: stream.has_capability(text_or_none(name)),
        "getIOStatistics": lambda: java_counters(stream.io_statistics()),
        "describe": lambda: repr(stream),
    }


def _into_array(read: Callable[..., Any], positions: int) -> Callable[..., Any]:
    """A read into an array; `positions` is how many arguments come before the buffer."""

    def run(*arguments: Any) -> Any:
        before, (target, size, offset, length) = arguments[:positions], arguments[positions:]
        if target is not None:
            return read(*before, view_of(target, length), 0, length)
        return read(*before, None if size < 0 else bytearray(size), offset, length)

    return run


def _into_buffer(read: Callable[..., Any], positions: int) -> Callable[..., Any]:
    """A read into a ByteBuffer."""

    def run(*arguments: Any) -> Any:
        before, (target, length) = arguments[:positions], arguments[positions:]
        return read(*before, None if target is None else ByteBuffer(view_of(target, length)))

    return run


def _read_vectored(stream: FSDataInputStream, ranges: Any, allocate: Any, release: Any) -> None:
    """Read Java's ranges into buffers of its allocator, whether these are direct or not."""
    wanted: Any = None if ranges is None else [_range(item) for item in ranges]
    buffers = VectoredBuffers(allocate, release)
    stream.read_vectored(
        wanted,
        None if allocate is None else buffers.allocate,  # type: ignore[arg-type]  # to be refused
        None if release is None else buffers.release,  # type: ignore[arg-type]
    )
    for theirs, ours in zip(ranges or (), wanted or (), strict=True):
        if ours.data is not None:
            theirs.setData(promise(ours.data, buffers.delivered))


def _range(item: Any) -> FileRange | None:
    return None if item is None else FileRange(int(item.getOffset()), int(item.getLength()))


def java_counters(counts: Mapping[str, int]) -> Any:
    """Counters as a Map of Java's."""
    counters = java_class("java.util.TreeMap")()
    number = java_class("java.lang.Long")
    for name, count in counts.items():
        counters.put(name, number(count))
    return counters


def text_or_none(text: Any) -> Any:
    """A String of Java's as Python's; None for null, to be refused by whom it is for."""
    return None if text is None else str(text)
