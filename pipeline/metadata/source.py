"""Positioned reads in a part of a file; no length is believed before it is checked."""

from __future__ import annotations

from collections.abc import Sequence

from fscontract.contract.ports import FileRange, FileStatus, FileSystem, FSDataInputStream
from fscontract.pipeline.metadata.errors import CorruptFileException


def open_stream(fs: FileSystem, status: FileStatus, policy: str = "random") -> FSDataInputStream:
    """Open a file that a listing told of, so that nothing has to be asked of it again."""
    builder = fs.open_file(status.path).opt("fs.option.openfile.read.policy", policy)
    return builder.with_file_status(status).build().result()


class Source:
    """`length` bytes of a file from `start`; offsets count from there, those of errors from 0."""

    def __init__(self, stream: FSDataInputStream, path: str, length: int, start: int = 0) -> None:
        self.path = path
        self.length = length
        self._stream = stream
        self._start = start

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.path!r}, {self._start}, {self.length})"

    def part(self, offset: int, length: int) -> Source:
        """A part of this part; CorruptFileException if it does not lie in it."""
        self.check(offset, length)
        return Source(self._stream, self.path, length, self._start + offset)

    def read(self, offset: int, length: int) -> bytes:
        """The bytes of one range, by one positioned read."""
        self.check(offset, length)
        buffer = bytearray(length)
        if length:
            try:
                self._stream.read_fully(self._start + offset, buffer)
            except EOFError as error:
                raise self.corrupt(offset, f"the file ends within {length} bytes") from error
        return bytes(buffer)

    def read_many(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """The bytes of ranges (offset, length) that don't overlap, by one vectored read."""
        if len(ranges) < 2:
            return [self.read(offset, length) for offset, length in ranges]
        for offset, length in ranges:
            self.check(offset, length)
        wanted = [FileRange(self._start + offset, length) for offset, length in ranges]
        self._stream.read_vectored(wanted)
        return [self._result(each) for each in wanted]

    def check(self, offset: int, length: int) -> None:
        """CorruptFileException for a range that does not lie in this part."""
        if offset < 0 or length < 0 or offset + length > self.length:
            message = f"{length} bytes from offset {self._start + offset} are not in the file"
            raise self.corrupt(max(0, min(offset, self.length)), message)

    def corrupt(self, offset: int, message: str) -> CorruptFileException:
        """The error for what is wrong at an offset."""
        return CorruptFileException(self.path, self._start + offset, message)

    def _result(self, each: FileRange) -> bytes:
        if each.data is None:
            raise self.corrupt(each.offset - self._start, "a vectored read gave nothing")
        try:
            return bytes(each.data.result())
        except EOFError as error:
            message = f"the file ends within {each.length} bytes"
            raise self.corrupt(each.offset - self._start, message) from error
