"""Mutants of what a file says of itself, and of with and write."""

from __future__ import annotations

from typing import Any

from fscontract.fakes.mutants.pythonio.files import PlainFile, UnseekableFile, file_mutant
from fscontract.fakes.mutants.variants import NoSeek


@file_mutant("pyio.closed.before")
class ClosedAtOnce(PlainFile):
    """closed is True as soon as something was read."""

    @property
    def closed(self) -> bool:
        return self.is_closed or self._stream.get_pos() > 0


@file_mutant("pyio.closed.after")
class NeverClosed(PlainFile):
    """closed is False for ever."""

    @property
    def closed(self) -> bool:
        return False


@file_mutant("pyio.readable")
class NotReadable(PlainFile):
    """readable() is False."""

    def readable(self) -> bool:
        return not super().readable()


@file_mutant("pyio.seekable.true")
class NotSeekable(PlainFile):
    """seekable() is False although seek works."""

    def seekable(self) -> bool:
        return not super().seekable()


@file_mutant("pyio.seekable.false", NoSeek)
class SaysSeekable(UnseekableFile):
    """seekable() is True although seek does not work."""

    def seekable(self) -> bool:
        return not super().seekable()


@file_mutant("pyio.writable.false")
class SaysWritable(PlainFile):
    """writable() is True."""

    def writable(self) -> bool:
        return True


@file_mutant("pyio.write.refused")
class WritesNothing(PlainFile):
    """write returns 0."""

    def write(self, data: Any) -> Any:
        self._check_open()
        return 0


@file_mutant("pyio.write.closed")
class WritesWhenClosed(PlainFile):
    """write on a closed file returns 0."""

    def write(self, data: Any) -> Any:
        return 0 if self.is_closed else super().write(data)


@file_mutant("pyio.with.closes")
class WithLeavesOpen(PlainFile):
    """The end of a with block leaves the file open."""

    def __exit__(self, *exception: object) -> None:
        self._check_open()


@file_mutant("pyio.with.closed")
class WithOnClosed(PlainFile):
    """A closed file can be used in a with block."""

    def __enter__(self) -> Any:
        return self
