"""Mutants of fsspec's filesystems in front of others."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from fsspec.implementations.dirfs import DirFileSystem

from fscontract.fakes.mutants.correct_filesystem import (
    RightCache,
    RightExpiringCache,
    RightFilesystem,
    RightSimpleCache,
    RightThreadedCache,
    RightUncheckedCache,
)
from fscontract.fakes.mutants.registry import mutant, right


@mutant("chain.checked.changed", RightCache.is_old)
def compares_sizes(self: RightCache, name: str) -> bool:
    """A copy is compared with its file by the size."""
    return len(self.copies[name]) != len(self.fs.content(name))


@mutant("chain.checked.deleted", RightCache.is_old)
def deleted_is_unchanged(self: RightCache, name: str) -> bool:
    """A file that can't be found has not changed."""
    return self.fs.exists(name) and right(self).is_old(name)


@mutant("chain.unchecked.one-version", RightUncheckedCache.content)
def renews_the_end(self: RightUncheckedCache, path: str) -> bytes:
    """A copy of two bytes and more has the end of the new file."""
    copy, name = right(self).content(path), self._strip_protocol(path)
    return copy[:2] + self.fs.content(name)[2:]


@mutant("chain.expired.changed", RightExpiringCache.age)
def age_in_minutes(self: RightExpiringCache, name: str) -> int:
    """The age of a copy is counted in minutes."""
    return right(self).age(name) // 60


@mutant("chain.first-read")
class RangesOfCopies(RightUncheckedCache):
    """Ranges are read from copies alone, which writes make, too."""

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **options: Any) -> None:
        """Write a file behind the cache, and its copy."""
        super().pipe_file(path, value)
        self.copies[self._strip_protocol(path)] = bytes(value)

    def cat_ranges(self, paths: Any, starts: Any, ends: Any, *args: Any, **options: Any) -> Any:
        """Return ranges of copies, and no byte where there is no copy."""
        kept = [self._strip_protocol(path) in self.copies for path in paths]
        found = super().cat_ranges(paths, starts, ends, *args, **options)
        return [part if is_kept else b"" for part, is_kept in zip(found, kept, strict=True)]


class _SharedCopies(RightThreadedCache):
    """A file that another thread is downloading counts as downloaded."""

    def download(self, name: str) -> bytes:
        """Return the bytes that the one copy of a file has now."""
        copy = Path(self.directory, hashlib.sha256(name.encode()).hexdigest())
        if not copy.exists():
            self.fs.get_file(name, str(copy))
        return copy.read_bytes()


@mutant("chain.simplecache.threads")
class SharedSimpleCopies(_SharedCopies, RightSimpleCache):
    """A file that another thread is downloading counts as downloaded by simplecache."""


@mutant("chain.threads")
class SharedCopies(_SharedCopies):
    """A file that another thread is downloading counts as downloaded."""


@mutant("chain.directory")
class NoDirectory(DirFileSystem):  # type: ignore[misc]
    """Reads ignore the directory."""

    cachable = False

    def __init__(self) -> None:
        super().__init__("top", RightFilesystem())

    def cat_file(self, path: str, start: Any = None, end: Any = None, **options: Any) -> bytes:
        """Read a file that is not below the directory."""
        return b"another file" if start is None else b""
