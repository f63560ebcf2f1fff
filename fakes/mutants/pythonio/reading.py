"""Mutants of read and readall."""

from __future__ import annotations

from typing import Any

from fscontract.fakes.mutants.pythonio.files import PlainFile, file_mutant


@file_mutant("pyio.read.count")
class FileReadsMore(PlainFile):
    """read(n) returns a byte more, where there is one."""

    def read(self, size: int | None = -1) -> bytes:
        return super().read(size + 1 if size is not None and size > 0 else size)


@file_mutant("pyio.read.full")
class FileReadsHalf(PlainFile):
    """read(n) returns half of what was asked for."""

    def read(self, size: int | None = -1) -> bytes:
        return super().read(size // 2 if size is not None and size > 1 else size)


@file_mutant("pyio.read.data")
class FileReadsReversed(PlainFile):
    """read(n) returns the bytes in reverse order."""

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        return data[::-1] if size is not None and size > 0 else data


@file_mutant("pyio.read.bytes")
class FileReadsBytearray(PlainFile):
    """read(n) returns a bytearray."""

    def read(self, size: int | None = -1) -> Any:
        data = super().read(size)
        return bytearray(data) if data and size is not None else data


@file_mutant("pyio.read.all")
class FileReadsHalfOfAll(PlainFile):
    """read(-1) returns half of what is left."""

    def read(self, size: int | None = -1) -> bytes:
        if size is not None and size < 0:
            return super().read((self.left() + 1) // 2)
        return super().read(size)


@file_mutant("pyio.read.none")
class FileRefusesNone(PlainFile):
    """read(None) raises TypeError."""

    def read(self, size: int | None = -1) -> bytes:
        if size is None:
            raise TypeError("size must be a number")
        return super().read(size)


@file_mutant("pyio.read.eof")
class FileRaisesAtEnd(PlainFile):
    """read at the end raises EOFError."""

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        if not data and size:
            raise EOFError("the end was reached")
        return data


@file_mutant("pyio.read.progress")
class FileDropsTail(PlainFile):
    """read(n) returns nothing if fewer bytes are left."""

    def read(self, size: int | None = -1) -> bytes:
        if size is not None and size > self.left():
            return b""
        return super().read(size)


@file_mutant("pyio.read.zero")
class FileTakesZeroForAll(PlainFile):
    """read(0) returns everything."""

    def read(self, size: int | None = -1) -> bytes:
        return super().read(size or -1)


@file_mutant("pyio.read.advance")
class FileReadLags(PlainFile):
    """read(n) of several bytes moves the position by one less."""

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        if size is not None and size > 0 and len(data) > 1:
            self.move(-1)
        return data


@file_mutant("pyio.read.closed")
class FileReadsWhenClosed(PlainFile):
    """read on a closed file returns nothing."""

    def read(self, size: int | None = -1) -> bytes:
        return b"" if self.is_closed else super().read(size)


@file_mutant("pyio.readall.data")
class AllButLast(PlainFile):
    """readall returns all but the last byte."""

    def readall(self) -> bytes:
        return self.take(max(self.left() - 1, 0)) or self.take(1)


@file_mutant("pyio.readall.eof")
class AllRaisesAtEnd(PlainFile):
    """readall at the end raises EOFError."""

    def readall(self) -> bytes:
        data = super().readall()
        if not data:
            raise EOFError("the end was reached")
        return data


@file_mutant("pyio.readall.advance")
class AllStays(PlainFile):
    """readall leaves the position where it was."""

    def readall(self) -> bytes:
        data = super().readall()
        if data:
            self.move(-len(data))
        return data


@file_mutant("pyio.readall.closed")
class AllWhenClosed(PlainFile):
    """readall on a closed file returns nothing."""

    def readall(self) -> bytes:
        return b"" if self.is_closed else super().readall()
