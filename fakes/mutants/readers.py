"""Mutants of files that the readers of other libraries read."""

from __future__ import annotations

import io

from fscontract.fakes.mutants.correct_filesystem import RightFile
from fscontract.fakes.mutants.registry import mutant, right


@mutant("readers.parquet.row-groups", RightFile.seek)
def seeks_to_words(self: RightFile, offset: int, whence: int = io.SEEK_SET, /) -> int:
    """A seek past the first 512 bytes goes to a multiple of 8, and returns the offset."""
    target = right(self).seek(offset, whence)
    if target > 512 and whence == io.SEEK_SET:
        right(self).seek(target // 8 * 8)
    return target


@mutant("readers.csv.columns", RightFile.read)
def read_loses_a_byte(self: RightFile, size: int | None = -1, /) -> bytes:
    """A read after the first 512 bytes skips one byte."""
    if self.tell() > 512:
        right(self).read(1)
    return right(self).read(size)


@mutant("readers.zip.members", RightFile.seek)
def rewinds_at_the_end(self: RightFile, offset: int, whence: int = io.SEEK_SET, /) -> int:
    """A seek from the end of the file goes to the start."""
    at_end = self.tell() == len(self.getvalue())
    return right(self).seek(0 if at_end else offset, whence)
