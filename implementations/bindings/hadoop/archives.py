"""Hadoop archives (har, version 3) on the local disk: written here, read by HarFileSystem."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

from fscontract.contract.content import replacement
from fscontract.implementations.bindings.hadoop.files import DiskStore
from fscontract.implementations.bindings.hadoop.place import FOREIGN, LocalPlace

_VERSION = 3
_MOST_HASH = 2**31 - 1
_PART = "part-0"
#: What is before, between and behind the files of an archive. Content never holds it.
_GAP = b"\x02" * 64
_EMPTY = "folder"


class ArchiveStore(DiskStore):
    """A local directory with an archive for each file: a new one, since they can't be changed.

    Beside its file an archive has one of another name with other bytes, and an empty directory.
    """

    def write(self, path: str, content: bytes) -> None:
        """Write the archive that has the file, whose name comes after that of the archive."""
        folder, name = os.path.split(self.place(path))
        os.makedirs(folder)
        files = {name: content, f"other-{name}": replacement(content)}
        _write_archive(Path(folder), files, _EMPTY)


def _write_archive(folder: Path, files: dict[str, bytes], empty: str) -> None:
    """Write an archive of files and one directory below its root."""
    data = bytearray(_GAP)
    properties = quote_plus("0 420 owner group")  # time, permission in decimal, whose it is
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


class ArchivePlace(LocalPlace):
    """Archives below a local directory, each with a filesystem of its own that `make` makes."""

    changes = False

    def __init__(self, store: ArchiveStore, make: Callable[[str], Any]) -> None:
        super().__init__(None, store, "hadoop-har")
        self._make = make
        self._made: dict[str, Any] = {}

    def at(self, path: str) -> Any:
        """The filesystem of the archive that a path leads into."""
        archive = path.removeprefix(FOREIGN).rpartition("/")[0]
        found = self._made.get(archive)
        if found is None:
            found = self._made[archive] = self._make(archive)
        return found

    def file(self, prefix: str, number: int) -> str:
        """The path of a new file in a new archive."""
        return f"{prefix}/{number:06d}.har/{number:06d}"

    def absent(self, prefix: str, number: int) -> str:
        """A path in an archive where nothing is."""
        return self._archive(prefix, number) + "/absent"

    def directory(self, prefix: str, number: int) -> str:
        """The directory of a new archive."""
        return f"{self._archive(prefix, number)}/{_EMPTY}"

    def put_beside(self, path: str, content: bytes) -> None:
        """Nothing: it is there."""

    @property
    def statistics_of(self) -> Any:
        """None: there are many filesystems."""
        return None

    def close(self) -> None:
        """Close the filesystems of the archives."""
        for filesystem in self._made.values():
            with suppress(Exception):
                filesystem.close()

    def _archive(self, prefix: str, number: int) -> str:
        path = self.file(prefix, number)
        assert self.store is not None
        self.store.write(path, b"")
        return path.rpartition("/")[0]
