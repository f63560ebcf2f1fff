"""Convert exceptions, buffers and futures between Python and Java, and compile the shims."""

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
    """The class of this name; starts a Java machine, if there is none yet.

    TargetError if it can't be started, or has no Hadoop and Janino.
    """
    return jvm.java_class(class_loader().loadClass(f"{_PACKAGE}.{name}"))


def class_loader() -> Any:
    """The Java class loader that knows the shims and Hadoop; errors as in `shim_class`."""
    global _loader  # noqa: PLW0603 - there is one machine in a process
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
            f"the Java machine of this process lacks Janino, or Hadoop 3.3.5 or newer: {error}"
        ) from error
    file = jvm.java_class("java.io.File")
    return compiler(parent, [file(str(_SOURCES))], "UTF-8")


_R = TypeVar("_R")
#: First match wins; what is not here crosses as JPype lets it, a RuntimeException in Java.
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
#: Lines of Python that a Java exception shows, at most.
_MOST_LINES = 20


def crossing(call: Callable[..., _R]) -> Callable[..., _R]:
    """The call with its exceptions as Java's."""

    def run(*arguments: Any) -> _R:
        try:
            return call(*arguments)
        except Exception as error:
            if _name(error) is None:
                raise
            raise java_error(error) from error

    return run


def java_error(error: Exception) -> Any:
    """The exception that stands for this one in Java, and has it as its cause."""
    if isinstance(error, java_class("java.lang.Throwable")):
        return error
    name, texts = _name(error) or "java.lang.RuntimeException", [text_of(error)]
    if type(error) is PathIOException:
        name = "org.apache.hadoop.fs.PathIOException"
        texts = [error.path, texts[0].removesuffix(f": {error.path!r}")]
    # made in Java: JPype takes some of its exception classes for no Throwable
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
    """An object with these methods."""

    def __init__(self, methods: Mapping[str, Callable[..., Any]]) -> None:
        self.__dict__.update(methods)


def new_proxy(interface: str, methods: Mapping[str, Callable[..., Any]]) -> Any:
    """An object that implements this shim interface by calls whose exceptions become Java's."""
    crossed = {name: crossing(call) for name, call in methods.items()}
    return jvm.proxy(shim_class(interface), _Methods(crossed))


def view_of(buffer: Any, length: int) -> memoryview:
    """The first bytes of a direct ByteBuffer of Java's, which are not copied."""
    return memoryview(buffer).cast("B")[:length]


def promise(future: Future[_T], delivered: Callable[[_T], Any]) -> Any:
    """A CompletableFuture of Java's for what `delivered` makes of the future's result."""
    promised = jvm.java_class("java.util.concurrent.CompletableFuture")()

    def complete(done: Future[_T]) -> None:
        try:
            promised.complete(delivered(done.result()))
        except Exception as error:  # whatever it is, somebody waits for it
            promised.completeExceptionally(java_error(error))

    future.add_done_callback(complete)
    return promised


class VectoredBuffers:
    """The buffers of one vectored read: Java's, and the memory that Python fills for them.

    That is the buffer itself if it is direct, and otherwise another, which is copied at the end.
    """

    def __init__(self, allocate: Any, release: Any) -> None:
        # JPype hands out a function of Python's as it is, although Java knows it as an object
        self._allocate = getattr(allocate, "apply", allocate)
        self._release = getattr(release, "accept", release)
        self._pairs: dict[int, tuple[Any, Any]] = {}

    def allocate(self, length: int) -> memoryview:
        """Memory for a buffer that Java's allocator gives."""
        theirs = self._allocate(length)
        if theirs is None:
            raise NullPointerException("the allocator gave no buffer")
        if theirs.isDirect():
            direct = theirs.slice()
        else:
            direct = jvm.java_class("java.nio.ByteBuffer").allocateDirect(theirs.remaining())
        self._pairs[id(direct)] = theirs, direct
        return view_of(direct, direct.capacity())

    def release(self, memory: Buffer) -> None:
        """Give a buffer back whose read has failed."""
        self._release(self._pair(memory)[0])

    def delivered(self, memory: memoryview) -> Any:
        """Java's buffer with the bytes of this memory, from its position 0 to its limit."""
        theirs, direct = self._pair(memory)
        if theirs.isDirect():
            theirs.position(theirs.position() + len(memory))
        else:
            direct.limit(len(memory))
            theirs.put(direct)
        return theirs.flip()

    def _pair(self, memory: Buffer) -> tuple[Any, Any]:
        return self._pairs[id(memoryview(memory).obj)]
