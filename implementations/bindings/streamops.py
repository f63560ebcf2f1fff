"""The operations on our own streams as functions of an opened stream.

Makers resolve everything they can, because the functions run hundreds of thousands of times a
second.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import methodcaller
from typing import Any

from fscontract.contract.binding import Action, Opened
from fscontract.contract.bytebuffer import ByteBuffer
from fscontract.contract.outcome import Kind, Outcome, raised
from fscontract.contract.ports import FileRange
from fscontract.contract.program import Step
from fscontract.implementations.bindings.pyops import inexpressible
from fscontract.implementations.bindings.scratch import blank, filled

#: How long the future of a range may take, in seconds.
PATIENCE = 30.0

_RETURNED = Kind.RETURNED
_NO_FUTURE = Outcome(Kind.OTHER, detail="no future")


def bind_stream(step: Step) -> Action:
    """A step as a function of an object whose `stream` is an FSDataInputStream."""
    return _MAKERS[step.op](*step.args)


def _call(name: str) -> Callable[..., Action]:
    def make(*args: Any) -> Action:
        call = methodcaller(name, *args)

        def run(opened: Opened) -> Outcome:
            try:
                return Outcome(_RETURNED, call(opened.stream))
            except Exception as error:
                return raised(error)

        return run

    return make


def _read_into(size: int | None, offset: int, length: int) -> Action:
    return _fill("read_into", (), size, (offset, length))


def _positioned(name: str) -> Callable[..., Action]:
    def make(position: int, size: int | None, *window: int) -> Action:
        return _fill(name, (position,), size, window)

    return make


def _fill(name: str, before: tuple[int, ...], size: int | None, after: tuple[int, ...]) -> Action:
    if size is None:
        return _call(name)(*before, None, *after)
    source = blank(size)

    def run(opened: Opened) -> Outcome:
        buffer = bytearray(source)
        try:
            value = getattr(opened.stream, name)(*before, buffer, *after)
        except Exception as error:
            return raised(error)
        return Outcome(_RETURNED, value, bytes(buffer))

    return run


def _with_byte_buffer(name: str, positions: int) -> Callable[..., Action]:
    def make(*args: Any) -> Action:
        before, (size, start, limit) = args[:positions], args[positions:]
        if size is None:
            return _call(name)(*before, None)
        end = size if limit is None else limit
        if not 0 <= start <= end <= size:
            return inexpressible
        source = blank(size)

        def run(opened: Opened) -> Outcome:
            memory = bytearray(source)
            buffer = ByteBuffer(memory)
            buffer.limit, buffer.position = end, start
            try:
                result = getattr(opened.stream, name)(*before, buffer)
            except Exception as error:
                return raised(error)
            return Outcome(_RETURNED, (result, buffer.position, buffer.limit), bytes(memory))

        return run

    return make


_ALLOCATORS: dict[str, Callable[[int], bytearray | memoryview] | None] = {
    "heap": filled,
    "view": lambda size: memoryview(filled(size)),
    "null": None,
}


def _keep_nothing(_buffer: bytearray | memoryview) -> None:
    return None


_RELEASES: dict[str, tuple[Any, ...]] = {
    "given": (_keep_nothing,),
    "absent": (),
    "null": (None,),
}


def _read_vectored(
    ranges: tuple[tuple[int, int] | None, ...] | None, allocate: str, release: str
) -> Action:
    arguments = (_ALLOCATORS[allocate], *_RELEASES[release])
    if ranges is None:
        return _call("read_vectored")(None, *arguments)
    wanted = ranges

    def run(opened: Opened) -> Outcome:
        files = [None if pair is None else FileRange(*pair) for pair in wanted]
        try:
            opened.stream.read_vectored(files, *arguments)
        except Exception as error:
            return raised(error)
        return Outcome(_RETURNED, tuple(map(_await, files)))

    return run


def _await(part: FileRange | None) -> Outcome:
    future = None if part is None else part.data
    if future is None:
        return _NO_FUTURE
    try:
        data: object = future.result(PATIENCE)
        if isinstance(data, bytes | bytearray | memoryview):
            plain = bytes(data)
            return Outcome(_RETURNED, len(plain), plain)
    except Exception as error:
        if _is_pending(future):
            return Outcome(Kind.OTHER, detail=f"future not done after {PATIENCE:g} s")
        return raised(error)
    return Outcome(Kind.OTHER, detail=f"future gave {type(data).__name__}, not bytes")


def _is_pending(future: Any) -> bool:
    try:
        return not future.done()
    except Exception:  # it is no future
        return False


_MAKERS: dict[str, Callable[..., Action]] = {
    "close": _call("close"),
    "get_pos": _call("get_pos"),
    "read_byte": _call("read_byte"),
    "read_into": _read_into,
    "seek": _call("seek"),
    "seek_to_new_source": _call("seek_to_new_source"),
    "unbuffer": _call("unbuffer"),
    "has_capability": _call("has_capability"),
    "skip": _call("skip"),
    "available": _call("available"),
    "pread": _positioned("pread"),
    "read_fully": _positioned("read_fully"),
    "read_fully_all": _positioned("read_fully"),
    "read_vectored": _read_vectored,
    "read_buffer": _with_byte_buffer("read_buffer", 0),
    "pread_buffer": _with_byte_buffer("pread_buffer", 1),
    "read_fully_buffer": _with_byte_buffer("read_fully_buffer", 1),
}
#: Every operation that our streams have a method for.
STREAM_OPERATIONS = frozenset(_MAKERS)
