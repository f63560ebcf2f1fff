"""What crosses between Python and Java: calls, memory, and results that come later."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any, TypeVar

from fscontract.contract.errors import NullPointerException
from fscontract.contract.ports import Buffer
from fscontract.implementations.jvm import machine
from fscontract.implementations.jvm.errors import crossing, java_error
from fscontract.implementations.jvm.shim import shim_class

_T = TypeVar("_T")


class _Methods:
    """An object with these methods."""

    def __init__(self, methods: Mapping[str, Callable[..., Any]]) -> None:
        self.__dict__.update(methods)


def new_proxy(interface: str, methods: Mapping[str, Callable[..., Any]]) -> Any:
    """An object that implements this shim interface by calls whose exceptions become Java's."""
    crossed = {name: crossing(call) for name, call in methods.items()}
    return machine.proxy(shim_class(interface), _Methods(crossed))


def view_of(buffer: Any, length: int) -> memoryview:
    """The first bytes of a direct ByteBuffer of Java's, which are not copied."""
    return memoryview(buffer).cast("B")[:length]


def promise(future: Future[_T], delivered: Callable[[_T], Any]) -> Any:
    """A CompletableFuture of Java's for what `delivered` makes of the future's result."""
    made = machine.java_class("java.util.concurrent.CompletableFuture")()

    def complete(done: Future[_T]) -> None:
        try:
            made.complete(delivered(done.result()))
        except Exception as error:  # whatever it is, somebody waits for it
            made.completeExceptionally(java_error(error))

    future.add_done_callback(complete)
    return made


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
            direct = machine.java_class("java.nio.ByteBuffer").allocateDirect(theirs.remaining())
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
