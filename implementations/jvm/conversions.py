"""Conversions of exceptions, buffers and futures between Python and Java, and shim compilation."""

from __future__ import annotations

import io
import threading
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

from fscontract.contract.api.errors import (
    InterruptedIOException,
    NullPointerException,
    PathIOException,
)
from fscontract.contract.api.filesystem import Buffer
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
    return jvm.java_class(class_loader().loadClass(f"{_PACKAGE}.{name}"))


def class_loader() -> Any:
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


def crossing(call: Callable[..., _R]) -> Callable[..., _R]:
    """Wrap a call to convert its exceptions to Java's."""

    def run(*arguments: Any) -> _R:
        try:
            return call(*arguments)
        except Exception as error:
            if _name(error) is None:
                raise
            raise java_error(error) from error

    return run


def java_error(error: Exception) -> Any:
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


def new_proxy(interface: str, methods: Mapping[str, Callable[..., Any]]) -> Any:
    """Return an implementation of a shim interface by calls, with Java exceptions."""
    crossed = {name: crossing(call) for name, call in methods.items()}
    return jvm.proxy(shim_class(interface), _Methods(crossed))


def view_of(buffer: Any, length: int) -> memoryview:
    """Return a view of the first bytes of a direct Java ByteBuffer, without copying."""
    return memoryview(buffer).cast("B")[:length]


def promise(future: Future[_T], delivered: Callable[[_T], Any]) -> Any:
    """Return a Java CompletableFuture for `delivered` applied to the future's result."""
    promised = jvm.java_class("java.util.concurrent.CompletableFuture")()

    def complete(done: Future[_T]) -> None:
        try:
            promised.complete(delivered(done.result()))
        except Exception as error:  # pass any error to the waiting thread
            promised.completeExceptionally(java_error(error))

    future.add_done_callback(complete)
    return promised


class VectoredBuffers:
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
        return view_of(direct, direct.capacity())

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
