"""Mutants of OpenDAL's operators and their files."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from fscontract.fakes.mutants.correct_stores import RightOperator, RightOperatorFile
from fscontract.fakes.mutants.registry import mutant, right


@mutant("operator.read.whole", RightOperator.read)
def read_is_a_block(
    self: RightOperator, path: str, *, offset: int | None = None, size: int | None = None
) -> bytes:
    """A read without a range returns 256 bytes at most."""
    size = 256 if offset is None and size is None else size
    return right(self).read(path, offset=offset, size=size)


@mutant("operator.read.range", RightOperator.read)
def size_is_the_end(
    self: RightOperator, path: str, *, offset: int | None = None, size: int | None = None
) -> bytes:
    """The size is taken for the end of the range."""
    if size is not None and offset is not None:
        size = max(size - offset, 0)
    return right(self).read(path, offset=offset, size=size)


@mutant("operator.read.past-end", RightOperator.read)
def read_has_to_fit(
    self: RightOperator, path: str, *, offset: int | None = None, size: int | None = None
) -> bytes:
    """A range past the end raises OSError."""
    if size is not None and (offset or 0) + size > len(self.content(path)):
        raise OSError("range exceeds content length")
    return right(self).read(path, offset=offset, size=size)


@mutant("operator.read.missing", RightOperator.read)
def missing_reads_as_empty(
    self: RightOperator, path: str, *, offset: int | None = None, size: int | None = None
) -> bytes:
    """A missing file is read as an empty one."""
    return right(self).read(path, offset=offset, size=size) if path in self.files else b""


@mutant("operator.file.data", RightOperatorFile.read)
def reads_one_more(self: RightOperatorFile, size: int | None = -1, /) -> bytes:
    """A read returns one byte more than its size."""
    return right(self).read(size + 1 if size is not None and size > 0 else size)


@mutant("operator.file.rest", RightOperatorFile.read)
def rest_of_a_buffer(self: RightOperatorFile, size: int | None = -1, /) -> bytes:
    """A read without a size returns 4 bytes at most."""
    return right(self).read(4 if size is None or size < 0 else size)


@mutant("operator.file.past-end", RightOperatorFile.seek)
def seek_wraps(self: RightOperatorFile, offset: int, whence: int = 0, /) -> int:
    """A seek past the end starts again at the beginning."""
    size = len(self.getvalue())
    right(self).seek(offset - size if offset > size else offset, whence)
    return offset


@mutant("operator.file.position", RightOperatorFile.seek)
def seek_returns_distance(self: RightOperatorFile, offset: int, whence: int = 0, /) -> int:
    """A seek returns how far it moved."""
    before = self.tell()
    return right(self).seek(offset, whence) - before - 1


@mutant("operator.stat.length", RightOperator.stat)
def length_in_blocks(self: RightOperator, path: str) -> Any:
    """The length is rounded up to blocks of 8 bytes."""
    length = right(self).stat(path).content_length
    return SimpleNamespace(content_length=-(-length // 8) * 8)


@mutant("operator.exists.file", RightOperator.exists)
def nothing_exists(self: RightOperator, path: str) -> bool:
    """No path exists."""
    return False


@mutant("operator.exists.missing", RightOperator.exists)
def all_paths_exist(self: RightOperator, path: str) -> bool:
    """Each path exists."""
    return True


@mutant("operator.exists.missing", RightOperator.exists)
def prefixes_exist(self: RightOperator, path: str) -> bool:
    """A path exists if that of a file begins with it."""
    return any(one.startswith(path) for one in self.files)
