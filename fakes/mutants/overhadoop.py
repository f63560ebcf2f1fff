"""The mutants of streams once more, over real streams of Hadoop: each answer but the wrong one is
Java's. What the suite says of them it says of Hadoop's own streams, too."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any, ClassVar

from fscontract.contract.binding import Binding
from fscontract.contract.bytebuffer import ByteBuffer
from fscontract.contract.errors import (
    EOFException,
    IllegalArgumentException,
    IndexOutOfBoundsException,
    NullPointerException,
    PathIOException,
    UnsupportedOperationException,
)
from fscontract.contract.outcome import Kind, Outcome
from fscontract.contract.ports import Allocate, Buffer, FileRange, Release, no_release
from fscontract.contract.program import Step
from fscontract.implementations.memory import MemoryInputStream

#: Exceptions that stand for kinds; for the others there is PathIOException.
ERRORS: dict[Kind, type[Exception]] = {
    Kind.EOF: EOFException,
    Kind.ILLEGAL_ARGUMENT: IllegalArgumentException,
    Kind.INDEX: IndexOutOfBoundsException,
    Kind.NULL: NullPointerException,
    Kind.UNSUPPORTED: UnsupportedOperationException,
    Kind.OTHER: RuntimeError,
}


class Beneath:
    """Hadoop's files below a mutant: one for each content, written when it is first opened."""

    def __init__(self, binding: Binding) -> None:
        self.binding = binding
        self._paths: dict[bytes, str] = {}

    def open(self, content: bytes) -> Any:
        """A new stream of Hadoop over these bytes."""
        path = self._paths.get(content)
        if path is None:
            path = self._paths[content] = self.binding.create(content)
        return self.binding.open(path)


class OverHadoop(MemoryInputStream):
    """A stream that does nothing itself: it makes each call on a stream of Hadoop.

    Where it is and whether it is closed are Hadoop's, too: a mutant that sets one of them moves
    or closes that stream.
    """

    beneath: ClassVar[Beneath]
    _opened: Any = None
    _last = 0
    _shut = True

    def __init__(self, data: bytes, path: str = "/hadoop", declared: int | None = None) -> None:
        self._opened = None
        super().__init__(data, path, declared)
        self._opened = self._start(data, declared)

    def _start(self, data: bytes, declared: int | None) -> Any:
        """A stream of Hadoop over these bytes; what length was declared is nothing to it."""
        return self.beneath.open(data)

    @property
    def _closed(self) -> bool:
        return self._shut

    @_closed.setter
    def _closed(self, closed: bool) -> None:
        self._shut = closed
        if closed and self._opened is not None:
            self._do("close")

    @property
    def _pos(self) -> int:
        if self._opened is not None and not self._closed:
            self._last = int(self._do("get_pos"))
        return self._last

    @_pos.setter
    def _pos(self, position: int) -> None:
        self._last = position
        if self._opened is not None and not self._closed:
            self._do("seek", position)

    def _step(self, op: str, *args: Any) -> Outcome:
        return self.beneath.binding.bind(Step(op, args))(self._opened)

    def _do(self, op: str, *args: Any) -> Any:
        return self._value(self._step(op, *args))

    def _fill(self, op: str, before: tuple[int, ...], buffer: Buffer, *after: int) -> Any:
        if buffer is None:
            return self._do(op, *before, None, *after)
        outcome = self._step(op, *before, len(buffer), *after)
        if outcome.buffer is not None:
            count = outcome.value if outcome.value is not None else after[1]
            start = after[0]
            if count > 0:
                buffer[start : start + count] = outcome.buffer[start : start + count]
        return self._value(outcome)

    def _value(self, outcome: Outcome) -> Any:
        if outcome.kind is Kind.RETURNED:
            return outcome.value
        error = ERRORS.get(outcome.kind)
        raise PathIOException(self.path, outcome.detail) if error is None else error(outcome.detail)

    def get_pos(self) -> int:
        """As the stream beneath."""
        return int(self._do("get_pos"))

    def seek(self, position: int) -> None:
        """As the stream beneath."""
        self._do("seek", position)

    def seek_to_new_source(self, position: int) -> bool:
        """As the stream beneath."""
        return bool(self._do("seek_to_new_source", position))

    def read_byte(self) -> int:
        """As the stream beneath."""
        return int(self._do("read_byte"))

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        """As the stream beneath."""
        return int(self._fill("read_into", (), buffer, offset, _length(buffer, offset, length)))

    def skip(self, count: int) -> int:
        """As the stream beneath."""
        return int(self._do("skip", count))

    def available(self) -> int:
        """As the stream beneath."""
        return int(self._do("available"))

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        """As the stream beneath."""
        length = _length(buffer, offset, length)
        return int(self._fill("pread", (position,), buffer, offset, length))

    def read_fully(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> None:
        """As the stream beneath."""
        self._fill("read_fully", (position,), buffer, offset, _length(buffer, offset, length))

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        """As the stream beneath, whose bytes are copied into the buffers of `allocate`."""
        asked = (
            None
            if ranges is None
            else tuple(None if r is None else (r.offset, r.length) for r in ranges)
        )
        makes = "null" if allocate is None else "heap"
        parts = self._do("read_vectored", asked, makes, "null" if release is None else "given")
        for wanted, part in zip(ranges, parts, strict=True):
            wanted.data = self._delivered(part, allocate)

    def _delivered(self, part: Outcome, allocate: Allocate) -> Future[memoryview]:
        future: Future[memoryview] = Future()
        try:
            self._value(part)
            data = part.buffer or b""
            target = memoryview(allocate(len(data)))[: len(data)]
            target[:] = data
            future.set_result(target)
        except Exception as error:
            future.set_exception(error)
        return future

    def read_buffer(self, buffer: ByteBuffer) -> int:
        """As the stream beneath."""
        return int(self._through(buffer, "read_buffer"))

    def pread_buffer(self, position: int, buffer: ByteBuffer) -> int:
        """As the stream beneath."""
        return int(self._through(buffer, "pread_buffer", position))

    def read_fully_buffer(self, position: int, buffer: ByteBuffer) -> None:
        """As the stream beneath."""
        self._through(buffer, "read_fully_buffer", position)

    def _through(self, buffer: ByteBuffer, op: str, *before: int) -> Any:
        if buffer is None:
            return self._do(op, *before, None)
        raise UnsupportedOperationException(f"{op}: no local stream of Hadoop has it")

    def unbuffer(self) -> None:
        """As the stream beneath."""
        self._do("unbuffer")

    def has_capability(self, name: str) -> bool:
        """As the stream beneath."""
        return bool(self._do("has_capability", name))


def _length(buffer: Buffer, offset: int, length: int | None) -> int:
    return length if length is not None else 0 if buffer is None else len(buffer) - offset


def over_hadoop(stream: type[MemoryInputStream], beneath: Beneath) -> type[MemoryInputStream]:
    """The class of streams with what it overrides, and all else made on streams of Hadoop."""
    bases = (stream, OverHadoop) if stream is not MemoryInputStream else (OverHadoop,)
    return type(stream.__name__, bases, {"beneath": beneath})
