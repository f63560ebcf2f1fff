"""Mutants of files that the readers of other libraries read."""

from __future__ import annotations

import io
from collections.abc import Callable

from fscontract.fakes.mutants.correct_filesystem import RightFile, RightFilesystem
from fscontract.fakes.mutants.registry import Operation, mutant, right

_CAT_FILE: Operation[Callable[..., bytes]] = Operation(
    RightFilesystem, "cat_file", lambda function: function
)


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


@mutant("readers.zarr.chunks", _CAT_FILE)
def whole_read_repeats_a_part(
    self: RightFilesystem, path: str, start: int | None = None, end: int | None = None
) -> bytes:
    """A read of a whole file returns a part of its first bytes twice, and not those after them."""
    data = right(self).cat_file(path, start, end)
    whole = start is None and end is None and len(data) % 16 == 0
    return data[:8] + data[:8] + data[16:] if whole and not data.startswith(b"{") else data


@mutant("readers.zarr.shards", _CAT_FILE)
def suffix_is_at_the_start(
    self: RightFilesystem, path: str, start: int | None = None, end: int | None = None
) -> bytes:
    """The last bytes of a file are read from its start."""
    if start is not None and start < 0 and end is None:
        return right(self).cat_file(path, 0, -start)
    return right(self).cat_file(path, start, end)


@mutant("readers.zarr.missing-chunks", RightFilesystem.content)
def missing_file_is_an_error_of_the_store(self: RightFilesystem, path: str) -> bytes:
    """A file that is missing raises OSError."""
    if self._strip_protocol(path) not in self.files:
        raise OSError(f"no such key: {path}")
    return right(self).content(path)
