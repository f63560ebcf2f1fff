"""Mutants of fsspec's asynchronous filesystems.

Each is a function that returns a coroutine: it has returned when the coroutine runs, so that
`right` is used before, and the correct class in the coroutine.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from fscontract.fakes.mutants.correct_filesystem import RightAsyncFile, RightAsyncFilesystem
from fscontract.fakes.mutants.registry import Operation, mutant, right

_Limit = int | None


def _method(name: str) -> Operation[Callable[..., Any]]:
    return Operation(RightAsyncFilesystem, name, lambda function: function)


@mutant("async.cat-file.data", _method("_cat_file"))
def awaited_end_is_inclusive(
    self: RightAsyncFilesystem, path: str, start: _Limit = None, end: _Limit = None, **how: Any
) -> Any:
    """The range includes the byte at its end."""
    given = end is not None and (start or 0) < end
    return right(self)._cat_file(path, start, end + 1 if given and end is not None else end)


@mutant("async.cat-file.limits", _method("_cat_file"))
def awaited_past_end_raises(
    self: RightAsyncFilesystem, path: str, start: _Limit = None, end: _Limit = None, **how: Any
) -> Any:
    """A range past the end raises OSError."""

    async def within() -> bytes:
        if max(start or 0, end or 0) > len(self.content(path)):
            raise OSError("range not satisfiable")
        return await RightAsyncFilesystem._cat_file(self, path, start, end)

    return within()


@mutant("async.cat-file.errors", _method("content"))
def awaited_missing_is_empty(self: RightAsyncFilesystem, path: str) -> bytes:
    """A missing file is read as an empty one."""
    return self.files.get(self._strip_protocol(path), b"")


@mutant("async.cat-ranges.data", _method("_cat_ranges"))
def awaited_in_reverse(
    self: RightAsyncFilesystem, paths: list[str], starts: Any, ends: Any, **how: Any
) -> Any:
    """The results are in the reverse order of the ranges."""

    async def reversed_parts() -> list[Any]:
        return [*reversed(await RightAsyncFilesystem._cat_ranges(self, paths, starts, ends, **how))]

    return reversed_parts()


@mutant("async.cat-ranges.limits", _method("_cat_ranges"))
def awaited_negative_is_zero(
    self: RightAsyncFilesystem, paths: list[str], starts: Any, ends: Any, **how: Any
) -> Any:
    """A negative start is the start of the file."""
    low = [max(one, 0) for one in starts] if isinstance(starts, list) else max(starts, 0)
    return right(self)._cat_ranges(paths, low, ends, **how)


@mutant("async.cat-ranges.errors", _method("_cat_ranges"))
def awaited_ranges_always_raise(
    self: RightAsyncFilesystem, paths: list[str], starts: Any, ends: Any, **how: Any
) -> Any:
    """A missing file raises an exception, whatever on_error is."""
    return right(self)._cat_ranges(paths, starts, ends, **{**how, "on_error": "raise"})


@mutant("async.cat.data", _method("_cat"))
def awaited_list_of_names(self: RightAsyncFilesystem, path: Any, **how: Any) -> Any:
    """The keys of the dictionary are the paths that were asked for, with the last one's bytes."""

    async def last_of_all() -> Any:
        result = await RightAsyncFilesystem._cat(self, path, **how)
        same = isinstance(result, dict) and [*result.values()][-1:]
        return dict.fromkeys(result, same[0]) if same else result

    return last_of_all()


@mutant("async.cat.errors", _method("_cat"))
def awaited_cat_omits(self: RightAsyncFilesystem, path: Any, **how: Any) -> Any:
    """Missing files are left out, whatever on_error is."""
    return right(self)._cat(path, **{**how, "on_error": "omit"})


@mutant("async.info", _method("_info"))
def awaited_size_in_blocks(self: RightAsyncFilesystem, path: str, **options: Any) -> Any:
    """The size is rounded up to blocks of 8 bytes."""

    async def rounded() -> dict[str, Any]:
        info = await RightAsyncFilesystem._info(self, path)
        return {**info, "size": -(-info["size"] // 8) * 8}

    return rounded()


class _Ending(RightAsyncFile):
    """A stream whose read without a length returns 4 bytes at most."""

    async def read(self, length: int = -1) -> bytes:
        """Return the next bytes, not all of them."""
        return await super().read(4 if length < 0 else length)


@mutant("async.open.data", _method("open_async"))
def rest_is_a_block(self: RightAsyncFilesystem, path: str, mode: str = "rb", **how: Any) -> Any:
    """A read without a length returns a block."""

    async def opened() -> RightAsyncFile:
        return _Ending(self.content(path))

    return opened()


class _LosingAtEnds(RightAsyncFile):
    """A stream whose read of a part that ends with a block of 4 KiB lacks the last byte."""

    async def read(self, length: int = -1) -> bytes:
        """Return the next bytes, without the last one at the end of a block."""
        data = await super().read(length)
        at_end = length > 1 and self.file.tell() % 4096 == 0
        return data[:-1] if at_end else data


@mutant("async.open.data", _method("open_async"))
def block_lacks_a_byte(self: RightAsyncFilesystem, path: str, mode: str = "rb", **how: Any) -> Any:
    """A read that ends with a block of 4 KiB lacks the last byte."""

    async def opened() -> RightAsyncFile:
        return _LosingAtEnds(self.content(path))

    return opened()


class _Unmoved(RightAsyncFile):
    """A stream that ignores `seek`."""

    def seek(self, at: int, whence: int = io.SEEK_SET) -> int:
        """Return the position without a move."""
        return at


@mutant("async.open.seek", _method("open_async"))
def seek_is_ignored(self: RightAsyncFilesystem, path: str, mode: str = "rb", **how: Any) -> Any:
    """A seek returns the position, but reads continue where they were."""

    async def opened() -> RightAsyncFile:
        return _Unmoved(self.content(path))

    return opened()


class _Forwards(RightAsyncFile):
    """A stream that only moves forwards."""

    def seek(self, at: int, whence: int = io.SEEK_SET) -> int:
        """Move the position."""
        return super().seek(abs(at), whence)


@mutant("async.open.seek", _method("open_async"))
def end_is_passed(self: RightAsyncFilesystem, path: str, mode: str = "rb", **how: Any) -> Any:
    """A seek to before the end goes past it."""

    async def opened() -> RightAsyncFile:
        return _Forwards(self.content(path))

    return opened()


class _Reopening(RightAsyncFile):
    """A stream that opens itself again."""

    async def close(self) -> None:
        """Go back to the start."""
        self.file.seek(0)


@mutant("async.open.closed", _method("open_async"))
def close_rewinds(self: RightAsyncFilesystem, path: str, mode: str = "rb", **how: Any) -> Any:
    """A closed stream reads from the start."""

    async def opened() -> RightAsyncFile:
        return _Reopening(self.content(path))

    return opened()
