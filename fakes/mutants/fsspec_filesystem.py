"""Mutants of fsspec filesystems that read without a stream, or copy files by `get`."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from fscontract.fakes.mutants.correct_filesystem import RightDisk, RightFile, RightFilesystem, named
from fscontract.fakes.mutants.registry import Operation, mutant, right

_Limit = int | None


def _method(name: str) -> Operation[Callable[..., Any]]:
    return Operation(RightFilesystem, name, lambda function: function)


@mutant("filesystem.cat-file.whole", _method("cat_file"))
def whole_is_a_block(
    self: RightFilesystem, path: str, start: _Limit = None, end: _Limit = None
) -> bytes:
    """cat_file() without limits returns 256 bytes at most."""
    end = 256 if (start, end) == (None, None) else end
    return right(self).cat_file(path, start, end)


@mutant("filesystem.cat-file.one-limit", _method("cat_file"))
def rest_is_a_request(
    self: RightFilesystem, path: str, start: _Limit = None, end: _Limit = None
) -> bytes:
    """cat_file() from an offset on, without an end, makes one request of a mebibyte."""
    rest = start is not None and end is None
    return right(self).cat_file(path, start, end)[: (1 << 20) if rest else None]


@mutant("filesystem.cat-file.range", _method("cat_file"))
def end_is_inclusive(
    self: RightFilesystem, path: str, start: _Limit = None, end: _Limit = None
) -> bytes:
    """The range includes the byte at its end."""
    given = start is not None and end is not None and 0 <= start < end
    return right(self).cat_file(path, start, end + 1 if given and end is not None else end)


@mutant("filesystem.cat-file.positional", _method("cat_file"))
def version_is_before_the_start(
    self: RightFilesystem,
    path: str,
    version: str | None = None,
    start: _Limit = None,
    end: _Limit = None,
) -> bytes:
    """The third argument is the start of the range, as the second one is a version."""
    return right(self).cat_file(path, start, end)


@mutant("filesystem.cat-file.range", _method("cat_file"))
def empty_is_unlimited(
    self: RightFilesystem, path: str, start: _Limit = None, end: _Limit = None
) -> bytes:
    """An empty range has no end."""
    empty = start is not None and 0 <= start == end
    return right(self).cat_file(path, start, None if empty else end)


@mutant("filesystem.cat-file.one-limit", _method("cat_file"))
def end_needs_a_start(
    self: RightFilesystem, path: str, start: _Limit = None, end: _Limit = None
) -> bytes:
    """An end without a start is ignored."""
    return right(self).cat_file(path, start, None if start is None and (end or 0) >= 0 else end)


@mutant("filesystem.cat-file.one-limit", _method("cat_file"))
def end_zero_is_none(
    self: RightFilesystem, path: str, start: _Limit = None, end: _Limit = None
) -> bytes:
    """An end of 0 counts as none."""
    return right(self).cat_file(path, start, end or None)


@mutant("filesystem.cat-file.negative", _method("cat_file"))
def loses_first_byte(
    self: RightFilesystem, path: str, start: _Limit = None, end: _Limit = None
) -> bytes:
    """A range that starts at the beginning, counted from the end, lacks its first byte."""
    lost = start is not None and start == -len(self.content(path)) < 0
    return right(self).cat_file(path, start, end)[lost:]


@mutant("filesystem.cat-file.negative", _method("cat_file"))
def negative_is_refused(
    self: RightFilesystem, path: str, start: _Limit = None, end: _Limit = None
) -> bytes:
    """A negative limit raises ValueError."""
    if min(start or 0, end or 0) < 0:
        raise ValueError("negative seek position")
    return right(self).cat_file(path, start, end)


@mutant("filesystem.cat-file.negative", _method("cat_file"))
def before_start_wraps(
    self: RightFilesystem, path: str, start: _Limit = None, end: _Limit = None
) -> bytes:
    """A negative end before the start of the file is the end of the file."""
    size = len(self.content(path))
    return right(self).cat_file(path, start, size if end is not None and end < -size else end)


@mutant("filesystem.cat-file.past-end", _method("cat_file"))
def past_end_raises(
    self: RightFilesystem, path: str, start: _Limit = None, end: _Limit = None
) -> bytes:
    """A range past the end raises OSError."""
    if max(start or 0, end or 0) > len(self.content(path)):
        raise OSError("range not satisfiable")
    return right(self).cat_file(path, start, end)


@mutant("filesystem.cat-file.range", _method("cat_file"))
def past_end_is_padded(
    self: RightFilesystem, path: str, start: _Limit = None, end: _Limit = None
) -> bytes:
    """A range past the end is filled with zeros."""
    size = end - start if start is not None and end is not None and 0 <= start <= end else 0
    return right(self).cat_file(path, start, end).ljust(size, b"\0")


@mutant("filesystem.head.data", _method("head"))
def head_is_padded(self: RightFilesystem, path: str, size: int = 1024) -> bytes:
    """The first bytes of a short file are filled with zeros."""
    return right(self).head(path, size).ljust(size, b"\0")


@mutant("filesystem.tail.data", _method("tail"))
def tail_is_padded(self: RightFilesystem, path: str, size: int = 1024) -> bytes:
    """The last bytes of a short file have zeros before them."""
    return right(self).tail(path, size).rjust(size, b"\0")


@mutant("filesystem.cat-file.reversed", _method("cat_file"))
def reversed_reads_on(
    self: RightFilesystem, path: str, start: _Limit = None, end: _Limit = None
) -> bytes:
    """A range whose start is after its end goes to the end of the file."""
    crossed = start is not None and end is not None and start > end >= 0
    return right(self).cat_file(path, start, None if crossed else end)


@mutant("filesystem.cat-file.missing", _method("content"))
def missing_is_denied(self: RightFilesystem, path: str) -> bytes:
    """A missing file raises PermissionError."""
    try:
        return right(self).content(path)
    except FileNotFoundError:
        raise PermissionError(path) from None


def _ranges(paths: list[str], starts: Any, ends: Any) -> tuple[list[int], list[int]]:
    count = len(paths)
    return (
        starts if isinstance(starts, list) else [starts] * count,
        ends if isinstance(ends, list) else [ends] * count,
    )


def _columns(asked: Iterable[tuple[Any, ...]]) -> tuple[list[str], list[int], list[int]]:
    rows = [*asked]
    return [path for path, _, _ in rows], [low for _, low, _ in rows], [high for _, _, high in rows]


@mutant("filesystem.cat-ranges.data", _method("cat_ranges"))
def ranges_are_sorted(
    self: RightFilesystem, paths: list[str], starts: Any, ends: Any, **how: Any
) -> list[Any]:
    """The results are in the order of the ranges in the file."""
    order = sorted(zip(paths, *_ranges(paths, starts, ends), strict=True))
    return right(self).cat_ranges(*_columns(order), **how)


@mutant("filesystem.cat-ranges.data", _method("cat_ranges"))
def same_ranges_are_one(
    self: RightFilesystem, paths: list[str], starts: Any, ends: Any, **how: Any
) -> list[Any]:
    """A range that is asked for twice has one result."""
    asked = dict.fromkeys(zip(paths, *_ranges(paths, starts, ends), strict=True))
    return right(self).cat_ranges(*_columns(asked), **how)


@mutant("filesystem.cat-ranges.data", _method("cat_ranges"))
def one_file_for_all(
    self: RightFilesystem, paths: list[str], starts: Any, ends: Any, **how: Any
) -> list[Any]:
    """All ranges are read from the first file."""
    same = [path if path.endswith(".missing") else paths[0] for path in paths]
    return right(self).cat_ranges(same, starts, ends, **how)


@mutant("filesystem.cat-ranges.scalars", _method("cat_ranges"))
def numbers_are_for_the_first(
    self: RightFilesystem, paths: list[str], starts: Any, ends: Any, **how: Any
) -> list[Any]:
    """One number for all paths is used for the first only."""
    count = len(paths) if isinstance(starts, list) and isinstance(ends, list) else 1
    return right(self).cat_ranges(
        paths[:count], starts, ends if not isinstance(ends, list) else ends[:count], **how
    )


@mutant("filesystem.cat-ranges.empty", _method("cat_ranges"))
def needs_ranges(
    self: RightFilesystem, paths: list[str], starts: Any, ends: Any, **how: Any
) -> list[Any]:
    """No ranges raise ValueError."""
    if not paths:
        raise ValueError("no ranges")
    return right(self).cat_ranges(paths, starts, ends, **how)


@mutant("filesystem.cat-ranges.past-end", _method("cat_ranges"))
def ranges_have_to_fit(
    self: RightFilesystem, paths: list[str], starts: Any, ends: Any, **how: Any
) -> list[Any]:
    """A range past the end raises OSError."""
    low, high = _ranges(paths, starts, ends)
    sizes = [len(self.content(path)) for path in paths if path in self.files]
    if sizes and max((*low, *high)) > max(sizes):
        raise OSError("range not satisfiable")
    return right(self).cat_ranges(paths, starts, ends, **how)


@mutant("filesystem.cat-ranges.data", _method("cat_ranges"))
def padded_ranges(
    self: RightFilesystem, paths: list[str], starts: Any, ends: Any, **how: Any
) -> list[Any]:
    """A range past the end is filled with zeros."""
    parts = right(self).cat_ranges(paths, starts, ends, **how)
    low, high = _ranges(paths, starts, ends)
    sizes = [end - start if 0 <= start <= end else 0 for start, end in zip(low, high, strict=True)]
    return [
        p.ljust(n, b"\0") if isinstance(p, bytes) else p for p, n in zip(parts, sizes, strict=True)
    ]


@mutant("filesystem.cat-ranges.negative", _method("cat_ranges"))
def negative_is_zero(
    self: RightFilesystem, paths: list[str], starts: Any, ends: Any, **how: Any
) -> list[Any]:
    """A negative start is the start of the file."""
    low, high = _ranges(paths, starts, ends)
    return right(self).cat_ranges(paths, [max(start, 0) for start in low], high, **how)


@mutant("filesystem.cat-ranges.reversed", _method("cat_ranges"))
def reversed_is_swapped(
    self: RightFilesystem, paths: list[str], starts: Any, ends: Any, **how: Any
) -> list[Any]:
    """The limits of a reversed range are exchanged."""
    pairs = [
        sorted(p) if min(p) >= 0 else list(p)
        for p in zip(*_ranges(paths, starts, ends), strict=True)
    ]
    return right(self).cat_ranges(paths, [a for a, _ in pairs], [b for _, b in pairs], **how)


@mutant("filesystem.cat-ranges.return", _method("cat_ranges"))
def errors_are_left_out(
    self: RightFilesystem, paths: list[str], starts: Any, ends: Any, **how: Any
) -> list[Any]:
    """Exceptions are not in the list."""
    parts = right(self).cat_ranges(paths, starts, ends, **how)
    return [part for part in parts if isinstance(part, bytes)]


@mutant("filesystem.cat-ranges.raise", _method("cat_ranges"))
def never_raises(
    self: RightFilesystem, paths: list[str], starts: Any, ends: Any, **how: Any
) -> list[Any]:
    """Exceptions are returned, whatever on_error is."""
    return right(self).cat_ranges(paths, starts, ends)


@mutant("filesystem.cat.one", _method("cat"))
def one_is_several(self: RightFilesystem, path: Any, **how: Any) -> Any:
    """One path returns a dictionary as well."""
    return (
        right(self).cat([path], **how)
        if isinstance(path, str) and "*" not in path
        else right(self).cat(path, **how)
    )


@mutant("filesystem.cat.list", _method("cat"))
def list_of_one_is_bytes(self: RightFilesystem, path: Any, **how: Any) -> Any:
    """A list of one path returns bytes."""
    single = isinstance(path, list) and len(path) == 1
    return right(self).cat(path[0] if single else path, **how)


@mutant("filesystem.cat.list", _method("cat"))
def keys_are_names(
    self: RightFilesystem,
    path: Any,
    recursive: bool = False,
    on_error: str = "raise",
    **options: Any,
) -> Any:
    """The keys of the dictionary are the names of the files, without their directories."""
    found = right(self).cat(path, recursive, on_error)
    if isinstance(found, bytes):
        return found
    return {key.rpartition("/")[2]: part for key, part in found.items()}


@mutant("filesystem.cat.glob", _method("cat"))
def only_match_is_bytes(self: RightFilesystem, path: Any, **how: Any) -> Any:
    """A pattern that matches one file returns bytes."""
    result = right(self).cat(path, **how)
    single = isinstance(path, str) and isinstance(result, dict) and len(result) == 1
    return next(iter(result.values())) if single else result


@mutant("filesystem.cat.raise", _method("cat"))
def cat_omits(self: RightFilesystem, path: Any, on_error: str = "raise", **how: Any) -> Any:
    """Missing files are left out unless they are asked for."""
    return right(self).cat(path, on_error="omit" if on_error == "raise" else on_error, **how)


@mutant("filesystem.cat.omit", _method("cat"))
def omitted_is_returned(
    self: RightFilesystem, path: Any, on_error: str = "raise", **how: Any
) -> Any:
    """Exceptions that are to be left out are returned."""
    return right(self).cat(path, on_error="return" if on_error == "omit" else on_error, **how)


@mutant("filesystem.cat.return", _method("cat"))
def returned_is_none(self: RightFilesystem, path: Any, on_error: str = "raise", **how: Any) -> Any:
    """Exceptions that are to be returned are left out."""
    return right(self).cat(path, on_error="omit" if on_error == "return" else on_error, **how)


@mutant("filesystem.read-block.range", _method("read_block"))
def block_ends_at_length(
    self: RightFilesystem, fn: str, offset: int, length: _Limit, delimiter: bytes | None = None
) -> bytes:
    """The length is taken for the end of the block."""
    if delimiter is None and length is not None and offset < length:
        length -= offset
    return right(self).read_block(fn, offset, length, delimiter)


@mutant("filesystem.read-block.all", _method("read_block"))
def block_without_length(
    self: RightFilesystem, fn: str, offset: int, length: _Limit, delimiter: bytes | None = None
) -> bytes:
    """A length of None raises TypeError without a delimiter."""
    if length is None and delimiter is None:
        raise TypeError("length must be a number")
    return right(self).read_block(fn, offset, length, delimiter)


@mutant("filesystem.read-block.past-end", _method("read_block"))
def block_has_to_fit(
    self: RightFilesystem, fn: str, offset: int, length: _Limit, delimiter: bytes | None = None
) -> bytes:
    """A block past the end raises EOFError."""
    if delimiter is None and length is not None and offset + length > len(self.content(fn)):
        raise EOFError
    return right(self).read_block(fn, offset, length, delimiter)


@mutant("filesystem.read-block.delimiter", _method("boundary"))
def block_without_its_delimiter(
    self: RightFilesystem, data: bytes, at: int, delimiter: bytes
) -> int:
    """Blocks begin and end before the delimiter."""
    end = right(self).boundary(data, at, delimiter)
    return end - len(delimiter) if data.find(delimiter, at) >= 0 else end


@mutant("filesystem.read-block.delimiter", _method("boundary"))
def delimiter_in_one_piece(self: RightFilesystem, data: bytes, at: int, delimiter: bytes) -> int:
    """A delimiter is not found if it is in two pieces of 4096 bytes."""
    pieces = range(at, len(data), 4096)
    found = ((start, data[start : start + 4096].find(delimiter)) for start in pieces)
    ends = (start + index + len(delimiter) for start, index in found if index >= 0)
    return next(ends, len(data))


@mutant("filesystem.read-block.delimiter", _method("read_block"))
def first_block_skips(
    self: RightFilesystem, fn: str, offset: int, length: _Limit, delimiter: bytes | None = None
) -> bytes:
    """The first block begins after a delimiter, too."""
    block = right(self).read_block(fn, offset, length, delimiter)
    return block.partition(delimiter)[2] if delimiter and offset == 0 and length is None else block


@mutant("filesystem.head.data", _method("head"))
def head_of_nothing(self: RightFilesystem, path: str, size: int = 1024) -> bytes:
    """A size of 0 is the default size."""
    return right(self).head(path, size or 1024)


@mutant("filesystem.cat-file.range", _method("read_bytes"))
def alias_has_no_limits(
    self: RightFilesystem, path: str, start: _Limit = None, end: _Limit = None
) -> Any:
    """read_bytes() returns the whole file."""
    return right(self).read_bytes(path)


@mutant("filesystem.head.data", _method("head"))
def head_is_a_line(self: RightFilesystem, path: str, size: int = 80) -> bytes:
    """head() without a size returns 80 bytes."""
    return right(self).head(path, size)


@mutant("filesystem.tail.data", _method("tail"))
def tail_needs_size(self: RightFilesystem, path: str, size: int | None = None) -> bytes:
    """tail() without a size raises TypeError."""
    if size is None:
        raise TypeError("a size is required")
    return right(self).tail(path, size)


@mutant("filesystem.text.read", _method("read_text"))
def text_has_one_newline(self: RightFilesystem, path: str, **options: Any) -> Any:
    """read_text() turns carriage returns into newlines, whatever newline is."""
    return right(self).read_text(path, **options | {"newline": None})


@mutant("filesystem.head.past-end", _method("head"))
def head_has_to_fit(self: RightFilesystem, path: str, size: int = 1024) -> bytes:
    """A size of more than the file's raises EOFError."""
    if size > len(self.content(path)):
        raise EOFError
    return right(self).head(path, size)


@mutant("filesystem.tail.data", _method("tail"))
def tail_of_nothing(self: RightFilesystem, path: str, size: int = 1024) -> bytes:
    """The last 0 bytes are the whole file, as in a slice from -0."""
    return self.content(path)[-size:]


@mutant("filesystem.tail.past-end", _method("tail"))
def tail_before_start(self: RightFilesystem, path: str, size: int = 1024) -> bytes:
    """A size of more than the file's seeks before its start, which raises OSError."""
    if size > len(self.content(path)):
        raise OSError(22, "Invalid argument")
    return right(self).tail(path, size)


@mutant("filesystem.get-file.data", _method("get_file"))
def writes_over_the_start(self: RightFilesystem, rpath: str, lpath: str, **options: Any) -> None:
    """A local file that exists keeps the bytes after those that are written."""
    old = Path(lpath).read_bytes() if os.path.isfile(lpath) else b""
    right(self).get_file(rpath, lpath, **options)
    if old:
        new = Path(lpath).read_bytes()
        Path(lpath).write_bytes(new + old[len(new) :])


@mutant("filesystem.get-file.data", _method("get_file"))
def copy_of_text(self: RightFilesystem, rpath: str, lpath: str, **options: Any) -> None:
    """The local copy has the line ends of Unix."""
    data = self.content(rpath).replace(b"\r\n", b"\n")
    Path(lpath).write_bytes(data)


@mutant("filesystem.get-file.data", _method("get_file"))
def copy_of_one_piece(self: RightFilesystem, rpath: str, lpath: str, **options: Any) -> None:
    """Only the first 64 KiB are copied."""
    Path(lpath).write_bytes(self.content(rpath)[: 1 << 16])


@mutant("filesystem.get-file.missing", _method("get_file"))
def missing_is_skipped(self: RightFilesystem, rpath: str, lpath: str, **options: Any) -> None:
    """A missing file is not copied, and nothing is raised."""
    if self.exists(rpath):
        right(self).get_file(rpath, lpath)


@mutant("filesystem.get-file.leaves-nothing", _method("get_file"))
def opens_copy_first(self: RightFilesystem, rpath: str, lpath: str, **options: Any) -> None:
    """The local file is created before the other one is read."""
    Path(lpath).touch()
    right(self).get_file(rpath, lpath)


def _changed(info: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {**info, **changes} if info["type"] == "file" else info


@mutant("filesystem.info.name", _method("info"))
def name_is_a_path(self: RightFilesystem, path: str, **options: Any) -> dict[str, Any]:
    """The name is a path of pathlib."""
    info = right(self).info(path)
    return _changed(info, name=Path(info["name"]))


@mutant("filesystem.info.size", _method("info"))
def size_in_blocks(self: RightFilesystem, path: str, **options: Any) -> dict[str, Any]:
    """The size is rounded up to blocks of 8 bytes."""
    info = right(self).info(path)
    return _changed(info, size=-(-info["size"] // 8) * 8)


@mutant("filesystem.info.type", _method("info"))
def type_is_of_content(self: RightFilesystem, path: str, **options: Any) -> dict[str, Any]:
    """The type is that of the content."""
    return _changed(right(self).info(path), type="application/octet-stream")


@mutant("filesystem.size", _method("size"))
def size_is_text(self: RightFilesystem, path: str) -> Any:
    """The size is text."""
    return str(right(self).size(path))


@mutant("filesystem.sizes", _method("sizes"))
def sizes_are_sorted(self: RightFilesystem, paths: list[str]) -> list[int | None]:
    """The sizes are in ascending order."""
    return sorted(right(self).sizes(paths), key=lambda size: size or 0)


@mutant("filesystem.sizes")
class SizesAreKept(RightFilesystem):
    """The size of a file is the one that it had when it was first asked for."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._sizes: dict[str, int | None] = {}

    def sizes(self, paths: Sequence[str]) -> list[int | None]:
        """Return the sizes of files."""
        return [self._sizes.setdefault(path, self.size(path)) for path in paths]


@mutant("filesystem.checksum.changes", _method("checksum"))
def checksum_of_start(self: RightFilesystem, path: str) -> int:
    """The checksum is that of the first 4096 bytes."""
    return hash(self.content(path)[:4096])


@mutant("filesystem.checksum.changes", _method("checksum"))
def checksum_of_path(self: RightFilesystem, path: str) -> int:
    """The checksum is that of the path."""
    return hash(path)


@mutant("filesystem.ukey.changed", _method("ukey"))
def ukey_of_path(self: RightFilesystem, path: str) -> str:
    """The key is that of the path."""
    return path


@mutant("filesystem.ukey.same")
class NewKeys(RightFilesystem):
    """The key is new at each call."""

    calls = 0

    def ukey(self, path: str) -> str:
        self.calls += 1
        return str(self.calls)


@mutant("filesystem.exists.file", _method("exists"))
def empty_does_not_exist(self: RightFilesystem, path: str, **options: Any) -> bool:
    """An empty file does not exist."""
    return right(self).exists(path) and self.info(path)["size"] > 0


def _remembers_missing(self: RightFilesystem, path: str, asks: Callable[[str], Any]) -> bool:
    """Return an answer, which stays False for a path that had it once."""
    missing = self.__dict__.setdefault("missing", set())
    there = path not in missing and bool(asks(path))
    if not there:
        missing.add(path)
    return there


@mutant("filesystem.exists.file", _method("exists"))
def missing_stays_missing(self: RightFilesystem, path: str, **options: Any) -> bool:
    """A path at which nothing was found is not looked at again."""
    return _remembers_missing(self, path, right(self).exists)


@mutant("filesystem.exists.missing", _method("exists"))
def everything_exists(self: RightFilesystem, path: str, **options: Any) -> bool:
    """Each path exists."""
    return True


@mutant("filesystem.exists.missing", _method("exists"))
def prefixes_exist(self: RightFilesystem, path: str, **options: Any) -> bool:
    """A path exists if that of a file begins with it."""
    return any(one.startswith(self._strip_protocol(path)) for one in self.files)


@mutant("filesystem.isfile.file", _method("isfile"))
def empty_is_no_file(self: RightFilesystem, path: str) -> bool:
    """An empty file is none."""
    return right(self).isfile(path) and self.info(path)["size"] > 0


@mutant("filesystem.isfile.file", _method("isfile"))
def no_file_stays_none(self: RightFilesystem, path: str) -> bool:
    """A path that was no file is not looked at again."""
    return _remembers_missing(self, path, right(self).isfile)


@mutant("filesystem.isfile.missing", _method("isfile"))
def missing_is_a_file(self: RightFilesystem, path: str) -> bool:
    """A path at which there is nothing is a file."""
    return not self.exists(path) or right(self).isfile(path)


def _text_options(mode: str, options: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return options if "b" in mode else {**options, **changes}


@mutant("filesystem.text.read", _method("open"))
def text_is_utf8(self: RightFilesystem, path: str, mode: str = "rb", **options: Any) -> Any:
    """Text is UTF-8 whatever the encoding is."""
    changed = _text_options(mode, options, encoding="utf-8", errors="replace")
    return right(self).open(path, mode, **changed)


@mutant("filesystem.text.lines", _method("open"))
def newline_is_ignored(self: RightFilesystem, path: str, mode: str = "rb", **options: Any) -> Any:
    """Lines end at every kind of newline, which is not changed."""
    return right(self).open(path, mode, **_text_options(mode, options, newline=""))


@mutant("filesystem.text.errors", _method("open"))
def errors_are_ignored(self: RightFilesystem, path: str, mode: str = "rb", **options: Any) -> Any:
    """Bytes that can't be decoded are left out."""
    changed = _text_options(mode, options)
    if options.get("errors") == "strict" and "b" not in mode:
        changed = {**options, "errors": "ignore"}
    return right(self).open(path, mode, **changed)


@mutant("filesystem.pickle.filesystem", _method("__reduce__"))
def pickled_without_files(self: RightFilesystem) -> Any:
    """The copy of a filesystem has no files."""
    return RightFilesystem, ()


@mutant("filesystem.pickle.open-file", _method("__reduce__"))
def can_not_be_pickled(self: RightFilesystem) -> Any:
    """A filesystem can't be pickled."""
    raise TypeError("cannot pickle")


def without_settings(name: str) -> RightFilesystem:
    """Return a copy of a filesystem that decompresses what it opens, as is its default."""
    copied = DecompressingFilesystem()
    copied.files = named(name).files
    return copied


class DecompressingFilesystem(RightFilesystem):
    """Decompresses files with the suffix of gzip when it opens them."""

    def _open(self, path: str, mode: str = "rb", **options: Any) -> RightFile:
        data = self.content(path)
        return RightFile(gzip.decompress(data) if path.endswith(".gz") else data)


class DecompressingDisk(RightDisk):
    """The same of files on disk."""

    def open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        """Open a file."""
        opened = super().open(path, mode, **options)
        return gzip.open(opened) if path.endswith(".gz") and mode == "rb" else opened


@mutant("filesystem.pickle.compressed", _method("__reduce__"))
def pickled_without_settings(self: RightFilesystem) -> Any:
    """The copy of a filesystem decompresses files that it opens, so that OpenFile does it twice."""
    return without_settings, (self.name,)


@mutant("filesystem.pickle.compressed-other-process", RightDisk.__reduce__)
def sent_without_settings(self: RightDisk) -> Any:
    """The copy of a filesystem decompresses files that it opens, so that OpenFile does it twice."""
    return DecompressingDisk, ()


@mutant("filesystem.pickle.other-process", RightDisk.__reduce__)
def copied_as_another(self: RightDisk) -> Any:
    """The copy of a filesystem is one in memory, which has other files."""
    return RightFilesystem, ()


@mutant("filesystem.pickle.open-file-other-process", RightDisk.__reduce__)
def copied_by_name(self: RightDisk) -> Any:
    """The copy of a filesystem is looked up among those of the process."""
    return named, ("right",)


_GET: Operation[Callable[..., Any]] = Operation(RightFilesystem, "get", lambda function: function)


@mutant("filesystem.get.file", _GET)
def path_is_a_directory(self: RightFilesystem, rpath: Any, lpath: Any, **options: Any) -> None:
    """The local path of a file is a directory, in which the copy has the name of the file."""
    single = isinstance(lpath, str) and not options and self.isfile(rpath)
    right(self).get(rpath, f"{lpath}/" if single else lpath, **options)


@mutant("filesystem.get.file", _GET)
def copy_is_a_block(self: RightFilesystem, rpath: Any, lpath: Any, **options: Any) -> None:
    """A copy of one file has 1 MiB at most."""
    right(self).get(rpath, lpath, **options)
    if isinstance(lpath, str) and os.path.isfile(lpath):
        Path(lpath).write_bytes(Path(lpath).read_bytes()[: 1 << 20])


@mutant("filesystem.get.file-into-directory", _GET)
def slash_is_ignored(self: RightFilesystem, rpath: Any, lpath: Any, **options: Any) -> None:
    """A slash at the end of the local path of a file is ignored."""
    single = isinstance(rpath, str) and not options and isinstance(lpath, str)
    right(self).get(rpath, lpath.rstrip("/") if single else lpath, **options)


@mutant("filesystem.get.lists", _GET)
def paths_are_sorted(self: RightFilesystem, rpath: Any, lpath: Any, **options: Any) -> None:
    """Files are copied in the order of their paths, whatever that of the local paths is."""
    lists = isinstance(rpath, list) and isinstance(lpath, list)
    right(self).get(sorted(rpath) if lists else rpath, lpath, **options)


@mutant("filesystem.get.list-into-directory", _GET)
def list_keeps_directories(self: RightFilesystem, rpath: Any, lpath: Any, **options: Any) -> None:
    """The copies of a list keep the directories of the files below the one that all are in."""
    if not isinstance(rpath, list) or isinstance(lpath, list):
        return right(self).get(rpath, lpath, **options)
    common = os.path.commonpath(rpath)
    return right(self).get(rpath, [lpath + os.path.relpath(path, common) for path in rpath])


@mutant("filesystem.get.directory", _GET)
def directory_is_flat(self: RightFilesystem, rpath: Any, lpath: Any, **options: Any) -> None:
    """Directories below a directory are not copied."""
    if not options.get("recursive"):
        return right(self).get(rpath, lpath, **options)
    directory = self._strip_protocol(rpath)
    inside = [path for path in self.ls(rpath, False) if self._parent(path) == directory]
    return right(self).get(inside, lpath)


@mutant("filesystem.get.directory", _GET)
def name_is_kept(self: RightFilesystem, rpath: Any, lpath: Any, **options: Any) -> None:
    """The name of a directory is kept also if its path ends with a slash."""
    right(self).get(rpath.rstrip("/") if isinstance(rpath, str) else rpath, lpath, **options)


@mutant("filesystem.get.glob", _GET)
def pattern_is_recursive(self: RightFilesystem, rpath: Any, lpath: Any, **options: Any) -> None:
    """A pattern also copies the files below the directories that it matches."""
    matches = isinstance(rpath, str) and "*" in rpath
    given = rpath.rstrip("*") if matches else rpath
    right(self).get(given, lpath, **({"recursive": True} if matches else options))


@mutant("filesystem.get.missing", _GET)
def missing_file_is_skipped(self: RightFilesystem, rpath: Any, lpath: Any, **options: Any) -> None:
    """A missing file is not copied, and nothing is raised."""
    if not isinstance(rpath, str) or "*" in rpath or self.exists(rpath):
        right(self).get(rpath, lpath, **options)


@mutant("filesystem.get.leaves-nothing", _GET)
def creates_copy_first(self: RightFilesystem, rpath: Any, lpath: Any, **options: Any) -> None:
    """The local file is created before the other one is read."""
    if isinstance(lpath, str) and not lpath.endswith("/"):
        Path(lpath).touch()
    right(self).get(rpath, lpath, **options)
