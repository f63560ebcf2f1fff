"""PyArrow filesystems that are right: handlers over a dict that do in other ways what they may."""

from __future__ import annotations

import io
import sqlite3
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from typing import Any

import pyarrow
from pyarrow.fs import (
    FileInfo,
    FileSelector,
    FileSystem,
    FileSystemHandler,
    FileType,
    PyFileSystem,
    SubTreeFileSystem,
)


class _Output(io.BytesIO):
    """Stores its bytes when it is closed."""

    def __init__(self, store: Callable[[bytes], None]) -> None:
        super().__init__()
        self._store = store

    def close(self) -> None:
        """Store the bytes once."""
        if not self.closed:
            self._store(self.getvalue())
        super().close()


class Handler(FileSystemHandler):  # type: ignore[misc]
    """Files in a dict by their paths, and a set of directories."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.directories: set[str] = set()

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def get_type_name(self) -> str:
        """Return the name of the class."""
        return type(self).__name__.lower()

    def key(self, path: str) -> str:
        """Return the stored path."""
        return path.strip("/")

    def normalize_path(self, path: str) -> str:
        """Return the stored path."""
        return self.key(path)

    def store(self, path: str, data: bytes) -> None:
        """Store a file, and the directories above it."""
        self.files[path] = data
        self._add_directories(path.rpartition("/")[0])

    def paths(self) -> Iterator[str]:
        """Yield the paths of the files."""
        yield from sorted(self.files)

    def data(self, path: str) -> bytes:
        """Return the bytes of a file."""
        return self.files[path]

    def remove(self, path: str) -> None:
        """Remove a file."""
        del self.files[path]

    def _add_directories(self, path: str) -> None:
        while path:
            self.directories.add(path)
            path = path.rpartition("/")[0]

    def details(self, path: str) -> dict[str, Any]:
        """Return the size of a file, and other information."""
        return {"size": len(self.data(path))}

    def info(self, path: str, shown: str) -> FileInfo:
        """Return the information on a stored path, which is shown in some form."""
        if path in self.paths():
            return FileInfo(shown, FileType.File, **self.details(path))
        is_directory = not path or path in self.directories
        return FileInfo(shown, FileType.Directory if is_directory else FileType.NotFound)

    def get_file_info(self, paths: list[str]) -> list[FileInfo]:
        """Return information on paths as they were given."""
        return [self.info(self.key(path), path) for path in paths]

    def shown(self, path: str) -> str:
        """Return the form of a stored path in listings."""
        return path

    def get_file_info_selector(self, selector: FileSelector) -> list[FileInfo]:
        """List a directory."""
        base = self.key(selector.base_dir)
        kind = self.info(base, base).type
        if kind == FileType.NotFound and selector.allow_not_found:
            return []
        if kind != FileType.Directory:
            error = FileNotFoundError if kind == FileType.NotFound else NotADirectoryError
            raise error(base)
        start = f"{base}/" if base else ""
        inside = [p for p in self.order({*self.paths(), *self.directories}) if p.startswith(start)]
        chosen = [p for p in inside if selector.recursive or "/" not in p[len(start) :]]
        return [self.info(path, self.shown(path)) for path in chosen]

    def order(self, paths: set[str]) -> list[str]:
        """Return the order of listings."""
        return sorted(paths)

    def create_dir(self, path: str, recursive: bool) -> None:
        """Create a directory."""
        self._add_directories(self.key(path))

    def delete_dir(self, path: str) -> None:
        """Delete a directory and its content."""
        self.delete_dir_contents(path)
        self.directories.discard(self.key(path))

    def delete_dir_contents(self, path: str, missing_dir_ok: bool = False) -> None:
        """Delete the content of a directory."""
        start = f"{self.key(path)}/"
        for file in [path for path in self.paths() if path.startswith(start)]:
            self.remove(file)
        self.directories = {path for path in self.directories if not path.startswith(start)}

    def delete_root_dir_contents(self) -> None:
        """Delete everything."""
        raise NotImplementedError

    def delete_file(self, path: str) -> None:
        """Delete a file."""
        self.read(path)
        self.remove(self.key(path))

    def move(self, src: str, dest: str) -> None:
        """Move a file."""
        self.copy_file(src, dest)
        self.delete_file(src)

    def copy_file(self, src: str, dest: str) -> None:
        """Copy a file."""
        self.store(self.key(dest), self.read(src))

    def read(self, path: str) -> bytes:
        """Return the bytes of a file; raise if there is none."""
        stored = self.key(path)
        if stored not in self.paths():
            raise FileNotFoundError(path)
        return self.data(stored)

    def open_input_stream(self, path: str) -> Any:
        """Open a file for reading in order."""
        return pyarrow.BufferReader(self.read(path))

    def open_input_file(self, path: str) -> Any:
        """Open a file for reading at any position."""
        return pyarrow.BufferReader(self.read(path))

    def open_output_stream(self, path: str, metadata: Any) -> Any:
        """Open a file for writing."""
        stored = self.key(path)
        return pyarrow.PythonFile(_Output(lambda data: self.store(stored, data)), mode="w")

    def open_append_stream(self, path: str, metadata: Any) -> Any:
        """Append to no file."""
        raise NotImplementedError


class Lowers(Handler):
    """Names are stored in small letters."""

    def key(self, path: str) -> str:
        """Return the path in small letters."""
        return path.strip("/").lower()


class Unchanged(Handler):
    """Normalizes no path."""

    def normalize_path(self, path: str) -> str:
        """Return the path."""
        return path


class Rooted(Handler):
    """Shows all paths with a slash in front, also those that were given without one."""

    def normalize_path(self, path: str) -> str:
        """Return the path with a slash in front."""
        return "/" + self.key(path)

    def info(self, path: str, shown: str) -> FileInfo:
        """Return the information with a slash in front of the path."""
        return super().info(path, "/" + path)


class LowersInformation(Lowers):
    """Shows all paths in small letters."""

    def info(self, path: str, shown: str) -> FileInfo:
        """Return the information on the stored path."""
        return super().info(path, path)


class Timed(Handler):
    """Files have times with a zone."""

    def details(self, path: str) -> dict[str, Any]:
        """Return the size, and the time of the epoch."""
        return {**super().details(path), "mtime": datetime.fromtimestamp(0, timezone.utc)}


class Reversed(Handler):
    """Listings are in another order."""

    def order(self, paths: set[str]) -> list[str]:
        """Return the last path first."""
        return sorted(paths, reverse=True)


class OnlyFiles(Handler):
    """Opens files with positions only, and no other streams."""

    def open_input_stream(self, path: str) -> Any:
        """Refuse."""
        raise NotImplementedError("open_input_stream")


class _ReadsInOrder(io.BytesIO):
    """A Python file that reads few bytes at a time, and can't seek."""

    def seekable(self) -> bool:
        """Return that it can't."""
        return False

    def read(self, size: int | None = -1, /) -> bytes:
        """Return at most five bytes, but all if no number is given."""
        return super().read(size if size is None or size < 0 else min(size, 5))


class FewBytes(Handler):
    """Streams return few bytes at a time."""

    def open_input_stream(self, path: str) -> Any:
        """Open a file of Python."""
        return pyarrow.PythonFile(_ReadsInOrder(self.read(path)), mode="r")


class PythonFiles(Handler):
    """All files are of Python."""

    def open_input_file(self, path: str) -> Any:
        """Open a file of Python."""
        return pyarrow.PythonFile(io.BytesIO(self.read(path)), mode="r")


class Prefixes(Handler):
    """It has no directories: a prefix of a path counts as one."""

    def create_dir(self, path: str, recursive: bool) -> None:
        """Do nothing."""


class OwnError(Handler):
    """A missing directory raises an error of another class."""

    class Missing(FileNotFoundError):
        """The path is missing."""

    def get_file_info_selector(self, selector: FileSelector) -> list[FileInfo]:
        """List a directory."""
        try:
            return super().get_file_info_selector(selector)
        except FileNotFoundError as error:
            raise self.Missing(2, "missing", str(error)) from None


class InTable(Handler):
    """Files are rows of a table of SQLite."""

    def __init__(self) -> None:
        super().__init__()
        self._table = sqlite3.connect(":memory:", check_same_thread=False)
        self._table.execute("CREATE TABLE file (path TEXT PRIMARY KEY, data BLOB)")

    def _run(self, query: str, *values: Any) -> list[Any]:
        return self._table.execute(query, values).fetchall()

    def store(self, path: str, data: bytes) -> None:
        """Store a row, and the directories above it."""
        self._run("INSERT OR REPLACE INTO file VALUES (?, ?)", path, data)
        self._add_directories(path.rpartition("/")[0])

    def paths(self) -> Iterator[str]:
        """Yield the paths of the rows."""
        yield from (path for (path,) in self._run("SELECT path FROM file"))

    def data(self, path: str) -> bytes:
        """Return the bytes of a row."""
        return bytes(self._run("SELECT data FROM file WHERE path = ?", path)[0][0])

    def remove(self, path: str) -> None:
        """Remove a row."""
        self._run("DELETE FROM file WHERE path = ?", path)


def filesystem(handler: type[Handler]) -> FileSystem:
    """Return a new filesystem with this handler."""
    return PyFileSystem(handler())


def below(handler: type[Handler]) -> FileSystem:
    """Return a new filesystem that is a directory in one of this handler."""
    whole = filesystem(handler)
    whole.create_dir("base/directory")
    return SubTreeFileSystem("base/directory/", whole)


ALL = (
    *(Handler, Lowers, Unchanged, Rooted, LowersInformation, Timed, Reversed, OnlyFiles),
    *(FewBytes, PythonFiles, Prefixes, OwnError, InTable),
)
