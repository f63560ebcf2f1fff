"""Operations on Hadoop's FSDataInputStream as functions of an opened stream.

A maker converts arguments to Java before the first call. It raises OverflowError for a number that
exceeds the Java type.
"""

from __future__ import annotations

from collections.abc import Callable
from types import NoneType
from typing import Any, TypeAlias

from fscontract.contract.binding import Action
from fscontract.contract.program.outcome import Kind, Outcome
from fscontract.contract.program.program import Step
from fscontract.implementations.bindings.common import WrongType, blank
from fscontract.implementations.bindings.file_operations import inexpressible
from fscontract.implementations.bindings.hadoop.conversions import Java

#: Timeout in seconds for the future of a range.
PATIENCE = 30

_RETURNED = Kind.RETURNED
#: Types of results that are not converted. A Java number is an int of another type.
_PLAIN = frozenset({bool, NoneType})
_NO_FUTURE = Outcome(Kind.OTHER, detail="no future")

Fail: TypeAlias = Callable[[BaseException], Outcome]
Maker: TypeAlias = Callable[..., Action]


class OpenedStream:
    """A Java stream and the path that it was opened by; raises WrongType for null."""

    __slots__ = ("path", "stream")

    def __init__(self, stream: Any, path: str) -> None:
        if stream is None:
            raise WrongType("expected a stream, got null")
        self.stream = stream
        self.path = path


def bind_stream(step: Step, java: Java, fail: Fail) -> Action:
    """Return a step as a function of an OpenedStream; raise OverflowError for large numbers."""
    return _MAKERS[step.op](java, fail, *step.args)


def _call(name: str, *types: str) -> Maker:
    """Return a maker of calls with arguments of these types that return at most a number."""

    def make(java: Java, fail: Fail, *args: Any) -> Action:
        given = [getattr(java, kind)(value) for kind, value in zip(types, args, strict=True)]

        def run(opened: OpenedStream) -> Outcome:
            try:
                value = getattr(opened.stream, name)(*given)
            except Exception as error:
                return fail(error)
            return Outcome(_RETURNED, value if type(value) in _PLAIN else int(value))

        return run

    return make


def _fill(name: str, positions: int) -> Maker:
    """Return a maker of calls that fill a byte array: position, array, offset and length."""

    def make(java: Java, fail: Fail, *args: Any) -> Action:
        before = [java.long(value) for value in args[:positions]]
        size, after = args[positions], [java.int(value) for value in args[positions + 1 :]]
        if size is None:
            return _given(name, fail, (*before, java.null(java.bytes), *after))
        source, array = blank(size), java.bytes

        def run(opened: OpenedStream) -> Outcome:
            buffer = array(source)
            try:
                value = getattr(opened.stream, name)(*before, buffer, *after)
            except Exception as error:
                return fail(error)
            return Outcome(_RETURNED, None if value is None else int(value), bytes(buffer))

        return run

    return make


def _with_byte_buffer(name: str, positions: int) -> Maker:
    """Return a maker of calls that fill a ByteBuffer; one with a start is a slice of another."""

    def make(java: Java, fail: Fail, *args: Any) -> Action:
        before = [java.long(value) for value in args[:positions]]
        size, start, limit = args[positions:]
        if size is None:
            return _without_byte_buffer(java, fail, name, before)
        end = size if limit is None else limit
        if not 0 <= start <= end <= size:
            return inexpressible
        before_slice = 1 if start else 0  # so that its array has an offset
        source, array, wrap = blank(before_slice + size), java.bytes, java.byte_buffer.wrap

        def run(opened: OpenedStream) -> Outcome:
            memory = array(source)
            buffer = wrap(memory, before_slice, size).slice()
            buffer.position(start).limit(end)
            try:
                value = getattr(opened.stream, name)(*before, buffer)
            except Exception as error:
                return fail(error)
            count = None if value is None else int(value)
            moved = (count, int(buffer.position()), int(buffer.limit()))
            return Outcome(_RETURNED, moved, bytes(memory)[before_slice:])

        return run

    return make


def _without_byte_buffer(java: Java, fail: Fail, name: str, before: list[Any]) -> Action:
    """Return a call with null for a ByteBuffer, by reflection: JPype 1.7.1 crashes otherwise."""
    types = [*(java.long_class for _ in before), java.byte_buffer.class_]
    method = java.stream.class_.getMethod(name, java.array_of(java.klass, types))
    args = java.array_of(java.object, [*before, None])

    def run(opened: OpenedStream) -> Outcome:
        try:
            value = method.invoke(opened.stream, args)
        except Exception as error:
            return fail(error)
        return Outcome(_RETURNED, None if value is None else int(value))

    return run


def _given(name: str, fail: Fail, args: tuple[Any, ...]) -> Action:
    """Return a call without a buffer to inspect."""

    def run(opened: OpenedStream) -> Outcome:
        try:
            value = getattr(opened.stream, name)(*args)
        except Exception as error:
            return fail(error)
        return Outcome(_RETURNED, None if value is None else int(value))

    return run


def _read_vectored(
    java: Java,
    fail: Fail,
    ranges: tuple[tuple[int, int] | None, ...] | None,
    allocate: str,
    release: str,
) -> Action:
    more = (_allocator(java, allocate), *_release(java, release))
    if ranges is None:
        return _given("readVectored", fail, (java.null("java.util.List"), *more))
    make, new_list = java.file_range.createFileRange, java.array_list
    java_ranges = [
        None if pair is None else (java.long(pair[0]), java.int(pair[1])) for pair in ranges
    ]

    def run(opened: OpenedStream) -> Outcome:
        parts = [None if pair is None else make(*pair) for pair in java_ranges]
        listed = new_list()
        for part in parts:
            listed.add(part)
        try:
            opened.stream.readVectored(listed, *more)
        except Exception as error:
            return fail(error)
        return Outcome(_RETURNED, tuple(_await(java, fail, part) for part in parts))

    return run


def _allocator(java: Java, name: str) -> Any:
    if name == "null":
        return java.null("java.util.function.IntFunction")
    return java.allocate_heap if name == "heap" else java.allocate_direct


def _release(java: Java, name: str) -> tuple[Any, ...]:
    if name == "absent":
        return ()
    return (java.keep_nothing if name == "given" else java.null("java.util.function.Consumer"),)


def _await(java: Java, fail: Fail, part: Any) -> Outcome:
    future = None if part is None else part.getData()
    if future is None:
        return _NO_FUTURE
    try:
        buffer = future.get(PATIENCE, java.seconds)
    except Exception as error:
        if isinstance(error, java.timeout):
            return Outcome(Kind.OTHER, detail=f"future not done after {PATIENCE} s")
        return fail(error)
    if not isinstance(buffer, java.byte_buffer):
        got = "null" if buffer is None else type(buffer).__name__
        return Outcome(Kind.OTHER, detail=f"future returned {got}, expected bytes")
    data = java.bytes(int(buffer.remaining()))
    buffer.duplicate().get(data)
    plain = bytes(data)
    return Outcome(_RETURNED, len(plain), plain)


_MAKERS: dict[str, Maker] = {
    "close": _call("close"),
    "get_pos": _call("getPos"),
    "read_byte": _call("read"),
    "seek": _call("seek", "long"),
    "seek_to_new_source": _call("seekToNewSource", "long"),
    "unbuffer": _call("unbuffer"),
    "has_capability": _call("hasCapability", "text"),
    "skip": _call("skip", "long"),
    "available": _call("available"),
    "read_into": _fill("read", 0),
    "pread": _fill("read", 1),
    "read_fully": _fill("readFully", 1),
    "read_fully_all": _fill("readFully", 1),
    "read_vectored": _read_vectored,
    "read_buffer": _with_byte_buffer("read", 0),
    "pread_buffer": _with_byte_buffer("read", 1),
    "read_fully_buffer": _with_byte_buffer("readFully", 1),
}
#: All operations that some version of Hadoop's streams implements.
STREAM_OPERATIONS = frozenset(_MAKERS)
#: Methods that older versions lack.
_LATER = {"read_vectored": "readVectored"}


def operations_of(streams: Any) -> frozenset[str]:
    """Return the operations that a stream class implements."""
    lacking = {op for op, method in _LATER.items() if not hasattr(streams, method)}
    return STREAM_OPERATIONS - lacking
