"""Where files for Hadoop are written: straight to the disk below it, or through Hadoop."""

from __future__ import annotations

import os
import shutil
import struct
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from fscontract.implementations.bindings.hadoop.java import Java
from fscontract.implementations.bindings.stores import Store

#: Bytes for which there is one checksum, as Hadoop has it by default.
_CHUNK = 512
_BAD = "bad_files"


class DiskStore(Store):
    """A local directory that Hadoop sees at `root`.

    Hadoop starts a process for each file that it makes, to set permissions, so it is not asked to.
    """

    def __init__(self, directory: Path, root: str) -> None:
        self.root = root
        self.directory = directory

    def place(self, path: str) -> Path:
        """The file on disk that is Hadoop's `path`."""
        return self.directory / path.removeprefix(self.root).lstrip("/")

    def write(self, path: str, content: bytes) -> None:
        """Write a new file, or others' bytes into the one that is there."""
        place = self.place(path)
        with place.open("r+b" if place.exists() else "wb") as file:
            file.write(content)
            file.truncate()

    def delete(self, path: str) -> None:
        """Delete a file."""
        self.place(path).unlink(missing_ok=True)

    def length(self, path: str) -> int:
        """The length of a file in bytes."""
        return self.place(path).stat().st_size

    def directories(self) -> Iterable[str]:
        """The directories right below the root."""
        with os.scandir(self.directory) as entries:
            found = [e.name for e in entries if e.is_dir(follow_symlinks=False)]
        return [f"{self.root.rstrip('/')}/{name}" for name in found]

    def delete_all(self, directory: str) -> None:
        """Delete a directory and all below it."""
        with suppress(FileNotFoundError):
            shutil.rmtree(self.place(directory))

    def make(self, directory: str) -> None:
        """Make a directory."""
        self.place(directory).mkdir()


class ChecksumStore(DiskStore):
    """One whose files have their checksums beside them, as Hadoop's LocalFileSystem writes them.

    That filesystem moves a file away when a stream is told to look for another source of it. What
    it moved is put back by `put_back`, because other programs read the same file.
    """

    def __init__(self, directory: Path, root: str) -> None:
        super().__init__(directory, root)
        above = [directory.resolve(), *directory.resolve().parents]
        self._bad = [(place / _BAD, (place / _BAD).exists()) for place in above]

    def write(self, path: str, content: bytes) -> None:
        """Write a file and its checksums."""
        super().write(path, content)
        super().write(_checksums(path), _summed(content))

    def delete(self, path: str) -> None:
        """Delete a file and its checksums."""
        super().delete(path)
        super().delete(_checksums(path))

    def put_back(self, path: str) -> None:
        """Put a file that Hadoop has moved away where it was."""
        if self.place(path).exists():
            return
        for part in (self.place(path), self.place(_checksums(path))):
            for moved in self._moved(part.name):
                moved.replace(part)
        self._tidy()

    def delete_all(self, directory: str) -> None:
        """Delete a directory, and files of it that Hadoop has moved away."""
        super().delete_all(directory)
        name = directory.rstrip("/").rpartition("/")[2]
        for moved in (*self._moved(name), *self._moved(f".{name}")):
            moved.unlink(missing_ok=True)
        self._tidy()

    def _moved(self, start: str) -> Iterator[Path]:
        """The files moved away whose names start so; a random number is at their ends."""
        for place, _ in self._bad:
            with suppress(OSError):
                yield from [p for p in place.iterdir() if p.name.startswith(start)]

    def _tidy(self) -> None:
        for place, was_there in self._bad:
            if not was_there:
                with suppress(OSError):  # it is not there, or holds others' files
                    place.rmdir()


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
        """Write a file, or another in its place."""
        out = self._filesystem.create(self._java.path(path), True)
        try:
            out.write(self._java.bytes(content))
        finally:
            out.close()

    def delete(self, path: str) -> None:
        """Delete a file."""
        self._filesystem.delete(self._java.path(path), False)

    def length(self, path: str) -> int:
        """The length that the filesystem reports."""
        return int(self._filesystem.getFileStatus(self._java.path(path)).getLen())

    def directories(self) -> Iterable[str]:
        """The directories right below the root."""
        found = self._filesystem.listStatus(self._java.path(self.root or "/"))
        return [str(s.getPath().toUri().getPath()) for s in found if s.isDirectory()]

    def delete_all(self, directory: str) -> None:
        """Delete a directory and all below it."""
        self._filesystem.delete(self._java.path(directory), True)

    def make(self, directory: str) -> None:
        """Make a directory."""
        if not self._filesystem.mkdirs(self._java.path(directory)):
            raise OSError(f"mkdirs of {directory} gave false")
