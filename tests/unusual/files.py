"""Binary files that are right, each in an unusual way that Python's documentation permits.

Each opens a path, as `open` does.
"""

from __future__ import annotations

import io
import mmap
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO


class Raw(io.RawIOBase):
    """A raw file with as little as the base class asks for."""

    def __init__(self, path: str) -> None:
        self.data = Path(path).read_bytes()
        self.position = 0

    def readable(self) -> bool:
        self._check()
        return True

    def seekable(self) -> bool:
        self._check()
        return True

    def _check(self) -> None:
        if self.closed:
            raise ValueError("I/O operation on closed file")

    def _count(self, room: int) -> int:
        """Return how many bytes one read delivers into this room."""
        return room

    def readinto(self, buffer: Any) -> int:
        self._check()
        view = memoryview(buffer).cast("B")
        part = self.data[self.position : self.position + self._count(len(view))]
        view[: len(part)] = part
        self.position += len(part)
        return len(part)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._check()
        start = {0: 0, 1: self.position, 2: len(self.data)}[whence]
        return self._move(start + offset)

    def _move(self, position: int) -> int:
        if position < 0:
            raise ValueError(f"negative position {position}")
        self.position = position
        return position

    def tell(self) -> int:
        self._check()
        return self.position


class OneByte(Raw):
    """Each read delivers one byte."""

    def _count(self, room: int) -> int:
        return min(room, 1)


class ThreeBytes(Raw):
    """Each read delivers three bytes at most."""

    def _count(self, room: int) -> int:
        return min(room, 3)


class NegativeIsAnOSError(Raw):
    """A seek before the start is an OSError, as with files of the system."""

    def _move(self, position: int) -> int:
        if position < 0:
            raise OSError(22, "Invalid argument")
        return super()._move(position)


class RefusesPastTheEnd(Raw):
    """A seek past the end is refused."""

    def _move(self, position: int) -> int:
        if position > len(self.data):
            raise OSError(22, "past the end")
        return super()._move(position)


class StopsAtTheEnd(Raw):
    """A seek past the end goes to the end."""

    def _move(self, position: int) -> int:
        return super()._move(min(position, len(self.data)))


class IteratesByGenerator(Raw):
    """Each loop has a generator, which ends where readline() does."""

    def __iter__(self) -> Iterator[bytes]:
        while line := self.readline():
            yield line


class CopiesRestForLine(Raw):
    """It looks for the end of each line in a copy of all bytes that are left."""

    def readline(self, size: int | None = -1) -> bytes:
        self._check()
        line = io.BytesIO(self.data[self.position :]).readline(-1 if size is None else size)
        self.position += len(line)
        return line


class RefusesLines(Raw):
    """It has no use for lines, nor for buffers of its callers."""

    def readline(self, size: int | None = -1) -> bytes:
        raise io.UnsupportedOperation("wrap it in a TextIOWrapper")

    def readlines(self, hint: int | None = -1) -> list[bytes]:
        raise io.UnsupportedOperation("wrap it in a TextIOWrapper")

    def __next__(self) -> bytes:
        line = io.RawIOBase.readline(self)
        if not line:
            raise StopIteration
        return line

    def readinto(self, buffer: Any) -> int:
        raise io.UnsupportedOperation("readinto")

    def read(self, size: int | None = -1) -> bytes:
        self._check()
        room = len(self.data) if size is None or size < 0 else size
        part = self.data[self.position : self.position + room]
        self.position += len(part)
        return part


class RefusesToFlush(Raw):
    """It can be read only, and says so to all but close() of its base class, which flushes it."""

    closes = False

    def flush(self) -> None:
        if not self.closes:
            raise io.UnsupportedOperation("flush")

    def close(self) -> None:
        self.closes = True
        super().close()


class OwnTypes(Raw):
    """Numbers are of a subclass of int, bytes of a subclass of bytes."""

    class Number(int):
        """A whole number with a name."""

    class Bytes(bytes):
        """Bytes with a name."""

    def tell(self) -> int:
        return self.Number(super().tell())

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self.Number(super().seek(offset, whence))

    def read(self, size: int | None = -1) -> bytes | None:
        return self.Bytes(super().read(-1 if size is None else size) or b"")

    def readinto(self, buffer: Any) -> int:
        return self.Number(super().readinto(buffer))


class ReadsByItself(Raw):
    """read(), readall() and readline() are its own, and do not use readinto()."""

    def read(self, size: int | None = -1) -> bytes:
        self._check()
        end = None if size is None or size < 0 else self.position + size
        part = self.data[self.position : end]
        self.position += len(part)
        return part

    def readall(self) -> bytes:
        return self.read()

    def readline(self, size: int | None = -1) -> bytes:
        self._check()
        line = self.data[self.position :].partition(b"\n")
        whole = b"".join(line[:2])
        part = whole if size is None or size < 0 else whole[:size]
        self.position += len(part)
        return part


class OpensLate(Raw):
    """The file is read by the first call that needs its bytes."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.position = 0

    def __getattr__(self, name: str) -> Any:
        if name != "data":
            raise AttributeError(name)
        self.data = Path(self.path).read_bytes()
        return self.data


class FillsGaps(Raw):
    """readinto() takes any buffer, one item after the other, and reads before it writes."""

    def readinto(self, buffer: Any) -> int:
        self._check()
        view = memoryview(buffer)
        part = self.data[self.position : self.position + view.nbytes]
        self.position += len(part)
        if view.contiguous:
            view = view.cast("B")
        for index, value in enumerate(part):
            view[index] = value
        return len(part)


class RefusesLate(Raw):
    """A buffer that cannot be filled is refused by another error, and only if it matters."""

    class Refused(Exception):
        """The buffer is of no use."""

    def readinto(self, buffer: Any) -> int:
        self._check()
        view = memoryview(buffer)
        if view.nbytes and self.position < len(self.data):
            if view.readonly or not view.c_contiguous:
                raise self.Refused("give me another one")
            return super().readinto(buffer)
        return 0


class LazyBuffer(Raw):
    """read1(), readinto1() and peek() give less than they could, or more than was asked for."""

    def read1(self, size: int = -1) -> bytes:
        self._check()
        return self.read(2 if size < 0 else min(size, 1)) or b""

    def readinto1(self, buffer: Any) -> int:
        return self.readinto(memoryview(buffer).cast("B")[:1])

    def peek(self, size: int = 0) -> bytes:
        self._check()
        return self.data[self.position :] if size > 2 else b""


class ReadsAhead(Raw):
    """A file that a thread reads, while the stream may be read already."""

    def __init__(self, path: str) -> None:
        self.position = 0
        file = open(path, "rb", buffering=0)  # noqa: SIM115

        def fetch() -> None:
            with file:
                self.data = file.readall()

        self._reader = threading.Thread(target=fetch)
        self._reader.start()

    def _check(self) -> None:
        super()._check()
        self._reader.join()

    def close(self) -> None:
        self._reader.join()
        super().close()


class Mapped(Raw):
    """A file that is mapped into memory while it is open."""

    def __init__(self, path: str) -> None:
        with open(path, "rb") as file:
            size = os.path.getsize(path)
            self.map = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) if size else None
        self.data = self.map or b""  # type: ignore[assignment]
        self.position = 0

    def close(self) -> None:
        if self.map is not None:
            self.map.close()
        super().close()


class ReadsAtPositions(Raw):
    """The system is asked at each read, and refuses positions that it cannot address."""

    def __init__(self, path: str) -> None:
        self.descriptor = os.open(path, os.O_RDONLY)
        self.data = bytes(os.path.getsize(path))  # of which only the length counts
        self.position = 0

    def readinto(self, buffer: Any) -> int:
        self._check()
        view = memoryview(buffer).cast("B")
        part = os.pread(self.descriptor, len(view), self.position)
        view[: len(part)] = part
        self.position += len(part)
        return len(part)

    def close(self) -> None:
        if not self.closed:
            os.close(self.descriptor)
        super().close()


class Peeks(io.BufferedIOBase):
    """A buffered file with peek(), which leaves lines to the base class."""

    def __init__(self, path: str) -> None:
        self._file = io.BufferedReader(io.FileIO(path), 64)

    def readable(self) -> bool:
        return self._file.readable()

    def seekable(self) -> bool:
        return self._file.seekable()

    def peek(self, size: int = 0) -> bytes:
        return self._file.peek(size)

    def read(self, size: int | None = -1, /) -> bytes:
        return self._file.read(-1 if size is None else size)

    def read1(self, size: int = -1, /) -> bytes:
        return self._file.read1(size)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def close(self) -> None:
        self._file.close()
        super().close()


class NotSeekable(io.RawIOBase):
    """A file that can only be read forwards, and says so."""

    def __init__(self, path: str) -> None:
        self._file = open(path, "rb", buffering=0)  # noqa: SIM115

    def readable(self) -> bool:
        self._check()
        return True

    def seekable(self) -> bool:
        self._check()
        return False

    def _check(self) -> None:
        if self.closed:
            raise ValueError("I/O operation on closed file")

    def readinto(self, buffer: Any) -> int:
        self._check()
        return self._file.readinto(buffer)

    def close(self) -> None:
        self._file.close()
        super().close()


class Descriptor(io.RawIOBase):
    """A file over os.read and os.lseek."""

    def __init__(self, path: str) -> None:
        self._number = os.open(path, os.O_RDONLY)

    def readable(self) -> bool:
        self._check()
        return True

    def seekable(self) -> bool:
        self._check()
        return True

    def _check(self) -> None:
        if self.closed:
            raise ValueError("closed")

    def readinto(self, buffer: Any) -> int:
        self._check()
        return os.readv(self._number, [buffer])

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._check()
        return os.lseek(self._number, offset, whence)

    def close(self) -> None:
        if not self.closed:
            os.close(self._number)
        super().close()


def buffered(path: str) -> BinaryIO:
    """Open a file with Python's buffer."""
    return open(path, "rb")


def tiny_buffer(path: str) -> BinaryIO:
    """Open a file with a buffer of two bytes."""
    return open(path, "rb", buffering=2)


def in_memory(path: str) -> BinaryIO:
    """Open a copy in memory."""
    return io.BytesIO(Path(path).read_bytes())


def read_and_write(path: str) -> BinaryIO:
    """Open a buffered file that could also be written, over a file that is only read."""
    return io.BufferedReader(Raw(path))


def buffered_one_byte(path: str) -> BinaryIO:
    """Open Python's buffer over a raw file of one byte a read."""
    return io.BufferedReader(OneByte(path), 16)


def odd_buffer(path: str) -> BinaryIO:
    """Open a file through a buffer whose size is not a power of two, and smaller than a line."""
    return io.BufferedReader(io.FileIO(path), 17)


def pages(path: str) -> Raw:
    """Open a file of which the operating system returns a page at most."""

    class Pages(Raw):
        def readinto(self, buffer: Any) -> int:
            return super().readinto(memoryview(buffer).cast("B")[:4096])

    return Pages(path)


def temporary(path: str) -> Any:
    """Open a temporary copy, as `tempfile` wraps it."""
    data = Path(path).read_bytes()
    file = tempfile.NamedTemporaryFile()  # noqa: SIM115
    file.write(data)
    file.seek(0)
    return file


def spooled(path: str) -> Any:
    """Open a temporary copy that is kept in memory while it is small."""
    data = Path(path).read_bytes()
    file = tempfile.SpooledTemporaryFile(max_size=100)  # noqa: SIM115
    file.write(data)
    file.seek(0)
    return file


#: Every class and function of this module that opens a path.
ALL: tuple[Callable[[str], Any], ...] = tuple(
    value
    for name, value in vars(sys.modules[__name__]).items()
    if getattr(value, "__module__", "") == __name__ and not name.startswith("_")
)


def target(opens: Callable[[str], Any]) -> Any:
    """Return a binding of files that are opened in this way."""
    from fscontract import PythonFileBinding

    return PythonFileBinding(opens, None, opens.__name__)
