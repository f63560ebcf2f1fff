"""Mutants of Python files: seek, tell, closed, readable and writable."""

from __future__ import annotations

import os
from typing import Any

from fscontract.fakes.mutants.python_file.plain_file import PlainFile, UnseekableFile
from fscontract.fakes.mutants.registry import mutant, right
from fscontract.implementations.file_adapter import StreamFile


@mutant("python.closed.before")
class ClosedAtOnce(PlainFile):
    """closed is True as soon as something was read."""

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


@mutant("python.with.closed", PlainFile.__enter__)
def with_on_closed(self: PlainFile) -> Any:
    """A closed file can be used in a with block."""
    return self


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
    """seek returns the offset that it was given."""
    right(self).seek(offset, whence)
    return offset


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
    """A whence that is not known is taken as 0."""
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
    """Once something was read, tell gives the end of the buffer."""
    here = right(self).tell()
    return max(here, self._length()) if here else 0


@mutant("python.tell.stays", PlainFile.tell)
def tell_moves(self: PlainFile) -> int:
    """tell moves the position by one."""
    here = right(self).tell()
    self.move(1)
    return here


@mutant("python.tell.closed", PlainFile.tell)
def tells_when_closed(self: PlainFile) -> int:
    """tell on a closed file returns 0."""
    return 0 if self.is_closed else right(self).tell()
