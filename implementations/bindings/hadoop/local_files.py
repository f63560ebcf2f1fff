"""Local files for Hadoop's filesystems, including archives."""

from __future__ import annotations

import os
import shutil
import struct
import zlib
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

from fscontract.contract.program.content import replacement
from fscontract.implementations.bindings.hadoop.conversions import Java
from fscontract.implementations.bindings.object_stores import Store

#: Bytes per checksum, Hadoop's default.
_CHUNK = 512
_BAD = "bad_files"


class DiskStore(Store):
    """A local directory that Hadoop sees at `root`.

    Files are written without Hadoop, because Hadoop starts a process for each file to set
    permissions.
    """

    def __init__(self, directory: Path, root: str) -> None:
        self.root = root
        self.directory = directory

    def disk_path(self, path: str) -> Path:
        """Return the file on disk for Hadoop's `path`."""
        return self.directory / path.removeprefix(self.root).lstrip("/")

    def write(self, path: str, content: bytes) -> None:
        """Write a new file, or overwrite the content of an existing one in place."""
        disk_path = self.disk_path(path)
        with disk_path.open("r+b" if disk_path.exists() else "wb") as file:
            file.write(content)
            file.truncate()

    def delete(self, path: str) -> None:
        """Delete a file."""
        self.disk_path(path).unlink(missing_ok=True)

    def length(self, path: str) -> int:
        """Return the length of a file in bytes."""
        return self.disk_path(path).stat().st_size

    def directories(self) -> Iterable[str]:
        """Return the directories directly below the root."""
        with os.scandir(self.directory) as entries:
            names = [e.name for e in entries if e.is_dir(follow_symlinks=False)]
        return [f"{self.root.rstrip('/')}/{name}" for name in names]

    def delete_all(self, directory: str) -> None:
        """Delete a directory with its content."""
        with suppress(FileNotFoundError):
            shutil.rmtree(self.disk_path(directory))

    def make(self, directory: str) -> None:
        """Create a directory."""
        self.disk_path(directory).mkdir()


class MovedFiles:
    """Files that Hadoop's LocalFileSystem has moved away.

    It does so when a stream seeks to a new source. They are in `bad_files`, in `directory` or
    above it.
    """

    def __init__(self, directory: Path) -> None:
        above = [directory.resolve(), *directory.resolve().parents]
        self._folders = [(folder / _BAD, (folder / _BAD).exists()) for folder in above]

    def starting(self, start: str) -> Iterator[Path]:
        """Yield moved files whose names begin with `start`; Hadoop appends a random number."""
        for folder, _ in self._folders:
            with suppress(OSError):
                yield from [p for p in folder.iterdir() if p.name.startswith(start)]

    def remove(self, start: str) -> None:
        """Delete moved files whose names begin with `start`, with their checksums."""
        for moved in (*self.starting(start), *self.starting(f".{start}")):
            moved.unlink(missing_ok=True)
        self.tidy()

    def tidy(self) -> None:
        """Delete folders that were not there before, and are empty."""
        for folder, was_there in self._folders:
            if not was_there:
                with suppress(OSError):  # missing, or contains other files
                    folder.rmdir()


class RestoringStore(Store):
    """A store on a LocalFileSystem, which restores files that were moved away."""

    @abstractmethod
    def put_back(self, path: str) -> None:
        """Restore a file that Hadoop has moved away, because other programs read it too."""


class ChecksumStore(DiskStore, RestoringStore):
    """A store that writes checksum files, as Hadoop's LocalFileSystem does."""

    def __init__(self, directory: Path, root: str) -> None:
        super().__init__(directory, root)
        self._moved = MovedFiles(directory)

    def write(self, path: str, content: bytes) -> None:
        """Write a file and its checksums."""
        super().write(path, content)
        super().write(_checksums(path), _summed(content))

    def delete(self, path: str) -> None:
        """Delete a file and its checksums."""
        super().delete(path)
        super().delete(_checksums(path))

    def put_back(self, path: str) -> None:
        """Move a file and its checksums back."""
        if self.disk_path(path).exists():
            return
        for part in (self.disk_path(path), self.disk_path(_checksums(path))):
            for moved in self._moved.starting(part.name):
                moved.replace(part)
        self._moved.tidy()

    def delete_all(self, directory: str) -> None:
        """Delete a directory, and its files that Hadoop has moved away."""
        super().delete_all(directory)
        self._moved.remove(_name(directory))


def _name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def _checksums(path: str) -> str:
    folder, _, name = path.rpartition("/")
    return f"{folder}/.{name}.crc"


def _summed(content: bytes) -> bytes:
    chunks = (content[i : i + _CHUNK] for i in range(0, len(content), _CHUNK))
    sums = [zlib.crc32(chunk) for chunk in chunks]
    return b"crc\0" + struct.pack(f">I{len(sums)}I", _CHUNK, *sums)


class HadoopStore(Store):
    """A directory of a Java FileSystem, written through it."""

    def __init__(self, filesystem: Any, java: Java, root: str) -> None:
        self.root = root
        self._filesystem = filesystem
        self._java = java

    def write(self, path: str, content: bytes) -> None:
        """Write a file; replace an existing one."""
        out = self._filesystem.create(self._java.path(path), True)
        try:
            out.write(self._java.bytes(content))
        finally:
            out.close()

    def delete(self, path: str) -> None:
        """Delete a file."""
        self._filesystem.delete(self._java.path(path), False)

    def length(self, path: str) -> int:
        """Return the length that the filesystem reports."""
        return int(self._filesystem.getFileStatus(self._java.path(path)).getLen())

    def directories(self) -> Iterable[str]:
        """Return the directories directly below the root."""
        statuses = self._filesystem.listStatus(self._java.path(self.root or "/"))
        return [str(s.getPath().toUri().getPath()) for s in statuses if s.isDirectory()]

    def delete_all(self, directory: str) -> None:
        """Delete a directory with its content."""
        self._filesystem.delete(self._java.path(directory), True)

    def make(self, directory: str) -> None:
        """Create a directory."""
        if not self._filesystem.mkdirs(self._java.path(directory)):
            raise OSError(f"mkdirs of {directory} returned false")


class LocalHadoopStore(HadoopStore, RestoringStore):
    """A directory of a Java FileSystem which is, or wraps, a LocalFileSystem on `directory`."""

    def __init__(self, filesystem: Any, java: Java, root: str, directory: Path) -> None:
        super().__init__(filesystem, java, root)
        self._moved = MovedFiles(directory)
        self._written: dict[str, bytes] = {}

    def write(self, path: str, content: bytes) -> None:
        """Write a file; replace an existing one."""
        super().write(path, content)
        self._written[path] = content

    def delete(self, path: str) -> None:
        """Delete a file."""
        super().delete(path)
        self._written.pop(path, None)

    def put_back(self, path: str) -> None:
        """Write a file again, and remove the one that was moved."""
        if path in self._written and not self._filesystem.exists(self._java.path(path)):
            super().write(path, self._written[path])
            self._moved.remove(_name(path))

    def delete_all(self, directory: str) -> None:
        """Delete a directory, and its files that Hadoop has moved away."""
        super().delete_all(directory)
        self._moved.remove(_name(directory))


#: Prefix of paths that no filesystem supports.
FOREIGN = "gopher://localhost"


class HadoopLocation:
    """A Java FileSystem or FileContext, and the store that writes its files.

    Without a store it is read-only. `closes` are the FileSystems to close at the end.
    """

    profile = "hadoop"
    #: True if an operation needs a round trip.
    remote = True
    #: True if files can be changed.
    changes = True

    def __init__(
        self, filesystem: Any, store: Store | None, closes: tuple[Any, ...] = (), root: str = ""
    ) -> None:
        self.store = store
        self.root = root if store is None else store.root
        self._filesystem = filesystem
        self._closes = closes

    def at(self, path: str) -> Any:
        """Return the FileSystem or FileContext of the path."""
        return self._filesystem

    def file(self, prefix: str, number: int) -> str:
        """Return the path of a new file with a unique name, wherever it is moved."""
        return f"{prefix}/{_name(prefix)}-{number:06d}"

    def absent(self, prefix: str, number: int) -> str:
        """Return a path that does not exist."""
        return self.file(prefix, number)

    def directory(self, prefix: str, number: int) -> str:
        """Create a directory and return its path."""
        path = self.file(prefix, number)
        assert self.store is not None
        self.store.make(path)
        return path

    def put_beside(self, path: str, content: bytes) -> None:
        """Ensure that a file with these bytes exists at the sibling of a path."""
        assert self.store is not None
        self.store.write(path, content)

    @property
    def statistics_of(self) -> Any:
        """Object that may count the I/O of all streams."""
        return self._filesystem

    def close(self) -> None:
        """Close the FileSystems that this binding created."""
        for filesystem in self._closes:
            with suppress(Exception):
                filesystem.close()


class LocalHadoopLocation(HadoopLocation):
    """A local directory."""

    remote = False

    def __init__(
        self, filesystem: Any, store: Store, profile: str, closes: tuple[Any, ...] = ()
    ) -> None:
        super().__init__(filesystem, store, closes)
        self.profile = profile


_VERSION = 3
_MOST_HASH = 2**31 - 1
_PART = "part-0"
#: Bytes before, between and after the files of an archive. Content never contains them.
_GAP = b"\x02" * 64
_EMPTY = "folder"


class ArchiveStore(DiskStore):
    """A local directory with one archive per file, because archives are immutable.

    An archive also has a file with another name and other bytes, and an empty directory.
    """

    def write(self, path: str, content: bytes) -> None:
        """Write the archive of a file; the path is the archive's followed by the file's name."""
        folder, name = os.path.split(self.disk_path(path))
        os.makedirs(folder)
        files = {name: content, f"other-{name}": replacement(content)}
        _write_archive(Path(folder), files, _EMPTY)


def _write_archive(folder: Path, files: dict[str, bytes], empty: str) -> None:
    """Write an archive of files and one directory below its root."""
    data = bytearray(_GAP)
    properties = quote_plus("0 420 owner group")  # time, decimal permission, owner and group
    lines = [_line("/", "dir", properties, 0, 0, *map(quote_plus, (*files, empty)))]
    lines.append(_line(f"/{empty}", "dir", properties, 0, 0))
    for name, content in files.items():
        lines.append(_line(f"/{name}", "file", _PART, len(data), len(content), properties))
        data += content + _GAP
    index = "".join(lines).encode()
    (folder / _PART).write_bytes(data)
    (folder / "_index").write_bytes(index)
    (folder / "_masterindex").write_text(f"{_VERSION} \n0 {_MOST_HASH} 0 {len(index)} \n")


def _line(path: str, *words: object) -> str:
    return " ".join([quote_plus(path), *map(str, words)]) + " \n"


class ArchiveLocation(LocalHadoopLocation):
    """Archives below a local directory, each with a separate filesystem that `make` creates."""

    changes = False

    def __init__(self, store: ArchiveStore, make: Callable[[str], Any]) -> None:
        super().__init__(None, store, "hadoop-har")
        self._make = make
        self._filesystems: dict[str, Any] = {}

    def at(self, path: str) -> Any:
        """Return the filesystem of the archive that contains a path."""
        archive = path.removeprefix(FOREIGN).rpartition("/")[0]
        filesystem = self._filesystems.get(archive)
        if filesystem is None:
            filesystem = self._filesystems[archive] = self._make(archive)
        return filesystem

    def file(self, prefix: str, number: int) -> str:
        """Return the path of a new file in a new archive."""
        return f"{prefix}/{number:06d}.har/{number:06d}"

    def absent(self, prefix: str, number: int) -> str:
        """Return a path in an archive that does not exist."""
        return self._archive(prefix, number) + "/absent"

    def directory(self, prefix: str, number: int) -> str:
        """Return the directory of a new archive."""
        return f"{self._archive(prefix, number)}/{_EMPTY}"

    def put_beside(self, path: str, content: bytes) -> None:
        """Do nothing, because every archive has the sibling."""

    @property
    def statistics_of(self) -> Any:
        """Return None, because there are many filesystems."""
        return None

    def close(self) -> None:
        """Close the filesystems of the archives."""
        for filesystem in self._filesystems.values():
            with suppress(Exception):
                filesystem.close()

    def _archive(self, prefix: str, number: int) -> str:
        path = self.file(prefix, number)
        assert self.store is not None
        self.store.write(path, b"")
        return path.rpartition("/")[0]
