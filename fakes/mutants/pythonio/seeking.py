"""Mutants of seek and tell."""

from __future__ import annotations

import os

from fscontract.fakes.mutants.pythonio.files import PlainFile, UnseekableFile, file_mutant
from fscontract.fakes.mutants.variants import NoSeek
from fscontract.implementations.asfile import StreamFile


@file_mutant("pyio.seek.set")
class FileSeeksToBlock(PlainFile):
    """seek(n, 0) to an odd position stops one before it, but returns n."""

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        target = super().seek(offset, whence)
        if whence == os.SEEK_SET and target % 2 and self.left():
            self.move(-1)
        return target


@file_mutant("pyio.seek.current")
class FileSeeksCurrentTwice(PlainFile):
    """seek(n, 1) moves the position by twice n, and returns where it is then."""

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return super().seek(offset * 2 if whence == os.SEEK_CUR else offset, whence)


@file_mutant("pyio.seek.end")
class FileSeeksBeforeEnd(PlainFile):
    """seek(n, 2) counts back from the end."""

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return super().seek(-abs(offset) if whence == os.SEEK_END else offset, whence)


@file_mutant("pyio.seek.returns")
class FileSeekReturnsOffset(PlainFile):
    """seek returns the offset that it was given."""

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        super().seek(offset, whence)
        return offset


@file_mutant("pyio.seek.past-end")
class FileRefusesBeyond(PlainFile):
    """A seek beyond the end raises OSError."""

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        here = StreamFile.tell(self)
        target = super().seek(offset, whence)
        if target > self._length():
            super().seek(here)
            raise OSError("beyond the end")
        return target


@file_mutant("pyio.seek.negative")
class FileNegativeIsZero(PlainFile):
    """A seek to before the start goes to the start."""

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        try:
            return super().seek(offset, whence)
        except OSError:
            return super().seek(0)


@file_mutant("pyio.seek.failed-stays")
class FileFailedSeekRewinds(PlainFile):
    """A seek that raises leaves the file at its start."""

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        try:
            return super().seek(offset, whence)
        except OSError:
            super().seek(0)
            raise


@file_mutant("pyio.seek.bad-whence")
class FileTakesAnyWhence(PlainFile):
    """A whence that is not known is taken as 0."""

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return super().seek(offset, whence if whence in (0, 1, 2) else os.SEEK_SET)


@file_mutant("pyio.seek.closed")
class FileSeeksWhenClosed(PlainFile):
    """seek on a closed file returns 0."""

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return 0 if self.is_closed else super().seek(offset, whence)


@file_mutant("pyio.seek.unsupported", NoSeek)
class FilePretendsToSeek(UnseekableFile):
    """seek of a file that is not seekable returns 0."""

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._check_open()
        return 0


@file_mutant("pyio.tell.value")
class TellOfBuffer(PlainFile):
    """Once something was read, tell gives the end of the buffer."""

    def tell(self) -> int:
        here = super().tell()
        return max(here, self._length()) if here else 0


@file_mutant("pyio.tell.stays")
class TellMoves(PlainFile):
    """tell moves the position by one."""

    def tell(self) -> int:
        here = super().tell()
        self.move(1)
        return here


@file_mutant("pyio.tell.closed")
class TellsWhenClosed(PlainFile):
    """tell on a closed file returns 0."""

    def tell(self) -> int:
        return 0 if self.is_closed else super().tell()
