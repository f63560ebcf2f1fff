"""Python binary file over a stream."""

from __future__ import annotations

import errno
import io
import operator
import os
from collections.abc import Callable
from typing import Any, NoReturn

from fscontract.contract.api.filesystem import FSDataInputStream

#: Maximum bytes allocated at once, because a file may be shorter than its reported length.
_AT_ONCE = 1 << 26
#: Bytes of a block in which the end of a line is looked for.
_LINE = 1024


class StreamFile(io.RawIOBase):
    """A readable, seekable raw file that shares `stream`'s position and closes it.

    Python allows positions past EOF, where reads return no bytes; the contract does not. The file
    stores such a position while the stream is at EOF, until the stream is moved. `length` returns
    the file's length in bytes. A stream with a method `attach` closes its attached files.
    """

    def __init__(
        self, stream: FSDataInputStream, length: Callable[[], int], seeks: Callable[[], int]
    ) -> None:
        self._stream = stream
        self._length = length
        self._seeks = seeks
        self._beyond = 0
        self._beyond_since = 0
        attach = getattr(stream, "attach", None)
        if attach is not None:
            attach(self)

    @property
    def name(self) -> str:
        """Path of the file."""
        return str(getattr(self._stream, "path", ""))

    @property
    def mode(self) -> str:
        """Always "rb"."""
        return "rb"

    # `closed` is inherited from IOBase, in C: io.BufferedReader reads it for every line.

    def close(self) -> None:
        """Close the file and its stream."""
        if not self.closed:
            self._stream.close()
            super().close()

    def stream_closed(self) -> None:
        """Close the file after its stream was closed."""
        super().close()

    def __del__(self) -> None:
        # IOBase would close here, and with it a stream that its owner may still use.
        pass

    def readable(self) -> bool:
        """Return True; raise ValueError when closed."""
        self._check_open()
        return True

    def seekable(self) -> bool:
        """Return True; raise ValueError when closed."""
        self._check_open()
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill any writable C-contiguous buffer; return the number of bytes, 0 at EOF."""
        self._check_open()
        view = _bytes_of(buffer)
        if len(view) == 0 or self._is_beyond():
            return 0
        return max(0, self._stream.read_into(view, 0, len(view)))

    def read(self, size: int | None = -1) -> bytes | None:
        """Return up to `size` bytes, or the rest for None or a negative size."""
        return super().read(-1 if size is None else size)

    def readline(self, size: int | None = -1) -> bytes:
        """Return up to `size` bytes of a line; raise ValueError when closed, even for no bytes."""
        self._check_open()
        rest = -1 if size is None else operator.index(size)
        pieces: list[bytes] = []
        while rest:
            block = bytearray(_LINE if rest < 0 else min(rest, _LINE))
            count = self.readinto(block)
            end = block.find(b"\n", 0, count) + 1
            pieces.append(bytes(block[: end or count]))
            if end and end < count:
                self._stream.seek(self._stream.get_pos() - (count - end))
            if end or not count:
                break
            rest -= count if rest > 0 else 0
        return b"".join(pieces)

    def readall(self) -> bytes:
        """Return all bytes from the position to EOF."""
        self._check_open()
        rest = 0 if self._is_beyond() else self._length() - self._stream.get_pos()
        data = self._read_block(rest)
        if len(data) < _AT_ONCE:
            return data
        blocks = [data]
        while data:
            rest -= len(data)
            data = self._read_block(rest)
            blocks.append(data)
        return b"".join(blocks)

    def _read_block(self, rest: int) -> bytes:
        """Return the `rest`, or a block of it; fewer bytes only at EOF."""
        data = bytearray(max(0, min(rest, _AT_ONCE)))
        filled = 0
        with memoryview(data) as view:
            while filled < len(view):
                count = self._stream.read_into(view, filled, len(view) - filled)
                if count <= 0:
                    break
                filled += count
        return bytes(data) if filled == len(data) else bytes(data[:filled])

    def tell(self) -> int:
        """Return the position in bytes."""
        self._check_open()
        return self._beyond if self._is_beyond() else self._stream.get_pos()

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move the position, also past EOF; raise OSError (EINVAL) for a negative position."""
        self._check_open()
        if whence not in (os.SEEK_SET, os.SEEK_CUR, os.SEEK_END):
            raise ValueError(f"invalid whence: {whence!r}; must be 0, 1 or 2")
        target = operator.index(offset)
        if whence == os.SEEK_CUR:
            target += self.tell()
        elif whence == os.SEEK_END:
            target += self._length()
        if target < 0:
            raise OSError(errno.EINVAL, f"invalid seek position: {target}; must be 0 or more")
        self._stream.seek(min(target, self._length()))
        self._beyond, self._beyond_since = target, self._seeks()
        return target

    def write(self, data: Any) -> NoReturn:
        """Raise io.UnsupportedOperation."""
        self._check_open()
        raise io.UnsupportedOperation("the file is read-only")

    def _is_beyond(self) -> bool:
        length = self._length()
        if self._beyond <= length or self._beyond_since != self._seeks():
            return False
        return self._stream.get_pos() == length

    def _check_open(self) -> None:
        if self.closed or getattr(self._stream, "closed", False):
            raise ValueError("I/O operation on closed file")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._stream!r}>"


def _bytes_of(buffer: Any) -> memoryview:
    view = memoryview(buffer)
    if view.readonly:
        raise TypeError("readinto requires a writable buffer")
    if not view.c_contiguous:
        raise BufferError("readinto requires a C-contiguous buffer")
    if view.nbytes == 0:
        return memoryview(bytearray())
    return view if view.format == "B" and view.ndim == 1 else view.cast("B")
