"""Streams and filesystems of this package as Hadoop objects for Java code.

Shims are compiled for them, and exceptions, buffers and futures converted.
"""

from __future__ import annotations

import io
import threading
import traceback
import uuid
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from fscontract.contract.api.errors import (
    InterruptedIOException,
    NullPointerException,
    PathIOException,
)
from fscontract.contract.api.filesystem import (
    Buffer,
    ByteBuffer,
    FileRange,
    FileStatus,
    FileSystem,
    FSDataInputStream,
)
from fscontract.contract.binding import TargetError
from fscontract.contract.program.outcome import text_of
from fscontract.implementations.jvm import jvm
from fscontract.implementations.jvm.jvm import hadoop_jars, java_class

_SOURCES = Path(__file__).with_name("shims")
_PACKAGE = "fscontract"
_lock = threading.Lock()
_loader: Any = None


def shim_class(name: str) -> Any:
    """Return the class with this name; start a JVM if none runs.

    Raise TargetError if it can't be started, or lacks Hadoop or Janino.
    """
    return jvm.java_class(_class_loader().loadClass(f"{_PACKAGE}.{name}"))


def _class_loader() -> Any:
    """Return the Java class loader of the shims and Hadoop. Raises as `shim_class` does."""
    global _loader  # noqa: PLW0603 - one JVM per process
    with _lock:
        if _loader is None:
            _loader = _make_loader()
        return _loader


def _make_loader() -> Any:
    if not jvm.is_running():
        jvm.start(hadoop_jars())
    try:
        parent = jvm.java_class("org.apache.hadoop.fs.FileRange").class_.getClassLoader()
        compiler = jvm.java_class("org.codehaus.janino.JavaSourceClassLoader")
    except TypeError as error:
        raise TargetError(
            f"the JVM of this process lacks Janino, or Hadoop 3.3.5 or newer: {error}"
        ) from error
    file = jvm.java_class("java.io.File")
    return compiler(parent, [file(str(_SOURCES))], "UTF-8")


_R = TypeVar("_R")
#: The first match wins; JPype converts other exceptions to a RuntimeException.
_CLASSES: tuple[tuple[type[BaseException], str], ...] = (
    (NotImplementedError, "java.lang.UnsupportedOperationException"),
    (io.UnsupportedOperation, "java.lang.UnsupportedOperationException"),
    (EOFError, "java.io.EOFException"),
    (FileNotFoundError, "java.io.FileNotFoundException"),
    (FileExistsError, "org.apache.hadoop.fs.FileAlreadyExistsException"),
    (PermissionError, "org.apache.hadoop.security.AccessControlException"),
    (TimeoutError, "java.net.SocketTimeoutException"),
    (InterruptedIOException, "java.io.InterruptedIOException"),
    (OSError, "java.io.IOException"),
    (IndexError, "java.lang.IndexOutOfBoundsException"),
    (NullPointerException, "java.lang.NullPointerException"),
    (ValueError, "java.lang.IllegalArgumentException"),
)
#: Maximum Python lines that a Java exception shows.
_MOST_LINES = 20


def _crossing(call: Callable[..., _R]) -> Callable[..., _R]:
    """Wrap a call to convert its exceptions to Java's."""

    def run(*arguments: Any) -> _R:
        try:
            return call(*arguments)
        except Exception as error:
            if _name(error) is None:
                raise
            raise _java_error(error) from error

    return run


def _java_error(error: Exception) -> Any:
    """Return the equivalent Java exception, with the Python exception as its cause."""
    if isinstance(error, java_class("java.lang.Throwable")):
        return error
    name, texts = _name(error) or "java.lang.RuntimeException", [text_of(error)]
    if type(error) is PathIOException:
        name = "org.apache.hadoop.fs.PathIOException"
        texts = [error.path, texts[0].removesuffix(f": {error.path!r}")]
    # created in Java, because JPype rejects some of its exception classes as Throwable
    return _cause(error).standIn(java_class(name), texts)


def _name(error: Exception) -> str | None:
    return next((name for cls, name in _CLASSES if isinstance(error, cls)), None)


def _cause(error: Exception) -> Any:
    frames = traceback.extract_tb(error.__traceback__)[-_MOST_LINES:][::-1]
    kind = type(error)
    return shim_class("PythonException")(
        f"{kind.__module__}.{kind.__qualname__}: {text_of(error)}",
        [frame.name for frame in frames],
        [frame.filename for frame in frames],
        [frame.lineno or -1 for frame in frames],
    )


_T = TypeVar("_T")


class _Methods:
    """An object with the given methods."""

    def __init__(self, methods: Mapping[str, Callable[..., Any]]) -> None:
        self.__dict__.update(methods)


def _new_proxy(interface: str, methods: Mapping[str, Callable[..., Any]]) -> Any:
    """Return an implementation of a shim interface by calls, with Java exceptions."""
    crossed = {name: _crossing(call) for name, call in methods.items()}
    return jvm.proxy(shim_class(interface), _Methods(crossed))


def _view_of(buffer: Any, length: int) -> memoryview:
    """Return a view of the first bytes of a direct Java ByteBuffer, without copying."""
    return memoryview(buffer).cast("B")[:length]


def promise(future: Future[_T], delivered: Callable[[_T], Any]) -> Any:
    """Return a Java CompletableFuture for `delivered` applied to the future's result."""
    promised = jvm.java_class("java.util.concurrent.CompletableFuture")()

    def complete(done: Future[_T]) -> None:
        try:
            promised.complete(delivered(done.result()))
        except Exception as error:  # pass any error to the waiting thread
            promised.completeExceptionally(_java_error(error))

    future.add_done_callback(complete)
    return promised


class _VectoredBuffers:
    """Buffers of one vectored read: Java's, and the memory that Python fills for them.

    The memory of a direct buffer is the buffer itself. A heap buffer gets separate memory, which is
    copied at the end.
    """

    def __init__(self, allocate: Any, release: Any) -> None:
        # JPype unwraps a Python function, although Java passes it as an object
        self._allocate = getattr(allocate, "apply", allocate)
        self._release = getattr(release, "accept", release)
        self._pairs: dict[int, tuple[Any, Any]] = {}

    def allocate(self, length: int) -> memoryview:
        """Return the memory of a buffer from Java's allocator."""
        theirs = self._allocate(length)
        if theirs is None:
            raise NullPointerException("the allocator returned null, expected a buffer")
        if theirs.isDirect():
            direct = theirs.slice()
        else:
            direct = jvm.java_class("java.nio.ByteBuffer").allocateDirect(theirs.remaining())
        self._pairs[id(direct)] = theirs, direct
        return _view_of(direct, direct.capacity())

    def release(self, memory: Buffer) -> None:
        """Release the buffer of a failed read."""
        self._release(self._pair(memory)[0])

    def delivered(self, memory: memoryview) -> Any:
        """Return the Java buffer with the bytes of this memory, from position 0 to its limit."""
        theirs, direct = self._pair(memory)
        if theirs.isDirect():
            theirs.position(theirs.position() + len(memory))
        else:
            direct.limit(len(memory))
            theirs.put(direct)
        return theirs.flip()

    def _pair(self, memory: Buffer) -> tuple[Any, Any]:
        return self._pairs[id(memoryview(memory).obj)]


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
    return _new_proxy("PythonStream", _operations(stream))


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
            return read(*before, _view_of(target, length), 0, length)
        return read(*before, None if size < 0 else bytearray(size), offset, length)

    return run


def _into_buffer(read: Callable[..., Any], positions: int) -> Callable[..., Any]:
    """Wrap a read into a ByteBuffer."""

    def run(*arguments: Any) -> Any:
        before, (target, length) = arguments[:positions], arguments[positions:]
        return read(*before, None if target is None else ByteBuffer(_view_of(target, length)))

    return run


def _read_vectored(stream: FSDataInputStream, ranges: Any, allocate: Any, release: Any) -> None:
    """Read Java ranges into direct or heap buffers of its allocator."""
    java_ranges: Any = None if ranges is None else [_range(item) for item in ranges]
    buffers = _VectoredBuffers(allocate, release)
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
    conf.setClassLoader(_class_loader())
    conf.set(f"fs.{SCHEME}.impl", shim.class_.getName())
    proxy = _new_proxy("PythonFileSystem", _filesystem_operations(fs))
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
        file.write(bytes(_view_of(source, length)))

    return _new_proxy("PythonWriter", {"write": write, "close": file.close})


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
