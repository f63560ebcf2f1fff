"""Mutants of PyArrow's filesystems and their files."""

from __future__ import annotations

import os
from typing import Any

from pyarrow.fs import FileInfo, FileSelector, FileType

from fscontract.fakes.mutants.correct_arrow import RightArrow, RightArrowFile
from fscontract.fakes.mutants.registry import mutant, right


@mutant("arrow.read-at.range", RightArrowFile.read_at)
def read_at_swaps(self: RightArrowFile, nbytes: int, offset: int) -> bytes:
    """The arguments are the offset and the number of bytes."""
    return right(self).read_at(offset, nbytes)


@mutant("arrow.read-at.range", RightArrowFile.read_at)
def read_at_pads(self: RightArrowFile, nbytes: int, offset: int) -> bytes:
    """A range past the end is filled with zeros."""
    return right(self).read_at(nbytes, offset).ljust(nbytes, b"\0")


@mutant("arrow.read-at.past-end", RightArrowFile.read_at)
def read_at_has_to_fit(self: RightArrowFile, nbytes: int, offset: int) -> bytes:
    """A range past the end raises OSError."""
    if offset + nbytes > self.size():
        raise OSError("Cannot read past end of file")
    return right(self).read_at(nbytes, offset)


@mutant("arrow.get-stream.range", RightArrowFile.get_stream)
def stream_ends_at_count(self: RightArrowFile, file_offset: int, nbytes: int) -> RightArrowFile:
    """The number of bytes is taken for the end of the segment."""
    return right(self).get_stream(file_offset, max(nbytes - file_offset, 0))


@mutant("arrow.get-stream.past-end", RightArrowFile.get_stream)
def stream_has_to_fit(self: RightArrowFile, file_offset: int, nbytes: int) -> RightArrowFile:
    """A segment past the end raises OSError."""
    if file_offset + nbytes > self.size():
        raise OSError("Cannot read past end of file")
    return right(self).get_stream(file_offset, nbytes)


class _Shared(RightArrowFile):
    """A stream that reads from the position of its file."""

    def __init__(self, file: RightArrowFile, data: bytes) -> None:
        super().__init__(data)
        self._file, self._left = file, len(data)

    def read(self, size: int | None = None) -> bytes:
        """Read from the file."""
        count = self._left if size is None else min(size, self._left)
        self._left -= count
        return self._file.read(count)


@mutant("arrow.get-stream.independent", RightArrowFile.get_stream)
def stream_shares_position(self: RightArrowFile, file_offset: int, nbytes: int) -> RightArrowFile:
    """A stream moves the position of the file and reads from there."""
    self.seek(file_offset)
    return _Shared(self, right(self).get_stream(file_offset, nbytes).getvalue())


@mutant("arrow.get-stream.file-position", RightArrowFile.get_stream)
def stream_moves_file(self: RightArrowFile, file_offset: int, nbytes: int) -> RightArrowFile:
    """A stream moves the position of the file to its end."""
    self.seek(file_offset + nbytes)
    return right(self).get_stream(file_offset, nbytes)


@mutant("arrow.read-buffer.data", RightArrowFile.read_buffer)
def buffer_is_not_cut(self: RightArrowFile, nbytes: int | None = None) -> Any:
    """The buffer has all remaining bytes."""
    return right(self).read_buffer(None)


@mutant("arrow.read-buffer.rest", RightArrowFile.read_buffer)
def rest_is_one_byte(self: RightArrowFile, nbytes: int | None = None) -> Any:
    """Without a number, the buffer has one byte."""
    return right(self).read_buffer(1 if nbytes is None else nbytes)


@mutant("arrow.input-stream.data", RightArrow.open_input_stream)
def stream_skips_a_byte(
    self: RightArrow, path: str, compression: str | None = "detect", buffer_size: int | None = None
) -> RightArrowFile:
    """A stream without a buffer begins with the second byte."""
    stream = right(self).open_input_stream(path, compression)
    stream.seek(0 if buffer_size else 1)
    return stream


@mutant("arrow.input-stream.buffered", RightArrow.open_input_stream)
def only_one_buffer(
    self: RightArrow, path: str, compression: str | None = "detect", buffer_size: int | None = None
) -> RightArrowFile:
    """A stream ends with its first buffer."""
    stream = right(self).open_input_stream(path, compression)
    return self.file_class(stream.read(buffer_size)) if buffer_size else stream


@mutant("arrow.compression.detect", RightArrow.open_input_stream)
def detects_nothing(
    self: RightArrow, path: str, compression: str | None = "detect", buffer_size: int | None = None
) -> RightArrowFile:
    """The extension is ignored."""
    return right(self).open_input_stream(path, None if compression == "detect" else compression)


@mutant("arrow.compression.gzip", RightArrow.open_input_stream)
def name_is_ignored(
    self: RightArrow, path: str, compression: str | None = "detect", buffer_size: int | None = None
) -> RightArrowFile:
    """The name of an algorithm is ignored."""
    return right(self).open_input_stream(path, None if compression == "gzip" else compression)


@mutant("arrow.compression.none", RightArrow.open_input_stream)
def always_detects(
    self: RightArrow, path: str, compression: str | None = "detect", buffer_size: int | None = None
) -> RightArrowFile:
    """The extension counts even if compression is None."""
    return right(self).open_input_stream(path, compression or "detect")


@mutant("arrow.size", RightArrowFile.size)
def size_is_the_rest(self: RightArrowFile) -> int:
    """The size is rounded up to blocks of 8 bytes."""
    return -(-right(self).size() // 8) * 8


@mutant("arrow.metadata", RightArrowFile.metadata)
def metadata_is_null(self: RightArrowFile) -> Any:
    """There is no metadata."""
    return None


@mutant("arrow.open.missing", RightArrow.content)
def missing_file_is_empty(self: RightArrow, path: str) -> bytes:
    """A missing file is opened as an empty one."""
    return self.files.get(path, b"")


@mutant("arrow.info.type", RightArrow.info)
def type_is_unknown(self: RightArrow, path: str) -> FileInfo:
    """The type of a file is not known."""
    info = right(self).info(path)
    return FileInfo(path, FileType.Unknown) if info.is_file else info


@mutant("arrow.info.size", RightArrow.info)
def size_is_left_out(self: RightArrow, path: str) -> FileInfo:
    """A file has no size."""
    return FileInfo(path, right(self).info(path).type)


@mutant("arrow.info.size")
class SizeIsKept(RightArrow):
    """The size of a file is the one that it had when it was first asked for."""

    def __init__(self) -> None:
        super().__init__()
        self._infos: dict[str, FileInfo] = {}

    def info(self, path: str) -> FileInfo:
        """Return the information on a path."""
        info = super().info(path)
        return self._infos.setdefault(path, info) if info.is_file else info


@mutant("arrow.info.path", RightArrow.info)
def path_is_relative(self: RightArrow, path: str) -> FileInfo:
    """The path is the name only."""
    info = right(self).info(path)
    return FileInfo(os.path.basename(path), info.type, size=info.size)


@mutant("arrow.info.base-name", RightArrow.info)
def name_has_a_slash(self: RightArrow, path: str) -> FileInfo:
    """The path of a file ends with a slash, so that the name is empty."""
    info = right(self).info(path)
    return FileInfo(f"{path}/", info.type, size=info.size) if info.is_file else info


@mutant("arrow.info.missing", RightArrow.info)
def information_on_missing_raises(self: RightArrow, path: str) -> FileInfo:
    """A missing path raises FileNotFoundError."""
    info = right(self).info(path)
    if info.type == FileType.NotFound:
        raise FileNotFoundError(path)
    return info


@mutant("arrow.info.list", RightArrow.get_file_info)
def list_without_missing(self: RightArrow, paths: Any) -> Any:
    """A list has no information on missing paths."""
    found = right(self).get_file_info(paths)
    if not isinstance(found, list):
        return found
    return [info for info in found if info.type != FileType.NotFound]


@mutant("arrow.info.directory", RightArrow.info)
def directories_are_not_found(self: RightArrow, path: str) -> FileInfo:
    """A directory has no information if it is asked for alone."""
    info = right(self).info(path)
    is_tree = info.type == FileType.Directory and path.endswith("tree")
    return FileInfo(path, FileType.NotFound) if is_tree else info


@mutant("arrow.select.entries", RightArrow.select)
def one_page_is_selected(self: RightArrow, selector: Any) -> list[FileInfo]:
    """A selector selects 1,000 entries of one level."""
    found = right(self).select(selector)
    return found if selector.recursive else found[:1000]


@mutant("arrow.select.entries", RightArrow.select)
def directories_are_left_out(self: RightArrow, selector: Any) -> list[FileInfo]:
    """A selector of one level selects no directories."""
    found = right(self).select(selector)
    return found if selector.recursive else [info for info in found if info.is_file]


@mutant("arrow.select.recursive", RightArrow.select)
def never_recursive(self: RightArrow, selector: Any) -> list[FileInfo]:
    """A selector selects one level."""
    given = FileSelector(selector.base_dir, allow_not_found=selector.allow_not_found)
    return right(self).select(given)


@mutant("arrow.select.missing", RightArrow.select)
def missing_is_empty(self: RightArrow, selector: Any) -> list[FileInfo]:
    """A selector of a missing directory selects nothing."""
    try:
        return right(self).select(selector)
    except FileNotFoundError:
        return []


@mutant("arrow.select.allow-not-found", RightArrow.select)
def missing_always_raises(self: RightArrow, selector: Any) -> list[FileInfo]:
    """A selector of a missing directory raises, whatever it allows."""
    given = FileSelector(selector.base_dir, recursive=selector.recursive)
    return right(self).select(given)


@mutant("arrow.normalize-path", RightArrow.normalize_path)
def keeps_the_name(self: RightArrow, path: str) -> str:
    """The normalized path is the name of the file."""
    return os.path.basename(path)
