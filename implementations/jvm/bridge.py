"""Streams and filesystems of this package as Hadoop objects for Java code."""

from __future__ import annotations

import io
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from fscontract.contract.api.filesystem import (
    ByteBuffer,
    FileRange,
    FileStatus,
    FileSystem,
    FSDataInputStream,
)
from fscontract.implementations.jvm import jvm
from fscontract.implementations.jvm.conversions import (
    VectoredBuffers,
    class_loader,
    new_proxy,
    promise,
    shim_class,
    view_of,
)
from fscontract.implementations.jvm.jvm import java_class


def java_stream(stream: FSDataInputStream, buffer_size: int = 0) -> Any:
    """Return an org.apache.hadoop.fs.FSDataInputStream over a stream, which it closes.

    Start a JVM with Hadoop's jars if none runs; raise TargetError if that fails. Each call crosses
    into Python, so readers of single bytes should set a `buffer_size` in bytes. It adds Hadoop's
    BufferedFSInputStream, which has no reads into ByteBuffers.
    """
    bridged = shim_class("BridgedInputStream")(stream_proxy(stream))
    if buffer_size:
        bridged = java_class("org.apache.hadoop.fs.BufferedFSInputStream")(bridged, buffer_size)
    return java_class("org.apache.hadoop.fs.FSDataInputStream")(bridged)


def stream_proxy(stream: FSDataInputStream) -> Any:
    """Return the delegate of the shim BridgedInputStream."""
    return new_proxy("PythonStream", _operations(stream))


def _operations(stream: FSDataInputStream) -> dict[str, Callable[..., Any]]:
    """Return the methods of the shim PythonStream."""
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
    """Wrap a read into an array; `positions` is the number of arguments before the buffer."""

    def run(*arguments: Any) -> Any:
        before, (target, size, offset, length) = arguments[:positions], arguments[positions:]
        if target is not None:
            return read(*before, view_of(target, length), 0, length)
        return read(*before, None if size < 0 else bytearray(size), offset, length)

    return run


def _into_buffer(read: Callable[..., Any], positions: int) -> Callable[..., Any]:
    """Wrap a read into a ByteBuffer."""

    def run(*arguments: Any) -> Any:
        before, (target, length) = arguments[:positions], arguments[positions:]
        return read(*before, None if target is None else ByteBuffer(view_of(target, length)))

    return run


def _read_vectored(stream: FSDataInputStream, ranges: Any, allocate: Any, release: Any) -> None:
    """Read Java ranges into direct or heap buffers of its allocator."""
    java_ranges: Any = None if ranges is None else [_range(item) for item in ranges]
    buffers = VectoredBuffers(allocate, release)
    stream.read_vectored(
        java_ranges,
        None if allocate is None else buffers.allocate,  # type: ignore[arg-type]  # the stream rejects None
        None if release is None else buffers.release,  # type: ignore[arg-type]
    )
    for theirs, ours in zip(ranges or (), java_ranges or (), strict=True):
        if ours.data is not None:
            theirs.setData(promise(ours.data, buffers.delivered))


def _range(item: Any) -> FileRange | None:
    return None if item is None else FileRange(int(item.getOffset()), int(item.getLength()))


def java_counters(counts: Mapping[str, int]) -> Any:
    """Return counters as a Java Map."""
    counters = java_class("java.util.TreeMap")()
    number = java_class("java.lang.Long")
    for name, count in counts.items():
        counters.put(name, number(count))
    return counters


def text_or_none(text: Any) -> Any:
    """Return a Java String as str; None for null, which the callee rejects."""
    return None if text is None else str(text)


SCHEME = "fscontract"


def java_filesystem(fs: FileSystem, conf: Any = None) -> Any:
    """Return an org.apache.hadoop.fs.FileSystem over a filesystem of this package.

    `conf` is the Configuration to use, by default a new one. Code that has it, or a copy, finds the
    filesystem by the URI of its paths until it is closed. Closing it does not close `fs`. Raises
    TargetError as `java_stream` does.
    """
    shim = shim_class("BridgedFileSystem")
    if conf is None:
        conf = jvm.java_class("org.apache.hadoop.conf.Configuration")()
    conf.setClassLoader(class_loader())
    conf.set(f"fs.{SCHEME}.impl", shim.class_.getName())
    proxy = new_proxy("PythonFileSystem", _filesystem_operations(fs))
    return shim(proxy, f"fs-{uuid.uuid4().hex}", conf)


def _filesystem_operations(fs: FileSystem) -> dict[str, Callable[..., Any]]:
    """Return the methods of the shim PythonFileSystem."""
    return {
        "open": lambda path, size: stream_proxy(fs.open(str(path), int(size))),
        "openFile": lambda path, *given: _open_file(fs, str(path), *given),
        "create": lambda path, overwrite: _writer(fs.create(str(path), bool(overwrite))),
        "getFileStatus": lambda path: _java_status(fs.get_file_status(str(path))),
        "listStatus": lambda path: [_java_status(s) for s in fs.list_status(str(path))],
        "mkdirs": lambda path: fs.mkdirs(str(path)),
        "delete": lambda path, recursive: fs.delete(str(path), bool(recursive)),
        "rename": lambda source, target: fs.rename(str(source), str(target)),
        "setPermission": lambda path, mode: fs.set_permission(str(path), int(mode)),
        "access": lambda path, mode: fs.access(str(path), str(mode)),
        "hasPathCapability": lambda path, name: fs.has_path_capability(str(path), str(name)),
        "getIOStatistics": lambda: java_counters(fs.io_statistics()),
        "describe": lambda: repr(fs),
    }


def _open_file(fs: FileSystem, path: str, options: Any, mandatory: Any, status: Any) -> Any:
    builder = fs.open_file(path)
    for entry in options.entrySet():
        key, value = str(entry.getKey()), str(entry.getValue())
        if mandatory.contains(entry.getKey()):
            builder.must(key, value)
        else:
            builder.opt(key, value)
    builder.with_file_status(None if status is None else _our_status(status, path))
    opened = shim_class("BridgedFileSystem").opened
    return promise(builder.build(), lambda stream: opened(stream_proxy(stream)))


def _writer(file: io.BufferedIOBase) -> Any:
    def write(source: Any, length: int) -> None:
        file.write(bytes(view_of(source, length)))

    return new_proxy("PythonWriter", {"write": write, "close": file.close})


def _java_status(status: FileStatus) -> Any:
    return shim_class("BridgedFileStatus")(
        status.path,
        status.length,
        status.is_directory,
        status.block_size,
        round(status.modification_time * 1000),
        status.etag,
        jvm.proxy(shim_class("PythonObject"), status, unwrapped=True),
    )


def _our_status(status: Any, path: str) -> FileStatus:
    """Return a Java status as FileStatus; `path` replaces a missing path."""
    theirs = status.getPath()
    named = path if theirs is None else str(theirs.toUri().getPath())
    ours = status.python() if isinstance(status, shim_class("BridgedStatus")) else None
    if isinstance(ours, FileStatus):
        return replace(ours, path=named, length=int(status.getLen()))
    return FileStatus(
        named,
        int(status.getLen()),
        bool(status.isDirectory()),
        status.getModificationTime() / 1000,
        text_or_none(status.getEtag() if hasattr(status, "getEtag") else None),
        int(status.getBlockSize()),
    )
