"""Mutants of readinto."""

from __future__ import annotations

from typing import Any

from fscontract.fakes.mutants.pythonio.files import PlainFile, file_mutant


@file_mutant("pyio.readinto.count")
class IntoCountsBuffer(PlainFile):
    """readinto that met the end returns the buffer's size."""

    def readinto(self, buffer: Any) -> int:
        count = super().readinto(buffer)
        whole = memoryview(buffer)
        return whole.nbytes if count and whole.format == "B" and whole.ndim == 1 else count


@file_mutant("pyio.readinto.full")
class IntoHalf(PlainFile):
    """readinto fills half of the buffer."""

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        if view.ndim > 1 or view.nbytes < 2:
            return super().readinto(buffer)
        return super().readinto(view.cast("B")[: view.nbytes // 2])


@file_mutant("pyio.readinto.data")
class IntoReversed(PlainFile):
    """readinto puts the bytes into the buffer in reverse order."""

    def readinto(self, buffer: Any) -> int:
        count = super().readinto(buffer)
        view = memoryview(buffer)
        if count > 1 and view.format == "B" and view.ndim == 1:
            view[:count] = bytes(view[:count])[::-1]
        return count


@file_mutant("pyio.readinto.formats")
class IntoBytesOnly(PlainFile):
    """readinto refuses buffers of larger items."""

    def readinto(self, buffer: Any) -> int:
        if not self.is_closed and memoryview(buffer).itemsize > 1:
            raise TypeError("a buffer of bytes is wanted")
        return super().readinto(buffer)


@file_mutant("pyio.readinto.zero")
class IntoNeedsRoom(PlainFile):
    """readinto an empty buffer raises ValueError."""

    def readinto(self, buffer: Any) -> int:
        count = super().readinto(buffer)
        if memoryview(buffer).nbytes == 0:
            raise ValueError("the buffer is empty")
        return count


@file_mutant("pyio.readinto.eof")
class IntoMinusOne(PlainFile):
    """readinto at the end returns -1."""

    def readinto(self, buffer: Any) -> int:
        count = super().readinto(buffer)
        return count if count or memoryview(buffer).nbytes == 0 else -1


@file_mutant("pyio.readinto.progress")
class IntoDropsTail(PlainFile):
    """readinto a buffer for more than is left returns 0."""

    def readinto(self, buffer: Any) -> int:
        if not self.is_closed and memoryview(buffer).nbytes > self.left():
            return 0
        return super().readinto(buffer)


@file_mutant("pyio.readinto.rest-untouched")
class IntoClearsRest(PlainFile):
    """readinto zeroes the part of the buffer that it did not fill."""

    def readinto(self, buffer: Any) -> int:
        count = super().readinto(buffer)
        view = memoryview(buffer)
        if count and view.ndim == 1:
            view.cast("B")[count:] = bytes(view.nbytes - count)
        return count


@file_mutant("pyio.readinto.advance")
class IntoLags(PlainFile):
    """readinto moves the position by one less than it returns."""

    def readinto(self, buffer: Any) -> int:
        count = super().readinto(buffer)
        if count > 1:
            self.move(-1)
        return count


@file_mutant("pyio.readinto.closed")
class IntoWhenClosed(PlainFile):
    """readinto on a closed file returns 0."""

    def readinto(self, buffer: Any) -> int:
        return 0 if self.is_closed else super().readinto(buffer)
