"""Mutants of obstore's stores."""

from __future__ import annotations

from typing import Any

from fscontract.fakes.mutants.correct_stores import (
    RightReader,
    RightResult,
    RightStore,
    RightStream,
)
from fscontract.fakes.mutants.registry import mutant, right


@mutant("store.get.whole", RightStore.limits)
def get_is_a_block(self: RightStore, size: int, limits: Any) -> tuple[int, int]:
    """A get without options returns 256 bytes at most."""
    return (0, min(size, 256)) if limits is None else right(self).limits(size, limits)


@mutant("store.get.offset", RightStore.limits)
def offset_skips_one_more(self: RightStore, size: int, limits: Any) -> tuple[int, int]:
    """The byte at the offset is left out."""
    start, stop = right(self).limits(size, limits)
    return start + (isinstance(limits, dict) and "offset" in limits), stop


@mutant("store.get.suffix", RightStore.limits)
def suffix_is_an_offset(self: RightStore, size: int, limits: Any) -> tuple[int, int]:
    """A suffix is taken for an offset."""
    if isinstance(limits, dict) and "suffix" in limits:
        return limits["suffix"], size
    return right(self).limits(size, limits)


@mutant("store.get.range", RightStore.limits)
def range_has_its_end(self: RightStore, size: int, limits: Any) -> tuple[int, int]:
    """The byte at the end of a range is included."""
    start, stop = right(self).limits(size, limits)
    return start, min(stop + isinstance(limits, tuple), size)


@mutant("store.get.empty", RightStore.limits)
def empty_get_is_the_rest(self: RightStore, size: int, limits: Any) -> tuple[int, int]:
    """An empty range returns all bytes from its start."""
    empty = isinstance(limits, tuple) and limits[0] >= min(limits[1], size)
    return (limits[0], size) if empty else right(self).limits(size, limits)


@mutant("store.get.past-end", RightStore.limits)
def get_has_to_fit(self: RightStore, size: int, limits: Any) -> tuple[int, int]:
    """A range past the end raises ValueError."""
    if isinstance(limits, tuple) and limits[1] > size:
        raise ValueError("range exceeds the object")
    return right(self).limits(size, limits)


@mutant("store.result.range")
class StartAndLength(RightResult):
    """The range is the start and the length."""

    @property
    def range(self) -> tuple[int, int]:
        return self.start, len(self.data)


@mutant("store.result.size")
class SizeOfRange(RightResult):
    """The size is that of the range."""

    def __init__(self, data: bytes, start: int, size: int) -> None:
        super().__init__(data, start, len(data))


@mutant("store.stream", RightResult.stream)
def chunks_of_one_byte(self: RightResult, min_chunk_size: int) -> RightStream:
    """The chunks are smaller than the minimum."""
    return right(self).stream(max(min_chunk_size // 2, 1))


@mutant("store.stream", RightResult.stream)
def last_chunk_is_lost(self: RightResult, min_chunk_size: int) -> RightStream:
    """A last chunk that is short is left out."""
    stream = right(self).stream(min_chunk_size)
    stream.chunks = [chunk for chunk in stream.chunks if len(chunk) == min_chunk_size]
    return stream


@mutant("store.get-range.range", RightStore.get_range)
def length_is_the_end(
    self: RightStore, path: str, *, start: int, end: int | None = None, length: int | None = None
) -> bytes:
    """The length is taken for the end."""
    if length is not None and length > start:
        end, length = length, None
    return right(self).get_range(path, start=start, end=end, length=length)


@mutant("store.get-range.empty", RightStore.get_range)
def empty_range_is_no_error(
    self: RightStore, path: str, *, start: int, end: int | None = None, length: int | None = None
) -> bytes:
    """An empty range returns no bytes."""
    try:
        return right(self).get_range(path, start=start, end=end, length=length)
    except ValueError:
        return b""


@mutant("store.get-range.past-end", RightStore.get_range)
def range_has_to_fit(
    self: RightStore, path: str, *, start: int, end: int | None = None, length: int | None = None
) -> bytes:
    """A range past the end raises ValueError."""
    if (start + (length or 0) if end is None else end) > len(self.content(path)):
        raise ValueError("range exceeds the object")
    return right(self).get_range(path, start=start, end=end, length=length)


@mutant("store.get-ranges.data", RightStore.get_ranges)
def ranges_in_file_order(
    self: RightStore, path: str, *, starts: Any, ends: Any = None, **how: Any
) -> Any:
    """The results of ranges with ends are in the order of the object."""
    if ends is not None:
        pairs = sorted(zip(starts, ends, strict=True))
        starts, ends = [low for low, _ in pairs], [high for _, high in pairs]
    return right(self).get_ranges(path, starts=starts, ends=ends, **how)


@mutant("store.get-ranges.past-end", RightStore.get_ranges)
def ranges_have_to_fit(
    self: RightStore, path: str, *, starts: Any, ends: Any = None, **how: Any
) -> Any:
    """A range past the end raises ValueError."""
    if ends and max(ends) > len(self.content(path)):
        raise ValueError("range exceeds the object")
    return right(self).get_ranges(path, starts=starts, ends=ends, **how)


@mutant("store.get-ranges.data", RightStore.get_ranges)
def ranges_are_padded(
    self: RightStore, path: str, *, starts: Any, ends: Any = None, **how: Any
) -> Any:
    """A range past the end is filled with zeros."""
    parts = right(self).get_ranges(path, starts=starts, ends=ends, **how)
    if not ends:
        return parts
    sizes = [max(end - start, 0) for start, end in zip(starts, ends, strict=True)]
    return [bytes(part).ljust(size, b"\0") for part, size in zip(parts, sizes, strict=True)]


@mutant("store.head.size", RightStore.head)
def head_counts_blocks(self: RightStore, path: str) -> dict[str, Any]:
    """The size is rounded up to blocks of 8 bytes."""
    return {"size": -(-right(self).head(path)["size"] // 8) * 8}


@mutant("store.missing", RightStore.content)
def missing_object_is_denied(self: RightStore, path: str) -> bytes:
    """A missing object raises PermissionError."""
    try:
        return right(self).content(path)
    except FileNotFoundError:
        raise PermissionError(path) from None


@mutant("store.reader.data")
class Unmoved(RightReader):
    """A reader ignores a seek before its first read, unless it reads all."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size >= 0:
            super().seek(0)
        return super().read(size)


@mutant("store.reader.rest")
class RestIsABuffer(RightReader):
    """A read without a size returns 4 bytes at most."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(4 if size is None or size < 0 else size)


@mutant("store.reader.size")
class SizeOfBlocks(RightReader):
    """The size is rounded up to blocks of 8 bytes."""

    @property
    def size(self) -> int:
        return -(-len(self.getvalue()) // 8) * 8
