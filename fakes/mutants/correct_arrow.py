"""A correct filesystem like those of PyArrow, from which mutants derive."""

from __future__ import annotations

import gzip
import io
from typing import Any

import pyarrow as pa
from pyarrow.fs import FileInfo, FileSelector, FileType


class RightArrowFile(io.BytesIO):
    """A file of `open_input_file`, or a stream."""

    def writable(self) -> bool:
        """Return False."""
        return False

    def readall(self) -> bytes:
        """Return the bytes up to the end."""
        return self.read()

    def read_at(self, nbytes: int, offset: int) -> bytes:
        """Return a range without moving the position."""
        return self.getvalue()[offset : offset + nbytes]

    def get_stream(self, file_offset: int, nbytes: int) -> RightArrowFile:
        """Return a stream of a range."""
        return RightArrowFile(self.read_at(nbytes, file_offset))

    def read_buffer(self, nbytes: int | None = None) -> Any:
        """Return the next bytes as a buffer."""
        return pa.py_buffer(self.read(nbytes))

    def size(self) -> int:
        """Return the number of bytes."""
        return len(self.getvalue())

    def metadata(self) -> Any:
        """Return an empty dictionary."""
        return {}


class KeptOutput(io.BytesIO):
    """A file that is written, and kept when it is closed."""

    def __init__(self, files: dict[str, bytes], path: str) -> None:
        super().__init__()
        self._files, self._path = files, path

    def close(self) -> None:
        """Keep the bytes."""
        if not self.closed:
            self._files[self._path] = self.getvalue()
        super().close()


class RightArrow:
    """A filesystem in memory with the calls of PyArrow's."""

    type_name = "mock"

    def __init__(self, file_class: type[RightArrowFile] = RightArrowFile) -> None:
        self.files: dict[str, bytes] = {}
        self.file_class = file_class

    def content(self, path: str) -> bytes:
        """Return the bytes of a file; raise FileNotFoundError."""
        if path not in self.files:
            raise FileNotFoundError(path)
        return self.files[path]

    def create_dir(self, path: str, recursive: bool = True) -> None:
        """Do nothing: there are no directories without files."""

    def delete_dir(self, path: str) -> None:
        """Delete the files of a directory."""
        for name in [one for one in self.files if one.startswith(f"{path}/")]:
            del self.files[name]

    def delete_file(self, path: str) -> None:
        """Delete a file."""
        del self.files[path]

    def open_output_stream(self, path: str, compression: str | None = "detect") -> KeptOutput:
        """Open a file for writing, without compression."""
        return KeptOutput(self.files, path)

    def open_input_file(self, path: str) -> RightArrowFile:
        """Open a file for reading."""
        return self.file_class(self.content(path))

    def open_input_stream(
        self, path: str, compression: str | None = "detect", buffer_size: int | None = None
    ) -> RightArrowFile:
        """Open a file for reading in its order."""
        data = self.content(path)
        packed = path.endswith(".gz") if compression == "detect" else compression == "gzip"
        return self.file_class(gzip.decompress(data) if packed else data)

    def normalize_path(self, path: str) -> str:
        """Return the path."""
        return path

    def select(self, selector: Any) -> list[FileInfo]:
        """Return the information on what a selector selects; raise FileNotFoundError."""
        start = f"{selector.base_dir}/"
        below = {name.removeprefix(start) for name in self.files if name.startswith(start)}
        if not below and not selector.allow_not_found:
            raise FileNotFoundError(selector.base_dir)
        parents = {name[:at] for name in below for at, one in enumerate(name) if one == "/"}
        found = sorted(name for name in below | parents if selector.recursive or "/" not in name)
        return [self.info(start + name) for name in found]

    def get_file_info(self, paths: Any) -> Any:
        """Return the information on a path, on each of a list, or on what a selector selects."""
        if isinstance(paths, FileSelector):
            return self.select(paths)
        return [self.info(one) for one in paths] if isinstance(paths, list) else self.info(paths)

    def info(self, path: str) -> FileInfo:
        """Return the information on a path."""
        if path in self.files:
            return FileInfo(path, FileType.File, size=len(self.files[path]))
        below = any(one.startswith(f"{path}/") for one in self.files)
        return FileInfo(path, FileType.Directory if below else FileType.NotFound)
