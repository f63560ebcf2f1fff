"""Mutants of Python files."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from typing import Any

from fscontract.fakes.mutants.correct_parts import BufferedFile, PlainFile, UnseekableFile
from fscontract.fakes.mutants.registry import mutant, right
from fscontract.implementations.file_adapter import StreamFile

#: The bytes of a block that a mutant reads at a time.
_BLOCK = 8192


@mutant("python.closed.before")
class ClosedAtOnce(PlainFile):
    """closed is True after the first read."""

    @property
    def closed(self) -> bool:
        return self.is_closed or self._stream.get_pos() > 0


@mutant("python.closed.after")
class NeverClosed(PlainFile):
    """closed is always False."""

    @property
    def closed(self) -> bool:
        return False


@mutant("python.readable", PlainFile.readable)
def not_readable(self: PlainFile) -> bool:
    """readable() is False."""
    return not right(self).readable()


@mutant("python.seekable.true", PlainFile.seekable)
def not_seekable(self: PlainFile) -> bool:
    """seekable() is False although seek works."""
    return not right(self).seekable()


@mutant("python.seekable.false", UnseekableFile.seekable)
def says_seekable(self: UnseekableFile) -> bool:
    """seekable() is True although seek does not work."""
    return not right(self).seekable()


@mutant("python.writable.false", PlainFile.writable)
def says_writable(self: PlainFile) -> bool:
    """writable() is True."""
    return True


@mutant("python.write.refused", PlainFile.write)
def writes_nothing(self: PlainFile, data: Any) -> Any:
    """write returns 0."""
    self._check_open()
    return 0


@mutant("python.write.closed", PlainFile.write)
def writes_when_closed(self: PlainFile, data: Any) -> Any:
    """write on a closed file returns 0."""
    return 0 if self.is_closed else right(self).write(data)


@mutant("python.with.closes", PlainFile.__exit__)
def with_leaves_open(self: PlainFile, *exception: object) -> None:
    """The end of a with block leaves the file open."""
    self._check_open()


@mutant("python.with.closes", PlainFile.__exit__)
def with_error_leaves_open(self: PlainFile, *exception: Any) -> None:
    """An exception in a with block leaves the file open."""
    if exception[0] is None:
        right(self).__exit__(*exception)


@mutant("python.with.closes", PlainFile.__exit__)
def with_suppresses_error(self: PlainFile, *exception: Any) -> Any:
    """A with block suppresses exceptions."""
    right(self).__exit__(*exception)
    return True


@mutant("python.with.closed", PlainFile.__enter__)
def with_on_closed(self: PlainFile) -> Any:
    """A closed file can be used in a with block."""
    return self


@mutant("python.seek.current", PlainFile.seek)
def file_forgets_the_end(self: PlainFile, offset: int, whence: int = os.SEEK_SET) -> int:
    """seek(0, 1) at the end moves to the start."""
    at_start = whence == os.SEEK_CUR and offset == 0 and not self.left()
    return right(self).seek(offset, os.SEEK_SET if at_start else whence)


@mutant("python.seek.set", PlainFile.seek)
def file_seeks_to_block(self: PlainFile, offset: int, whence: int = os.SEEK_SET) -> int:
    """seek(n, 0) to an odd position stops one before it, but returns n."""
    target = right(self).seek(offset, whence)
    if whence == os.SEEK_SET and target % 2 and self.left():
        self.move(-1)
    return target


@mutant("python.seek.current", PlainFile.seek)
def file_seeks_current_twice(self: PlainFile, offset: int, whence: int = os.SEEK_SET) -> int:
    """seek(n, 1) moves the position by twice n, and returns where it is then."""
    return right(self).seek(offset * 2 if whence == os.SEEK_CUR else offset, whence)


@mutant("python.seek.end", PlainFile.seek)
def file_seeks_before_end(self: PlainFile, offset: int, whence: int = os.SEEK_SET) -> int:
    """seek(n, 2) counts back from the end."""
    return right(self).seek(-abs(offset) if whence == os.SEEK_END else offset, whence)


@mutant("python.seek.returns", PlainFile.seek)
def file_seek_returns_offset(self: PlainFile, offset: int, whence: int = os.SEEK_SET) -> int:
    """seek returns its argument."""
    right(self).seek(offset, whence)
    return offset


@mutant("python.seek.returns", PlainFile.seek)
def file_wraps_beyond(self: PlainFile, offset: int, whence: int = os.SEEK_SET) -> int:
    """A seek beyond the end returns its target, but goes that far from the beginning again."""
    target = right(self).seek(offset, whence)
    length = self._length()
    if target > length > 0:
        right(self).seek(target % length)
    return target


@mutant("python.seek.past-end", PlainFile.seek)
def file_refuses_beyond(self: PlainFile, offset: int, whence: int = os.SEEK_SET) -> int:
    """A seek beyond the end raises OSError."""
    here = StreamFile.tell(self)
    target = right(self).seek(offset, whence)
    if target > self._length():
        right(self).seek(here)
        raise OSError("beyond the end")
    return target


@mutant("python.seek.negative", PlainFile.seek)
def file_negative_is_zero(self: PlainFile, offset: int, whence: int = os.SEEK_SET) -> int:
    """A seek to before the start goes to the start."""
    try:
        return right(self).seek(offset, whence)
    except OSError:
        return right(self).seek(0)


@mutant("python.seek.failed-stays", PlainFile.seek)
def file_failed_seek_rewinds(self: PlainFile, offset: int, whence: int = os.SEEK_SET) -> int:
    """A seek that raises leaves the file at its start."""
    try:
        return right(self).seek(offset, whence)
    except OSError:
        right(self).seek(0)
        raise


@mutant("python.seek.bad-whence", PlainFile.seek)
def file_takes_any_whence(self: PlainFile, offset: int, whence: int = os.SEEK_SET) -> int:
    """An unknown whence is treated as 0."""
    return right(self).seek(offset, whence if whence in (0, 1, 2) else os.SEEK_SET)


@mutant("python.seek.closed", PlainFile.seek)
def file_seeks_when_closed(self: PlainFile, offset: int, whence: int = os.SEEK_SET) -> int:
    """seek on a closed file returns 0."""
    return 0 if self.is_closed else right(self).seek(offset, whence)


@mutant("python.seek.unsupported", UnseekableFile.seek)
def file_pretends_to_seek(self: UnseekableFile, offset: int, whence: int = os.SEEK_SET) -> int:
    """seek of a file that is not seekable returns 0."""
    self._check_open()
    return 0


@mutant("python.tell.value", PlainFile.tell)
def tell_of_buffer(self: PlainFile) -> int:
    """After a read, tell returns the end of the buffer."""
    here = right(self).tell()
    return max(here, self._length()) if here else 0


@mutant("python.tell.stays", PlainFile.tell)
def tell_moves(self: PlainFile) -> int:
    """tell moves the position by one."""
    here = right(self).tell()
    self.move(1)
    return here


@mutant("python.flush", PlainFile.flush)
def flush_drops_buffer(self: PlainFile) -> None:
    """flush moves to the end of a buffer of 4 bytes, as if its bytes were written."""
    if not self.closed and self.left():
        self.move(min(-StreamFile.tell(self) % 4, self.left()))


@mutant("python.flush", PlainFile.flush)
def flush_needs_a_writer(self: PlainFile) -> None:
    """flush raises AttributeError: there is no buffer to write."""
    raise AttributeError("_write_buffer")


@mutant("python.tell.closed", PlainFile.tell)
def tells_when_closed(self: PlainFile) -> int:
    """tell on a closed file returns 0."""
    return 0 if self.is_closed else right(self).tell()


@mutant("python.readline.line", PlainFile.readline)
def line_cut(self: PlainFile, size: int | None = -1, /) -> bytes:
    """readline returns the line without its newline, which it has consumed."""
    line = right(self).readline(size)
    return line[:-1] if line.endswith(b"\n") and len(line) > 1 else line


@mutant("python.readline.line", PlainFile.readline)
def line_of_text(self: PlainFile, size: int | None = -1, /) -> bytes:
    """readline translates the end of a line, as files opened for text do."""
    line = right(self).readline(size)
    return line[:-2] + b"\n" if line.endswith(b"\r\n") else line


@mutant("python.readline.limit", PlainFile.readline)
def line_without_limit(self: PlainFile, size: int | None = -1, /) -> bytes:
    """readline(n) returns the whole line, unless n is 0."""
    return right(self).readline(size and -1)


@mutant("python.readline.last", PlainFile.readline)
def last_line_lost(self: PlainFile, size: int | None = -1, /) -> bytes:
    """A last line without a newline is dropped."""
    line = right(self).readline(size)
    last = (line and size is None) or size == -1
    return b"" if last and not line.endswith(b"\n") else line


@mutant("python.readline.eof", PlainFile.readline)
def line_raises_at_end(self: PlainFile, size: int | None = -1, /) -> bytes:
    """readline at the end raises EOFError."""
    line = right(self).readline(size)
    if not line and size != 0:
        raise EOFError("the end was reached")
    return line


@mutant("python.readline.advance", PlainFile.readline)
def line_lags(self: PlainFile, size: int | None = -1, /) -> bytes:
    """readline moves the position by one less than it returned."""
    line = right(self).readline(size)
    if len(line) > 1:
        self.move(-1)
    return line


@mutant("python.readline.closed", PlainFile.readline)
def line_when_closed(self: PlainFile, size: int | None = -1, /) -> bytes:
    """readline on a closed file returns nothing."""
    return b"" if self.is_closed else right(self).readline(size)


@mutant("python.readlines.all", PlainFile.readlines)
def lines_lack_last(self: PlainFile, hint: int | None = -1, /) -> list[bytes]:
    """readlines leaves out the last line."""
    lines = right(self).readlines(hint)
    if lines and (hint is None or hint <= 0):
        self.move(-len(lines.pop()))
    return lines


@mutant("python.readlines.all", PlainFile.readlines)
def lines_end_empty(self: PlainFile, hint: int | None = -1, /) -> list[bytes]:
    """readlines returns an empty line after the last one."""
    lines = right(self).readlines(hint)
    return lines if hint is not None and hint > 0 else [*lines, b""]


@mutant("python.readlines.hint", PlainFile.readlines)
def lines_none_for_hint_of_0(self: PlainFile, hint: int | None = -1, /) -> list[bytes]:
    """readlines(0) returns no lines."""
    return [] if hint == 0 else right(self).readlines(hint)


@mutant("python.readlines.all", PlainFile.readlines)
def lines_end_with_blocks(self: PlainFile, hint: int | None = -1, /) -> list[bytes]:
    """A line that is in two blocks of 8 KiB is returned as two lines."""
    data = b"".join(right(self).readlines(hint))
    blocks = (data[at : at + _BLOCK] for at in range(0, len(data), _BLOCK))
    return [line for block in blocks for line in io.BytesIO(block)]


@mutant("python.readlines.hint", PlainFile.readlines)
def lines_without_hint(self: PlainFile, hint: int | None = -1, /) -> list[bytes]:
    """readlines returns all lines whatever the hint."""
    return right(self).readlines(hint and -1)


@mutant("python.readlines.advance", PlainFile.readlines)
def lines_stay(self: PlainFile, hint: int | None = -1, /) -> list[bytes]:
    """readlines leaves the position where it was."""
    lines = right(self).readlines(hint)
    if lines:
        self.move(-sum(map(len, lines)))
    return lines


@mutant("python.readlines.advance", PlainFile.readlines)
def lines_read_ahead(self: PlainFile, hint: int | None = -1, /) -> list[bytes]:
    """readlines with a hint reads to the end if it returns several lines."""
    lines = right(self).readlines(hint)
    if len(lines) > 3:
        right(self).read(-1)
    return lines


@mutant("python.readlines.closed", PlainFile.readlines)
def lines_when_closed(self: PlainFile, hint: int | None = -1, /) -> list[bytes]:
    """readlines on a closed file returns an empty list."""
    return [] if self.is_closed else right(self).readlines(hint)


@mutant("python.iter.lines", PlainFile.__next__)
def iteration_stays_at_end(self: PlainFile) -> bytes:
    """Iteration that reached the end yields no lines after a seek back."""
    if self.__dict__.setdefault("ended", False):
        raise StopIteration
    try:
        return right(self).__next__()
    except StopIteration:
        self.__dict__["ended"] = True
        raise


@mutant("python.iter.lines", PlainFile.__next__)
def iteration_cuts(self: PlainFile) -> bytes:
    """Iteration yields lines without their newlines."""
    line = right(self).__next__()
    return line[:-1] if line.endswith(b"\n") else line


@mutant("python.iter.end", PlainFile.__next__)
def iteration_goes_on(self: PlainFile) -> bytes:
    """Iteration yields empty lines at the end."""
    try:
        return right(self).__next__()
    except StopIteration:
        return b""


@mutant("python.iter.end", PlainFile.__iter__)
def loop_of_one_line(self: PlainFile) -> Iterator[bytes]:
    """A loop gets one line only: its iterator is a generator without a loop."""
    line = right(self).readline()
    if line:
        yield line


@mutant("python.iter.end", PlainFile.__iter__)
def loop_over_one_block(self: PlainFile) -> Iterator[bytes]:
    """A loop ends with the line that ends the first 64 KiB."""
    count = 0
    while count < 8 * _BLOCK and (line := right(self).readline()):
        count += len(line)
        yield line


@mutant("python.iter.closed", PlainFile.__next__)
def iteration_when_closed(self: PlainFile) -> bytes:
    """Iterating over a closed file ends at once."""
    if self.is_closed:
        raise StopIteration
    return right(self).__next__()


@mutant("python.read.count", PlainFile.read)
def file_reads_more(self: PlainFile, size: int | None = -1) -> bytes:
    """read(n) returns an additional byte, if there is one."""
    return right(self).read(size + 1 if size is not None and size > 0 else size)


@mutant("python.read.full", PlainFile.read)
def file_reads_half(self: PlainFile, size: int | None = -1) -> bytes:
    """read(n) returns half of the requested bytes."""
    return right(self).read(size // 2 if size is not None and size > 1 else size)


@mutant("python.read.data", PlainFile.read)
def file_reads_reversed(self: PlainFile, size: int | None = -1) -> bytes:
    """read(n) returns the bytes in reverse order."""
    data = right(self).read(size)
    return data[::-1] if size is not None and size > 0 else data


@mutant("python.read.bytes", PlainFile.read)
def file_reads_bytearray(self: PlainFile, size: int | None = -1) -> Any:
    """read(n) returns a bytearray."""
    data = right(self).read(size)
    return bytearray(data) if data and size is not None else data


@mutant("python.read.all", PlainFile.read)
def file_reads_half_of_all(self: PlainFile, size: int | None = -1) -> bytes:
    """read(-1) returns half of what is left."""
    if size is not None and size < 0:
        return right(self).read((self.left() + 1) // 2)
    return right(self).read(size)


@mutant("python.read.all", PlainFile.read)
def file_reads_a_chunk_by_default(self: PlainFile, size: int | None = 16) -> bytes:
    """read() without a size returns 16 bytes."""
    return right(self).read(size)


@mutant("python.read.data", PlainFile.read)
def file_reads_none_reversed(self: PlainFile, size: int | None = -1) -> bytes:
    """read(None) returns the bytes in reverse order."""
    data = right(self).read(size)
    return data[::-1] if size is None else data


@mutant("python.read.bytes", PlainFile.read)
def file_reads_none_as_view(self: PlainFile, size: int | None = -1) -> Any:
    """read(None) returns a memoryview."""
    data = right(self).read(size)
    return memoryview(data) if size is None else data


@mutant("python.read.eof", PlainFile.read)
def file_reads_none_at_end(self: PlainFile, size: int | None = -1) -> Any:
    """read(None) at the end returns a zero."""
    data = right(self).read(size)
    return data or b"\0" if size is None else data


@mutant("python.read.none", PlainFile.read)
def file_refuses_none(self: PlainFile, size: int | None = -1) -> bytes:
    """read(None) raises TypeError."""
    if size is None:
        raise TypeError("size must be a number")
    return right(self).read(size)


@mutant("python.read.eof", PlainFile.read)
def file_raises_at_end(self: PlainFile, size: int | None = -1) -> bytes:
    """read at the end raises EOFError."""
    data = right(self).read(size)
    if not data and size:
        raise EOFError("the end was reached")
    return data


@mutant("python.read.progress", PlainFile.read)
def file_drops_tail(self: PlainFile, size: int | None = -1) -> bytes:
    """read(n) returns nothing if fewer bytes are left."""
    if size is not None and size > self.left():
        return b""
    return right(self).read(size)


@mutant("python.read.zero", PlainFile.read)
def file_takes_zero_for_all(self: PlainFile, size: int | None = -1) -> bytes:
    """read(0) returns everything."""
    return right(self).read(size or -1)


@mutant("python.read.advance", PlainFile.read)
def file_read_lags(self: PlainFile, size: int | None = -1) -> bytes:
    """read(n) of several bytes moves the position by one less."""
    data = right(self).read(size)
    if size is not None and size > 0 and len(data) > 1:
        self.move(-1)
    return data


@mutant("python.read.closed", PlainFile.read)
def file_reads_when_closed(self: PlainFile, size: int | None = -1) -> bytes:
    """read on a closed file returns nothing."""
    return b"" if self.is_closed else right(self).read(size)


@mutant("python.readall.data", PlainFile.readall)
def all_but_last(self: PlainFile) -> bytes:
    """readall returns all but the last byte."""
    return self.take(max(self.left() - 1, 0)) or self.take(1)


@mutant("python.readall.eof", PlainFile.readall)
def all_raises_at_end(self: PlainFile) -> bytes:
    """readall at the end raises EOFError."""
    data = right(self).readall()
    if not data:
        raise EOFError("the end was reached")
    return data


@mutant("python.readall.advance", PlainFile.readall)
def all_stays(self: PlainFile) -> bytes:
    """readall leaves the position where it was."""
    data = right(self).readall()
    if data:
        self.move(-len(data))
    return data


@mutant("python.readall.closed", PlainFile.readall)
def all_when_closed(self: PlainFile) -> bytes:
    """readall on a closed file returns nothing."""
    return b"" if self.is_closed else right(self).readall()


@mutant("python.readinto.count", PlainFile.readinto)
def into_counts_buffer(self: PlainFile, buffer: Any) -> int:
    """readinto returns the buffer's size at the end of the file."""
    count = right(self).readinto(buffer)
    view = memoryview(buffer)
    return view.nbytes if count and view.format == "B" and view.ndim == 1 else count


@mutant("python.readinto.full", PlainFile.readinto)
def into_half(self: PlainFile, buffer: Any) -> int:
    """readinto fills half of the buffer."""
    view = memoryview(buffer)
    if view.ndim > 1 or view.nbytes < 2:
        return right(self).readinto(buffer)
    return right(self).readinto(view.cast("B")[: view.nbytes // 2])


@mutant("python.readinto.data", PlainFile.readinto)
def into_reversed(self: PlainFile, buffer: Any) -> int:
    """readinto puts the bytes into the buffer in reverse order."""
    count = right(self).readinto(buffer)
    view = memoryview(buffer)
    if count > 1 and view.format == "B" and view.ndim == 1:
        view[:count] = bytes(view[:count])[::-1]
    return count


@mutant("python.readinto.formats", PlainFile.readinto)
def into_bytes_only(self: PlainFile, buffer: Any) -> int:
    """readinto refuses buffers of larger items."""
    if not self.is_closed and memoryview(buffer).itemsize > 1:
        raise TypeError("a buffer of bytes is wanted")
    return right(self).readinto(buffer)


@mutant("python.readinto.formats", PlainFile.readinto)
def into_signed_refused(self: PlainFile, buffer: Any) -> int:
    """readinto assigns bytes to a view of signed bytes, which raises ValueError."""
    view = memoryview(buffer)
    if self.is_closed or view.itemsize > 1 or view.ndim > 1 or view.readonly:
        return right(self).readinto(buffer)
    data = self.take(min(view.nbytes, self.left()))
    view[: len(data)] = data
    return len(data)


@mutant("python.readinto.rest-untouched", PlainFile.readinto)
def into_counts_words(self: PlainFile, buffer: Any) -> int:
    """readinto of items of eight bytes returns their number."""
    count = right(self).readinto(buffer)
    return count // 8 if memoryview(buffer).itemsize == 8 else count


@mutant("python.readinto.rest-untouched", PlainFile.readinto)
def into_pads_last_item(self: PlainFile, buffer: Any) -> int:
    """readinto fills the rest of the last item with zeros."""
    count = right(self).readinto(buffer)
    view = memoryview(buffer)
    if count % view.itemsize:
        view.cast("B")[count : count - count % -view.itemsize] = bytes(-count % view.itemsize)
    return count


@mutant("python.readinto.rest-untouched", PlainFile.readinto)
def into_resizes(self: PlainFile, buffer: Any) -> int:
    """readinto replaces the content of a bytearray, which is then as long as what was left."""
    count = right(self).readinto(buffer)
    if isinstance(buffer, bytearray):
        del buffer[count:]
    return count


@mutant("python.readinto.rest-untouched", PlainFile.readinto)
def into_ends_with_zero(self: PlainFile, buffer: Any) -> int:
    """readinto at the end of the file puts a zero into the buffer."""
    count = right(self).readinto(buffer)
    view = memoryview(buffer)
    if count == 0 and view.format == "B" and view.ndim == 1 and view and not view.readonly:
        view[0] = 0
    return count


@mutant("python.readinto.formats", PlainFile.readinto)
def into_owner(self: PlainFile, buffer: Any) -> int:
    """readinto of a view of bytes fills the beginning of the object that the view belongs to."""
    owner = getattr(buffer, "obj", buffer)
    view = memoryview(owner)
    if isinstance(owner, bytearray) and view.nbytes > memoryview(buffer).nbytes:
        return right(self).readinto(view[: memoryview(buffer).nbytes])
    return right(self).readinto(buffer)


@mutant("python.readinto.strided", PlainFile.readinto)
def into_fills_gaps(self: PlainFile, buffer: Any) -> int:
    """readinto fills the gaps of a buffer that is not contiguous."""
    view = memoryview(buffer)
    if view.contiguous or self.is_closed:
        return right(self).readinto(buffer)
    return right(self).readinto(memoryview(view.obj)[: len(view)])


@mutant("python.readinto.readonly", PlainFile.readinto)
def into_copy(self: PlainFile, buffer: Any) -> int:
    """readinto of a read-only buffer fills a copy of it."""
    view = memoryview(buffer)
    return right(self).readinto(bytearray(view) if view.readonly else buffer)


@mutant("python.readinto.readonly", PlainFile.readinto)
def into_immutable(self: PlainFile, buffer: Any) -> int:
    """readinto raises TypeError for a read-only buffer, but has filled it before."""
    view = memoryview(buffer)
    if view.readonly and view.nbytes and not self.is_closed and self.left():
        memoryview(view.obj)[:1] = self.take(1)
        self.move(-1)
    return right(self).readinto(buffer)


@mutant("python.readinto.readonly-stays", PlainFile.readinto)
def into_reads_first(self: PlainFile, buffer: Any) -> int:
    """readinto moves the position before it finds that the buffer is read-only."""
    view = memoryview(buffer)
    if view.readonly and not self.is_closed:
        self.take(min(view.nbytes, self.left()))
    return right(self).readinto(buffer)


@mutant("python.readinto.zero", PlainFile.readinto)
def into_needs_room(self: PlainFile, buffer: Any) -> int:
    """readinto with an empty buffer raises ValueError."""
    count = right(self).readinto(buffer)
    if memoryview(buffer).nbytes == 0:
        raise ValueError("the buffer is empty")
    return count


@mutant("python.readinto.eof", PlainFile.readinto)
def into_minus_one(self: PlainFile, buffer: Any) -> int:
    """readinto at the end returns -1."""
    count = right(self).readinto(buffer)
    return count if count or memoryview(buffer).nbytes == 0 else -1


@mutant("python.readinto.progress", PlainFile.readinto)
def into_drops_tail(self: PlainFile, buffer: Any) -> int:
    """readinto a buffer for more than the remaining bytes returns 0."""
    if not self.is_closed and memoryview(buffer).nbytes > self.left():
        return 0
    return right(self).readinto(buffer)


@mutant("python.readinto.rest-untouched", PlainFile.readinto)
def into_clears_rest(self: PlainFile, buffer: Any) -> int:
    """readinto zeroes the part of the buffer that it did not fill."""
    count = right(self).readinto(buffer)
    view = memoryview(buffer)
    if count and view.ndim == 1:
        view.cast("B")[count:] = bytes(view.nbytes - count)
    return count


@mutant("python.readinto.advance", PlainFile.readinto)
def into_lags(self: PlainFile, buffer: Any) -> int:
    """readinto moves the position by one less than it returns."""
    count = right(self).readinto(buffer)
    if count > 1:
        self.move(-1)
    return count


@mutant("python.readinto.closed", PlainFile.readinto)
def into_when_closed(self: PlainFile, buffer: Any) -> int:
    """readinto on a closed file returns 0."""
    return 0 if self.is_closed else right(self).readinto(buffer)


@mutant("python.read1", BufferedFile.read1)
def one_takes_more(self: BufferedFile, size: int = -1) -> bytes:
    """read1(n) returns what its buffer has, however small n is."""
    return right(self).read1(-1 if size > 0 else size)


@mutant("python.read1", BufferedFile.read1)
def one_skips_buffer(self: BufferedFile, size: int = -1) -> bytes:
    """read1() moves the position to the end of the buffer."""
    room = self.buffered()
    data = right(self).read1(size)
    self.move(room - len(data))
    return data


@mutant("python.read1", BufferedFile.read1)
def one_raises_at_end(self: BufferedFile, size: int = -1) -> bytes:
    """read1() at the end raises EOFError."""
    data = right(self).read1(size)
    if not data and size:
        raise EOFError("the end was reached")
    return data


@mutant("python.read1", BufferedFile.read1)
def one_needs_size(self: BufferedFile, size: int | None = None) -> bytes:
    """read1() without a size raises TypeError."""
    if size is None:
        raise TypeError("a size is required")
    return right(self).read1(size)


@mutant("python.read1.progress", BufferedFile.read1)
def one_takes_minus_for_nothing(self: BufferedFile, size: int = -1) -> bytes:
    """read1(-1) returns no bytes."""
    return right(self).read1(max(size, 0))


@mutant("python.read1.closed", BufferedFile.read1)
def one_when_closed(self: BufferedFile, size: int = -1) -> bytes:
    """read1() on a closed file returns nothing."""
    return b"" if self.is_closed else right(self).read1(size)


@mutant("python.readinto1", BufferedFile.readinto1)
def one_counts_room(self: BufferedFile, buffer: Any) -> int:
    """readinto1() returns the size of the buffer."""
    return right(self).readinto1(buffer) and memoryview(buffer).nbytes


@mutant("python.readinto1", BufferedFile.readinto1)
def one_clears_rest(self: BufferedFile, buffer: Any) -> int:
    """readinto1() zeroes the part of the buffer that it did not fill."""
    count = right(self).readinto1(buffer)
    view = memoryview(buffer).cast("B")
    view[count:] = bytes(len(view) - count)
    return count


@mutant("python.readinto1", BufferedFile.readinto1)
def one_clears_long_buffer(self: BufferedFile, buffer: Any) -> int:
    """readinto1() puts zeros into a buffer of more than 8 KiB."""
    count = right(self).readinto1(buffer)
    view = memoryview(buffer).cast("B")
    if len(view) > _BLOCK:
        view[:count] = bytes(count)
    return count


@mutant("python.readinto1.closed", BufferedFile.readinto1)
def one_into_when_closed(self: BufferedFile, buffer: Any) -> int:
    """readinto1() on a closed file returns 0."""
    return 0 if self.is_closed else right(self).readinto1(buffer)


@mutant("python.peek", BufferedFile.peek)
def peek_consumes(self: BufferedFile, size: int = 0) -> bytes:
    """peek() moves the position by one."""
    data = right(self).peek(size)
    self.move(len(data[:1]))
    return data


@mutant("python.peek", BufferedFile.peek)
def peek_shows_last(self: BufferedFile, size: int = 0) -> bytes:
    """peek() shows the whole buffer, from its beginning."""
    back = StreamFile.tell(self) % 4
    self.move(-back)
    data = right(self).peek(size)
    self.move(back)
    return data


@mutant("python.peek", BufferedFile.peek)
def peek_shows_block_before(self: BufferedFile, size: int = 0) -> bytes:
    """peek() where a block of 8 KiB ends shows the beginning of that block."""
    here = StreamFile.tell(self)
    back = _BLOCK if here and here % _BLOCK == 0 else 0
    self.move(-back)
    data = right(self).peek(size)
    self.move(back)
    return data


@mutant("python.peek.closed", BufferedFile.peek)
def peek_when_closed(self: BufferedFile, size: int = 0) -> bytes:
    """peek() on a closed file shows nothing."""
    return b"" if self.is_closed else right(self).peek(size)
